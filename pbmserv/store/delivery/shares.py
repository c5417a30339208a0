"""Shares of the queues, so that a distributed PostgreSQL can have each on one node (0154).

On PostgreSQL the number of a row in `arrivals`, `inbox` or `outbox` is a number of the sequence
times `SHARES`, plus its share. So a statement that knows the number of a row names its share, too.
SQLite has one share, 0, and numbers its rows itself.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, TypeVar

from sqlalchemy import BigInteger, ColumnElement, Connection, Table, bindparam, func
from sqlalchemy.sql import Delete, Select, Update

SHARES = 16
"""Shares of each queue on PostgreSQL. A change would need new numbers for all rows."""

TOGETHER: Sequence[int | None] = (None,)
"""All shares in one statement."""

_Statement = TypeVar("_Statement", Select[Any], Update, Delete)


def share_of(connection: Connection, number: int) -> int:
    """Return the share of the row with this number."""
    return number % SHARES if connection.dialect.name == "postgresql" else 0


def share_for(connection: Connection, text: str) -> int:
    """Return the share for a new row; rows with the same *text* are in one share."""
    return share_of(connection, zlib.crc32(text.encode(errors="surrogatepass")))


def next_number(table: Table) -> ColumnElement[int]:
    """Return the expression for the number of a new row on PostgreSQL; its parameter `new_share`
    is the share."""
    new_share = bindparam("new_share", type_=BigInteger)
    sequence: ColumnElement[int] = func.nextval(f"{table.name}_id_seq")
    return sequence * SHARES + new_share


def of_new_row(connection: Connection, table: Table, text: str) -> dict[str, Any]:
    """Return share and number of a new row, as values of an insert; see `share_for`."""
    share = share_for(connection, text)
    if connection.dialect.name != "postgresql":
        return {"share": share}
    number: ColumnElement[int] = func.nextval(f"{table.name}_id_seq") * SHARES + share
    return {"share": share, "id": number}


def within(statement: _Statement, table: Table, share: int | None) -> _Statement:
    """Restrict a statement to rows of one share; to none if *share* is `None`."""
    return statement if share is None else statement.where(table.c.share == share)
