"""A database of several nodes: each statement of a game asks one of them.

`deploy/postgresql/distribute.sql` divides the tables, and the server claims its queues share by
share (0154). No engine that divides tables can be installed from the registries that we reach
(`docs/scaling.md`), so the script runs on one PostgreSQL here, with functions in place of those of
Citus that only note which table is divided by which column.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from distributed_tables import distribute
from examples import DEEP
from indoors import Indoors, address_of, indoors
from one_node import reason_to_ask_others
from rows import rows
from running import Letter
from sqlalchemy import Inspector, event, inspect, text
from sqlalchemy.engine import Engine

from pbmserv.outbound.results import Sent
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database
from pbmserv.store.tables.columns import metadata


@pytest.fixture
def divided(postgres_url: str) -> Iterator[Database]:
    database = Database(postgres_url)
    distribute(database)
    yield database
    database.close()


def keys_of(database: Database) -> dict[str, str]:
    with database.reading.connect() as connection:
        rows = connection.execute(
            text("SELECT name, key FROM noted.placement WHERE key IS NOT NULL")
        )
        return {row.name: row.key for row in rows}


def test_each_table_has_a_place_and_its_keys_fit(divided: Database) -> None:
    keys = keys_of(divided)
    with divided.reading.connect() as connection:
        placed = connection.execute(text("SELECT name FROM noted.placement")).scalars().all()
        look = inspect(connection)
        assert sorted(placed) == sorted(metadata.tables)
        for name, key in keys.items():
            assert all(key in columns for columns in unique_keys(look, name)), name
        for name in placed:
            for reference in look.get_foreign_keys(name):
                target = reference["referred_table"]
                columns = dict(
                    zip(
                        reference["constrained_columns"], reference["referred_columns"], strict=True
                    )
                )
                if target in keys:  # the row referred to is on the same node
                    assert name in keys, f"a node has all of {name}, but not of {target}"
                    assert columns[keys[name]] == keys[target], (name, target)
    assert schema.check(divided) == []


def unique_keys(look: Inspector, name: str) -> list[list[Any]]:
    """Return the columns of each unique key of a table."""
    return [
        look.get_pk_constraint(name)["constrained_columns"],
        *(unique["column_names"] for unique in look.get_unique_constraints(name)),
        *(index["column_names"] for index in look.get_indexes(name) if index["unique"]),
    ]


@pytest.fixture
def server(divided: Database, tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path, database=divided.url, distributed="on") as running:
        running.tidy_after = 10_000  # upkeep runs beside the game every second
        yield running


PLAYED_OTHERWISE = (
    ("alice", "prefs alice wonder-land messages played"),
    ("alice", "blackbox challenge alice wonder-land bob -size=4x4 -atoms=1"),
    ("bob", "b2\n\nGood luck!"),
    ("alice", "c3"),
    ("bob", "queue 1"),
    ("alice", "4\n\nMay it be in a corner?"),
    ("bob", "note it may be in a corner"),
    ("alice", "submit 2"),
    ("alice", "confirm"),
    ("bob", "2\n\nYou fired port 1. Good luck to you, too!"),
    ("alice", "chat Are you there?"),
    ("alice", "guess b2"),
    ("bob", "rematch"),
    ("alice", "no"),
    ("alice", "blackbox solo alice wonder-land -practice -size=4x4 -atoms=1 -seed=monday"),
    ("alice", "1"),
    ("alice", "hint"),
    ("alice", "undo"),
    ("alice", "guess b2"),
    ("alice", "blackbox challenge alice wonder-land bob carol -race -size=4x4 -atoms=1"),
    ("bob", "1"),
    ("carol", "yes"),
    ("alice", "1"),
    ("alice", "blackbox seek alice wonder-land -size=4x4"),
    ("bob", "blackbox seek bob wonder-land -size=4x4"),
)
"""Further mails of a game: with a subject if it names a player's password, else as a reply to the
player's newest letter."""


def test_no_statement_of_a_game_asks_two_nodes(server: Indoors, divided: Database) -> None:
    """Play a whole game, one with a bot, and in all other ways that touch boards or queues."""
    server.sign_up("alice", "bob", "carol")
    with executed() as statements:
        letters: dict[str, Letter] = {}
        server.send_unread(address_of("alice"), "blackbox challenge alice wonder-land bob")
        letters |= posted(server)
        replies = [("bob", "yes"), ("alice", "b3,d3,a1,g2"), ("bob", "a1,c4,e5,g2")]
        replies += [(userid, port) for port in ("1", "2 Hello!") for userid in ("alice", "bob")]
        replies += [("alice", "no such move"), ("alice", "resign"), ("bob", "board")]
        for userid, words in replies:
            answer(server, letters[address_of(userid)], words)
            letters |= posted(server)
        assert "won" in letters[address_of("bob")].text

        server.send_unread(address_of("alice"), "blackbox challenge alice wonder-land house-easy")
        server.server.bot_worker.run_once()
        letters |= posted(server)
        for move in ("b3,d3,a1,g2", "1"):
            answer(server, letters[address_of("alice")], move)
            server.server.bot_worker.run_once()
            letters |= posted(server)

        for userid, words in PLAYED_OTHERWISE if DEEP else PLAYED_OTHERWISE[:4]:
            if "wonder-land" in words:
                subject, _, text_below = words.partition("\n\n")
                server.send_unread(address_of(userid), subject, text_below)
            else:
                answer(server, letters[address_of(userid)], words)
            letters |= posted(server)
        server.server.bot_worker.run_once()  # reports and hints
        assert posted(server) or not DEEP
        assert server.server.outbox.next_due() is None
    assert any("house_turns" in statement for statement in statements)
    assert_each_asks_one_node(statements, keys_of(divided))


def assert_each_asks_one_node(statements: list[str], keys: dict[str, str]) -> None:
    touched = set()
    crossing = {}
    for statement in statements:
        reason = reason_to_ask_others(statement, keys)
        if reason:
            crossing[statement] = reason
        touched |= {name for name in keys if name in statement}
    assert crossing == {}
    assert {"boards", "seats", "plies", "outbox", "arrivals", "inbox"} <= touched


def answer(server: Indoors, letter: Letter, words: str) -> None:
    """Answer a letter as a mail program does, and leave its letters in the outbox."""
    to, number = str(letter.message["To"]), str(letter.message["Message-ID"])
    server.send_unread(to, f"Re: {letter.subject}", words, letter.reply_to, In_Reply_To=number)


def posted(server: Indoors) -> dict[str, Letter]:
    """Have post send what is due; return the newest letter for each address."""
    queue = server.server.outbox
    letters = []
    while claimed := queue.claim(50):
        ready = queue.make(claimed)
        queue.renew([row.id for row in claimed])
        queue.settle([Sent(letter.id) for letter in ready])
        letters += ready
    letters.sort(key=lambda letter: letter.id)
    return {letter.recipient: Letter(letter.id, letter.raw) for letter in letters}


@contextmanager
def executed() -> Iterator[list[str]]:
    """Collect the different statements about tables that the driver gets."""
    statements: dict[str, None] = {}

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.split(maxsplit=1)[0] in {"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}:
            statements[statement] = None

    collected: list[str] = []
    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield collected
    finally:
        event.remove(Engine, "before_cursor_execute", note)
        collected += statements


KEYS = {"boards": "id", "plies": "board_id", "seats": "board_id", "outbox": "share"}


@rows(
    "statement",
    [
        "SELECT * FROM plies WHERE plies.number = %(a)s::INTEGER",
        "SELECT * FROM plies WHERE plies.board_id > %(a)s",
        "SELECT * FROM plies WHERE plies.board_id = %(a)s OR plies.number = %(b)s",
        "SELECT * FROM plies WHERE NOT plies.board_id = %(a)s",
        "SELECT * FROM plies, seats WHERE plies.board_id = %(a)s",
        "SELECT * FROM plies JOIN outbox ON true WHERE plies.board_id = 3 AND outbox.share = 3",
        "SELECT 1 FROM players WHERE EXISTS (SELECT 1 FROM seats WHERE seats.player_id = 3)",
        "SELECT * FROM outbox WHERE outbox.state = %(a)s LIMIT 3 FOR UPDATE SKIP LOCKED",
        "UPDATE seats SET plan = %(a)s WHERE seats.player_id = %(b)s",
        "UPDATE seats SET board_id = %(a)s",
        "DELETE FROM boards",
        "INSERT INTO outbox (letter) VALUES (%(a)s)",
        "INSERT INTO outbox (share) SELECT plies.number FROM plies WHERE plies.board_id = 3",
    ],
)
def test_a_statement_that_asks_two_nodes_is_detected(statement: str) -> None:
    assert reason_to_ask_others(statement, KEYS)
