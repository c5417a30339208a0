"""Signs letters in the name of our domain (DKIM, RFC 6376; Ed25519 by RFC 8463).

A letter is signed once, when its octets are made, with every key at once: receivers that do not
know Ed25519 use the RSA signature. The keys are cryptography's; dkimpy, which verifies the mail
that comes in, would take several milliseconds for each RSA signature, since that is Python.
"""

from __future__ import annotations

import base64
import re
import stat
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path

from pbmserv.errors import ConfigError
from pbmserv.files import read_octets
from pbmserv.mail.dns import Resolver, is_for_tests, record_tags

SIGNED = (
    *("from", "to", "subject", "date", "message-id", "reply-to", "in-reply-to"),
    *("references", "mime-version", "content-type", "content-transfer-encoding"),
    *("auto-submitted", "list-id", "list-unsubscribe", "list-unsubscribe-post"),
    "feedback-id",
)
"""Fields that a signature covers. RFC 8058 section 4 wants both fields of List-Unsubscribe."""

SEALED = ("from", "to", "cc", "subject", "date", "message-id", "reply-to", "content-type")
"""Fields named once more than they are there, so that none can be added (section 8.15)."""

RSA_BITS = 2048
"""RFC 8301 section 3.2; the record of a longer key does not fit into one answer by UDP."""
LONGEST_STRING = 255
"""Octets of one string of a TXT record (RFC 1035 section 3.3)."""

_SELECTOR = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9-]{1,63})*")
_ALGORITHMS = {"rsa": "rsa-sha256", "ed25519": "ed25519-sha256"}
_BLANKS = re.compile(rb"[ \t]+")
_END_OF_FIELD = re.compile(rb"\r\n(?![ \t])")


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A key file and the selector under which its public half is published."""

    selector: str
    path: Path

    def __str__(self) -> str:
        return f"{self.selector}={self.path}"


@dataclass(frozen=True, slots=True)
class Key:
    """A key that signs.

    Attributes:
        kind: ``rsa`` or ``ed25519``.
        signature_of: signs a SHA-256 digest of 32 octets.
        public: the ``p=`` of its record: base64.
    """

    selector: str
    kind: str
    signature_of: Callable[[bytes], bytes] = field(repr=False)
    public: str

    def name(self, domain: str) -> str:
        """Return the name of its DNS record (RFC 6376 section 3.6.2.1)."""
        return f"{self.selector}._domainkey.{domain}"

    @property
    def record(self) -> str:
        """The text of its TXT record."""
        return f"v=DKIM1; k={self.kind}; p={self.public}"


def named_files(text: str) -> tuple[NamedFile, ...]:
    """Parse ``selector=file, selector=file``.

    Raises:
        ValueError: saying what would be right.
    """
    files: list[NamedFile] = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        selector, equals, path = (part.strip() for part in word.partition("="))
        if not equals or not path or not _SELECTOR.fullmatch(selector.lower()):
            raise ValueError("write SELECTOR=FILE, such as s2026=/etc/pbmserv/s2026.pem")
        try:
            files.append(NamedFile(selector.lower(), Path(path).expanduser()))
        except RuntimeError:
            raise ValueError(
                "there is no user with that home; write SELECTOR=FILE, "
                "such as s2026=/etc/pbmserv/s2026.pem"
            ) from None
    if len({file.selector for file in files}) < len(files):
        raise ValueError("each selector names one key, such as s2026=/etc/pbmserv/s2026.pem")
    return tuple(files)


def load(named: NamedFile) -> Key:
    """Read a private key (PEM, without a passphrase).

    Raises:
        ConfigError: it cannot be used; others on this machine may read it.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    where = f"PBMSERV_DKIM_KEYS: {named.path}"
    try:
        if stat.S_IMODE(named.path.stat().st_mode) & 0o007:
            raise ConfigError(f"{where} can be read by everybody; run `chmod 600 {named.path}`")
        private = load_pem_private_key(read_octets(named.path), None)
    except OSError as error:
        raise ConfigError(f"{where}: {error.strerror or error}") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        # "from None": the cause may quote the file.
        raise ConfigError(f"{where} is not a PEM private key without a passphrase") from None
    return _key(named.selector, private, where)


def make(selector: str, kind: str, path: Path) -> Key:
    """Create a key in a file that only its owner may read.

    Args:
        kind: ``rsa`` or ``ed25519``.

    Raises:
        OSError: there is such a file already, or it cannot be written.
    """
    import os

    from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    private: rsa.RSAPrivateKey | ed25519.Ed25519PrivateKey
    if kind == "rsa":
        private = rsa.generate_private_key(65537, RSA_BITS)
    else:
        private = ed25519.Ed25519PrivateKey.generate()
    pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(pem)
    return _key(selector, private, str(path))


def strings(record: str) -> str:
    """Return a TXT record as zone files write it, in strings of at most 255 octets."""
    pieces = [record[at : at + LONGEST_STRING] for at in range(0, len(record), LONGEST_STRING)]
    return " ".join(f'"{piece}"' for piece in pieces)


def published(key: Key, domain: str, names: Resolver) -> str:
    """Return the fault of a key's record, ``""`` if name servers return just this key.

    Raises:
        NamesUnavailable: no name server answers.
    """
    records = names.txt(key.name(domain))
    if not records:
        return "there is no such record"
    if len(records) > 1:
        return f"there are {len(records)} records, so none of them counts"
    tags = record_tags(records[0])
    if "".join(tags.get("p", "").split()) != key.public:
        return "the record holds another key"
    if tags.get("k", "rsa") != key.kind:
        return f"the record says k={tags.get('k', 'rsa')}, the key is {key.kind}"
    return "the record says t=y: for tests only" if is_for_tests(tags) else ""


class Signer:
    """Signs for one domain with any number of keys; without keys it leaves letters as they are.

    `keys` may be replaced as a whole while other threads sign.
    """

    def __init__(self, domain: str, keys: Sequence[Key]) -> None:
        self._domain = domain
        self.keys = keys

    def signed(self, raw: bytes) -> bytes:
        """Return the letter with a DKIM-Signature field of each key on top."""
        head, _, body = raw.partition(b"\r\n\r\n")
        names, covered = _covered(head)
        digest = base64.b64encode(sha256(relaxed_body(body)).digest()).decode()
        now = int(time.time())
        signatures = [self._signature(key, names, covered, digest, now) for key in self.keys]
        return b"".join([*signatures, raw])

    def _signature(
        self, key: Key, names: Sequence[str], covered: bytes, digest: str, now: int
    ) -> bytes:
        """Return one field (RFC 6376 section 3.5), which signs itself with an empty b= tag."""
        unsigned = (
            f"DKIM-Signature: v=1; a={_ALGORITHMS[key.kind]}; c=relaxed/relaxed;\r\n"
            f" d={self._domain}; s={key.selector}; t={now};\r\n"
            f" h={_folded(':'.join(names), ':')};\r\n"
            f" bh={digest};\r\n"
            " b="
        ).encode()
        hashed = sha256(covered + _relaxed_field(unsigned))
        signature = base64.b64encode(key.signature_of(hashed.digest())).decode()
        lines = [signature[at : at + 72] for at in range(0, len(signature), 72)]
        return unsigned + "\r\n ".join(lines).encode() + b"\r\n"


def _covered(head: bytes) -> tuple[list[str], bytes]:
    """Return the names of the fields that a signature covers, and their canonical octets.

    Each name of `SEALED` stands once more than there are such fields, so that none can be added.
    """
    values: dict[str, list[bytes]] = {}
    for line in _END_OF_FIELD.split(head):
        name = line.partition(b":")[0].strip().lower().decode("ascii", "replace")
        values.setdefault(name, []).append(_relaxed_field(line))
    names = [*(name for name in SIGNED if name in values), *SEALED]
    # RFC 6376 section 5.4.2: of several fields of a name the last one comes first.
    lines = [values[name].pop() for name in names if values.get(name)]
    return names, b"".join(line + b"\r\n" for line in lines)


def _relaxed_field(line: bytes) -> bytes:
    """Return a field in relaxed form (RFC 6376 section 3.4.2), without its line end."""
    name, _, value = line.partition(b":")
    return name.strip().lower() + b":" + b" ".join(value.split())


def relaxed_body(body: bytes) -> bytes:
    """Return a body in relaxed form (RFC 6376 section 3.4.4).

    A run of blanks becomes one, blanks at the end of a line and empty lines at the end are left
    out.
    """
    lines = [_BLANKS.sub(b" ", line).rstrip(b" ") for line in body.split(b"\r\n")]
    while lines and not lines[-1]:
        lines.pop()
    return b"".join(line + b"\r\n" for line in lines)


def _folded(words: str, separator: str) -> str:
    """Return words with a line break behind every sixth separator."""
    parts = words.split(separator)
    lines = [separator.join(parts[at : at + 6]) for at in range(0, len(parts), 6)]
    return f"{separator}\r\n ".join(lines)


def _key(selector: str, private: object, where: str) -> Key:
    from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
    from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    if isinstance(private, ed25519.Ed25519PrivateKey):
        public = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        return Key(selector, "ed25519", private.sign, base64.b64encode(public).decode())
    if isinstance(private, rsa.RSAPrivateKey):
        if not 1024 < private.key_size <= 4096:
            raise ConfigError(f"{where} has {private.key_size} bits; use 2048 (RFC 8301)")
        public = private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        sign = partial(private.sign, padding=PKCS1v15(), algorithm=Prehashed(SHA256()))
        return Key(selector, "rsa", sign, base64.b64encode(public).decode())
    raise ConfigError(f"{where}: DKIM knows RSA and Ed25519 keys only")
