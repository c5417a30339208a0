"""Recognises signatures of people without a "-- " above them: those with a phone number.

    Best regards,

    Alice Liddell
    Wonderland Ltd | +44 20 7946 0958

A number alone, or one in a sentence, is a person's words: "Call me at 0123 456789 if you like."
"""
# ruff: noqa: RUF001 - letters of other alphabets are meant

from __future__ import annotations

import re
from collections.abc import Sequence

from pbmserv.commands.table.catalogue import BY_NAME, IN_REPLY
from pbmserv.inbound.quotes.line_signs import is_closing

_MOST_LINES = 8
_LONGEST_LINE = 80
_MOST_WORDS = 9
"""Words of a line; a longer one is a sentence."""

_LABEL_WORDS = (
    *("telefon[eo]?", "telephone", "teléfono", "téléphone", "tel", "tél", "phone", "ph"),
    *("mobile?", "mobil(?:telefon|tlf)?", "mob", "cellulare", "celular", "cell?", "fax", "handy"),
    *("m[óo]vil", "telem[óo]vel", "gsm", "puh", "tlf", "office", "direct", "home", "work"),
    *("whatsapp", "[tmpf]", "телефон", "тел", "моб", "電話", "电话", "手机", "手機", "携帯"),
    *("전화", "휴대폰", "τηλ"),
)
_LABEL = f"(?:{'|'.join(_LABEL_WORDS)})"
_LABELS = (
    rf"{_LABEL}[.:：]{{0,2}} {{0,3}}(?:[/,&] {{0,2}}{_LABEL}[.:]{{0,2}} {{0,3}})?"  # "Tel./Fax: "
)
_DIGITS = r"[0-9][0-9 ()/.\u00a0\u2010-\u2013-]{5,24}[0-9]"  # "20 7946 0958", "123/45 67-89"
_LABELLED = re.compile(rf"{_LABELS}[+(]{{0,2}}{_DIGITS}", re.IGNORECASE)
"""A number with a label: "Tel. +49 123 456789", "T: (020) 7946 0958"."""

_NUMBER = re.compile(
    rf"(?:\+\(?|\(?0|\([0-9]){_DIGITS}|\(?[0-9]{{3}}\)?[-. ][0-9]{{3}}[-. ][0-9]{{4}}"
)
"""A number without a label: "+44 20 7946 0958", "0123/456789", or as in America "(555)
123-4567"."""

_DATE = re.compile(r"[0-9]{1,2}[./-][0-9]{1,2}[./-](?:[0-9]{2}){1,2}")
"""A date, which looks like a number: "03.03.2014"."""

_BETWEEN_PIECES = re.compile(r" ?[|·•] ?| [-–/] |, | (?=(?:tel|fax|mob)[.:a-z ])", re.IGNORECASE)
"""A sign between two pieces of a line: "Alice Liddell | Wonderland Ltd", "Alice, Tel. 123456"."""

_COMMANDS = frozenset(name.split()[0] for name in (*BY_NAME, *IN_REPLY, "no"))
_WORD = re.compile(r"[^\W\d_]+")
_SENTENCE = re.compile(r"[!?]|[^\W\d_]{4}\. |:\s*\Z")
"""A sign of a sentence: a mark at its end, or a colon at the end of the line."""

_NAME_WORD = r"[^\W\d_][^\d\s!?:;@,]{0,30}"
_NAME = re.compile(rf"{_NAME_WORD}(?: {_NAME_WORD}){{0,4}}")
"""Up to five words without digits: "Alice Liddell", "Head of Tea"."""


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
    paragraph = [line.strip() for line in lines[start:]]
    if not _is_signature(paragraph):
        return _lines_at_end_of(paragraph)
    if not _has_words(lines[:start]):
        return 0
    start = _above_goodbye(lines, start)
    return len(lines) - start if _has_words(lines[:start]) else 0


def _lines_at_end_of(paragraph: Sequence[str]) -> int:
    """Count the lines of a signature below words of the same paragraph."""
    for start in range(1, len(paragraph)):
        if _is_signature(paragraph[start:], needs_name=True):
            return len(paragraph) - start
    return 0


def _above_goodbye(lines: Sequence[str], start: int) -> int:
    """Return where a signature begins if a goodbye, and perhaps a name, is above its paragraph.

    Args:
        start: where the paragraph begins.
    """
    above = _without_blank_lines(lines, start)
    line = lines[above - 1].strip()
    if _is_name(line) and not is_closing(line):
        above = _without_blank_lines(lines, above - 1)
    return above - 1 if above and is_closing(lines[above - 1].strip()) else start


def _without_blank_lines(lines: Sequence[str], end: int) -> int:
    """Return the end of the last line before `end` that is not blank."""
    while end and not lines[end - 1].strip():
        end -= 1
    return end


def _has_words(lines: Sequence[str]) -> bool:
    return any(line.strip() for line in lines)


def _is_signature(lines: Sequence[str], *, needs_name: bool = False) -> bool:
    """Return whether lines are a signature with a phone number.

    Args:
        needs_name: it must begin with a name or a goodbye; otherwise a label such as "Tel" does.
    """
    if not 0 < len(lines) <= _MOST_LINES or any(map(_is_sentence, lines)):
        return False
    first_line = lines[0]
    pieces_of_lines = [_BETWEEN_PIECES.split(line) for line in lines]
    if not _has_number([piece for pieces in pieces_of_lines for piece in pieces]):
        return False
    if is_closing(first_line) or _is_name(pieces_of_lines[0][0]):
        return True
    return not needs_name and _LABELLED.match(first_line) is not None


def _is_sentence(line: str) -> bool:
    """Return whether a line says more than a line of a signature does."""
    if len(line) > _LONGEST_LINE or len(_WORD.findall(line)) > _MOST_WORDS:
        return True
    return _SENTENCE.search(line) is not None and not is_closing(line)


def _has_number(pieces: Sequence[str]) -> bool:
    """Return whether a piece is a phone number, which needs a label if it is the only piece."""
    if any(map(_LABELLED.fullmatch, pieces)):
        return True
    numbers = (piece for piece in pieces if _NUMBER.fullmatch(piece))
    return len(pieces) > 1 and any(not _DATE.fullmatch(number) for number in numbers)


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
