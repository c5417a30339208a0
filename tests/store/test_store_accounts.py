"""New accounts of players and of bots, and what remains of erased ones."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pbmserv.store import bots
from pbmserv.store.accounts import leaving, players
from pbmserv.store.accounts.players import Player
from pbmserv.store.core.database import Database
from pbmserv.store.delivery import bounces
from pbmserv.store.delivery.bounces import BounceRecord
from pbmserv.store.tables.accounts import PlayerState

pytestmark = pytest.mark.slow

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_new_account_and_an_erased_one_have_the_usual_preferences(database: Database) -> None:
    with database.writing.begin() as connection:
        alice = players.create(connection, "alice", "argon", "alice@players.example", NOW)
        assert alice is not None
        assert alice == Player(
            alice.id, "alice", "argon", "alice@players.example", 0, PlayerState.ACTIVE
        )
        neutral = leaving.erase(connection, alice)
        erased = Player(alice.id, neutral, "", "", 1, PlayerState.DELETED, accept="none")
        assert players.by_id(connection, alice.id) == erased


def test_a_bot_is_shown_before_its_first_board_as_after_it(database: Database) -> None:
    with database.writing.begin() as connection:
        shown = bots.shown_account(connection, "house")
        stored = bots.account(connection, "house", NOW)
        assert shown is not None
        assert shown.columns == stored.columns
        assert bots.account(connection, "house", NOW) == stored
        assert bots.shown_account(connection, "house") == stored


def test_an_address_that_is_confirmed_again_has_no_bounces(database: Database) -> None:
    with database.writing.begin() as connection:
        alice = players.create(connection, "alice", "argon", "alice@players.example", NOW)
        assert alice is not None
        for address in ("alice@players.example", "bob@players.example"):
            bounces.store(connection, BounceRecord(address, hard=2, hard_at=NOW, suspended_at=NOW))
        players.add_address(connection, alice.id, "alice@players.example", NOW)
        addresses = ["alice@players.example", "bob@players.example"]
        left = [record.address for record in bounces.records_of(connection, addresses)]
        assert left == ["bob@players.example"]
