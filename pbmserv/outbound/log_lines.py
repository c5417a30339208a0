"""The log lines of letters, without the addresses that relays quote in their replies."""

from __future__ import annotations

import logging
import re
from datetime import timedelta
from typing import Literal

from pbmserv.monitoring import metrics
from pbmserv.store.delivery.outbox import QueuedLetter

_log = logging.getLogger("pbmserv.send")


def log_letter(
    row: QueuedLetter,
    outcome: Literal["sent", "waits", "refused"],
    error: str,
    wait: timedelta | None = None,
) -> None:
    """Log and count the result of an attempt.

    Args:
        error: the relay's reply or our own error. Of a reply only the code is logged, since mail
            servers quote addresses.
        wait: time until the next attempt.
    """
    metrics.LETTERS.labels(outcome).inc()
    if not _log.isEnabledFor(logging.INFO):
        return
    facts: dict[str, object] = {"letter": row.id, "outcome": outcome}
    origin = {"kind": row.letter, "mail": row.mail_id, "board": row.board_id, "ply": row.ply}
    facts |= {key: value for key, value in origin.items() if value not in {None, ""}}
    facts["domain"] = row.recipient.rpartition("@")[2].lower()
    facts["attempts"] = row.attempts + 1
    if error:
        facts["why"] = loggable_reply(error)
    if wait is not None:
        facts["wait_s"] = round(wait.total_seconds())
    _log.info("letter", extra=facts)


_CODE = re.compile(r"\b[245]\d\d\b(?:[ -]\d\.\d{1,3}\.\d{1,3})?")
_ADDRESS = re.compile(r"(?<!\S)\S*@\S*")


def loggable_reply(reply: str) -> str:
    """Return the code of a relay's reply, whose text may quote addresses."""
    code = _CODE.search(reply)
    return code[0] if code else without_addresses(reply)


def without_addresses(text: str) -> str:
    """Replace every word that contains an @."""
    return _ADDRESS.sub("…", text)
