"""The text of a file that travels with a mail, for the few commands that ask for one."""

from __future__ import annotations

from email import message_from_bytes
from email.message import Message

MOST_PARTS = 100
LONGEST = 200_000
"""Characters of a file that are looked at."""


def attached_text(raw: bytes, mark: str) -> str:
    """The first attached text in which a line begins with *mark*, "" if there is none.

    The standard library's parser will do: a mail is at most 1 MiB, has been read by our own
    before, and whatever this one stumbles over means that there is no such file.
    """
    try:
        parts = list(zip(message_from_bytes(raw).walk(), range(MOST_PARTS), strict=False))
        for part, _ in parts:
            text = _text(part)
            if any(line.startswith(mark) for line in text.splitlines()):
                return text
    except Exception:  # noqa: BLE001 - bugs.python.org is full of mails it cannot read
        return ""
    return ""


def _text(part: Message) -> str:
    if part.is_multipart() or part.get_filename() is None:
        return ""
    octets = part.get_payload(decode=True)
    return octets.decode("utf-8", "replace")[:LONGEST] if isinstance(octets, bytes) else ""
