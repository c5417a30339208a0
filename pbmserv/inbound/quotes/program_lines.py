"""Recognises lines that mail programs add below a mail.

    Sent from my iPhone
    Get Outlook for Android<https://aka.ms/AAb9ysg>
    Diese Nachricht wurde von meinem Android Mobiltelefon mit GMX Mail gesendet.

People write such lines, too: "Sent from my phone, so no drawing today". Therefore a line is `SURE`
only if it is short and names a device or program that people do not name. A line that is `MAYBE` a
program's counts as a person's words if other words follow below it.
"""

from __future__ import annotations

import re

from pbmserv.inbound.quotes.program_phrases import (
    ADVERTISED,
    DEVICE_WORDS,
    DEVICES,
    PROGRAM_LINES,
    SENT_FROM,
    SENT_FROM_TAILS,
)

SURE, MAYBE = "sure", "maybe"
"""Certainty that a program wrote a line."""

_LOOKED_AT = 1_000
_LONGEST_LINE = 120
"""Characters of such a line without its links."""
_MOST_WORDS = 10
"""Words of a line that names a device; a longer one may be a person's."""
_FEWEST_WORDS, _MOST_WORDS_WITHOUT_DEVICE = 3, 6
"""Words of a line that names an unknown device: "Sent from my SM-G991B"."""

_LONGEST_LINK = 600
_LINK = re.compile(r"\]?[(<\[]?(?:https?://|www\.)[^\s<>]{1,500}[)>\]]?")
"""A link, in brackets or not: "<https://aka.ms/o0ukef>", "[www.mail.example]"."""

_SAYS_MORE = re.compile(r"[,;!?]|:(?!//)")
"""A sign of a second clause: "Sent from my phone, so no drawing today"."""


def program_line(folded: str) -> str:
    """Return the certainty that a mail program added a line.

    Args:
        folded: the line without blanks around it, casefolded.

    Returns:
        `SURE` for lines like "Sent from my iPhone", `MAYBE` for a line that a person could also
        write, ``""`` for a person's words.
    """
    text = _LINK.sub(" ", folded[:_LOOKED_AT]).strip(" []()<>*_")
    if not text or len(text) > _LONGEST_LINE:
        return ""
    if text.startswith(PROGRAM_LINES):
        return MAYBE
    if _is_advertisement(text):
        return _certainty_of_known(text)
    begins = text.startswith(SENT_FROM)
    if not begins and not text.endswith(SENT_FROM_TAILS):
        return ""
    if any(device in text for device in DEVICES):
        return _certainty_of_known(text)
    if any(word in text for word in DEVICE_WORDS):
        return MAYBE
    is_short = _FEWEST_WORDS <= len(text.split()) <= _MOST_WORDS_WITHOUT_DEVICE
    return MAYBE if begins and is_short and not _SAYS_MORE.search(text) else ""


def _is_advertisement(text: str) -> bool:
    """Return whether a line advertises a mail program, as "Get Outlook for iOS" does."""
    return any(
        program in text and any(system in text for system in systems)
        for program, systems in ADVERTISED
    )


def _certainty_of_known(text: str) -> str:
    """Return the certainty for a line that names a device or program as people do not."""
    return MAYBE if _SAYS_MORE.search(text) or len(text.split()) > _MOST_WORDS else SURE


def is_link(shown: str) -> bool:
    """Return whether a line is a link and nothing else."""
    return len(shown) <= _LONGEST_LINK and _LINK.fullmatch(shown) is not None
