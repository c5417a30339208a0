"""Reads a move as people write it, and says more about a refused one than `legality` does.

A refusal gets the present possibilities, and an example made of the legal parts of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pbmserv.engine.types import Move
from pbmserv.errors import Illegal, MoveError, NotUnderstood, Refusal
from pbmserv.games.blackbox.geometry import Geometry, in_ranges
from pbmserv.games.blackbox.legality import check
from pbmserv.games.blackbox.moves import Element, Kind, move_of, read_elements
from pbmserv.games.blackbox.readings import readings
from pbmserv.games.blackbox.spoken import spoken
from pbmserv.games.blackbox.views import BoxView, View

_NOT_HERE = frozenset({"pass", "swap", "propose", "accept", "reject"})
"""Moves of other games."""

_OF_SENTENCES = frozenset(
    f"blackbox.{code}" for code in ("guess-markers", "two-probes", "port-used", "done")
)
"""Refusals that show that a sentence was meant as a move, as its only reading."""

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


def read_move(view: View, text: str) -> Move:
    """Read a move; raises as `elements_of`."""
    return move_of(elements_of(view, text))


def elements_of(view: View, text: str) -> tuple[Element, ...]:
    """Return the elements of a move as `check` does, with more helpful refusals.

    Raises:
        NotUnderstood | Illegal: see `check`. The refusal also has the present possibilities, and
            the legal parts of the text as its example.
    """
    try:
        return check(view, text)
    except MoveError as error:
        raise _with_help(view, text, error) from None


def _with_help(view: View, text: str, error: MoveError) -> MoveError:
    """Return the refusal of a move with the present possibilities and an example."""
    if text.strip().lower() in _NOT_HERE and view.own is not None:
        error = Illegal("blackbox.no-such-turn", part=text.strip())
    refusal = _clearer(view, text, error.refusal)
    find_example = mentioned if isinstance(error, NotUnderstood) else legal_parts
    example = _with_unlock(view, refusal) or find_example(view, text)
    values = {**possibilities(view), **refusal.values}
    return type(error)(refusal.code, part=refusal.part, example=example, **values)


def _clearer(view: View, text: str, refusal: Refusal) -> Refusal:
    """Return the refusal of a text's only reading in place of a vague refusal, else the refusal."""
    is_sentence = refusal.code == "blackbox.not-a-move"
    if not is_sentence and refusal.code != "blackbox.commas":
        return refusal
    of_reading = _refusal_of_reading(view, text)
    if of_reading is None or (is_sentence and of_reading.code not in _OF_SENTENCES):
        return refusal
    return of_reading


def possibilities(view: View) -> dict[str, str]:
    """Return the values of a refusal about the position: the possible moves and the labels."""
    board, now = view.options.board, ""
    if view.own is not None and view.phase not in {"over", "done"}:
        now = "play" if view.may_act else "wait"
        now = now if view.has_hidden else "hide"
    return {
        "now": now,
        "free": in_ranges(board, view.unused_ports) if now in {"play", "wait"} else "",
        "columns": f"{board.top[0]} to {board.top[-1]}",
        "rows": f"{board.left[0]} to {board.left[-1]}",
        "wanted": view.options.atoms,
    }


def _refusal_of_reading(view: View, text: str) -> Refusal | None:
    """Return the refusal of a text's only reading, `None` if there are several or it is legal."""
    meanings = set(readings(view, text))
    if view.phase == "done":  # every reading has the same refusal
        meanings = {next(filter(None, (*meanings, spoken(view, text))), "")}
    if len(meanings) != 1:
        return None
    try:
        check(view, *meanings)
    except MoveError as error:
        return error.refusal
    return None


# -- examples ---------------------------------------------------------------------------------


def _with_unlock(view: View, refusal: Refusal) -> str:
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
