"""Reads the text of a move into its elements and its canonical text.

Most moves are signs and labels, but ``g.``, ``fire g`` and ``mark b2`` are read as well. A line of
a reply may be prose, and a ray cannot be taken back. Therefore a move in words must consist of a
verb and a label of the board: "fire g" is a move, "a good move" is not. `readings` reads other
words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import NoReturn

from pbmserv.engine.types import Move
from pbmserv.errors import Illegal, NotUnderstood
from pbmserv.games.blackbox.geometry import Geometry

TEXT_LIMIT = 1000
"""The longest text of a move, in characters, on a board with few atoms."""

_SPARE_CELLS = 20
"""Cells that areas, rows and columns of a move may have beyond twice the cells of the board."""

_SHORT = 40
"""The longest text that may be a move in words, in characters."""

_SEPARATOR = re.compile(r"[,;]")
_RUN = re.compile(r"[A-Z]+|[0-9]+")
_LETTERS, _NUMBERS = re.compile("[A-Z]+"), re.compile("[0-9]+")
_TOKEN = re.compile(r"([+/!-]?)([A-Z0-9]*)(-[A-Z0-9]*)?")
_HOLD = re.compile(r"(UNLOCK|LOCK)\s+([A-Z0-9].*)")
"""A lock is a word and not a sign, so that nobody locks a cell by a typing mistake."""
_SPACED_CELL = re.compile(r"[+/!-]?\s*(?:[A-Z]{1,2}\s*[0-9]{1,3}|[0-9]{1,3}\s*[A-Z]{1,2})")
_SPACED_SIGN = re.compile(r"(?:[+/!]\s*[A-Z0-9]+|!\s*[A-Z0-9]+\s*-\s*[A-Z0-9]+)")


class Kind(StrEnum):
    """Kinds of elements."""

    PROBE = "probe"
    CELL = "cell"
    MARK = "mark"
    UNMARK = "unmark"
    SEAL = "seal"
    LOCK = "lock"
    UNLOCK = "unlock"
    GUESS = "guess"


@dataclass(frozen=True, slots=True)
class Element:
    """A part of a move.

    Attributes:
        kind: the kind.
        text: the canonical text, such as ``+B2`` or ``lock B2``.
        cells: the cells that it names, all cells of a row for a sealed or locked row.
        port: the port of a probe, else -1.
        part: the text as typed, which does not count in comparisons.
    """

    kind: Kind
    text: str
    cells: tuple[int, ...] = ()
    port: int = -1
    part: str = field(default="", compare=False)

    @property
    def area(self) -> str:
        """The cell, row, column or range that a marker, seal or lock names."""
        return self.text.rpartition(" ")[2].lstrip("+/!")


PRIVATE = frozenset({Kind.SEAL, Kind.LOCK, Kind.UNLOCK})
"""Elements that only their player sees."""

AIDS = PRIVATE | {Kind.MARK, Kind.UNMARK}
"""Elements that use no turn."""


def move_of(elements: Sequence[Element]) -> Move:
    """Return the move that consists of these elements."""
    text = ",".join([element.text for element in elements])
    return Move(text, AIDS.issuperset([element.kind for element in elements]))


@lru_cache(maxsize=16)  # half a megabyte for the largest board
def _usual_elements(board: Geometry) -> Mapping[str, Element]:
    """Return the elements of nearly all records by their texts.

    These are the ports, and the cells to hide an atom or to set or remove a marker.
    """
    ports = [Element(Kind.PROBE, label, (), n, label) for n, label in enumerate(board.ports)]
    cells = [
        Element(kind, sign + name, (cell,), part=sign + name)
        for sign, kind in (("", Kind.CELL), ("+", Kind.MARK), ("/", Kind.UNMARK))
        for cell, name in enumerate(board.names)
    ]
    return {element.text: element for element in (*ports, *cells)}


# A plan is read when it arrives, while it waits and when it is played; areas have many cells.
@lru_cache(maxsize=256)
def read_elements(board: Geometry, text: str, limit: int = TEXT_LIMIT) -> tuple[Element, ...]:
    """Read the elements of a move, left to right.

    Only the language is checked here. `legality` checks whether the move is legal.

    Args:
        board: the board with its labels.
        text: the text as typed. Blanks around elements and ``;`` for ``,`` are accepted.
        limit: the longest text in characters.

    Raises:
        NotUnderstood: a part is not an element, so that the text is a sentence.
        Illegal: an element is malformed, or names a place that the board does not have.
    """
    usual, parts = _usual_elements(board), text[: limit + 1].split(",")
    if len(text) <= limit and usual.keys() >= set(parts):
        return tuple([usual[part] for part in parts])
    if len(text) <= _SHORT and (len(text.split()) > 1 or not text[-1:].isalnum()):
        text = _as_signs(board, text)
    parts = [part.strip() for part in _SEPARATOR.split(text[:limit])]
    if len(text) > limit and len(parts) > 1:
        parts.pop()  # the limit may have cut it
    if not any(parts):
        raise NotUnderstood("blackbox.empty")
    for part in parts:
        if part and part not in usual and not _is_shaped(board, part):
            raise NotUnderstood("blackbox.not-a-move", part=part)
    if len(text) > limit:
        raise Illegal("blackbox.too-long", length=len(text), limit=limit)
    room = 2 * len(board.cells) + _SPARE_CELLS
    elements = []
    for part in parts:
        element = usual.get(part) or _element(board, part)
        # The length of the text limits the single cells.
        room -= len(element.cells) if len(element.cells) > 1 else 0
        if room < 0:
            raise Illegal("blackbox.too-many-cells", part=part)
        elements.append(element)
    return tuple(elements)


def _as_signs(board: Geometry, text: str) -> str:
    """Return a short move without words and final full stop, other texts unchanged."""
    signs = signs_of_words(board, text)
    if signs:
        return signs
    bare = without_full_stop(text)
    if bare.isalpha():  # "J." below a move is a name
        return text
    parts = [part.strip() for part in _SEPARATOR.split(bare)]
    return bare if all(part and _is_shaped(board, part) for part in parts) else text


def _is_shaped(board: Geometry, part: str) -> bool:
    """Return whether a part has the form of an element, correct or not, unlike a sentence."""
    if not part.isascii():
        return False
    upper = part.upper()
    if board.port(upper) is not None or board.named(upper) is not None:
        return True  # as in most moves
    if lock := _HOLD.fullmatch(upper):
        ends = "".join(lock[2].split()).split("-")
        return len(ends) <= 2 and all(end and _is_token(board, end) for end in ends)
    tokens = upper.split()
    if len(tokens) == 1:
        return _is_token(board, upper)
    if _is_spaced(upper):
        return _is_token(board, "".join(tokens))
    # Elements with blanks between them. Letters alone would be words.
    return all(_is_token(board, token) for token in tokens) and not all(map(str.isalpha, tokens))


def _is_token(board: Geometry, token: str) -> bool:
    if token == "?":  # noqa: S105 - a guess, not a password
        return True
    match = _TOKEN.fullmatch(token)
    if not match or (match[3] is not None and match[1] != "!"):
        return False
    sign, label, _ = match.groups()
    letters, numbers = _LETTERS.findall(token), _NUMBERS.findall(token)
    if any(len(run) > 2 for run in letters) or any(len(run) > 3 for run in numbers):
        return False
    if sign == "-":
        return bool(numbers)  # "-Jo" is a signature
    if sign:
        return True
    if not label or any(run[0] != run[-1] for run in letters):
        return False  # "ok", "2nd" and "hi" are words of a sentence
    return not (len(token) == 2 and letters == [token] and len(board.bottom[0]) == 1)


def _is_spaced(upper: str) -> bool:
    return bool(_SPACED_CELL.fullmatch(upper) or _SPACED_SIGN.fullmatch(upper))


def _element(board: Geometry, part: str) -> Element:
    """Read a part with the form of an element.

    Raises:
        Illegal: the part is malformed, or names a place that the board does not have.
    """
    if not part:
        raise Illegal("blackbox.empty-element")
    upper = part.upper()
    if lock := _HOLD.fullmatch(upper):
        kind = Kind(lock[1].lower())
        return _area(board, part, kind, "".join(lock[2].split()))
    body = "".join(upper.split())
    if body != upper and not _is_spaced(upper):
        raise Illegal("blackbox.commas", part=part)
    if body == "?":
        return Element(Kind.GUESS, "?", part=part)
    if body.startswith("+"):
        cell = _cell(board, part, body[1:])
        return Element(Kind.MARK, "+" + board.name(cell), (cell,), part=part)
    if body[0] in "/-":
        cell = _cell(board, part, body[1:])
        return Element(Kind.UNMARK, "/" + board.name(cell), (cell,), part=part)
    if body.startswith("!"):
        return _area(board, part, Kind.SEAL, body[1:])
    if body.isalpha() or body.isdigit():
        port = board.port(body.lstrip("0"))
        if port is None:
            _refuse("port-unknown", part, label=body)
        return Element(Kind.PROBE, board.ports[port], port=port, part=part)
    cell = _cell(board, part, body)
    return Element(Kind.CELL, board.name(cell), (cell,), part=part)


def _cell(board: Geometry, part: str, body: str) -> int:
    if (cell := board.named(body)) is not None:
        return cell
    runs = _RUN.findall(body)
    rows = [run for run in runs if run.isdigit()]
    columns = [run for run in runs if run.isalpha()]
    if not runs:
        _refuse("cell-missing", part)
    if len(rows) > 1:
        _refuse("two-rows", part, first=rows[0], second=rows[1])
    if len(columns) > 1:
        _refuse("two-columns", part, first=columns[0], second=columns[1])
    is_column = bool(columns) and board.column(columns[0]) is not None
    if columns and not is_column and len(columns[0]) > 1 and columns[0][0] != columns[0][1]:
        _refuse("two-columns", part, first=columns[0][0], second=columns[0][1])
    if not rows:
        _refuse("no-row", part, column=columns[0])
    if not columns:
        _refuse("no-column", part, row=rows[0])
    column = board.column(columns[0])
    if column is None:
        _refuse("column-unknown", part, label=columns[0])
    row = board.row(rows[0].lstrip("0"))
    if row is None:
        _refuse("row-unknown", part, label=rows[0])
    return row * board.width + column


_AREA_SIGNS = {Kind.SEAL: "!", Kind.LOCK: "lock ", Kind.UNLOCK: "unlock "}


def _area(board: Geometry, part: str, kind: Kind, body: str) -> Element:
    """Read a cell, row, column or range to seal, lock or unlock."""
    sign = _AREA_SIGNS[kind]
    first, dash, last = body.partition("-")
    if dash:
        start, end = _cell(board, part, first), _cell(board, part, last)
        cells = board.area(start, end)
        if not cells:
            raise Illegal("blackbox.range-backwards", part=part)
        text = f"{sign}{board.name(start)}-{board.name(end)}"
        return Element(kind, text, cells, part=part)
    if not body.isalpha() and not body.isdigit():
        cell = _cell(board, part, body)
        return Element(kind, sign + board.name(cell), (cell,), part=part)
    row, column = board.row(body.lstrip("0")), board.column(body)
    if row is not None:
        start = row * board.width
        line = tuple(range(start, start + board.width))
        return Element(kind, sign + board.left[row], line, part=part)
    if column is not None:
        line = tuple(board.cells)[column :: board.width]
        return Element(kind, sign + board.top[column], line, part=part)
    return _refuse("line-unknown", part, label=body, kind=kind.value)


def _refuse(code: str, part: str, **values: str | int) -> NoReturn:
    raise Illegal(f"blackbox.{code}", part=part, example="", **values)


_FIRED = re.compile(
    r"(?:i(?:'ll| will)? )?(?:fire|shoot|probe|port|ray|laser)"
    r"(?: (?:at|in|into|from|through))?(?: port)? ([a-z]{1,2}|[0-9]{1,3})(?: please)?",
    re.IGNORECASE,
)
_AIDED = re.compile(
    r"(?:i(?:'ll| will)? )?(mark|marker|unmark|seal|lock|unlock)(?: (?:at|on|cell))? "
    r"([a-z]{1,2}[0-9]{1,3}|[0-9]{1,3}[a-z]{1,2})(?: please)?",
    re.IGNORECASE,
)
SIGNS = {
    "mark": "+",
    "marker": "+",
    "unmark": "/",
    "seal": "!",
    "lock": "lock ",
    "unlock": "unlock ",
}
"""Signs of moves by the words for them."""


def signs_of_words(board: Geometry, text: str) -> str:
    """Return a move in words as signs and labels, ``""`` if the text may be something else."""
    words = _words_of(text)
    probe = _FIRED.fullmatch(words)
    if probe and board.port(probe[1].upper()) is not None:
        return probe[1].upper()
    aid = _AIDED.fullmatch(words)
    if aid and board.cell(aid[2]) is not None:
        return SIGNS[aid[1].lower()] + aid[2].upper()
    return ""


def without_full_stop(text: str) -> str:
    """Return a text without punctuation at its end, as in ``g.`` and ``G!``."""
    bare = text.rstrip(".! ")
    return bare if bare[-1:].isalnum() else text


def _words_of(text: str) -> str:
    return " ".join(without_full_stop(text).split()).replace("\u2019", "'")


def as_written(part: str) -> str:
    """Return an element in capitals except ``lock`` and ``unlock``, as in canonical text."""
    upper = part.strip().upper()
    lock = _HOLD.fullmatch(upper)
    return f"{lock[1].lower()} {lock[2]}" if lock else upper
