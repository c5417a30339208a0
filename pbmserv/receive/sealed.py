"""Mails in S/MIME and PGP envelopes: what can be read of them, and which cannot be.

Signatures are not checked here: who speaks is decided by passwords and reply addresses.
"""

from __future__ import annotations

import re
from importlib import import_module

from pbmserv.receive.headers import ContentType

ENCRYPTED = "encrypted"
"""Why a mail cannot be read: it is encrypted, and this server has no key."""
OPAQUE = "opaque"
"""Why a mail cannot be read: an S/MIME wrapper that holds nothing that could be taken out."""

_SMIME = frozenset(("application/pkcs7-mime", "application/x-pkcs7-mime"))
_PGP = frozenset(("multipart/encrypted", "application/pgp-encrypted"))
_ARMOUR = re.compile(r"\s*-----BEGIN PGP MESSAGE-----")
_LINE_END = re.compile(rb"\r\n|\r|\n")
_LARGEST_WRAPPER = 512 * 1024
"""Octets of a wrapper that are looked into; a reply that is only text has a hundredth of it."""


def is_smime(kind: ContentType) -> bool:
    """Whether a part is a PKCS #7 object (RFC 8551 section 3.2)."""
    return kind.kind in _SMIME


def is_pgp_encrypted(kind: ContentType) -> bool:
    """Whether a part is encrypted by PGP/MIME (RFC 3156 section 4).

    Some servers turn ``multipart/encrypted`` into ``multipart/mixed``; its first part stays.
    """
    return kind.kind in _PGP


def has_armour(text: str) -> bool:
    """Whether the text of a mail is one encrypted message (RFC 9580 section 6.2)."""
    return _ARMOUR.match(text) is not None


def signed_entity(kind: ContentType, octets: bytes) -> bytes | str:
    """The MIME entity in a signed-data object, with CRLF lines; else why it cannot be read.

    Never raises.
    """
    if "enveloped" in kind.param("smime-type"):
        return ENCRYPTED
    if len(octets) > _LARGEST_WRAPPER:
        return OPAQUE
    # Imported here because hardly any mail needs it.
    cms = import_module("asn1crypto.cms")
    try:
        outer = cms.ContentInfo.load(octets)
        form = outer["content_type"].native
        if "enveloped" in form or "encrypted" in form:
            return ENCRYPTED
        if form != "signed_data":
            return OPAQUE
        content = outer["content"]["encap_content_info"]["content"].native
    except Exception:  # noqa: BLE001 - a parser of strangers' octets; none of it may get out
        return OPAQUE
    return _LINE_END.sub(b"\r\n", content) if isinstance(content, bytes) and content else OPAQUE
