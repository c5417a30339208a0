"""The record of a board, which is the truth, and its replay.

A decoded state is only ever a cache of a record's replay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pbmserv.engine.registry import AnyGame
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Move, Note, Seat, Step

WITHDRAW = "resign"
"""The canonical text that every game's record uses for a withdrawal."""

FORFEIT = "forfeit"
"""The text of a withdrawal by the clock: its player took too long."""

UNDO = "undo"
"""The text of a ply that takes back its seat's last ply. It is free; nothing leaves the log."""


REDO = "redo"
"""The text of a ply that brings back what the last undo took back; only in practice."""

RESTART = "restart"
"""The text of a ply that begins the board anew; only in practice."""


@dataclass(frozen=True, slots=True)
class Ply:
    """One applied move.

    Attributes:
        number: 1-based place in the record.
        seat: who made it.
        text: canonical text, `WITHDRAW`, `FORFEIT`, `UNDO`, `REDO` or `RESTART`.
        free: used no turn.
    """

    number: int
    seat: Seat
    text: str
    free: bool


_CHARACTERS = 24


def weight(characters: int) -> int:
    """How much there is to do for a move of so many characters: one for each 24 begun."""
    return 1 + characters // _CHARACTERS


@dataclass(frozen=True, slots=True)
class GameRecord:
    """Everything needed to play a board again from nothing.

    Attributes:
        game: key in the registry.
        rules_version: of that game.
        seats: number of players.
        options: canonical option words.
        seed: secret random bytes; never in a letter, log or URL.
        plies: in order, numbered from 1 without gaps.
    """

    game: str
    rules_version: int
    seats: int
    options: tuple[str, ...]
    seed: bytes
    plies: tuple[Ply, ...] = ()


def start(game: AnyGame, record: GameRecord) -> Any:
    """The state before the first ply."""
    options = game.options(record.options, record.seats)
    return game.setup(record.seats, options, Rng(record.seed, 0))


def advance(game: AnyGame, seed: bytes, state: Any, ply: Ply) -> Step[Any]:
    """Apply one recorded ply."""
    if ply.text == WITHDRAW:
        return game.withdraw(state, ply.seat)
    if ply.text == FORFEIT:
        return _forfeited(game.withdraw(state, ply.seat))
    return game.apply(state, ply.seat, Move(ply.text, ply.free), Rng(seed, ply.number))


def _forfeited(step: Step[Any]) -> Step[Any]:
    """A game tells of a withdrawal by a note of the kind ``resigned``; nobody has said so here."""
    notes = tuple(replace(n, kind=FORFEIT) if n.kind == "resigned" else n for n in step.notes)
    public = {seat: FORFEIT if text == WITHDRAW else text for seat, text in step.public.items()}
    return replace(step, notes=notes, public=public)


def take_back(state: Any, seat: Seat, kind: str = "undone") -> Step[Any]:
    """The step of an undo, redo or restart: *state* is the one that it leads back to."""
    return Step(state, {None: ""}, (Note(kind, seat, frozenset({seat})),))


def replay(game: AnyGame, record: GameRecord, upto: int | None = None) -> list[Step[Any]]:
    """Every step of the record, up to and with ply *upto* (default: all).

    Element 0 is the start, so ``steps[n].state`` is the position after ply n.
    """
    steps: list[Step[Any]] = [Step(start(game, record), {None: ""})]
    plies: Sequence[Ply] = record.plies if upto is None else record.plies[:upto]
    standing = [0]  # places of the steps that no undo has taken back
    undone: list[int] = []  # places of those that can be brought back, the newest last
    for place, ply in enumerate(plies, 1):
        if ply.text == UNDO and len(standing) > 1:
            undone.append(standing.pop())
            steps.append(take_back(steps[standing[-1]].state, ply.seat))
        elif ply.text == REDO and undone:
            standing.append(undone.pop())
            steps.append(take_back(steps[standing[-1]].state, ply.seat, "redone"))
        elif ply.text == RESTART:
            standing, undone = [0], []
            steps.append(take_back(steps[0].state, ply.seat, "restarted"))
        else:
            steps.append(advance(game, record.seed, steps[-1].state, ply))
            standing.append(place)
            undone.clear()
    return steps
