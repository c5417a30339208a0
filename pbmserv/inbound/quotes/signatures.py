"""Recognises unmarked signatures: lines that mail programs add, and lines with a phone number.

A line that only looks like one counts as a person's words if other words follow below it.
"""
# ruff: noqa: RUF001 - letters of other alphabets are meant

from __future__ import annotations

import re
from collections.abc import Sequence

from pbmserv.commands.table.catalogue import BY_NAME, IN_REPLY
from pbmserv.inbound.quotes.line_signs import is_closing
from pbmserv.inbound.quotes.signature_phrases import (
    ADVERTISED,
    DEVICE_WORDS,
    DEVICES,
    PROGRAM_LINES,
    SENT_FROM,
    SENT_FROM_TAILS,
)

SURE, MAYBE = "sure", "maybe"
"""Certainty that a program wrote a line."""

_LONGEST_LINE = 120
_MOST_WORDS = 10
_FEWEST_WORDS, _MOST_WORDS_WITHOUT_DEVICE = 3, 6
_LINK = re.compile(r"\]?[(<\[]?(?:https?://|www\.)[^\s<>]{1,500}[)>\]]?")
_SAYS_MORE = re.compile(r"[,;!?]|:(?!//)")


def program_line(folded: str) -> str:
    """Return the certainty that a mail program added a line.

    Args:
        folded: the line without blanks around it, casefolded.

    Returns:
        `SURE` for lines like "Sent from my iPhone", `MAYBE` for a line that a person could also
        write, ``""`` for a person's words.
    """
    text = _LINK.sub(" ", folded[:1000]).strip(" []()<>*_")
    if not text or len(text) > _LONGEST_LINE:
        return ""
    if text.startswith(PROGRAM_LINES):
        return MAYBE
    words = len(text.split())
    says_more = _SAYS_MORE.search(text) is not None
    for name, places in ADVERTISED:
        if name in text and any(place in text for place in places):
            return MAYBE if says_more or words > _MOST_WORDS else SURE
    begins, ends = text.startswith(SENT_FROM), text.endswith(SENT_FROM_TAILS)
    if not (begins or ends):
        return ""
    if any(device in text for device in DEVICES):
        return MAYBE if says_more or words > _MOST_WORDS else SURE
    if any(word in text for word in DEVICE_WORDS):
        return MAYBE
    is_short = _FEWEST_WORDS <= words <= _MOST_WORDS_WITHOUT_DEVICE
    return MAYBE if begins and is_short and not says_more else ""


def is_link(shown: str) -> bool:
    """Return whether a line is a link and nothing else."""
    return len(shown) <= 600 and _LINK.fullmatch(shown) is not None


# -- signatures of people ----------------------------------------------------------------------


_MOST_LINES = 8
_LONGEST_SIGNED = 80
_MOST_SIGNED_WORDS = 9

_LABEL = (
    r"(?:telefon[eo]?|telephone|teléfono|téléphone|tel|tél|phone|ph|mobile?|mobil(?:telefon|tlf)?"
    r"|mob|cellulare|celular|cell?|fax|handy|m[óo]vil|telem[óo]vel|gsm|puh|tlf|office|direct|home"
    r"|work|whatsapp|[tmpf]|телефон|тел|моб|電話|电话|手机|手機|携帯|전화|휴대폰|τηλ)"
)
_DIGITS = r"[0-9][0-9 ()/.\u00a0\u2010-\u2013-]{5,24}[0-9]"
_LABELS = rf"{_LABEL}[.:：]{{0,2}} {{0,3}}(?:[/,&] {{0,2}}{_LABEL}[.:]{{0,2}} {{0,3}})?"
_LABELLED = re.compile(rf"{_LABELS}[+(]{{0,2}}{_DIGITS}", re.IGNORECASE)
_NUMBER = re.compile(
    rf"(?:\+\(?|\(?0|\([0-9]){_DIGITS}|\(?[0-9]{{3}}\)?[-. ][0-9]{{3}}[-. ][0-9]{{4}}"
)
_DATE = re.compile(r"[0-9]{1,2}[./-][0-9]{1,2}[./-](?:[0-9]{2}){1,2}")
_BETWEEN_PIECES = re.compile(r" ?[|·•] ?| [-–/] |, | (?=(?:tel|fax|mob)[.:a-z ])", re.IGNORECASE)
_COMMANDS = frozenset(name.split()[0] for name in (*BY_NAME, *IN_REPLY, "no"))
_WORD = re.compile(r"[^\W\d_]+")
_SENTENCE = re.compile(r"[!?]|[^\W\d_]{4}\. |:\s*\Z")
_NAME = re.compile(r"[^\W\d_][^\d\s!?:;@,]{0,30}(?: [^\W\d_][^\d\s!?:;@,]{0,30}){0,4}")


def lines_of_signature(lines: Sequence[str]) -> int:
    """Count the lines of a signature with a phone number at the end of a text.

    It is the last paragraph, with a goodbye and a name above it, but never the only paragraph. A
    number in a sentence, and a number alone, are a person's words.

    Args:
        lines: the text without blanks at the ends of its lines; the last one is not blank.
    """
    start = len(lines)
    while start and lines[start - 1].strip() and len(lines) - start <= _MOST_LINES:
        start -= 1
    block = [line.strip() for line in lines[start:]]
    if not _is_signature(block):  # its upper lines may be words
        starts = [at for at in range(1, len(block)) if _is_signature(block[at:], needs_name=True)]
        return len(block) - starts[0] if starts else 0
    if not any(line.strip() for line in lines[:start]):
        return 0
    above = start
    while above and not lines[above - 1].strip():
        above -= 1
    if _is_name(lines[above - 1].strip()) and not is_closing(lines[above - 1].strip()):
        above -= 1
        while above and not lines[above - 1].strip():
            above -= 1
    if above and is_closing(lines[above - 1].strip()):
        start = above - 1
    return len(lines) - start if any(line.strip() for line in lines[:start]) else 0


def _is_signature(block: Sequence[str], *, needs_name: bool = False) -> bool:
    """Return whether lines are a signature with a phone number.

    Args:
        needs_name: it must begin with a name or a goodbye; otherwise a label such as "Tel" does.
    """
    if not 0 < len(block) <= _MOST_LINES:
        return False
    for line in block:
        if len(line) > _LONGEST_SIGNED or len(_WORD.findall(line)) > _MOST_SIGNED_WORDS:
            return False
        if _SENTENCE.search(line) and not is_closing(line):
            return False
    pieces = [_BETWEEN_PIECES.split(line) for line in block]
    if any(_LABELLED.fullmatch(piece) for line in pieces for piece in line):
        has_number = True
    else:
        has_number = sum(map(len, pieces)) > 1 and any(
            _NUMBER.fullmatch(piece) and not _DATE.fullmatch(piece)
            for line in pieces
            for piece in line
        )
    first = block[0]
    has_name = is_closing(first) or _is_name(pieces[0][0])
    return has_number and (has_name or (not needs_name and _LABELLED.match(first) is not None))


def _is_name(text: str) -> bool:
    """Return whether a line could be the name of a person or firm, and is not a move or a command.

    Every word of more than three letters must be capitalised.
    """
    words = text.split()
    if len(text) < 2 or _NAME.fullmatch(text) is None or words[0].casefold() in _COMMANDS:
        return False
    first = words[0]
    is_capitalised = first[0].isupper()
    has_no_case = first[0].upper() == first[0].lower() and len(first) <= 6  # as in Chinese
    has_small_word = any(len(word) > 3 and word[0].islower() for word in words)
    return (is_capitalised or has_no_case) and not has_small_word
