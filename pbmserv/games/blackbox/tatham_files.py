"""Reads and writes saved games of Simon Tatham's Black Box.

Each line of a file has a key, the length of a text, and the text (``midend.c`` of his puzzles)::

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

STATEPOS is the number of the present state, where the first state is 1. Later states were taken
back. The moves (``blackbox.c``) are:

- ``F0``: fire a beam into a port, counted clockwise
- ``T2,3``: put a ball on a cell, or remove it
- ``LB2,3``, ``LC2``, ``LR3``: lock or unlock a cell, column or row
- ``R``: check the balls
- ``S``: give up

RESTART repeats the description. In his program a locked cell may hold a ball. Here a cell with a
locked ball has a locked marker, and a locked cell without a ball is sealed. In a file the balls of
locked cells may move, since his program checks locks only when the player clicks.

SEED is the text from which the box was drawn, HEXSEED the same in hexadecimal digits if it is not
plain ASCII. Playing needs neither, so both are kept unchanged.

Strangers may send these files, so that everything is bounded and every mistake is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import NoReturn

from pbmserv.engine.protocol import Spend
from pbmserv.engine.record import HINT, RESTART
from pbmserv.errors import MoveError, NotUnderstood
from pbmserv.games.blackbox.contradictions import beam_shown, differing_ports
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
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.moves import Element, Kind, read_elements
from pbmserv.games.blackbox.options import ENDLESS, Scoring
from pbmserv.games.blackbox.practice import (
    PLAYER,
    SOLVE,
    Practice,
    at_no_charge,
    begin,
)
from pbmserv.games.blackbox.rays import mark_ports, trace
from pbmserv.games.blackbox.state import Markers
from pbmserv.games.blackbox.transcripts import MOST_CHARACTERS, MOST_MOVES

MARK = "SAVEFILE:41:Simon Tatham"
"""The beginning of a file."""

_TITLE = "Simon Tatham's Portable Puzzle Collection"
_GAME = "Black Box"
_LINE = re.compile(r"\s*([A-Z]{2,8}) *:([0-9]{1,6}):(.*)")
_NUMBER = re.compile(r"[1-9][0-9]{0,4}")
_CELL = re.compile(r"(T|LB)([0-9]{1,3}),([0-9]{1,3})")
_ONE = re.compile(r"(F|LC|LR)([0-9]{1,3})")
_STATES = frozenset({"MOVE", "SOLVE", "RESTART"})
FEW_MOVES = 200
"""The most moves of a file whose balls and locks become single moves here, to be taken back one by
one."""

MOST_CHECKS = 30
"""The most checks of balls in a file, since each check fires all ports."""

_MOST_CELLS = 60
"""The most cells that one move of ours names, to keep its text short enough."""


class _WrongMove(Exception):
    """Raised by a move that his program could not make; `_play_moves` refuses its line."""


class _Arena:
    """The part of his program's board that may differ from ours.

    Attributes:
        board, atoms: the box.
        balls, locks: the cells with a ball or a lock. A cell may have both.
        marks: the marks of the ports; see `state.Box`.
    """

    def __init__(self, practice: Practice) -> None:
        self.board = practice.options.board
        self.atoms = atoms_of(practice.game)
        self.balls: set[int] = set()
        self.locks: set[int] = set()
        self.marks = [""] * len(self.board.ports)

    def clear(self) -> None:
        """Remove all balls, locks and marks."""
        self.balls, self.locks = set(), set()
        self.marks = [""] * len(self.marks)

    def fire(self, port: int) -> None:
        """Fire a beam into a port without a mark."""
        mark_ports(self.marks, port, trace(self.board, self.atoms, port))

    def reveal(self) -> int | None:
        """Check the balls, and fire the beam that proves them wrong.

        Returns:
            The port of the beam, `None` if no beam is fired.
        """
        wrong = differing_ports(self.board, self.atoms, self.balls)
        if not wrong or any(self.marks[port] for port in wrong):
            return None
        port = beam_shown(self.board, self.marks, self.balls, self.locks, wrong)
        self.fire(port)
        return port

    @property
    def is_right(self) -> bool:
        """Whether the balls explain every port."""
        return not differing_ports(self.board, self.atoms, self.balls)


# -- reading ---------------------------------------------------------------------------------


def read_saved_game(text: str, spend: Spend = at_no_charge) -> Practice:
    """Return the game in a file as practice, including the moves that were taken back.

    Args:
        text: the text of the file.
        spend: called with the work of each state. Its exceptions are not caught.

    Raises:
        NotUnderstood: the text is not such a file, or a move in it cannot be made.
        OptionError: the box is not possible here; for example, it is too large.
    """
    return _play_moves(_read(text), spend)


@dataclass(frozen=True, slots=True)
class _File:
    """The content of a file.

    Attributes:
        head: the texts of the head by key.
        states: line number, key and text of each state except the first.
        present: the number of the present state, counted from 1.
    """

    head: Mapping[str, str]
    states: Sequence[tuple[int, str, str]]
    present: int


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
            break  # the following lines are not part of the file
    checks = sum(value == "R" for _, _, value in states)
    if len(states) > MOST_MOVES or checks > MOST_CHECKS:
        most = MOST_CHECKS if checks > MOST_CHECKS else MOST_MOVES
        raise NotUnderstood("blackbox.saved-moves", most=most, checks=checks > MOST_CHECKS)
    for key in ("CPARAMS", "DESC", "NSTATES", "STATEPOS"):
        if key not in head:
            _refuse("saved-missing", key)
    if head.get("VERSION") != "1" or head.get("GAME") != _GAME:
        _refuse("saved-game", head.get("GAME", "?"))
    present, count = _count(head["STATEPOS"]), _count(head["NSTATES"])
    if count != len(states) + 1 or not 1 <= present <= count:
        _refuse("saved-missing", "MOVE")
    return _File(head, states, present)


def _refuse(code: str, part: str, line: int = 0) -> NoReturn:
    raise NotUnderstood(f"blackbox.{code}", part=clipped(part), line=line)


def _lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the number, key and text of each line of a file after the first."""
    has_begun = False
    for number, line in enumerate(text.splitlines(), 1):
        if not has_begun:
            has_begun = line.strip().startswith(MARK)
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            if line.strip():
                _refuse("saved-line", line.strip(), number)
            continue
        key, length, value = match[1], int(match[2]), match[3]
        if len(value.rstrip()) <= length:
            # A mail may have removed or added blanks at the end.
            value = value[:length].ljust(length) if key == "SEED" else value.rstrip()
        if len(value) != length:
            _refuse("saved-line", line.strip(), number)
        yield number, key, value
    if not has_begun:
        _refuse("saved-missing", "SAVEFILE")


def _count(text: str) -> int:
    return int(text) if _NUMBER.fullmatch(text) else 0


def _play_moves(saved: _File, spend: Spend) -> Practice:
    """Return the game after all states of a file.

    Args:
        saved: the file.
        spend: called with the work of each state.
    """
    description = saved.head.get("PRIVDESC", saved.head["DESC"])
    game = replace(read_id(f"{saved.head['CPARAMS']}:{description}"), seed=_seed(saved))
    practice = begin(game, Scoring.PRACTICE, ENDLESS, fair=True, clue=True)
    arena = _Arena(practice)
    # In a long game, join balls and locks up to the next beam. Undo takes them back together.
    one_by_one = len(saved.states) <= FEW_MOVES
    done = 0
    for state, (line, key, move) in enumerate(saved.states, 1):
        before = len(practice.steps)
        try:
            practice = _after_state(practice, arena, key, move)
            if one_by_one or state in (saved.present - 1, len(saved.states)):
                practice = _with_aids(practice, arena)
        except (MoveError, _WrongMove):
            _refuse("saved-move", move, line)
        spend(1 + sum(practice.work(step.public[PLAYER]) for step in practice.steps[before:]))
        if state == saved.present - 1:
            done = len(practice.steps) - 1
    return replace(practice, done=done)


def _seed(saved: _File) -> str | None:
    """Return the seed of a file, `None` if it has none."""
    digits = saved.head.get("HEXSEED")
    if digits is None:
        return saved.head.get("SEED")
    seed = seed_of_digits(digits)
    if seed is None:
        _refuse("saved-missing", "HEXSEED")
    return seed


def _after_state(practice: Practice, arena: _Arena, key: str, move: str) -> Practice:
    """Return the game after one more of his states, without balls and locks; see `_with_aids`.

    Raises:
        MoveError | _WrongMove: the state is not possible.
    """
    if key == "RESTART":
        if move.lower() != described(practice.game).partition(":")[2]:
            raise _WrongMove
        arena.clear()
        return practice.restart()
    if key == "SOLVE" or move == "S":
        practice = _with_aids(practice, arena)
        return practice if practice.over else practice.solve()
    if practice.over:
        raise _WrongMove
    if move == "R":
        practice = _with_aids(practice, arena).play("?")
        port = arena.reveal()
        return practice if port is None else _with_mark(practice, port)
    if match := _ONE.fullmatch(move):
        number = int(match[2])
        if match[1] == "F":
            return _fire_beam(_with_aids(practice, arena), arena, number)
        arena.locks = _toggled_locks(arena, match[1], number)
    elif match := _CELL.fullmatch(move):
        column, row = int(match[2]) - 1, int(match[3]) - 1
        if column not in range(arena.board.width) or row not in range(arena.board.height):
            raise _WrongMove
        cells = arena.balls if match[1] == "T" else arena.locks
        cells ^= {row * arena.board.width + column}
    else:
        raise _WrongMove
    return practice


def _fire_beam(practice: Practice, arena: _Arena, number: int) -> Practice:
    if number >= len(arena.marks):
        raise _WrongMove
    port = arena.board.clockwise[number]
    if not arena.marks[port]:
        arena.fire(port)
    return _with_mark(practice, port)


def _with_mark(practice: Practice, port: int) -> Practice:
    """Return the game with a mark at a port, which is fired if it has none."""
    is_used = practice.state.boxes[0].marks[port]
    return practice if is_used else practice.play(practice.options.board.ports[port])


def _line_of(board: Geometry, kind: str, number: int) -> range:
    if kind == "LC" and 1 <= number <= board.width:
        return board.cells[number - 1 :: board.width]
    if kind == "LR" and 1 <= number <= board.height:
        return board.cells[(number - 1) * board.width : number * board.width]
    raise _WrongMove


def _with_aids(practice: Practice, arena: _Arena) -> Practice:
    """Return the game with the markers, seals and locks of his board, unchanged if they agree."""
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
    for start in range(0, len(words), _MOST_CELLS):
        practice = practice.play(",".join(words[start : start + _MOST_CELLS]))
    return practice


def _locks(arena: _Arena, held: AbstractSet[int]) -> Iterator[str]:
    """Yield elements that lock and unlock cells until the same cells are locked as on his board.

    If one row or column is enough, it is named as a whole.

    Args:
        arena: his board.
        held: the cells that are sealed or locked on our board.
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
    """Return a file for his program, including the moves that were taken back."""
    description = described(practice.game).partition(":")[2]
    arena = _Arena(practice)
    states: list[tuple[str, str]] = []
    ends = [0]
    errors = 0
    for text, step in zip(practice.texts, practice.steps[1:], strict=True):
        if text == RESTART:
            arena.clear()
            states.append((RESTART.upper(), description))
        elif text == SOLVE:
            states.append((SOLVE.upper(), "S"))
        else:
            marks = step.state.boxes[PLAYER].marks
            moves = [] if text == HINT else list(_program_moves(arena, text, marks))
            errors += "R" in moves and not arena.is_right
            states += [("MOVE", move) for move in moves]
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


def _program_moves(arena: _Arena, text: str, marks: Sequence[str]) -> Iterator[str]:
    """Yield the moves of his program for one of ours, after which our ports have these marks."""
    elements = read_elements(arena.board, text, limit=len(text))
    yield from _set_aids(arena, elements)
    for element in elements:
        if element.kind == Kind.PROBE:
            yield from _fire(arena, [element.port])
        elif element.kind == Kind.GUESS:
            yield "R"
            if arena.is_right:
                return
            arena.reveal()
    # After a wrong guess, his program may show another beam than ours. Fire ours as well.
    yield from _fire(arena, [port for port, mark in enumerate(marks) if mark])


def _set_aids(arena: _Arena, elements: Sequence[Element]) -> Iterator[str]:
    """Yield the moves for all markers, seals and locks of one of our moves.

    A row or column that was sealed or locked as a whole becomes one move.
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
        if is_whole and _toggled_locks(arena, *line) & cells == locks & cells:
            yield f"{line[0]}{line[1]}"
            arena.locks = _toggled_locks(arena, *line)
    for cell in sorted(arena.locks ^ locks):
        yield f"LB{_place(board, cell)}"
    arena.locks = locks


def _line_named(board: Geometry, element: Element) -> tuple[str, int] | None:
    """Return the row or column of an element as his program numbers it, `None` for neither."""
    if element.area in board.left:
        return "LR", board.left.index(element.area) + 1
    if element.area in board.top:
        return "LC", board.top.index(element.area) + 1
    return None


def _toggled_locks(arena: _Arena, kind: str, number: int) -> set[int]:
    """Return the locks after ``LR`` or ``LC``, which unlock a line if more than half is locked."""
    cells = set(_line_of(arena.board, kind, number))
    unlocks = len(cells & arena.locks) > len(cells) // 2
    return arena.locks - cells if unlocks else arena.locks | cells


def _fire(arena: _Arena, ports: Iterable[int]) -> Iterator[str]:
    for port in ports:
        if not arena.marks[port]:
            arena.fire(port)
            yield f"F{arena.board.clockwise.index(port)}"


def _place(board: Geometry, cell: int) -> str:
    row, column = divmod(cell, board.width)
    return f"{column + 1},{row + 1}"
