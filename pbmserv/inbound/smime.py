"""Names the kinds of mail parts that are wrapped as a whole, and why they cannot be read.

Clear-signed mails are read like any other; their signatures are not checked, since passwords and
reply addresses decide who speaks.
"""

from __future__ import annotations

ENCRYPTED = "encrypted"
"""The mail is encrypted, and this server has no key."""
OPAQUE = "opaque"
"""The mail is an S/MIME object, signed or encrypted as a whole; it has no text part."""

SMIME = frozenset(("application/pkcs7-mime", "application/x-pkcs7-mime"))
"""Types of parts that are a PKCS #7 object (RFC 8551 section 3.2)."""
PGP_ENCRYPTED = frozenset(("multipart/encrypted", "application/pgp-encrypted"))
"""Types of parts that PGP/MIME encrypts (RFC 3156 section 4). Some servers turn the first one into
``multipart/mixed``; the second one, its first part, stays."""
