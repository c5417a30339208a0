"""Manages the keys that sign our letters (DKIM, RFC 6376), and their DNS records.

`cryptography` signs; the pure Python of dkimpy, which verifies incoming mail, would take several
milliseconds for an RSA signature.
"""

from __future__ import annotations

import base64
import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pbmserv.errors import ConfigError
from pbmserv.files import read_octets
from pbmserv.mail.dns import Resolver, is_for_tests, record_tags

RSA_BITS = 2048
"""Length of new keys (RFC 8301 section 3.2); longer keys do not fit into one DNS answer by UDP."""
LONGEST_STRING = 255
"""Octets of one string in a TXT record (RFC 1035 section 3.3)."""

_SELECTOR = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9-]{1,63})*")


@dataclass(frozen=True, slots=True)
class KeyFile:
    """A key file and the selector under which its public half is published."""

    selector: str
    path: Path

    def __str__(self) -> str:
        return f"{self.selector}={self.path}"


@dataclass(frozen=True, slots=True)
class Key:
    """A signing key.

    Attributes:
        selector: names the DNS record of the public key.
        kind: ``rsa`` or ``ed25519``.
        sign: returns the signature of a SHA-256 digest.
        public: public key in base64, the ``p=`` of its record.
    """

    selector: str
    kind: str
    sign: Callable[[bytes], bytes] = field(repr=False)
    public: str

    def name(self, domain: str) -> str:
        """Return the name of its DNS record (RFC 6376 section 3.6.2.1)."""
        return f"{self.selector}._domainkey.{domain}"

    @property
    def record(self) -> str:
        """Return the text of its TXT record."""
        return f"v=DKIM1; k={self.kind}; p={self.public}"


def parse_key_files(text: str) -> tuple[KeyFile, ...]:
    """Parse ``selector=file, selector=file``.

    Raises:
        ValueError: the text is wrong; the message shows the right form.
    """
    files: list[KeyFile] = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        selector, equals, path = (part.strip() for part in word.partition("="))
        if not equals or not path or not _SELECTOR.fullmatch(selector.lower()):
            raise ValueError("write SELECTOR=FILE, such as s2026=/etc/pbmserv/s2026.pem")
        try:
            files.append(KeyFile(selector.lower(), Path(path).expanduser()))
        except RuntimeError:
            raise ValueError(
                "there is no user with that home; write SELECTOR=FILE, "
                "such as s2026=/etc/pbmserv/s2026.pem"
            ) from None
    if len({file.selector for file in files}) < len(files):
        raise ValueError("each selector names one key, such as s2026=/etc/pbmserv/s2026.pem")
    return tuple(files)


def load_key(named: KeyFile) -> Key:
    """Read a private key (PEM, without a passphrase).

    Raises:
        ConfigError: the key cannot be used, or all users of this machine can read it.
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


def make_key(selector: str, kind: str, path: Path) -> Key:
    """Create a key in a file that only its owner may read.

    Args:
        kind: ``rsa`` or ``ed25519``.

    Raises:
        OSError: the file exists, or cannot be written.
    """
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


def quoted_strings(record: str) -> str:
    """Return a TXT record as in a zone file: quoted strings of at most 255 octets."""
    pieces = [record[at : at + LONGEST_STRING] for at in range(0, len(record), LONGEST_STRING)]
    return " ".join(f'"{piece}"' for piece in pieces)


def record_fault(key: Key, domain: str, names: Resolver) -> str:
    """Return the fault of a key's DNS record, ``""`` if it publishes this key.

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
