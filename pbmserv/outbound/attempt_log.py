"""One line of the log for each attempt to send a letter, in numbers and the recipient's domain."""

from __future__ import annotations

import logging
import re
from datetime import timedelta
from typing import Literal

from pbmserv.monitoring import metrics
from pbmserv.outbound.outbox import ClaimedLetter

_log = logging.getLogger("pbmserv.send")

_CODE = re.compile(r"\b[245]\d\d\b(?:[ -]\d\.\d{1,3}\.\d{1,3})?")
_ANGLED = re.compile(r"\S*@\S*")


def note_letter(
    row: ClaimedLetter,
    domain: str,
    outcome: Literal["sent", "waits", "refused"],
    error: str,
    wait: timedelta | None = None,
) -> None:
    """Log and count what became of a letter.

    Args:
        domain: of the recipient; ``""`` before the letter is made.
        error: the relay's words or ours; a reply is told by its code alone, since mail servers
            quote addresses.
        wait: until the next attempt.
    """
    metrics.LETTERS.labels(outcome).inc()
    if not _log.isEnabledFor(logging.INFO):
        return
    facts: dict[str, object] = {"letter": row.id, "outcome": outcome}
    known = {"kind": row.kind, "mail": row.mail_id, "board": row.board_id, "ply": row.ply}
    facts |= {key: value for key, value in known.items() if value not in {None, ""}}
    if domain:
        facts["domain"] = domain
    facts["attempts"] = row.attempts + 1
    if error:
        found = _CODE.search(error)
        facts["why"] = found[0] if found else _ANGLED.sub("…", error)
    if wait is not None:
        facts["wait_s"] = round(wait.total_seconds())
    _log.info("letter", extra=facts)
