"""Whether a move that can be read may be made, judged by the mover's own view.

And of one that may not be made, or cannot be read: the one legal thing that it can mean, and what
of it would work, for the example of its refusal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from pbmserv.engine.types import Move
from pbmserv.errors import Illegal, MoveError, NotUnderstood, Refusal
from pbmserv.games.blackbox.geometry import Geometry, in_ranges
from pbmserv.games.blackbox.moves import AIDS, TEXT_LIMIT, Element, Kind, move_of, read_elements
from pbmserv.games.blackbox.readings import readings
from pbmserv.games.blackbox.state import Box, Markers
from pbmserv.games.blackbox.views import FIRED, BoxView, Standing, View

Judged: TypeAlias = View | Standing
"""What a move is judged by: its mover's view, or what the state says of the mover."""

_NOT_HERE = frozenset({"pass", "swap", "propose", "accept", "reject"})
"""Words that are moves of other games."""

_CHARACTERS_A_CELL = 8  # "+AA52" and blanks

_LONGEST_MENDED = 200
"""Characters of a text from which an example is made: nobody copies a longer one."""

_LETTERS = r"\u00aa-\u052f"
"""Cyrillic, Greek, accents, fractions: a label with one of these beside it is another word."""

_NO_LABEL = (
    rf"(?![a-z0-9{_LETTERS}%\u20ac$]|[.:/-][0-9]|\s*(?:am|pm|o'clock|uhr|of|more|atoms?|games?)\b)"
)
_MENTIONED = re.compile(
    rf"(?<![\w{_LETTERS}.:/#+!$\u20ac-])"
    rf"(?:[+/!]\s?[a-z]{{1,2}}[0-9]{{1,3}}|[0-9]{{1,3}}){_NO_LABEL}"
    r"|\A\s*(?!i)[a-z](?=\s?[,.;:!-]\s)",
    re.IGNORECASE | re.ASCII,
)
"""A port or a signed cell among other words: neither "7:30" nor "2 of us", nor letters, of which
most are words; one with a comma behind it may begin a line."""

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
    """Read a move into canonical text; raises as `elements_of`."""
    return move_of(elements_of(view, text))


def elements_of(view: View, text: str) -> tuple[Element, ...]:
    """The elements of a move, as `check` reads them.

    Raises:
        NotUnderstood | Illegal: as `check` does; the refusal tells what can be done now, and has
            for an example what of the text would work, if anything would.
    """
    try:
        return check(view, text)
    except MoveError as error:
        found = error
        if text.strip().lower() in _NOT_HERE and view.own is not None:
            found = Illegal("blackbox.no-such-turn", part=text.strip())
        refusal, clearer = found.refusal, _VAGUE.get(found.refusal.code)
        read = _as_read(view, text) if clearer is not None else None
        if read and (not clearer or read.refusal.code in clearer):
            refusal = read.refusal
        offer = mentioned if isinstance(found, NotUnderstood) else mended
        values = {**what_can_be_done(view), **refusal.values}
        works = _unlocked(view, refusal) or offer(view, text)
        raise type(found)(refusal.code, part=refusal.part, example=works, **values) from None


def check(view: Judged, text: str) -> tuple[Element, ...]:
    """The elements of a move that may be made.

    A turn may be read while another seat has to move: whether it may be used
    now is checked when it is applied.

    Raises:
        NotUnderstood: the text is no Blackbox move.
        Illegal: it is one, but malformed or not allowed here; the refusal names the element.
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
    """Refuse a move that changes a locked marker before it is unlocked."""
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
        raise Illegal("blackbox.hide-first", part=others[0].part, wanted=_count(view))
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
        off = _off(view, len(elements))
        raise Illegal(code, part=part, have=len(elements), wanted=_count(view), off=off)


def _unsigned(view: Judged, cells: Sequence[Element], elements: Sequence[Element]) -> Illegal:
    """The refusal of cells of which nothing says what to do there."""
    again = not view.options.race and (len(cells) > 1 or view.phase == "hiding")
    if again and len(cells) == len(elements):
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
    have = len(after.markers)
    if not view.options.least <= have <= view.options.most:
        off = _off(view, have)
        raise Illegal("blackbox.guess-markers", part=part, have=have, wanted=_count(view), off=off)


def _off(view: Judged, have: int) -> int:
    """How many are missing, or (below 0) too many."""
    return max(view.options.least - have, 0) or min(view.options.most - have, 0)


def _count(view: Judged) -> str:
    return view.options.atoms


def what_can_be_done(view: View) -> dict[str, str]:
    """What a refusal tells of the position: what its reader may do now, and the labels."""
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


# -- what else it can mean -------------------------------------------------------------------

_CLEAR = frozenset({"blackbox.guess-markers", "blackbox.two-probes", "blackbox.port-used"})
_VAGUE = {"blackbox.commas": frozenset[str](), "blackbox.not-a-move": _CLEAR}
"""Refusals that say little, and which of those of a text's one reading say more (none = each)."""


def _unlocked(view: View, refusal: Refusal) -> str:
    """The refused element behind an ``unlock``, if a lock was in its way."""
    if refusal.code != "blackbox.locked":
        return ""
    return _checked(view, [f"unlock {refusal.values['area']}", refusal.part])


def _as_read(view: View, text: str) -> MoveError | None:
    """Why a move is refused of which the form is clear; ``None`` if it might mean several."""
    found = set(readings(view, text))
    try:
        _ = len(found) == 1 and check(view, *found)
    except MoveError as error:
        return error
    return None


def meant(view: View, text: str) -> Move | None:
    """The one legal reading of a text that is no move as it stands; ``None``: none, or several."""
    if view.own is None or view.phase in {"over", "done"} or len(text) > TEXT_LIMIT:
        return None
    found: dict[str, Move] = {}
    refused = "".join(text.split()).upper()
    for signs in readings(view, text):
        if signs.upper() == refused:
            continue
        try:
            move = move_of(check(view, signs))
        except MoveError:
            continue
        found[move.text] = move
    return next(iter(found.values())) if len(found) == 1 else None


_ON_CELLS = frozenset({Kind.CELL, Kind.MARK, Kind.UNMARK, Kind.SEAL})
_LABEL = re.compile("[A-Z]+|[0-9]+")


def far_cells(view: View, text: str) -> tuple[tuple[str, str], ...]:
    """Return the elements that name cells by a label below or right of the board.

    Each comes as it was typed and in canonical text: ``+H3`` and ``+A3`` on a board of 7 by 7,
    where H is the label below column A. Whether the move may be made is not asked.
    """
    board = view.options.board
    near = {*board.top, *board.left}
    limit = max(TEXT_LIMIT, view.options.most * _CHARACTERS_A_CELL)
    for signs in (text, *(() if len(text) > TEXT_LIMIT else readings(view, text))):
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


def meanwhile(view: View, move: Move) -> tuple[Move | None, str]:
    """What of a move needs no turn, and the text of what has to wait for one."""
    elements = check(view, move.text)
    free = [element for element in elements if element.kind in AIDS]
    rest = [element for element in elements if element.kind not in AIDS]
    return (move_of(free) if free else None), move_of(rest).text


# -- what of it would work -------------------------------------------------------------------


def mended(view: View, text: str) -> str:
    """What of a text would work: its own cells and ports, and nothing in place of the others.

    A guess is never left where something else was left out, and atoms are never hidden by half of
    what somebody wrote: neither can be taken back.
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
        fresh = []  # whatever they are, they are not one ray
    kept = [_signed(own, e) for e in elements if e is not None and _stays(e, fresh)]
    whole = None not in elements and len(fresh) == len(probes) and own.guesses_left > 0
    without = [sign for sign in kept if sign != "?"]
    for signs in (kept, without) if whole else (without,):
        if found := _checked(view, signs):
            return found
    return ""


def _stays(element: Element, fresh: Sequence[Element]) -> bool:
    """Whether an element may be offered once more."""
    return element.kind is not Kind.PROBE or any(element is one for one in fresh)


def _signed(own: BoxView, element: Element) -> str:
    """An element as it must be written now: a cell alone says not what to do there."""
    if element.kind is not Kind.CELL:
        return element.text
    return ("/" if element.cells[0] in own.markers else "+") + element.text


def _separately(board: Geometry, text: str) -> Iterator[Element | None]:
    """The elements of a text one by one; ``None`` for each part that is none."""
    for part in re.split("[,;]", text):
        for piece in [part] if _reads(board, part) else part.split():
            found = _reads(board, piece)
            if found or piece.strip():
                yield found


def _reads(board: Geometry, part: str) -> Element | None:
    try:
        return read_elements(board, part)[0]
    except MoveError:
        return None


def mentioned(view: View, text: str) -> str:
    """The one move that a sentence mentions: "17 I think this is close" or "1. 25"; ``""``: none.

    It is for an example alone. Of two ports nobody knows which one is meant. Cells for all atoms
    get markers, and only who speaks of a guess is offered one.
    """
    own = view.own
    if own is None or view.phase in {"over", "done"} or len(text) > _LONGEST_MENDED:
        return ""
    if not view.has_hidden:
        return _checked(view, [cell.replace("-", "") for cell in _CELL_MENTIONED.findall(text)])
    listed = _OF_A_LIST.match(text)
    found = _MENTIONED.findall(text, listed.end()) if listed else []
    found = found or _MENTIONED.findall(text)
    cells = dict.fromkeys(_CELL_MENTIONED.findall(text))
    negates = _NEGATES.search(text) is not None
    if not found and len(cells) >= max(2, view.options.least):
        if _TAKES_OFF.search(text):
            return ""
        marks = [f"+{cell.replace('-', '')}" for cell in cells]
        asks = view.may_act and "guess" in text.lower() and not negates
        return (asks and _checked(view, [*marks, "?"])) or _checked(view, marks)
    if negates or not view.may_act:  # a ray cannot be called back
        found = [sign for sign in found if sign[0] in "+/!"]
    return _checked(view, ["".join(sign.split()) for sign in found])


def _checked(view: View, signs: Sequence[str]) -> str:
    """These elements, each once, as a move; ``""`` where they are none that may be made."""
    try:
        return move_of(check(view, ",".join(dict.fromkeys(map(str.upper, signs))))).text
    except MoveError:
        return ""
