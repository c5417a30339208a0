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
here such a cell has a locked marker, and a locked cell without a ball is sealed. In a file the
balls of locked cells may move, since his program looks at locks only when somebody clicks.

SEED is the text that the box comes from, HEXSEED the same in hexadecimal digits where it is not
plain ASCII. Neither is needed to play, so both are kept as they are.

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
from pbmserv.games.blackbox.game_ids import (
    GameId,
    atoms_of,
    clipped,
    described,
    is_plain,
    read_id,
    seed_digits,
    seed_of_digits,
)
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
    """Yield the number, key and text of each line of a file after the first."""
    begun = False
    for number, line in enumerate(text.splitlines(), 1):
        if not begun:
            begun = line.strip().startswith(MARK)
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            if line.strip():
                _refuse("saved-line", line.strip(), number)
            continue
        key, length, value = match[1], int(match[2]), match[3]
        if len(value.rstrip()) <= length:
            # A mail may have lost blanks at the end, and may have added some.
            value = value[:length].ljust(length) if key == "SEED" else value.rstrip()
        if len(value) != length:
            _refuse("saved-line", line.strip(), number)
        yield number, key, value
    if not begun:
        _refuse("saved-missing", "SAVEFILE")


def _count(text: str) -> int:
    return int(text) if _NUMBER.fullmatch(text) else 0


def _made(found: _File, most: int, spend: Spend, *, whole: bool) -> Practice | None:
    """The game after all of its states; ``None`` if that takes more than *most* moves. With *whole*
    each ball and lock is a move of its own."""
    description = found.head.get("PRIVDESC", found.head["DESC"])
    game = replace(read_id(f"{found.head['CPARAMS']}:{description}"), seed=_seed(found))
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


def _seed(found: _File) -> str | None:
    """The seed of a file, as it is; ``None`` if it has none."""
    digits = found.head.get("HEXSEED")
    if digits is None:
        return found.head.get("SEED")
    seed = seed_of_digits(digits)
    if seed is None:
        _refuse("saved-missing", "HEXSEED")
    return seed


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
        return practice if shown is None else _fired(practice, shown)
    if found := _ONE.fullmatch(move):
        number = int(found[2])
        if found[1] == "F":
            return _beam(_with_aids(practice, arena), arena, number)
        arena.locks = _turned(arena, found[1], number)
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
    """The game with the markers, seals and locks that his board has; no move if nothing differs."""
    if practice.over:
        return practice
    box, board = practice.state.boxes[0], practice.options.board
    held = box.sealed | box.locked
    words = []
    for cell in sorted(arena.balls ^ box.markers):
        name = board.name(cell)
        steps = [f"unlock {name}"] if cell in box.locked else []
        steps.append(f"/{name}" if cell in box.markers else f"+{name}")
        words.append(",".join(steps))
        held -= {cell}  # a marker opens a seal
    words += _locks(arena, held)
    for start in range(0, len(words), _TEXT):
        practice = practice.play(",".join(words[start : start + _TEXT]))
    return practice


def _locks(arena: _Arena, held: AbstractSet[int]) -> Iterator[str]:
    """The words that lock and unlock cells until just those of his board are locked.

    A row or column is named as a whole if that is enough.

    Args:
        held: the cells that are sealed or locked here.
    """
    board, changed = arena.board, arena.locks ^ held
    for kind, labels in (("LR", board.left), ("LC", board.top)):
        for number, label in enumerate(labels, 1):
            line = frozenset(_line_of(board, kind, number))
            if not changed or not changed <= line:
                continue
            if changed == line and line.isdisjoint(arena.balls):
                yield f"!{label}"
                return
            if len(changed) > 1 and not line.isdisjoint(arena.balls):
                if line <= arena.locks:
                    yield f"lock {label}"
                    return
                if line.isdisjoint(arena.locks):
                    yield f"unlock {label}"
                    return
    for cell in sorted(changed):
        name = board.name(cell)
        if cell not in arena.balls:
            yield f"!{name}"
        else:
            yield f"lock {name}" if cell in arena.locks else f"unlock {name}"


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
    parameters = described(practice.game).partition(":")[0]
    head = (
        ("SAVEFILE", _TITLE),
        ("VERSION", "1"),
        ("GAME", _GAME),
        ("PARAMS", parameters),
        ("CPARAMS", parameters),
        *_seed_lines(practice.game),
        ("DESC", description),
        ("UI", f"E{errors}"),
        ("NSTATES", str(len(states) + 1)),
        ("STATEPOS", str(ends[practice.done] + 1)),
    )
    return "".join(f"{key:<8}:{len(value)}:{value}\n" for key, value in (*head, *states))


def _seed_lines(game: GameId) -> Iterator[tuple[str, str]]:
    if game.seed is not None:
        plain = is_plain(game.seed)
        yield ("SEED", game.seed) if plain else ("HEXSEED", seed_digits(game.seed))


def _moves(arena: _Arena, step: Done) -> Iterator[str]:
    """His moves for one of ours."""
    elements = read_elements(arena.board, step.text, limit=len(step.text))
    yield from _set(arena, elements)
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


def _set(arena: _Arena, elements: Sequence[Element]) -> Iterator[str]:
    """The moves for the markers, seals and locks of one of our moves, taken together.

    A row or column that was sealed or locked as a whole is one move here, too.
    """
    board = arena.board
    aids = Markers(arena.balls, arena.locks - arena.balls, arena.locks & arena.balls)
    for element in elements:
        aids.use(element)
    for cell in sorted(arena.balls ^ aids.markers):
        yield f"T{_place(board, cell)}"
    arena.balls, locks = set(aids.markers), aids.sealed | aids.locked
    for line in filter(None, (_line_named(board, element) for element in elements)):
        cells = set(_line_of(board, *line))
        changed = cells & (arena.locks ^ locks)
        is_whole = changed == cells or (len(changed) > 1 and not cells.isdisjoint(arena.balls))
        if is_whole and _turned(arena, *line) & cells == locks & cells:
            yield f"{line[0]}{line[1]}"
            arena.locks = _turned(arena, *line)
    for cell in sorted(arena.locks ^ locks):
        yield f"LB{_place(board, cell)}"
    arena.locks = locks


def _line_named(board: Geometry, element: Element) -> tuple[str, int] | None:
    """The row or column that an element names, as his program numbers it."""
    if element.area in board.left:
        return "LR", board.left.index(element.area) + 1
    if element.area in board.top:
        return "LC", board.top.index(element.area) + 1
    return None


def _turned(arena: _Arena, kind: str, number: int) -> set[int]:
    """The locks after ``LR`` or ``LC``: more than half locked means that the line is unlocked."""
    cells = set(_line_of(arena.board, kind, number))
    is_full = len(cells & arena.locks) > len(cells) // 2
    return arena.locks - cells if is_full else arena.locks | cells


def _fire(arena: _Arena, ports: Iterable[int]) -> Iterator[str]:
    for port in ports:
        if not arena.marks[port]:
            arena.fire(port)
            yield f"F{arena.board.clockwise.index(port)}"


def _place(board: Geometry, cell: int) -> str:
    row, column = divmod(cell, board.width)
    return f"{column + 1},{row + 1}"
