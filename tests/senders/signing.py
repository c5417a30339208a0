"""Mails signed by domains, and zones that publish their keys."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import cache

import dkim
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from dns_zone import Zone
from indoors import Indoors, Posted, address_of

DOMAIN = "players.example"
USUAL = ("from", "to", "subject", "date", "message-id", "mime-version", "content-type", "from")


@dataclass(frozen=True)
class Key:
    """A signing key for dkimpy, and its record."""

    algorithm: bytes
    private: bytes
    record: str


@cache
def ed25519_key(number: int = 0) -> Key:
    key = ed25519.Ed25519PrivateKey.from_private_bytes(bytes([number + 1]) * 32)
    public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return Key(
        b"ed25519-sha256",
        base64.b64encode(bytes([number + 1]) * 32),
        f"v=DKIM1; k=ed25519; p={base64.b64encode(public).decode()}",
    )


@cache
def rsa_key(bits: int = 1024) -> Key:
    key = rsa.generate_private_key(65537, bits)
    public = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return Key(
        b"rsa-sha256",
        key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()),
        f"v=DKIM1; k=rsa; p={base64.b64encode(public).decode()}",
    )


def publish(zone: Zone, domain: str, key: Key | None = None, selector: str = "s1") -> None:
    """Add a key to a zone."""
    zone.add_txt(f"{selector}._domainkey.{domain}", (key or ed25519_key()).record)


def signed(
    raw: bytes,
    domain: str,
    key: Key | None = None,
    *,
    selector: str = "s1",
    names: tuple[str, ...] = USUAL,
    length: bool = False,
) -> bytes:
    """Return the mail with a signature of *domain* on top; absent fields are oversigned."""
    key = key or ed25519_key()
    field = dkim.sign(
        raw,
        selector.encode(),
        domain.encode(),
        key.private,
        signature_algorithm=key.algorithm,
        canonicalize=(b"relaxed", b"relaxed"),
        include_headers=[name.encode() for name in names],
        length=length,
    )
    return field + raw


def sealed(
    raw: bytes,
    domain: str,
    results: str,
    key: Key | None = None,
    *,
    names: tuple[str, ...] = USUAL,
) -> bytes:
    """Return the mail with a set of ARC fields on top (RSA only), as forwarders do."""
    key = key or rsa_key()
    raw = f"Authentication-Results: {domain}; {results}\r\n".encode() + raw
    forwarder = dkim.ARC(raw)
    forwarder.should_not_sign = set()  # forwarders do cover the signatures that they saw
    fields = forwarder.sign(
        b"arc",
        domain.encode(),
        key.private,
        domain.encode(),
        include_headers=[name.encode() for name in names],
    )
    assert fields
    return b"".join(fields) + raw


def writes(
    house: Indoors, who: str, subject: str, body: str = "", *, sign: bool = True, to: str = ""
) -> list[Posted]:
    """Return a mail of a player or an address, signed by the players' domain."""
    house.mails += 1
    to = to or house.server.mail_domain.address
    sender = who if "@" in who else address_of(who)
    raw = (
        f"From: {sender}\r\nTo: {to}\r\nSubject: {subject}\r\n"
        f"Message-ID: <{house.mails}@{DOMAIN}>\r\nContent-Type: text/plain\r\n\r\n{body}\r\n"
    ).encode()
    return house.send_raw(sender, signed(raw, DOMAIN) if sign else raw, to)
