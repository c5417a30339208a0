"""Mails in S/MIME and PGP envelopes: what can be read of them, and which cannot be.

Signatures are not checked here: who speaks is decided by passwords and reply addresses.
"""

from __future__ import annotations

import re

from pbmserv.inbound.headers import ContentType

ENCRYPTED = "encrypted"
"""Why a mail cannot be read: it is encrypted, and this server has no key."""
OPAQUE = "opaque"
"""Why a mail cannot be read: an S/MIME wrapper that holds nothing that could be taken out."""

SMIME = frozenset(("application/pkcs7-mime", "application/x-pkcs7-mime"))
"""Kinds of parts that are a PKCS #7 object (RFC 8551 section 3.2)."""
PGP_ENCRYPTED = frozenset(("multipart/encrypted", "application/pgp-encrypted"))
"""Kinds of parts that are encrypted by PGP/MIME (RFC 3156 section 4). Some servers turn the first
one into ``multipart/mixed``; the second one, its first part, stays."""

_LINE_END = re.compile(rb"\r\n|\r|\n")
_LARGEST_WRAPPER = 512 * 1024
"""Octets of a wrapper that are looked into; a reply that is only text has a hundredth of it."""

# X.690: tags of what stands on the way to what was signed, and the bits beside them.
_END, _OCTETS, _OID, _SEQUENCE, _FIRST, _HOLDS = 0x00, 0x04, 0x06, 0x10, 0x80, 0x20
_LONG_TAG = 0x1F
_NO_SIZE, _LONGEST_SIZE = 0x80, 0x84

# RFC 5652 sections 5.1, 6.1 and 8, PKCS #7 (RFC 2315) section 11 and RFC 5083 section 2,
# as they are encoded.
_PKCS7 = bytes.fromhex("2a864886f70d0107")
_SIGNED_DATA = _PKCS7 + b"\x02"
_SECRET_DATA = frozenset(
    (
        _PKCS7 + b"\x03",
        _PKCS7 + b"\x04",
        _PKCS7 + b"\x06",
        bytes.fromhex("2a864886f70d010910010117"),
    )
)


def signed_entity(kind: ContentType, octets: bytes) -> bytes | str:
    """The MIME entity in a signed-data object, with CRLF lines; else why it cannot be read.

    Never raises.
    """
    if "enveloped" in kind.param("smime-type"):
        return ENCRYPTED
    if len(octets) > _LARGEST_WRAPPER:
        return OPAQUE
    try:
        content = _signed(octets)
    except Exception:  # noqa: BLE001 - a parser of strangers' octets; none of it may get out
        return OPAQUE
    if isinstance(content, str):
        return content
    return _LINE_END.sub(b"\r\n", content) if content else OPAQUE


def _signed(octets: bytes) -> bytes | str:
    """What signed-data holds (RFC 5652 sections 3, 5.1 and 5.2), or why there is nothing."""
    reader = _Reader(octets)
    reader.enter(_SEQUENCE)  # ContentInfo
    form = reader.string(_OID)
    if form in _SECRET_DATA:
        return ENCRYPTED
    if form != _SIGNED_DATA:
        return OPAQUE
    reader.enter(_FIRST)
    reader.enter(_SEQUENCE)  # SignedData
    reader.skip()  # its version
    reader.skip()  # the algorithms
    reader.enter(_SEQUENCE)  # EncapsulatedContentInfo
    reader.skip()  # its type
    reader.enter(_FIRST)
    return reader.string(_OCTETS)


class _Reader:
    """A place in octets that are encoded by BER (X.690), which goes only forward.

    Whatever it meets it steps over once and never counts together: libraries make numbers
    of tags and object identifiers, and those may have a million digits.

    Every method raises ValueError or IndexError where the octets are not as they must be.
    """

    def __init__(self, octets: bytes) -> None:
        self._octets = octets
        self._at = 0

    def enter(self, tag: int) -> None:
        """Go to the first value in the one that stands here."""
        found, _ = self._head()
        if found != tag | _HOLDS:
            raise ValueError(f"{found} in the place of {tag}")

    def skip(self) -> None:
        """Go behind the value that stands here."""
        depth = 0
        while True:
            found, size = self._head()
            if size is None:
                depth += 1
            elif found == _END and not size:
                depth -= 1
            else:
                self._at += size
            if depth <= 0:
                return

    def string(self, tag: int) -> bytes:
        """The octets of the value that stands here, which may come in pieces (section 8.7)."""
        found, size = self._head()
        if found == tag:
            return self._take(size)
        if found != tag | _HOLDS:
            raise ValueError(f"{found} in the place of {tag}")
        end = len(self._octets) if size is None else self._at + size
        pieces = []
        while self._at < end:
            found, size = self._head()
            if found != tag:  # the end, or pieces in pieces, which nobody writes
                break
            pieces.append(self._take(size))
        return b"".join(pieces)

    def _head(self) -> tuple[int, int | None]:
        """Tag and length of the value here; no length where a mark ends it (section 8.1)."""
        tag, size = self._octets[self._at : self._at + 2]
        self._at += 2
        if tag & _LONG_TAG == _LONG_TAG or size > _LONGEST_SIZE:
            raise ValueError("nothing like this stands in signed data")
        if size == _NO_SIZE:
            return tag, None
        if size > _NO_SIZE:
            return tag, int.from_bytes(self._take(size - _NO_SIZE))
        return tag, size

    def _take(self, size: int | None) -> bytes:
        if size is None or self._at + size > len(self._octets):
            raise ValueError("a value without its end")
        self._at += size
        return self._octets[self._at - size : self._at]
