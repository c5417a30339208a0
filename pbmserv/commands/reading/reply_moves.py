"""Finds the moves of a reply among its first lines.

Hi Bob,                 a greeting above the move
1. g                    a list of moves
2. +b2

Nice try!               words for the opponent
A                       with which Alice signs, and not a move of port A
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pbmserv.commands.grammar.courtesies import (
    SIGNS_AROUND,
    begins_with_greeting,
    without_greeting,
)
from pbmserv.commands.grammar.game_names import GameTitles, game_in_front
from pbmserv.commands.grammar.word_forms import is_number
from pbmserv.commands.reading.lines_below import LinesBelow
from pbmserv.commands.table.catalogue import BY_NAME, IN_REPLY, command_meant
from pbmserv.commands.table.command_types import ReplyMove

_STEP = r"(?:[+/!\-]?[a-z]{0,2}\d{1,3}|[a-z]|\?)"  # "g", "14", "+b2", "?"
MOVES = re.compile(rf"{_STEP}(?:\s*,\s*{_STEP}){{0,20}}", re.IGNORECASE | re.ASCII)
"""The form of moves in most games: ``g``, ``14``, ``+b2,?``."""

_NUMBERED = re.compile(r"([1-9])[.)]\s+(\S.*)", re.ASCII)
"""An item of a list: "1. b3", "2) d3"."""

_LONGEST_GREETING = 50
"""Characters of a line that is only a greeting: "Hi Bob!", "Good morning"."""


def reply_moves(
    top: Sequence[tuple[int, str]], below: LinesBelow, lines: Sequence[str], games: GameTitles
) -> ReplyMove:
    """Return the lines of which one may be a move, each with the text below it.

    A line in the form of a move in a later paragraph than the first move, such as the letter "A"
    with which Alice signs, is neither played nor passed on.

    Args:
        top: the first lines of the reply, with their places; see `top_lines`.
        below: the lines below the first one, which are words for the opponent.
        lines: all lines of the reply.
        games: titles of the games of this server by key.
    """
    texts = [_without_move_word(text, games) if " " in text else text for _, text in top]
    texts = _unnumbered(texts) if len(texts) > 1 else texts
    paragraphs = [
        number
        for number in range(1, len(top))
        if "" in [line.strip() for line in lines[top[number - 1][0] + 1 : top[number][0]]]
    ]
    apart = _moves_apart(top, texts, paragraphs, lines)
    for number in apart:
        below.leave_out(*top[number])
    kept = [number for number in range(len(top)) if number not in apart]
    return ReplyMove(
        lines=tuple(texts[number] for number in kept),
        after=tuple(below.words(top[number][0] + 1) for number in kept),
        breaks=tuple(place for place, number in enumerate(kept) if number in paragraphs),
    )


def _moves_apart(
    top: Sequence[tuple[int, str]],
    texts: Sequence[str],
    paragraphs: Sequence[int],
    lines: Sequence[str],
) -> set[int]:
    """Return the numbers of lines in the form of a move that are none.

    Args:
        top, lines: see `reply_moves`.
        texts: the texts of `top` without words in front of a move.
        paragraphs: numbers of the lines that follow a blank line.
    """
    moves = [number for number, text in enumerate(texts) if MOVES.fullmatch(text)]
    if not moves:
        return set()
    end = min([number for number in paragraphs if number > moves[0]], default=len(top))
    apart = {number for number in moves if number >= end}
    if (
        moves[0] in paragraphs
        and _may_be_initial(lines, top[moves[0]])
        and not is_greeting(texts[0])
    ):
        apart.add(moves[0])
    return apart


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
    place, text = line
    name = text.rstrip(".!")
    return len(name) == 1 and name.isalpha() and not any(map(str.strip, lines[place + 1 :]))


def is_greeting(text: str) -> bool:
    """Return whether a line is only a greeting."""
    return len(text) <= _LONGEST_GREETING and begins_with_greeting(text)


def leading_line(lines: Sequence[str]) -> str:
    """Return the first line that is neither a mere greeting nor an initial, else the first one."""
    for line in lines:
        if len(without_greeting(line.strip(SIGNS_AROUND))) > 1:
            return line
    return lines[0]


def may_act(text: str) -> bool:
    """Return whether a line may be a move or a command of one word, perhaps with a board."""
    name, _, number = text.lower().rstrip(".!").partition(" ")
    is_command = name in IN_REPLY and (not number or is_number(number))
    return is_command or MOVES.fullmatch(text) is not None


def _without_move_word(text: str, games: GameTitles) -> str:
    """Return a line without ``move`` or ``GAME move`` in front, which replies do not need."""
    if count := game_in_front(text.split(), games)[1]:
        rest = "".join(text.split(maxsplit=count)[count:])
        shorter = _without_move_word(rest, {})
        return text if shorter == rest else shorter
    first, _, rest = text.partition(" ")
    row = BY_NAME.get(first.lower().rstrip(":")) or command_meant(first.lower())
    return rest.strip() if row is not None and row.name == "move" and rest.strip() else text
