"""Makes the example of a refusal: a legal move of the labels and cells in the refused text.

`legal_parts` is for texts in the form of a move, `mentioned` for sentences. The example is only
offered, so `mentioned` may guess where `meanings` must be sure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pbmserv.errors import MoveError, Refusal
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.legality import check
from pbmserv.games.blackbox.moves import Element, Kind, move_of, read_elements
from pbmserv.games.blackbox.views import BoxView, View

_LONGEST_MENDED = 200
"""The longest text from which an example is made, since nobody copies a longer one."""

_LETTERS = r"\u00aa-\u052f"
"""Cyrillic, Greek, accents and fractions. A label beside one of these is part of a word."""

_NO_LABEL = (
    rf"(?![a-z0-9{_LETTERS}%\u20ac$]|[.:/-][0-9]|\s*(?:am|pm|o'clock|uhr|of|more|atoms?|games?)\b)"
)
_MENTIONED = re.compile(
    rf"(?<![\w{_LETTERS}.:/#+!$\u20ac-])"
    rf"(?:[+/!]\s?[a-z]{{1,2}}[0-9]{{1,3}}|[0-9]{{1,3}}){_NO_LABEL}"
    r"|\A\s*(?!i)[a-z](?=\s?[,.;:!-]\s)",
    re.IGNORECASE | re.ASCII,
)
"""A port or signed cell among other words, but not "7:30" or "2 of us".

A single letter counts only at the beginning and in front of a comma, since most letters are words.
"""

_CELL_MENTIONED = re.compile(
    r"(?<![a-z0-9])(?:[a-z]{1,2}-?[0-9]{1,3}|[0-9]{1,3}[a-z]{1,2})(?![a-z0-9])",
    re.IGNORECASE | re.ASCII,
)
_NEGATES = re.compile(
    r"\b(?:not?|never|yet|later|wait"
    r"|(?:do|does|did|is|are|was|wo|would|ca|could|should|must|have|had)n['\u2019]?t)\b",
    re.IGNORECASE,
)
_TAKES_OFF = re.compile(r"(?:\A|[\s,;])[-/!]\s?[a-z]{1,2}-?[0-9]", re.IGNORECASE)
_OF_A_LIST = re.compile(r"\s*[0-9]{1,2}[.)]\s+(?=\S)", re.ASCII)


def with_unlock(view: View, refusal: Refusal) -> str:
    """Return the refused element behind an ``unlock`` if a lock prevented it, else ``""``."""
    if refusal.code != "blackbox.locked":
        return ""
    return _legal_move(view, [f"unlock {refusal.values['area']}", refusal.part])


def legal_parts(view: View, text: str) -> str:
    """Return the legal elements of a text as a move, ``""`` for none.

    A guess is left out if another element is left out. An incomplete placement is never offered.
    Neither can be taken back.
    """
    own = view.own
    if own is None or not view.has_hidden or view.phase in {"over", "done"}:
        return ""
    if len(text) > _LONGEST_MENDED:
        return ""
    elements = list(_separately(view.options.board, text))
    probes = [e for e in elements if e is not None and e.kind is Kind.PROBE]
    fresh = [e for e in probes if not own.marks[e.port] and view.may_act][:1]
    if len(probes) > 2:
        fresh = []  # such a text is not meant as one ray
    kept = [_signed(own, e) for e in elements if e is not None and _is_kept(e, fresh)]
    is_whole = None not in elements and len(fresh) == len(probes) and own.guesses_left > 0
    without_guess = [sign for sign in kept if sign != "?"]
    for signs in (kept, without_guess) if is_whole else (without_guess,):
        if move := _legal_move(view, signs):
            return move
    return ""


def _is_kept(element: Element, fresh: Sequence[Element]) -> bool:
    """Return whether an example may repeat an element: a fresh probe, or another kind."""
    return element.kind is not Kind.PROBE or any(element is probe for probe in fresh)


def _signed(own: BoxView, element: Element) -> str:
    """Return an element as it must be written, with a sign for a cell without one."""
    if element.kind is not Kind.CELL:
        return element.text
    return ("/" if element.cells[0] in own.markers else "+") + element.text


def _separately(board: Geometry, text: str) -> Iterator[Element | None]:
    """Yield the elements of a text one by one, `None` for each part that is not an element."""
    for part in re.split("[,;]", text):
        for piece in [part] if _read_element(board, part) else part.split():
            element = _read_element(board, piece)
            if element or piece.strip():
                yield element


def _read_element(board: Geometry, part: str) -> Element | None:
    try:
        return read_elements(board, part)[0]
    except MoveError:
        return None


def mentioned(view: View, text: str) -> str:
    """Return the only move that a sentence mentions, ``""`` for none.

    "17 I think this is close" and "1. 25" mention one. The move is only an example. If the sentence
    mentions two ports, there is none. Cells for all atoms get markers, and a sentence with "guess"
    also gets a guess.
    """
    own = view.own
    if own is None or view.phase in {"over", "done"} or len(text) > _LONGEST_MENDED:
        return ""
    if not view.has_hidden:
        return _legal_move(view, [cell.replace("-", "") for cell in _CELL_MENTIONED.findall(text)])
    item = _OF_A_LIST.match(text)
    signs = _MENTIONED.findall(text, item.end()) if item else []
    signs = signs or _MENTIONED.findall(text)
    cells = dict.fromkeys(_CELL_MENTIONED.findall(text))
    negates = _NEGATES.search(text) is not None
    if not signs and len(cells) >= max(2, view.options.least):
        if _TAKES_OFF.search(text):
            return ""
        marks = [f"+{cell.replace('-', '')}" for cell in cells]
        is_guess = view.may_act and "guess" in text.lower() and not negates
        return (is_guess and _legal_move(view, [*marks, "?"])) or _legal_move(view, marks)
    if negates or not view.may_act:  # a ray cannot be taken back
        signs = [sign for sign in signs if sign[0] in "+/!"]
    return _legal_move(view, ["".join(sign.split()) for sign in signs])


def _legal_move(view: View, signs: Sequence[str]) -> str:
    """Return the move that consists of some elements, each once; ``""`` if it is not legal."""
    try:
        return move_of(check(view, ",".join(dict.fromkeys(map(str.upper, signs))))).text
    except MoveError:
        return ""
