"""Signs letters for our domain (DKIM, RFC 6376; Ed25519: RFC 8463).

Every key signs a letter: receivers that do not know Ed25519 verify the RSA signature.
"""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Sequence
from hashlib import sha256

from pbmserv.outbound.dkim_keys import Key

SIGNED = (
    *("from", "to", "subject", "date", "message-id", "reply-to", "in-reply-to"),
    *("references", "mime-version", "content-type", "content-transfer-encoding"),
    *("auto-submitted", "list-id", "list-unsubscribe", "list-unsubscribe-post"),
    *("feedback-id", "pbmserv-record"),
)
"""Fields that a signature covers. RFC 8058 section 4 requires both List-Unsubscribe fields."""

SEALED = (
    *("from", "to", "cc", "subject", "date", "message-id", "reply-to", "content-type"),
    "pbmserv-record",
)
"""Fields that ``h=`` names once more than they occur, so that none can be added (section 8.15)."""

_ALGORITHMS = {"rsa": "rsa-sha256", "ed25519": "ed25519-sha256"}
_BLANKS = re.compile(rb"[ \t]+")
_END_OF_FIELD = re.compile(rb"\r\n(?![ \t])")


class Signer:
    """Signs letters for one domain with any number of keys.

    Attributes:
        keys: another thread may replace the whole sequence while letters are signed.
    """

    def __init__(self, domain: str, keys: Sequence[Key]) -> None:
        self._domain = domain
        self.keys = keys

    def signed(self, raw: bytes) -> bytes:
        """Return the letter with one DKIM-Signature field for each key on top."""
        head, _, body = raw.partition(b"\r\n\r\n")
        names, covered = _covered(head)
        digest = base64.b64encode(sha256(relaxed_body(body)).digest()).decode()
        now = int(time.time())
        signatures = [self._signature(key, names, covered, digest, now) for key in self.keys]
        return b"".join([*signatures, raw])

    def _signature(
        self, key: Key, names: Sequence[str], covered: bytes, digest: str, now: int
    ) -> bytes:
        """Return one field (RFC 6376 section 3.5); it also covers itself, with an empty b= tag."""
        unsigned = (
            f"DKIM-Signature: v=1; a={_ALGORITHMS[key.kind]}; c=relaxed/relaxed;\r\n"
            f" d={self._domain}; s={key.selector}; t={now};\r\n"
            f" h={_folded(names)};\r\n"
            f" bh={digest};\r\n"
            " b="
        ).encode()
        hashed = sha256(covered + _relaxed_field(unsigned))
        signature = base64.b64encode(key.sign(hashed.digest())).decode()
        lines = [signature[at : at + 72] for at in range(0, len(signature), 72)]
        return unsigned + "\r\n ".join(lines).encode() + b"\r\n"


def _covered(head: bytes) -> tuple[list[str], bytes]:
    """Return the names of the fields that a signature covers, and their canonical octets."""
    values: dict[str, list[bytes]] = {}
    for line in _END_OF_FIELD.split(head):
        name = line.partition(b":")[0].strip().lower().decode("ascii", "replace")
        values.setdefault(name, []).append(_relaxed_field(line))
    names = [*(name for name in SIGNED for _ in values.get(name, ())), *SEALED]
    # RFC 6376 section 5.4.2: fields of the same name are signed from the last to the first.
    lines = [values[name].pop() for name in names if values.get(name)]
    return names, b"".join(line + b"\r\n" for line in lines)


def _relaxed_field(line: bytes) -> bytes:
    """Return a field in relaxed form (RFC 6376 section 3.4.2), without its line end."""
    name, _, value = line.partition(b":")
    return name.strip().lower() + b":" + b" ".join(value.split())


def relaxed_body(body: bytes) -> bytes:
    """Return a body in relaxed form (RFC 6376 section 3.4.4).

    Runs of blanks become one blank; blanks at the end of lines and empty lines at the end of the
    body are removed.
    """
    lines = [_BLANKS.sub(b" ", line).rstrip(b" ") for line in body.split(b"\r\n")]
    while lines and not lines[-1]:
        lines.pop()
    return b"".join(line + b"\r\n" for line in lines)


def _folded(names: Sequence[str]) -> str:
    """Return names of fields with colons between them, and a line break after every sixth."""
    lines = [":".join(names[at : at + 6]) for at in range(0, len(names), 6)]
    return ":\r\n ".join(lines)
