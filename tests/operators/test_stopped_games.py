"""``pbmserv status`` says how many boards wait for a game that is stopped."""

from __future__ import annotations

from pathlib import Path

import pytest
from deeds import start_board
from indoors import indoors

from pbmserv.store.boards import game_pauses
from pbmserv.store.boards.game_pauses import PauseKind
from pbmserv.store.operators.health import queues


@pytest.mark.both_databases
def test_running_boards_of_a_stopped_game_are_counted(database_url: str, tmp_path: Path) -> None:
    with indoors(tmp_path, database=database_url) as house:
        house.sign_up("alice", "bob")
        start_board(house)
        now = house.server.clock.now()
        with house.server.database.writing.begin() as connection:
            game_pauses.begin(connection, "blackbox", PauseKind.STOPPED, "it hung", now)
            (away,) = queues(None, connection, now).away
        assert (away.game, away.why, away.boards) == ("blackbox", "it hung", 1)
