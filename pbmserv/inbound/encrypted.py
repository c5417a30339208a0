"""Media types of encrypted and opaque mail parts, which cannot be read.

Clear-signed mails are read like any other. Their signatures are not verified, because passwords and
reply addresses prove the player.
"""

from __future__ import annotations

ENCRYPTED = "encrypted"
"""The mail is encrypted, and this server has no key."""
OPAQUE = "opaque"
"""The mail is an S/MIME object, signed or encrypted as a whole; it has no text part."""

SMIME = frozenset(("application/pkcs7-mime", "application/x-pkcs7-mime"))
"""Types of parts that are a PKCS #7 object (RFC 8551 section 3.2)."""
PGP_ENCRYPTED = frozenset(("multipart/encrypted", "application/pgp-encrypted"))
"""Types of parts of PGP/MIME (RFC 3156 section 4). Some servers rewrite the first type to
``multipart/mixed``; the second one, that of its first part, stays."""
