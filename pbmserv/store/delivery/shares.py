"""Shares of the queues, so that a distributed PostgreSQL can have each on one node.

On PostgreSQL the number of a row in `arrivals`, `inbox` or `outbox` is the next number of the
table's sequence times `SHARES`, plus the share. So the share of a row follows from its number. The
work for bots, `house_turns` and `analyses`, is in the share that follows from the number of the
board. SQLite has one share, 0, and numbers its rows itself. Decision 0154 says why.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import BigInteger, ColumnElement, Connection, Table, bindparam, func
from sqlalchemy.sql import Delete, Select, Update

from pbmserv.store.core.database import Database

SHARES = 16
"""Shares of each queue on PostgreSQL. A change would need new numbers for all rows."""

UNDIVIDED: Sequence[int | None] = (None,)
"""The shares to go through where one statement takes the rows of all shares."""

_OPTION = "pbmserv_shares"
"""Name of the option of a connection that holds the shares to go through."""

_Statement = TypeVar("_Statement", Select[Any], Update, Delete)


def ask_by_share(database: Database) -> None:
    """Let `shares_of` name each share for the connections of a distributed database."""
    for engine in {database.reading, database.writing}:
        engine.update_execution_options(**{_OPTION: range(SHARES)})


def shares_of(connection: Connection) -> Sequence[int | None]:
    """Return the shares that a search through a queue asks one by one, `UNDIVIDED` if the database
    is not distributed."""
    shares: Sequence[int | None] = connection.get_execution_options().get(_OPTION, UNDIVIDED)
    return shares


def by_share(connection: Connection, numbers: Iterable[int]) -> Mapping[int | None, list[int]]:
    """Group the numbers of rows by the shares that a statement about them asks."""
    is_divided = shares_of(connection) != UNDIVIDED
    groups: defaultdict[int | None, list[int]] = defaultdict(list)
    for number in numbers:
        groups[share_of(connection, number) if is_divided else None].append(number)
    return groups


def share_of(connection: Connection, number: int) -> int:
    """Return the share of the row with this number."""
    return number % SHARES if connection.dialect.name == "postgresql" else 0


def share_for(connection: Connection, text: str) -> int:
    """Return the share for a new row; rows with the same *text* get the same share."""
    return share_of(connection, zlib.crc32(text.encode(errors="surrogatepass")))


def next_number(table: Table) -> ColumnElement[int]:
    """Return the expression for the number of a new row on PostgreSQL.

    Its parameter `new_share` is the share.
    """
    return _number_in(table, bindparam("new_share", type_=BigInteger))


def of_new_row(connection: Connection, table: Table, text: str) -> dict[str, Any]:
    """Return the share of a new row and, on PostgreSQL, its number, as values of an insert."""
    share = share_for(connection, text)
    if connection.dialect.name != "postgresql":
        return {"share": share}
    return {"share": share, "id": _number_in(table, share)}


def _number_in(table: Table, share: int | ColumnElement[int]) -> ColumnElement[int]:
    number: ColumnElement[int] = func.nextval(f"{table.name}_id_seq") * SHARES + share
    return number


def within(statement: _Statement, table: Table, share: int | None) -> _Statement:
    """Restrict a statement to the rows of one share; `None` stands for all shares."""
    return statement if share is None else statement.where(table.c.share == share)
