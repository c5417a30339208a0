"""Signs letters in the name of our domain (DKIM, RFC 6376; Ed25519 by RFC 8463).

A letter is signed once, when its bytes are made, by every key at once: those who do not know
Ed25519 yet look at the RSA signature. dkimpy makes the field, once for all letters that have the
same ones to sign; cryptography reads, makes and uses the keys: dkimpy's RSA is Python, 6 ms.
"""

from __future__ import annotations

import base64
import re
import stat
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from hashlib import sha256
from itertools import accumulate, pairwise
from pathlib import Path

from pbmserv.errors import ConfigError
from pbmserv.files import read_octets
from pbmserv.mail.dns import Resolver, is_for_tests, record_tags

SIGNED = (
    *(b"from", b"to", b"subject", b"date", b"message-id", b"reply-to", b"in-reply-to"),
    *(b"references", b"mime-version", b"content-type", b"content-transfer-encoding"),
    *(b"auto-submitted", b"list-id", b"list-unsubscribe", b"list-unsubscribe-post"),
    b"feedback-id",
)
"""Fields that a signature covers. RFC 8058 section 4 wants both fields of List-Unsubscribe."""

SEALED = (b"from", b"to", b"cc", b"subject", b"date", b"message-id", b"reply-to", b"content-type")
"""Fields named once more than they are there, so that none can be added (section 8.15)."""

RSA_BITS = 2048
"""RFC 8301 section 3.2; the record of a longer key does not fit into one answer by UDP."""
_TIME, _HASH, _TO_COME = b"\0" * 10, b"\1" * 44, b"0" * 60
"""Stand for what a signature says of one letter: its time and its digest, as long as these are, and
itself, so long that it is folded onto a line of its own."""
LONGEST_STRING = 255
"""Octets of one string of a TXT record (RFC 1035 section 3.3)."""

_SELECTOR = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9-]{1,63})*")
_ALGORITHMS = {"rsa": b"rsa-sha256", "ed25519": b"ed25519-sha256"}
_BY_KEY = b"ed25519-sha256"
"""What dkimpy is told, for it to ask the key for the signature, of whatever kind that is."""
_COVERED = frozenset({*SIGNED, *SEALED})
_RUN = re.compile(rb"  +")
_END_OF_FIELD = re.compile(rb"\r\n(?![ \t])")


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A key file and the selector under which its public half is published."""

    selector: str
    path: Path

    def __str__(self) -> str:
        return f"{self.selector}={self.path}"


@dataclass(frozen=True, slots=True)
class Signature:
    """What dkimpy expects a key to return."""

    signature: bytes


@dataclass(frozen=True, slots=True)
class Key:
    """A key that signs.

    Attributes:
        kind: ``rsa`` or ``ed25519``.
        signature_of: signs 32 octets, the SHA-256 of what is to be signed.
        public: the ``p=`` of its record: base64.
    """

    selector: str
    kind: str
    signature_of: Callable[[bytes], bytes] = field(repr=False)
    public: str

    def sign(self, digest: bytes) -> Signature:
        """As dkimpy asks for it."""
        return Signature(self.signature_of(digest))

    def name(self, domain: str) -> str:
        """Where its record stands (RFC 6376 section 3.6.2.1)."""
        return f"{self.selector}._domainkey.{domain}"

    @property
    def record(self) -> str:
        """What its TXT record says."""
        return f"v=DKIM1; k={self.kind}; p={self.public}"


def named_files(text: str) -> tuple[NamedFile, ...]:
    """Reads ``selector=file, selector=file``.

    Raises:
        ValueError: saying what would be right.
    """
    found: list[NamedFile] = []
    for word in filter(None, (part.strip() for part in text.split(","))):
        selector, equals, path = (part.strip() for part in word.partition("="))
        if not equals or not path or not _SELECTOR.fullmatch(selector.lower()):
            raise ValueError("write SELECTOR=FILE, such as s2026=/etc/pbmserv/s2026.pem")
        try:
            found.append(NamedFile(selector.lower(), Path(path).expanduser()))
        except RuntimeError:
            raise ValueError(
                "there is no user with that home; write SELECTOR=FILE, "
                "such as s2026=/etc/pbmserv/s2026.pem"
            ) from None
    if len({one.selector for one in found}) < len(found):
        raise ValueError("each selector names one key, such as s2026=/etc/pbmserv/s2026.pem")
    return tuple(found)


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
    """A new key, written to a file that only its owner may read.

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
    """A TXT record as zone files write it: in strings of at most 255 octets."""
    pieces = [record[at : at + LONGEST_STRING] for at in range(0, len(record), LONGEST_STRING)]
    return " ".join(f'"{piece}"' for piece in pieces)


def published(key: Key, domain: str, names: Resolver) -> str:
    """What is wrong with a key's record; ``""`` when name servers give out just this key.

    Raises:
        NamesUnavailable: nobody knows now.
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
    """Signs for one domain with any number of keys; with none it leaves letters as they are.

    `keys` may be given anew while other threads sign: as a whole, never in place.
    """

    def __init__(self, domain: str, keys: Sequence[Key]) -> None:
        self._domain = domain.encode()
        self.keys = keys

    def signed(self, raw: bytes) -> bytes:
        """The letter with a DKIM-Signature of each key on top."""
        if not self.keys:
            return raw
        head, _, body = raw.partition(b"\r\n\r\n")
        values: dict[bytes, list[bytes]] = {}
        for one in _END_OF_FIELD.split(head):
            name, _, value = one.partition(b":")
            if (name := name.lower()) in _COVERED:
                values.setdefault(name, []).append(b" ".join(value.split()))
        names = (*(name for name in SIGNED if name in values), *SEALED)
        covered = bytearray()
        for name in names:  # of several the last one first (RFC 6376 section 5.4.2)
            if values.get(name):
                covered += b"%b:%b\r\n" % (name, values[name].pop())
        digest = base64.b64encode(sha256(relaxed(body)).digest())
        now = b"%d" % time.time()
        signatures: list[bytes] = []
        for key in self.keys:
            made = _field_of(self._domain, key, names)
            start = made.start.replace(_TIME, now).replace(_HASH, digest)
            own = b"dkim-signature:" + b" ".join(start.split())
            signature = base64.b64encode(key.signature_of(sha256(covered + own).digest()))
            folded = b"\r\n ".join([signature[line] for line in made.lines])
            signatures += (b"DKIM-Signature: ", start, folded, b"\r\n")
        return b"".join((*signatures, raw))


@dataclass(frozen=True, slots=True)
class _Field:
    """What signatures by one key of the same fields have in common.

    Attributes:
        start: all until the signature itself, folded, with room for a letter's time and digest.
        lines: what of the signature is on each line.
    """

    start: bytes
    lines: tuple[slice, ...]


@lru_cache(maxsize=100)
def _field_of(domain: bytes, key: Key, names: tuple[bytes, ...]) -> _Field:
    """Has dkimpy make and fold it once for all letters with these fields."""
    import dkim
    from dkim.canonicalization import Relaxed

    tags = [  # RFC 6376 section 3.5
        (b"v", b"1"),
        (b"a", _ALGORITHMS[key.kind]),
        (b"c", b"relaxed/relaxed"),
        (b"d", domain),
        (b"i", b"@" + domain),
        (b"q", b"dns/txt"),
        (b"s", key.selector.encode()),
        (b"t", _TIME),
        (b"h", b" : ".join(names)),
        (b"bh", _HASH),
        (b"b", _TO_COME),
    ]
    signing = dkim.DKIM(signature_algorithm=_BY_KEY)
    signing.hasher = sha256
    value = signing.gen_header(tags, names, Relaxed, b"DKIM-Signature", key)
    start, tag, signature = value.partition(b" b=")
    ends = accumulate(map(len, signature.split()), initial=0)
    return _Field(start + tag, tuple(slice(*one) for one in pairwise(ends)))


def relaxed(body: bytes) -> bytes:
    """RFC 6376 section 3.4.4: a run of blanks is one, none ends a line, no empty lines end it all.
    As dkimpy does it, in a tenth of its time."""
    from dkim.canonicalization import correct_empty_body, strip_trailing_lines

    body = body.replace(b"\t", b" ")
    # HTML, which comes last and is most of it, has neither.
    end = max(body.rfind(b"  "), body.rfind(b" \r\n")) + 3
    body = _RUN.sub(b" ", body[:end]).replace(b" \r\n", b"\r\n") + body[end:]
    found: bytes = correct_empty_body(strip_trailing_lines(body))
    return found


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
