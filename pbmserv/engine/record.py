"""The record of a board, which is the truth, and its replay.

A decoded state is only ever a cache of a record's replay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pbmserv.engine.registry import AnyGame
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Move, Seat, Step

WITHDRAW = "resign"
"""The canonical text that every game's record uses for a withdrawal."""


@dataclass(frozen=True, slots=True)
class Ply:
    """One applied move.

    Attributes:
        number: 1-based place in the record.
        seat: who made it.
        text: canonical text, or `WITHDRAW`.
        free: used no turn.
    """

    number: int
    seat: Seat
    text: str
    free: bool


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
    return game.apply(state, ply.seat, Move(ply.text, ply.free), Rng(seed, ply.number))


def replay(game: AnyGame, record: GameRecord, upto: int | None = None) -> list[Step[Any]]:
    """Every step of the record, up to and with ply *upto* (default: all).

    Element 0 is the start, so ``steps[n].state`` is the position after ply n.
    """
    steps: list[Step[Any]] = [Step(start(game, record), {None: ""})]
    plies: Sequence[Ply] = record.plies if upto is None else record.plies[:upto]
    for ply in plies:
        steps.append(advance(game, record.seed, steps[-1].state, ply))
    return steps
