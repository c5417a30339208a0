"""The log lines of SMTP refusals, without the words of clients."""

from __future__ import annotations

import logging
import re

from pbmserv.mail.networks import block_name
from pbmserv.monitoring.metrics import count_refusal

log = logging.getLogger("pbmserv.receive")

_QUOTED = re.compile(r"[\"'<].*")


def note_refusal(event: str, peer: str, reply: str) -> None:
    """Log and count an SMTP refusal.

    Args:
        peer: the client's network address.
        reply: with its code.
    """
    count_refusal(reply)
    log.info(event, extra={"network": block_name(peer) or "unknown", "because": _safe(reply)})


def _safe(reply: str) -> str:
    """Return the first line of a reply without quotations of the client."""
    return _QUOTED.sub("", reply.partition("\r\n")[0]).strip()
