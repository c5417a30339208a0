"""Filters with which templates draw boards, and name players in the sentences of games."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pbmserv.drawing.html import Block, letter_blocks, page_blocks
from pbmserv.drawing.spoken import board_sentences
from pbmserv.drawing.text import board_text
from pbmserv.engine.game_view import View
from pbmserv.game import Grid, Part
from pbmserv.game.cells import legend

_SEAT = re.compile(r"\{[0-9](?:'s)?\}")
_YOU = re.compile(r"(^|[.!?:] )y(ou(?:r)?\b)")


def drawn_text(view: View, names: Sequence[str]) -> str:
    """Return the text board."""
    by_side = view.names_by_side(names)
    return board_text(_named(view, by_side), by_side, view.side, turned=view.is_turned)


def drawn_aloud(view: View, names: Sequence[str]) -> list[str]:
    """Return the board in sentences."""
    by_side = view.names_by_side(names)
    return board_sentences(_named(view, by_side), by_side, view.side, turned=view.is_turned)


def drawn_letter(
    view: View, names: Sequence[str], link: Callable[[str], str] | None
) -> list[Block]:
    """Return the parts of the board for a letter."""
    by_side = view.names_by_side(names)
    return letter_blocks(
        _named(view, by_side), by_side, view.side, view.moves, link, turned=view.is_turned
    )


def drawn_page(view: View, names: Sequence[str], moves: Sequence[str], draft: str) -> list[Block]:
    """Return the parts of the board for a page.

    Args:
        moves: the moves that taps send; none if the board is shown without buttons.
        draft: the text of the move so far.
    """
    by_side = view.names_by_side(names)
    return page_blocks(
        _named(view, by_side), by_side, view.side, moves, draft, turned=view.is_turned
    )


def whose_pieces(view: View, names: Sequence[str]) -> str:
    """Return a sentence that says whose pieces are whose, on a board with glyphs."""
    return legend(view.parts, view.names_by_side(names), view.side, glyphs=True)


def _named(view: View, by_side: Sequence[str]) -> tuple[Part, ...]:
    """Return the parts of a board with the names of players in its texts."""
    return tuple(_with_names_in(part, by_side, view.side) for part in view.parts)


def _with_names_in(part: Part, names: Sequence[str], you: int | None) -> Part:
    if isinstance(part, str):
        return with_names(part, names, you) if _SEAT.search(part) else part
    title = _with_capitals(_names_in(part.title, names, you))
    if isinstance(part, Grid):
        return replace(part, title=title)
    return replace(part, title=title, items=[_names_in(item, names, you) for item in part.items])


def with_names(text: str, names: Sequence[str], you: int | None) -> str:
    """Return a sentence of a game with the names of players in it."""
    text = _with_capitals(_names_in(text, names, you))
    if text[:1].islower() and not any(text.startswith(name) for name in names):
        text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?", ":")) else f"{text}."


def _names_in(text: str, names: Sequence[str], you: int | None) -> str:
    """Return a text with the names of players in place of their seats."""
    for seat, name in enumerate(names):
        who, whose = ("you", "your") if seat == you else (name, f"{name}'s")
        text = text.replace(f"{{{seat}}}", who).replace(f"{{{seat}'s}}", whose)
    return text


def _with_capitals(text: str) -> str:
    """Return a text with a capital where "you" or "your" begins a sentence."""
    return _YOU.sub(lambda match: f"{match[1]}Y{match[2]}", text)


BOARD_FILTERS: Mapping[str, Callable[..., Any]] = {
    filter_.__name__: filter_
    for filter_ in (drawn_aloud, drawn_letter, drawn_page, drawn_text, whose_pieces, with_names)
}
