"""What a move asks a database of many nodes: each statement is one shard's business.

`docs/scaling.md` says how tables would be distributed; `BY_BOARD` and `MAIL` say it here. The
statements of one move, from the door to the letters, are those that the server really executes,
compared with `move_statements.txt`. A new one is looked at by a person; one that would cross shards
fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from indoors import Indoors, address_of, indoors
from sqlalchemy import (
    ForeignKeyConstraint,
    Table,
    UniqueConstraint,
    delete,
    event,
    select,
    update,
)
from sqlalchemy.engine import Engine
from sqlalchemy.sql import Delete, Insert, Select, Update, operators, visitors
from sqlalchemy.sql.elements import BinaryExpression, BindParameter
from sqlalchemy.sql.schema import Column
from sqlalchemy.sql.selectable import Alias

from pbmserv.outbound.results import Sent
from pbmserv.store.tables import metadata

LISTED = Path(__file__).with_name("move_statements.txt")

BY_BOARD = {
    "boards": "id",
    **dict.fromkeys(
        (
            *("plies", "seats", "submitted_moves", "followers"),
            *("scores", "rating_changes", "house_turns", "analyses", "awaited_analyses"),
        ),
        "board_id",
    ),
}
"""Distributed, each by this column: what belongs to a board lies in its shard."""
MAIL = {
    *("arrivals", "settled", "stores", "inbox", "outbox", "letter_bytes", "bounces"),
    *("wrong_passwords", "password_sources"),
}
"""Queues: whole, on one node, which may have no board."""
ELSEWHERE_BOUND = {"daily_boards.board_id"}
"""Foreign keys from a table that is on each node to a distributed one, which Citus has not."""


def _people() -> set[str]:
    """Tables that each node has as a whole: read with each move, and seldom written."""
    return set(metadata.tables) - set(BY_BOARD) - MAIL


def test_keys_of_distributed_tables_include_the_distribution_column() -> None:
    for name, key in BY_BOARD.items():
        table = metadata.tables[name]
        unique = [{c.name for c in table.primary_key}]
        unique += [
            {c.name for c in one.columns}
            for one in table.constraints
            if isinstance(one, UniqueConstraint)
        ]
        unique += [{c.name for c in one.columns} for one in table.indexes if one.unique]
        assert all(key in columns for columns in unique), name


def test_references_stay_within_a_shard_or_lead_to_replicated_tables() -> None:
    found = set()
    for table in metadata.tables.values():
        for one in table.constraints:
            if isinstance(one, ForeignKeyConstraint):
                (pair,) = one.elements
                here, there = pair.parent, pair.column
                if there.table.name in _people() or {table.name, there.table.name} <= MAIL:
                    continue
                if BY_BOARD.get(table.name) == here.name:
                    assert there.name == BY_BOARD[there.table.name]
                    continue
                found.add(f"{table.name}.{here.name}")
    assert found == ELSEWHERE_BOUND


@pytest.fixture
def server(postgres_url: str, tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path, postgres_url) as made:
        yield made


def test_no_statement_of_a_move_crosses_shards(server: Indoors) -> None:
    server.sign_up("alice", "bob")
    begun = server.send(address_of("alice"), "blackbox challenge alice wonder-land bob")
    newest = {one.recipient: one for one in begun}
    moves = [("bob", "yes"), ("alice", "b3,d3,a1,g2"), ("bob", "a1,c4,e5,g2")]
    moves += [(who, port) for port in "12" for who in ("alice", "bob")]
    for who, words in moves:
        newest |= {one.recipient: one for one in server.reply(newest[address_of(who)], words)}
    with _executed() as door_and_play:
        server.reply_unread(newest[address_of("alice")], "3")
    with _executed() as post:
        claimed = server.server.outbox.claim(50)
        made = server.server.outbox.make(claimed)
        server.server.outbox.settle([Sent(one.id) for one in made])
    assert len(made) == 2
    listed = [*_listed("door, play", door_and_play), *_listed("post", post)]
    assert "\n".join(listed) + "\n" == LISTED.read_text(), "\n".join(listed)


PLIES, SEATS = metadata.tables["plies"], metadata.tables["seats"]


@pytest.mark.parametrize(
    "statement",
    [
        select(PLIES).where(PLIES.c.number == 3),
        select(PLIES).where(PLIES.c.board_id > 3),
        select(PLIES, SEATS).where(PLIES.c.board_id == 3),
        select(PLIES, metadata.tables["outbox"]).where(PLIES.c.board_id == 3),
        update(SEATS).where(SEATS.c.player_id == 3).values(plan=None),
        delete(metadata.tables["boards"]),
        select(metadata.tables["players"], metadata.tables["inbox"]),
    ],
    ids=str,
)
def test_a_statement_that_crosses_shards_is_detected(statement: Any) -> None:
    with pytest.raises(AssertionError, match="asks"):
        _described(statement)


@contextmanager
def _executed() -> Iterator[list[Any]]:
    """Collect the statements that SQLAlchemy executes, without `SET` and savepoints."""
    found: list[Any] = []

    def note(_connection: Any, statement: Any, *_: Any) -> None:
        if isinstance(statement, (Select, Insert, Update, Delete)):
            found.append(statement)

    event.listen(Engine, "before_execute", note)
    try:
        yield found
    finally:
        event.remove(Engine, "before_execute", note)


def _listed(stage: str, statements: list[Any]) -> list[str]:
    """Return a line for each different statement: its verb, tables and keys."""
    lines = dict.fromkeys(f"{stage:10}  {_described(one)}" for one in statements)
    return list(lines)


def _described(statement: Any) -> str:
    verb = type(statement).__name__.upper()
    tables = {_table(one).name for one in visitors.iterate(statement) if _is_table(one)}
    if isinstance(statement, (Insert, Update, Delete)):
        tables.add(statement.table.name)
    placed = tables & set(BY_BOARD)
    what = ", ".join(sorted(tables))
    if not placed:
        assert tables <= MAIL or tables <= _people(), f"{verb} {what} asks two nodes"
        return f"{verb} {what}: {'the mail node' if tables <= MAIL else 'any node'}"
    assert not tables & MAIL, f"{verb} {what} asks two nodes"
    keys = {f"{name}.{BY_BOARD[name]}" for name in placed}
    if isinstance(statement, Insert):  # a row says itself where it goes
        assert BY_BOARD[statement.table.name] in statement.table.c
    else:
        assert keys == _pinned(statement, keys), f"{verb} {what} asks every shard"
    return f"{verb} {what}: the shard of {', '.join(sorted(keys))}"


def _pinned(statement: Any, keys: set[str]) -> set[str]:
    """Return the *keys* that a statement compares with a value, directly or through other
    columns."""
    pairs = []
    pinned: set[str] = set()
    for one in visitors.iterate(statement):
        if not isinstance(one, BinaryExpression) or one.operator is not operators.eq:
            continue
        sides = [one.left, one.right]
        names = {str(side) for side in sides if isinstance(side, Column)} & keys
        if any(isinstance(side, BindParameter) for side in sides):
            pinned |= names
        elif len(names) == 2:
            pairs.append(names)
    for _ in keys:
        for pair in pairs:
            if pair & pinned:
                pinned |= pair
    return pinned


def _is_table(one: Any) -> bool:
    return isinstance(one, Table) or (isinstance(one, Alias) and isinstance(one.element, Table))


def _table(one: Any) -> Table:
    found = one.element if isinstance(one, Alias) else one
    assert isinstance(found, Table)
    return found
