"""Finds the moves of a reply among its first lines."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from pbmserv.commands.grammar.word_forms import is_number
from pbmserv.commands.reading.bodies import GREETINGS
from pbmserv.commands.reading.lines_below import LinesBelow
from pbmserv.commands.table.catalogue import BY_NAME, IN_REPLY, command_meant
from pbmserv.commands.table.command_types import ReplyMove

MOVES = re.compile(
    r"(?:[+/!\-]?[a-z]{0,2}\d{1,3}|[a-z]|\?)(?:\s*,\s*(?:[+/!\-]?[a-z]{0,2}\d{1,3}|[a-z]|\?)){0,20}",
    re.IGNORECASE | re.ASCII,
)
"""The form of moves in most games: ``g``, ``14``, ``+b2,?``."""

_NUMBERED = re.compile(r"([1-9])[.)]\s+(\S.*)", re.ASCII)

_GREETING = re.compile(
    rf"(?:{'|'.join(sorted(GREETINGS))}|good \w{{3,9}})\b.{{0,40}}", re.IGNORECASE
)


def reply_moves(
    top: Sequence[tuple[int, str]], below: LinesBelow, lines: Sequence[str], games: Collection[str]
) -> ReplyMove:
    """Return the lines of which one may be a move, each with the text below it.

    A line in the form of a move in a later paragraph than the first move, such as the letter "A"
    with which Alice signs, is neither played nor passed on.
    """
    texts = [_without_move_word(text, games) if " " in text else text for _, text in top]
    texts = _unnumbered(texts) if len(texts) > 1 else texts
    breaks = [
        place
        for place in range(1, len(top))
        if "" in [line.strip() for line in lines[top[place - 1][0] + 1 : top[place][0]]]
    ]
    forms = [place for place, text in enumerate(texts) if MOVES.fullmatch(text)]
    apart: set[int] = set()
    if forms:
        behind = min([place for place in breaks if place > forms[0]], default=len(top))
        apart.update([place for place in forms if place >= behind])
        if forms[0] in breaks and _may_be_initial(lines, top[forms[0]]) and not greets(texts[0]):
            apart.add(forms[0])
    for place in apart:
        below.leave_out(*top[place])
    kept = [place for place in range(len(top)) if place not in apart]
    words = [below.words(top[place][0] + 1) for place in kept]
    breaks = [number for number, place in enumerate(kept) if place in breaks]
    return ReplyMove(tuple(map(texts.__getitem__, kept)), tuple(words), tuple(breaks))


def _unnumbered(texts: Sequence[str]) -> list[str]:
    """Return lines without the numbers of a list, as in "1. b3" and "2. d3"."""
    items: list[str] = []
    for number, text in enumerate(texts, start=1):
        item = _NUMBERED.fullmatch(text)
        if item is None or int(item[1]) != number:
            break
        items.append(item[2])
    return [*items, *texts[len(items) :]] if len(items) > 1 else [*texts]


def _may_be_initial(lines: Sequence[str], line: tuple[int, str]) -> bool:
    """Return whether a line is a single letter at the end of a mail."""
    at, text = line
    name = text.rstrip(".!")
    return len(name) == 1 and name.isalpha() and not any(map(str.strip, lines[at + 1 :]))


def greets(text: str) -> bool:
    """Return whether a line is only a greeting."""
    return _GREETING.fullmatch(text) is not None


def may_act(text: str) -> bool:
    """Return whether a line may be a move or a command of one word, perhaps with a board."""
    name, _, number = text.lower().rstrip(".!").partition(" ")
    is_command = name in IN_REPLY and (not number or is_number(number))
    return is_command or MOVES.fullmatch(text) is not None


def _without_move_word(text: str, games: Collection[str]) -> str:
    """Return a line without ``move`` or ``GAME move`` in front, which replies do not need."""
    first, _, rest = text.partition(" ")
    if first.lower() in games:
        shorter = _without_move_word(rest.lstrip(), ())
        return text if shorter == rest.lstrip() else shorter
    row = BY_NAME.get(first.lower().rstrip(":")) or command_meant(first.lower())
    return rest.strip() if row is not None and row.name == "move" and rest.strip() else text
