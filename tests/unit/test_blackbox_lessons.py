"""Lessons of an opened box are worked out only when a reader gets them."""

from __future__ import annotations

from pbmserv.engine.position import Position, notes_for, opening
from pbmserv.engine.record import GameRecord, Ply
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Seat
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.lessons import LESSONS

KINDS = {"contradicted", "distinguishing", "dead-zone"}


def given_up(seats: int) -> Position:
    """A race on a large box with few atoms, in which nobody has found anything."""
    words = ("-race", "-size=26x26", "-atoms=3", "-seed=lessons")
    options = GAME.fixed(GAME.options(words, seats), Rng(b"lessons", 0))
    position = opening(GAME, GameRecord("blackbox", 1, seats, GAME.describe(options), b"lessons"))
    for number in range(seats):
        position = position.play(Ply(number + 1, Seat(number), "resign", free=False))
    return position


def test_each_reader_gets_the_own_lessons_and_spectators_get_none() -> None:
    step = given_up(2).step
    for seat in (Seat(0), Seat(1)):
        lessons = [note for note in notes_for(GAME, step, seat) if note.kind in KINDS]
        assert lessons
        assert {note.seat for note in lessons} == {seat}
    for reader in (None, Seat(0)):
        assert LESSONS not in {note.kind for note in notes_for(GAME, step, reader)}
    assert not KINDS & {note.kind for note in notes_for(GAME, step, None)}
