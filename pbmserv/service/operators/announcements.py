"""The deed that announces something to all players (see `service.schedule.announcer`)."""

from __future__ import annotations

import hashlib

from pbmserv.errors import OperatorError
from pbmserv.service.core.context import CommandContext
from pbmserv.service.operators.deeds import Deed, Signature
from pbmserv.store import announcements

LONGEST_TITLE = 150
LONGEST_TEXT = 20_000
"""Characters."""


def announce(
    context: CommandContext, _: Signature, title: str, text: str, *, is_service: bool
) -> Deed:
    """Add an announcement; play sends its letters.

    Raises:
        OperatorError: a part is empty or too long, or the same was announced before.
    """
    title, text = " ".join(title.split()), text.strip()
    if not title or not text:
        raise OperatorError("the first line is the subject, and the text follows below it")
    if len(title) > LONGEST_TITLE or len(text) > LONGEST_TEXT:
        raise OperatorError(
            f"a subject has at most {LONGEST_TITLE} characters, and a text {LONGEST_TEXT:,}"
        )
    digest = hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()
    earlier = announcements.by_digest(context.connection, digest)
    if earlier is not None:
        progress = "all letters are queued" if earlier.finished_at else "the others follow"
        raise OperatorError(
            f"this was announced on {earlier.created_at:%Y-%m-%d %H:%M} UTC: "
            f"{earlier.sent} letters so far, {progress}"
        )
    readers = announcements.count_readers(context.connection, is_service=is_service)
    number = announcements.add(
        context.connection, digest, title, text, context.now, is_service=is_service
    )
    facts = {"title": title, "service": is_service, "readers": readers}
    summary = (
        f"Announcement {number} goes to {readers} players, three a second while the server runs."
    )
    return Deed("announce", f"announcement {number}", summary, (), facts)
