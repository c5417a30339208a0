"""What kind of news a letter is: whether it can wait for a digest, and what could end it."""

from __future__ import annotations

CAN_WAIT = frozenset(
    {
        "board",
        "chat",
        "challenge",
        "started",
        "message",
        "declined",
        "followed",
        "unanswered",
    }
)
"""Letters that go into a digest; results, reminders and all answers are sent at once."""

_BROUGHT_BY = {
    "tray": "digest",
    "broadcast": "broadcasts",
    "challenge": "challenges",
    "reminder": "reminders",
    "followed": "follow",
    "daily": "daily",
}


def brought_by(letter: str) -> str:
    """What a reader would end to get no more letters of this kind; ``""``: it is an answer.

    ``digest``, ``broadcasts``, ``challenges``, ``reminders``, ``follow``, ``daily``, or
    ``single``: news of one's own boards, which can come once a day instead.
    """
    return _BROUGHT_BY.get(letter) or ("single" if letter in CAN_WAIT else "")


def can_be_ended(letter: str, remind: str, digest_minute: int | None) -> bool:
    """Whether a letter carries a List-Unsubscribe for its reader.

    Args:
        remind: the reader's preference; without reminders of one's own only the one before a
            forfeit comes, which nobody can do without.
        digest_minute: when the reader's digest comes; with one, single letters are answers.
    """
    what = brought_by(letter)
    if what == "reminders":
        return bool(remind)
    return bool(what) and (what != "single" or digest_minute is None)
