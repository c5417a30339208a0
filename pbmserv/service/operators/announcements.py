"""Deeds that announce something to all players, stop that, and let it go on.

`service.schedule.announcer` sends the letters.
"""

from __future__ import annotations

import hashlib

from pbmserv.errors import OperatorError
from pbmserv.plurals import counted
from pbmserv.service.core.context import CommandContext
from pbmserv.service.operators.deeds import Deed, Signature
from pbmserv.store import announcements
from pbmserv.store.announcements import Announcement
from pbmserv.store.operators import letters
from pbmserv.store.tables.mail import LetterState

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
        raise OperatorError(
            f"this was announced on {earlier.created_at:%Y-%m-%d %H:%M} UTC as number "
            f"{earlier.id}: {counted(earlier.sent, 'letter')} so far; {progress(earlier)}"
        )
    readers = announcements.count_readers(context.connection, is_service=is_service)
    number = announcements.add(
        context.connection, digest, title, text, context.now, is_service=is_service
    )
    facts = {"title": title, "service": is_service, "readers": readers}
    summary = (
        f"Announcement {number} goes to {counted(readers, 'player')}, three a second while the "
        "server runs."
    )
    return Deed("announce", f"announcement {number}", summary, (), facts)


def progress(announcement: Announcement) -> str:
    """Return how an announcement goes on, in words."""
    if announcement.is_stopped:
        return "it is stopped"
    return "all letters are queued" if announcement.finished_at else "the others follow"


def listed(context: CommandContext, most: int) -> list[Announcement]:
    """Return announcements, newest first."""
    return announcements.newest(context.connection, most)


def stop(context: CommandContext, _: Signature, number: int) -> Deed:
    """Stop an announcement: no more letters are queued, and queued ones are held.

    Raises:
        OperatorError: there is no such announcement, or all of its letters are sent.
    """
    announcement = _lock(context, number)
    waiting = announcements.letters_of(context.connection, announcement, LetterState.QUEUED)
    if announcement.finished_at is not None and not waiting:
        why = "is stopped already" if announcement.is_stopped else "is sent to everybody"
        raise OperatorError(f"announcement {number} {why}")
    if announcement.finished_at is None:
        announcements.set_finished(context.connection, number, context.now)
    for letter in waiting:
        letters.set_state(context.connection, letter, LetterState.HELD, None, "stopped")
    sent = announcement.sent - len(waiting)
    gone = counted(sent, "letter is", "letters are")
    held = counted(len(waiting), "that waited is", "that waited are")
    summary = (
        f"Announcement {number} is stopped. {gone} sent or on their way, and {held} held; "
        f"`pbmserv announcement resume {number}` goes on."
    )
    facts = {"sent": sent, "held": len(waiting)}
    return Deed("stop", f"announcement {number}", summary, (), facts)


def resume(context: CommandContext, _: Signature, number: int) -> Deed:
    """Let a stopped announcement go on where it was stopped.

    Raises:
        OperatorError: there is no such announcement, or it is not stopped.
    """
    announcement = _lock(context, number)
    held = announcements.letters_of(context.connection, announcement, LetterState.HELD)
    if not announcement.is_stopped and not held:
        raise OperatorError(f"announcement {number} is not stopped; {progress(announcement)}")
    if announcement.is_stopped:
        announcements.set_finished(context.connection, number, None)
    for letter in held:
        letters.set_state(context.connection, letter, LetterState.QUEUED, context.now, "")
    sent = counted(announcement.sent, "letter")
    summary = f"Announcement {number} goes on behind its {sent}, three a second."
    return Deed("resume", f"announcement {number}", summary, (), {"released": len(held)})


def _lock(context: CommandContext, number: int) -> Announcement:
    announcement = announcements.lock(context.connection, number)
    if announcement is None:
        raise OperatorError(
            f"there is no announcement {number}; `pbmserv announcement list` shows them"
        )
    return announcement
