"""Values that are kept many times over stay small."""

from __future__ import annotations

from pbmserv.engine.position import opening
from pbmserv.engine.record import GameRecord, Ply
from pbmserv.engine.types import Seat
from pbmserv.games.blackbox.game import GAME


def test_moves_that_read_alike_are_kept_as_one_text() -> None:
    def probed(seed: bytes) -> object:
        position = opening(GAME, GameRecord("blackbox", GAME.info.rules_version, 2, (), seed))
        for number, text in enumerate(("B1,D2,G3,C5", "A1,C4,E5,G2", "A"), 1):
            position = position.play(Ply(number, Seat((number + 1) % 2), text, free=False))
        return position.step.public

    assert probed(bytes(16)) is probed(b"x" * 16)
