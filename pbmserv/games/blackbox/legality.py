"""Checks whether a move is legal, by the view of the mover alone.

For a refused move it also finds its only legal meaning, and the legal parts of it for the example
of the refusal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from pbmserv.engine.types import Move, Rng
from pbmserv.errors import Illegal, MoveError, NotUnderstood, Refusal
from pbmserv.games.blackbox.geometry import Geometry, in_ranges
from pbmserv.games.blackbox.moves import AIDS, TEXT_LIMIT, Element, Kind, move_of, read_elements
from pbmserv.games.blackbox.options import drawn
from pbmserv.games.blackbox.readings import readings
from pbmserv.games.blackbox.spoken import leaves_it_to_chance, spoken
from pbmserv.games.blackbox.state import Box, Markers
from pbmserv.games.blackbox.views import FIRED, BoxView, Standing, View

Judged: TypeAlias = View | Standing
"""The facts that decide whether a move is legal: the mover's view, or the same part of the
state."""

_NOT_HERE = frozenset({"pass", "swap", "propose", "accept", "reject"})
"""Moves of other games."""

_CHARACTERS_A_CELL = 8  # "+AA52" and blanks

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
        refused = error
        if text.strip().lower() in _NOT_HERE and view.own is not None:
            refused = Illegal("blackbox.no-such-turn", part=text.strip())
        refusal, clearer = refused.refusal, _VAGUE.get(refused.refusal.code)
        of_reading = _refusal_of_reading(view, text) if clearer is not None else None
        if of_reading and (not clearer or of_reading.refusal.code in clearer):
            refusal = of_reading.refusal
        find_example = mentioned if isinstance(refused, NotUnderstood) else legal_parts
        values = {**possibilities(view), **refusal.values}
        example = _with_unlock(view, refusal) or find_example(view, text)
        raise type(refused)(refusal.code, part=refusal.part, example=example, **values) from None


def check(view: Judged, text: str) -> tuple[Element, ...]:
    """Return the elements of a legal move.

    A turn is legal while another seat has to move. `Blackbox.apply` checks whose turn it is.

    Raises:
        NotUnderstood: the text is not a Blackbox move.
        Illegal: the move is malformed or not allowed here; the refusal names the element.
    """
    limit = max(TEXT_LIMIT, view.options.most * _CHARACTERS_A_CELL)
    elements = read_elements(view.options.board, text, limit)
    if view.phase == "over":
        raise Illegal("blackbox.finished")
    own = view.own
    if own is None:
        raise Illegal("blackbox.watching")
    if view.phase == "done":
        raise Illegal("blackbox.done", part=move_of(elements).text)
    if not view.has_hidden:
        _check_placement(view, elements)
        return elements
    if cells := [element for element in elements if element.kind is Kind.CELL]:
        raise _unsigned(view, cells, elements)
    probes = [element for element in elements if element.kind is Kind.PROBE]
    if len(probes) > 1:
        raise Illegal("blackbox.two-probes", part=probes[1].part, first=probes[0].part)
    if probes and (mark := own.marks[probes[0].port]):
        part, port = probes[0].part, probes[0].text
        raise Illegal("blackbox.port-used", part=part, port=port, mark=mark, later=mark == FIRED)
    _check_locks(own, elements)
    if guesses := [element for element in elements if element.kind is Kind.GUESS]:
        _check_guesses(view, own, elements, guesses)
    return elements


def _check_locks(own: BoxView | Box, elements: Sequence[Element]) -> None:
    """Refuse a move that removes a locked marker."""
    if not own.locked and all(element.kind is not Kind.LOCK for element in elements):
        return
    aids = Markers(own.markers, own.sealed, own.locked)
    for element in elements:
        if aids.forbids(element):
            raise Illegal("blackbox.locked", part=element.part, area=element.area)
        aids.use(element)


def _check_placement(view: Judged, elements: Sequence[Element]) -> None:
    least, most = view.options.least, view.options.most
    others = [element for element in elements if element.kind != Kind.CELL]
    if len(others) == len(elements):
        raise Illegal("blackbox.hide-first", part=others[0].part, wanted=view.options.atoms)
    if others:
        raise Illegal("blackbox.placement-element", part=others[0].part)
    seen: dict[str, str] = {}
    for element in elements:
        if element.text in seen:
            raise Illegal(
                "blackbox.repeated-cell",
                part=element.part,
                first=seen[element.text],
                cell=element.text,
            )
        seen[element.text] = element.part
    if not least <= len(elements) <= most:
        code = "blackbox.too-few-atoms" if len(elements) < least else "blackbox.too-many-atoms"
        part = ",".join(element.part for element in elements)
        off = _missing(view, len(elements))
        raise Illegal(code, part=part, have=len(elements), wanted=view.options.atoms, off=off)


def _unsigned(view: Judged, cells: Sequence[Element], elements: Sequence[Element]) -> Illegal:
    """Return the refusal of cells without a sign."""
    hides_again = not view.options.race and (len(cells) > 1 or view.phase == "hiding")
    if hides_again and len(cells) == len(elements):
        return Illegal("blackbox.already-hidden", part=cells[0].part)
    return Illegal("blackbox.unsigned-cell", part=cells[0].part, cell=cells[0].text)


def _check_guesses(
    view: Judged,
    own: BoxView | Box,
    elements: Sequence[Element],
    guesses: Sequence[Element],
) -> None:
    if len(guesses) > 1:
        raise Illegal("blackbox.two-guesses", part=guesses[1].part)
    part = guesses[0].part
    if own.guesses_left < 1:
        raise Illegal("blackbox.no-guesses", part=part)
    after = Markers(own.markers, own.sealed, own.locked)
    for element in elements:
        after.use(element)
    count = len(after.markers)
    if not view.options.least <= count <= view.options.most:
        off = _missing(view, count)
        wanted = view.options.atoms
        raise Illegal("blackbox.guess-markers", part=part, have=count, wanted=wanted, off=off)


def _missing(view: Judged, count: int) -> int:
    """Return the number of missing atoms, negative if there are too many."""
    return max(view.options.least - count, 0) or min(view.options.most - count, 0)


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


# -- other meanings -------------------------------------------------------------------------

_CLEAR = frozenset({"blackbox.guess-markers", "blackbox.two-probes", "blackbox.port-used"})
_VAGUE = {"blackbox.commas": frozenset[str](), "blackbox.not-a-move": _CLEAR}
"""Vague refusals, and for each the clearer refusals that a text's only reading may have; an empty
set allows all."""


def _with_unlock(view: View, refusal: Refusal) -> str:
    """Return the refused element behind an ``unlock`` if a lock prevented it, else ``""``."""
    if refusal.code != "blackbox.locked":
        return ""
    return _legal_move(view, [f"unlock {refusal.values['area']}", refusal.part])


def _refusal_of_reading(view: View, text: str) -> MoveError | None:
    """Return the refusal of a text's only reading, `None` if there are several or it is legal."""
    meanings = set(readings(view, text))
    if len(meanings) != 1:
        return None
    try:
        check(view, *meanings)
    except MoveError as error:
        return error
    return None


def meant(view: View, text: str) -> Move | None:
    """Return the only legal reading of a refused text, `None` if there is none or several."""
    if view.own is None or view.phase in {"over", "done"} or len(text) > TEXT_LIMIT:
        return None
    refused = "".join(text.split()).upper()
    meanings = [signs for signs in readings(view, text) if signs.upper() != refused]
    legal_moves = _legal_moves(view, meanings) or _legal_moves(view, [spoken(view, text)])
    return next(iter(legal_moves.values())) if len(legal_moves) == 1 else None


def _legal_moves(view: View, meanings: Iterable[str]) -> dict[str, Move]:
    """Return the legal ones of these moves by their canonical texts."""
    legal_moves: dict[str, Move] = {}
    for signs in filter(None, meanings):
        try:
            move = move_of(check(view, signs))
        except MoveError:
            continue
        legal_moves[move.text] = move
    return legal_moves


_MOST_DRAWS = 100
"""Placements that are drawn until one is legal."""


def by_chance(view: View, sentence: str, rng: Rng) -> Move | None:
    """Return a placement drawn at random if a reader who has to hide atoms asks for one."""
    if view.own is None or view.has_hidden or not leaves_it_to_chance(sentence):
        return None
    for _ in range(_MOST_DRAWS):
        cells = sorted(drawn(view.options, rng))
        try:
            return move_of(check(view, ",".join(map(view.options.board.name, cells))))
        except MoveError:
            continue
    return None


_ON_CELLS = frozenset({Kind.CELL, Kind.MARK, Kind.UNMARK, Kind.SEAL})
_LABEL = re.compile("[A-Z]+|[0-9]+")


def far_cells(view: View, text: str) -> tuple[tuple[str, str], ...]:
    """Return the elements that name cells by a label below or right of the board.

    Each element is returned as typed and in canonical text: ``+H3`` and ``+A3`` on a 7x7 board,
    where H is the label below column A. The move need not be legal.
    """
    board = view.options.board
    near = {*board.top, *board.left}
    limit = max(TEXT_LIMIT, view.options.most * _CHARACTERS_A_CELL)
    for signs in filter(None, _as_meant(view, text)):
        try:
            elements = read_elements(board, signs, limit)
        except MoveError:
            continue
        return tuple(
            ("".join(element.part.split()).upper(), element.text)
            for element in elements
            if element.kind in _ON_CELLS
            and any(label.lstrip("0") not in near for label in _LABEL.findall(element.part.upper()))
        )
    return ()


def _as_meant(view: View, text: str) -> Iterator[str]:
    """Yield a text as it is, then, if it is short, as a person may have meant it."""
    yield text
    if len(text) <= TEXT_LIMIT:
        yield from readings(view, text)
        yield spoken(view, text)


def meanwhile(view: View, move: Move) -> tuple[Move | None, str]:
    """Return the part of a move that uses no turn, and the text of the other part."""
    elements = check(view, move.text)
    free = [element for element in elements if element.kind in AIDS]
    rest = [element for element in elements if element.kind not in AIDS]
    return (move_of(free) if free else None), move_of(rest).text


# -- examples for refusals -------------------------------------------------------------------


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
