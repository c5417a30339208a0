"""Statements that many tables need: add, change and delete rows, find due and old rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Select,
    Table,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

T = TypeVar("T")


def insert_into(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """Return an insert with ``on_conflict_do_nothing`` and ``on_conflict_do_update``."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)


def add_numbered_row(connection: Connection, table: Table, **values: Any) -> int:
    """Add a row to a table that numbers its rows by `id`; return its number."""
    number: int = connection.execute(
        insert(table).values(values).returning(table.c.id)
    ).scalar_one()
    return number


def add_if_new(connection: Connection, table: Table, **values: Any) -> bool:
    """Add a row unless there is one with its key; return whether it was added."""
    new = insert_into(connection, table).values(values).on_conflict_do_nothing()
    return connection.execute(new.returning(*table.primary_key)).first() is not None


def put_row(connection: Connection, table: Table, key: Mapping[str, Any], **values: Any) -> None:
    """Add a row, or set these values of the row with this key."""
    new = insert_into(connection, table).values({**key, **values})
    connection.execute(new.on_conflict_do_update(index_elements=list(key), set_=values))


def change_rows(
    connection: Connection, table: Table, which: Mapping[str, Any], **values: Any
) -> int:
    """Set columns of the rows with the values *which* (`None`: null); return their number."""
    return connection.execute(
        update(table).where(*_equalities(table, which)).values(values)
    ).rowcount


def delete_rows(connection: Connection, table: Table, **which: Any) -> int:
    """Delete the rows with these values; return their number."""
    return connection.execute(delete(table).where(*_equalities(table, which))).rowcount


def first_row(
    connection: Connection,
    row: type[T],
    statement: Select[Any],
    values: Mapping[str, Any] | None = None,
) -> T | None:
    """Return the first row that a statement finds, `None` if there is none.

    Args:
        row: dataclass of the row.
        values: the values of the statement's parameters.
    """
    first = connection.execute(statement, values).first()
    return None if first is None else row(*first)


def has_row(connection: Connection, table: Table, *which: ColumnElement[bool]) -> bool:
    """Return whether a row meets these conditions."""
    key, *_ = table.primary_key
    return connection.execute(select(key).where(*which).limit(1)).first() is not None


def count_rows(connection: Connection, table: Table, *which: ColumnElement[bool]) -> int:
    """Return the number of rows that meet these conditions."""
    return connection.execute(select(func.count()).select_from(table).where(*which)).scalar_one()


def _equalities(table: Table, which: Mapping[str, Any]) -> list[ColumnElement[bool]]:
    return [table.c[name] == value for name, value in which.items()]


CHUNK = 500
"""Values in one statement; SQLite accepts 32,766, but fewer are quicker to prepare."""


def in_chunks(values: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield the values in pieces that one statement can take."""
    for start in range(0, len(values), CHUNK):
        yield values[start : start + CHUNK]


def older(
    connection: Connection,
    moment: datetime,
    most: int,
    *,
    table: Table,
    unless: ColumnElement[Any] | None,
) -> Sequence[int]:
    """Return the numbers of up to *most* rows of a *table* from before *moment*, oldest first.

    Args:
        unless: a column; rows that have a value there are left out.
    """
    created_at = table.c.created_at
    statement = select(table.c.id).where(created_at < moment).order_by(created_at).limit(most)
    if unless is not None:
        statement = statement.where(unless.is_(None))
    return list(connection.execute(statement).scalars())


def due_keys(connection: Connection, now: datetime, most: int, *, table: Table) -> list[int]:
    """Return the keys of up to *most* rows of a table that are due, longest due first.

    Args:
        table: has a column `due_at`, and a primary key of one column.
    """
    (key_column,) = table.primary_key
    statement = select(key_column).where(table.c.due_at <= now).order_by(table.c.due_at)
    return list(connection.execute(statement.limit(most)).scalars())


def claim_due(
    connection: Connection, key: int, now: datetime, *, row: type[T], table: Table
) -> T | None:
    """Lock and return a row that is due; `None` if another process has it or has handled it.

    Args:
        row: dataclass of the row.
        table: as for `due_keys`.
    """
    (key_column,) = table.primary_key
    due = select(*columns_of(row, table)).where(key_column == key, table.c.due_at <= now)
    return first_row(connection, row, due.with_for_update(skip_locked=True))


def put_off_due(connection: Connection, key: int, until: datetime, *, table: Table) -> None:
    """Let a row that is due be due no earlier than *until*.

    Args:
        table: as for `due_keys`.
    """
    (key_column,) = table.primary_key
    is_due = (key_column == key, table.c.due_at <= until)
    connection.execute(update(table).where(*is_due).values(due_at=until))


def remove(connection: Connection, numbers: Sequence[int], *, table: Table) -> None:
    """Delete rows of a *table* by number."""
    connection.execute(delete(table).where(table.c.id.in_(numbers)))


def values_of(row: Any, table: Table) -> dict[str, Any]:
    """Return the values of a dataclass for the columns of a table that are named like its fields.

    This is the inverse of `columns_of`.
    """
    names = [field.name for field in fields(row) if field.name in table.c]
    return {name: getattr(row, name) for name in names}


def columns_of(
    row: type, *tables: FromClause, **others: ColumnElement[Any]
) -> list[ColumnElement[Any]]:
    """Return the columns to select for ``row(*values)``: one for each field, by its name.

    Args:
        row: a dataclass; its last fields may have defaults instead of columns.
        tables: tables with the columns; the first one that has a name wins.
        others: expressions for fields that are not named like a column.
    """
    columns: list[ColumnElement[Any]] = []
    for field in (candidate for candidate in fields(row) if not candidate.kw_only):
        table = next((candidate for candidate in tables if field.name in candidate.c), None)
        if field.name in others:
            columns.append(others[field.name].label(field.name))
        elif table is not None:
            columns.append(table.c[field.name])
        elif field.default is MISSING:
            raise TypeError(f"no column is named like {row.__name__}.{field.name}")
        else:
            break
    return columns
