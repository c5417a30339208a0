"""The mailbox of an address: stored with each row, and computed for old rows."""

from __future__ import annotations

import importlib.util
from datetime import UTC, datetime
from typing import Any

import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import insert, select, update

from pbmserv.mail.mailboxes import mailbox_of
from pbmserv.store.accounts import players
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database
from pbmserv.store.tables.accounts import addresses

pytestmark = pytest.mark.slow

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ADDRESSES = (
    "alice@players.example",
    "alice+games@players.example",
    "a.b.c+d@googlemail.com",
    "bob@bücher.example",
)


def test_rows_have_a_mailbox_and_an_upgrade_computes_it(database: Database) -> None:
    with database.writing.begin() as connection:
        player = players.create(connection, "alice", "", ADDRESSES[0], NOW)
        assert player is not None
        for address in ADDRESSES[1:]:
            row = {"address": address, "player_id": player.id, "confirmed_at": NOW}
            connection.execute(insert(addresses).values(row))
        expected = {address: mailbox_of(address) for address in ADDRESSES}
        pairs = select(addresses.c.address, addresses.c.mailbox)
        assert dict(map(tuple, connection.execute(pairs))) == expected
        connection.execute(update(addresses).values(mailbox=""))
        with Operations.context(MigrationContext.configure(connection)):
            _migration().fill_mailboxes()
        assert dict(map(tuple, connection.execute(pairs))) == expected


def _migration() -> Any:
    (path,) = (schema.migrations_folder() / "versions").glob("*_one_person.py")
    spec = importlib.util.spec_from_file_location("one_person", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@given(st.text(max_size=12), st.text(max_size=12))
def test_the_mailbox_of_a_mailbox_is_itself(local: str, domain: str) -> None:
    mailbox = mailbox_of(f"{local}@{domain}")
    assert mailbox_of(mailbox) == mailbox
