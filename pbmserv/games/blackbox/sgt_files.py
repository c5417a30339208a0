"""Saved games of Simon Tatham's Black Box: the files of its Save and Load, read and written.

A file is lines of a key, the length of a text and the text (``midend.c`` of his puzzles)::

    SAVEFILE:41:Simon Tatham's Portable Puzzle Collection
    VERSION :1:1
    GAME    :9:Black Box
    PARAMS  :8:w5h5m3M3
    CPARAMS :8:w5h5m3M3
    DESC    :16:7adc79f9429f8d72
    UI      :2:E0
    NSTATES :1:3
    STATEPOS:1:2
    MOVE    :2:F0
    MOVE    :4:T2,3

STATEPOS counts the states from 1, the first one included; what stands behind it was taken back. A
move (``blackbox.c``) is ``F0``: a beam into a port, counted clockwise; ``T2,3``: a ball on or off;
``LB2,3``, ``LC2``, ``LR3``: a lock on a cell, column or row turned; ``R``: the balls are to be
checked. ``S`` gives up, and RESTART has the description again. A locked cell may hold a ball there;
here a cell has a marker or a seal, and the marker counts.

The files are strangers', so all is bounded, and whatever is wrong in one is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from string import ascii_letters
from typing import NoReturn

from pbmserv.engine.protocol import Spend
from pbmserv.engine.record import HINT, RESTART
from pbmserv.errors import MoveError, NotUnderstood
from pbmserv.games.blackbox.game_ids import atoms_of, clipped, described, read_id
from pbmserv.games.blackbox.geometry import HIT, Geometry, spectrum, trace
from pbmserv.games.blackbox.moves import Element, Kind, read_elements
from pbmserv.games.blackbox.options import ENDLESS
from pbmserv.games.blackbox.practice import (
    MOST_CHARACTERS,
    MOST_MOVES,
    SOLVE,
    Done,
    Practice,
    Scoring,
    at_no_charge,
    begin,
)
from pbmserv.games.blackbox.rules import beam_shown
from pbmserv.games.blackbox.state import HIT_MARK, REFLECTION_MARK, Markers

MARK = "SAVEFILE:41:Simon Tatham"
"""How a file begins."""

_TITLE = "Simon Tatham's Portable Puzzle Collection"
_GAME = "Black Box"
_LINE = re.compile(r"\s*([A-Z]{2,8}) *:([0-9]{1,6}):(.*)")
_NUMBER = re.compile(r"[1-9][0-9]{0,4}")
_CELL = re.compile(r"(T|LB)([0-9]{1,3}),([0-9]{1,3})")
_ONE = re.compile(r"(F|LC|LR)([0-9]{1,3})")
_STATES = frozenset({"MOVE", "SOLVE", "RESTART"})
FEW_MOVES = 200
"""So many moves of a file become moves here one by one, and can be taken back so."""

MOST_CHECKS = 30
"""How often a file may have its balls checked: each time every port is fired."""

_TEXT = 60
"""Cells that one move of ours names at most, so that its text is short enough."""


class _Arena:
    """His program's board as far as ours may differ from it.

    Attributes:
        board, atoms: the box.
        balls, locks: cells that the player has set; a cell may have both.
        marks: of the ports, as `state.Box` has them.
    """

    def __init__(self, practice: Practice) -> None:
        self.board = practice.options.board
        self.atoms = atoms_of(practice.game)
        self.balls: set[int] = set()
        self.locks: set[int] = set()
        self.marks = [""] * len(self.board.ports)
        self._detours = 0

    def clear(self) -> None:
        """As at the beginning."""
        self.balls, self.locks, self._detours = set(), set(), 0
        self.marks = [""] * len(self.marks)

    def fire(self, port: int) -> None:
        """Fire a beam into a port without a mark."""
        found = trace(self.board, self.atoms, port)
        if found in (HIT, port):
            self.marks[port] = HIT_MARK if found == HIT else REFLECTION_MARK
        else:
            self.marks[port] = self.marks[found] = ascii_letters[self._detours]
            self._detours += 1

    def reveal(self) -> int | None:
        """Have the balls checked; the port of the beam that is then fired to prove them wrong."""
        real, guessed = self._spectra
        wrong = [port for port in range(len(real)) if real[port] != guessed[port]]
        if not wrong or any(self.marks[port] for port in wrong):
            return None
        port = beam_shown(self.board, self.marks, self.balls, self.locks, wrong)
        self.fire(port)
        return port

    @property
    def _spectra(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The results of all ports, by the atoms and by the balls."""
        return spectrum(self.board, self.atoms), spectrum(self.board, frozenset(self.balls))

    @property
    def is_right(self) -> bool:
        """Whether the balls explain every port."""
        real, guessed = self._spectra
        return real == guessed


# -- reading ---------------------------------------------------------------------------------


def read_saved_game(text: str, spend: Spend = at_no_charge) -> Practice:
    """Return the game in a file as practice, with all that was taken back.

    Args:
        spend: is told of the work of each state; what it raises goes through.

    Raises:
        NotUnderstood: it is none, or a move in it cannot be made; names the line.
        OptionError: the box is none of ours, such as one that is too large.
    """
    found = _read(text)
    # Somebody who locks much has more moves than there is room for: then balls and locks wait for
    # the next beam, and are taken back together.
    practice = _made(found, FEW_MOVES, spend, whole=True) or _made(
        found, MOST_MOVES, spend, whole=False
    )
    if practice is None:
        raise NotUnderstood("blackbox.saved-moves", most=MOST_MOVES, checks=False)
    return practice


@dataclass(frozen=True, slots=True)
class _File:
    """What a file says: its head, (line, key, text) of each state but the first, and which state
    is the present one."""

    head: Mapping[str, str]
    states: Sequence[tuple[int, str, str]]
    at: int


def _read(text: str) -> _File:
    if len(text) > MOST_CHARACTERS:
        raise NotUnderstood("blackbox.transcript-long", length=len(text), most=MOST_CHARACTERS)
    head: dict[str, str] = {}
    states: list[tuple[int, str, str]] = []
    for number, key, value in _lines(text):
        if key in _STATES:
            states.append((number, key, value))
        else:
            head.setdefault(key, value)
        if "STATEPOS" in head and len(states) + 1 == _count(head.get("NSTATES", "")):
            break  # what stands below is no part of it
    checks = sum(value == "R" for _, _, value in states)
    if len(states) > MOST_MOVES or checks > MOST_CHECKS:
        most = MOST_CHECKS if checks > MOST_CHECKS else MOST_MOVES
        raise NotUnderstood("blackbox.saved-moves", most=most, checks=checks > MOST_CHECKS)
    for key in ("CPARAMS", "DESC", "NSTATES", "STATEPOS"):
        if key not in head:
            _refuse("saved-missing", key)
    if head.get("VERSION") != "1" or head.get("GAME") != _GAME:
        _refuse("saved-game", head.get("GAME", "?"))
    at, count = _count(head["STATEPOS"]), _count(head["NSTATES"])
    if count != len(states) + 1 or not 1 <= at <= count:
        _refuse("saved-missing", "MOVE")
    return _File(head, states, at)


def _refuse(code: str, part: str, line: int = 0) -> NoReturn:
    raise NotUnderstood(f"blackbox.{code}", part=clipped(part), line=line)


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Number, key and text of each line behind the first of a file, as far as they are such."""
    begun = False
    for number, line in enumerate(text.splitlines(), 1):
        if not begun:
            begun = line.strip().startswith(MARK)
            continue
        found = _LINE.fullmatch(line.rstrip())
        if found is None:
            if line.strip():
                _refuse("saved-line", line.strip(), number)
            continue
        value = found[3]
        # A seed is any text, and of no use here: the description says the same.
        if found[1] not in ("SEED", "HEXSEED") and len(value) != int(found[2]):
            _refuse("saved-line", line.strip(), number)
        yield number, found[1], value
    if not begun:
        _refuse("saved-missing", "SAVEFILE")


def _count(text: str) -> int:
    return int(text) if _NUMBER.fullmatch(text) else 0


def _made(found: _File, most: int, spend: Spend, *, whole: bool) -> Practice | None:
    """The game after all of its states; ``None`` if that takes more than *most* moves. With *whole*
    each ball and lock is a move of its own."""
    description = found.head.get("PRIVDESC", found.head["DESC"])
    game = read_id(f"{found.head['CPARAMS']}:{description}")
    practice = begin(game, Scoring.PRACTICE, ENDLESS, fair=True, clue=True)
    arena = _Arena(practice)
    done = 0
    for place, (number, key, move) in enumerate(found.states, 1):
        before = len(practice.chain)
        try:
            practice = _after(practice, arena, key, move)
            if whole or place in (found.at - 1, len(found.states)):
                practice = _with_aids(practice, arena)
        except MoveError:
            _refuse("saved-move", move, number)
        spend(1 + sum(practice.work(step.text) for step in practice.chain[before:]))
        if len(practice.chain) > most:
            return None
        if place == found.at - 1:
            done = len(practice.chain)
    return replace(practice, done=done)


def _after(practice: Practice, arena: _Arena, key: str, move: str) -> Practice:
    """The game after one more of his states, but for balls and locks: `_with_aids` sets those.

    Raises:
        MoveError: it cannot be.
    """
    if key == "RESTART":
        if move.lower() != described(practice.game).partition(":")[2]:
            raise _WRONG
        arena.clear()
        return practice.restart()
    if key == "SOLVE" or move == "S":
        practice = _with_aids(practice, arena)
        return practice if practice.over else practice.solve()
    if practice.over:
        raise _WRONG
    if move == "R":
        practice = _with_aids(practice, arena).play("?")
        shown = arena.reveal()
        # A lock on a ball makes his program show another beam than ours.
        return practice if shown is None else _fired(practice, shown)
    if found := _ONE.fullmatch(move):
        number = int(found[2])
        if found[1] == "F":
            return _beam(_with_aids(practice, arena), arena, number)
        cells = set(_line_of(arena.board, found[1], number))
        is_full = len(cells & arena.locks) > len(cells) // 2
        arena.locks = arena.locks - cells if is_full else arena.locks | cells
    elif found := _CELL.fullmatch(move):
        column, row = int(found[2]) - 1, int(found[3]) - 1
        if column not in range(arena.board.width) or row not in range(arena.board.height):
            raise _WRONG
        changed = arena.balls if found[1] == "T" else arena.locks
        changed ^= {row * arena.board.width + column}
    else:
        raise _WRONG
    return practice


_WRONG = NotUnderstood("blackbox.empty")
"""Not told to anybody: who reads a file names the line."""


def _beam(practice: Practice, arena: _Arena, number: int) -> Practice:
    if number >= len(arena.marks):
        raise _WRONG
    port = arena.board.clockwise[number]
    if not arena.marks[port]:
        arena.fire(port)
    return _fired(practice, port)


def _fired(practice: Practice, port: int) -> Practice:
    """The game with a mark at this port."""
    is_used = practice.state.boxes[0].marks[port]
    return practice if is_used else practice.play(practice.options.board.ports[port])


def _line_of(board: Geometry, kind: str, number: int) -> range:
    if kind == "LC" and 1 <= number <= board.width:
        return board.cells[number - 1 :: board.width]
    if kind == "LR" and 1 <= number <= board.height:
        return board.cells[(number - 1) * board.width : number * board.width]
    raise _WRONG


def _with_aids(practice: Practice, arena: _Arena) -> Practice:
    """The game with the markers and seals that his board has; no move if ours has them already."""
    if practice.over:
        return practice
    box, name = practice.state.boxes[0], practice.options.board.name
    seals = arena.locks - arena.balls
    words = [
        *(f"+{name(cell)}" for cell in sorted(arena.balls - box.markers)),
        *(f"/{name(cell)}" for cell in sorted(box.markers - arena.balls)),
        *(f"!{what}" for what in _areas(arena.board, (seals ^ box.sealed) - arena.balls)),
    ]
    for start in range(0, len(words), _TEXT):
        practice = practice.play(",".join(words[start : start + _TEXT]))
    return practice


def _areas(board: Geometry, cells: AbstractSet[int]) -> Sequence[str]:
    """What seals or opens these cells: the label of the one row or column that they are, or their
    names."""
    if not cells:
        return ()
    for kind, labels in (("LR", board.left), ("LC", board.top)):
        for number, label in enumerate(labels, 1):
            if cells == set(_line_of(board, kind, number)):
                return (label,)
    return [board.name(cell) for cell in sorted(cells)]


# -- writing ---------------------------------------------------------------------------------


def write_saved_game(practice: Practice) -> str:
    """A game on one box as a file that his program loads, with all that was taken back."""
    description = described(practice.game).partition(":")[2]
    arena = _Arena(practice)
    states: list[tuple[str, str]] = []
    ends = [0]
    errors = 0
    for step in practice.chain:
        if step.text == RESTART:
            arena.clear()
            states.append((RESTART.upper(), description))
        elif step.text == SOLVE:
            states.append((SOLVE.upper(), "S"))
        else:
            made = [] if step.text == HINT else list(_moves(arena, step))
            errors += "R" in made and not arena.is_right
            states += [("MOVE", move) for move in made]
        ends.append(len(states))
    parameters = practice.game.parameters
    head = (
        ("SAVEFILE", _TITLE),
        ("VERSION", "1"),
        ("GAME", _GAME),
        ("PARAMS", parameters),
        ("CPARAMS", parameters),
        ("DESC", description),
        ("UI", f"E{errors}"),
        ("NSTATES", str(len(states) + 1)),
        ("STATEPOS", str(ends[practice.done] + 1)),
    )
    return "".join(f"{key:<8}:{len(value)}:{value}\n" for key, value in (*head, *states))


def _moves(arena: _Arena, step: Done) -> Iterator[str]:
    """His moves for one of ours."""
    elements = read_elements(arena.board, step.text, limit=len(step.text))
    for element in elements:
        yield from _set(arena, element)
    for element in elements:
        if element.kind == Kind.PROBE:
            yield from _fire(arena, [element.port])
        elif element.kind == Kind.GUESS:
            yield "R"
            if arena.is_right:
                return
            arena.reveal()
    # A wrong guess shows one beam there; should ours have shown another one, it is fired.
    yield from _fire(arena, [port for port, mark in enumerate(step.state.boxes[0].marks) if mark])


def _set(arena: _Arena, element: Element) -> Iterator[str]:
    """The moves for a marker or a seal."""
    board = arena.board
    aids = Markers(arena.balls, arena.locks)
    aids.use(element)
    changed = arena.locks ^ aids.sealed
    for cell in sorted(arena.balls ^ aids.markers):
        yield f"T{_place(board, cell)}"
    label = element.text[1:]
    if len(changed) > 1 and changed == set(element.cells) and label in board.left:
        yield f"LR{board.left.index(label) + 1}"
    elif len(changed) > 1 and changed == set(element.cells) and label in board.top:
        yield f"LC{board.top.index(label) + 1}"
    else:
        for cell in sorted(changed):
            yield f"LB{_place(board, cell)}"
    arena.balls, arena.locks = set(aids.markers), set(aids.sealed)


def _fire(arena: _Arena, ports: Iterable[int]) -> Iterator[str]:
    for port in ports:
        if not arena.marks[port]:
            arena.fire(port)
            yield f"F{arena.board.clockwise.index(port)}"


def _place(board: Geometry, cell: int) -> str:
    row, column = divmod(cell, board.width)
    return f"{column + 1},{row + 1}"
