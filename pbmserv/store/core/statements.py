"""Statements that cost on SQLite only what the driver takes for them; savepoints; upserts.

SQLAlchemy sets up a context for every execution: some fifty microseconds, several times what
an embedded database needs to answer. On the way of an ordinary move that was most of the work.
A `Prepared` is compiled once and then handed to the driver, with the conversions that the
types of its columns ask for. On PostgreSQL, where a statement travels to a server and back, it
is executed as usual.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from datetime import datetime
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import (
    JSON,
    Boolean,
    ColumnElement,
    Connection,
    Executable,
    FromClause,
    Table,
    delete,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine

from pbmserv.store.core.database import at_driver, wrapped
from pbmserv.store.tables.columns import State, read, written

Values: TypeAlias = Mapping[str, Any]
_Convert: TypeAlias = Callable[[Any], Any] | None

_DIALECT = SQLiteDialect_pysqlite(json_serializer=written)
_NO_VALUES: Sequence[Values] = ({},)


class Prepared:
    """One Core statement.

    Args:
        statement: what to execute.
        columns: what an insert fills, all of them; defaults of columns are not applied.
        same: so many columns, the first ones, say the same in each row; who calls reads them of
            the first one.
    """

    def __init__(
        self, statement: Executable, columns: Sequence[str] | None = None, *, same: int = 0
    ) -> None:
        self._statement = statement
        self._columns = columns
        self._same = same

    def run(self, connection: Connection, *each: Values) -> Sequence[Sequence[Any]]:
        """Execute it for each of these values; all that it finds, of one alone."""
        if connection.dialect.name != "sqlite":
            there = connection.execute(self._statement, each or _NO_VALUES)
            return there.all() if there.returns_rows else []
        if not connection.in_transaction():
            connection.begin()  # as any first statement does
        text, names, conversions, constants, results, later = self._embedded
        bound = []
        for values in each or _NO_VALUES:
            given = {**values, **constants} if constants else values
            row = list(map(given.__getitem__, names))
            for place, convert in conversions:
                if row[place] is not None:
                    row[place] = convert(row[place])
            bound.append(row)
        driver: Any = connection.connection.dbapi_connection
        try:
            one = len(bound) == 1
            done = driver.execute(text, bound[0]) if one else driver.executemany(text, bound)
            found: list[Sequence[Any]] = done.fetchall()
        except sqlite3.Error as error:
            raise wrapped(text, error) from error
        for at, kept in enumerate(found) if results else ():
            converted = list(kept)
            for place, convert in later if at else results:
                if converted[place] is not None:
                    converted[place] = convert(converted[place])
            found[at] = converted
        return found

    @cached_property
    def _embedded(self) -> _Embedded:
        statement: Any = self._statement
        compiled: SQLCompiler = statement.compile(dialect=_DIALECT, column_keys=self._columns)
        names = list(compiled.positiontup or ())
        conversions: list[tuple[int, Callable[[Any], Any]]] = []
        constants: dict[str, Any] = {}
        for place, name in enumerate(names):
            bind = compiled.binds[name]
            convert = _writer(bind.type)
            if not bind.required:
                known = bind.value
                constants[name] = known if known is None or convert is None else convert(known)
            elif convert is not None:
                conversions.append((place, convert))
        results: list[tuple[int, Callable[[Any], Any]]] = []
        for place, column in enumerate(getattr(statement, "exported_columns", ())):
            convert = _reader(column.type)
            if convert is not None:
                results.append((place, convert))
        later = [one for one in results if one[0] >= self._same]
        return _Embedded(str(compiled), names, conversions, constants, results, later)


class _Embedded(NamedTuple):
    """A statement as SQLite's driver takes it.

    Attributes:
        names: of each ``?``.
        conversions: place and conversion of each ``?`` that needs one.
        constants: the values of those that are not given at the execution.
        results: place and conversion of each column that needs one.
        later: the same, of rows after the first.

    NULL is ``None`` in all of our types, so that nothing converts it.
    """

    text: str
    names: Sequence[str]
    conversions: Sequence[tuple[int, Callable[[Any], Any]]]
    constants: Values
    results: Sequence[tuple[int, Callable[[Any], Any]]]
    later: Sequence[tuple[int, Callable[[Any], Any]]]


def _writer(kind: TypeEngine[Any]) -> _Convert:
    if isinstance(kind, Boolean):
        return None  # the driver takes it as it is
    if isinstance(kind, JSON):
        return written
    if isinstance(kind, State):
        return str  # the driver looks twice at other classes
    return kind.dialect_impl(_DIALECT).bind_processor(_DIALECT)


def _reader(kind: TypeEngine[Any]) -> _Convert:
    if isinstance(kind, JSON):
        return read
    return kind.dialect_impl(_DIALECT).result_processor(_DIALECT, None)


class Savepoint:
    """A savepoint of a certain name in an open transaction; `begin_nested` would cost as much as an
    ordinary job."""

    def __init__(self, name: str) -> None:
        self.begin = partial(at_driver, f"SAVEPOINT {name}")
        """From here on things can be taken back."""
        self.undo = partial(at_driver, f"ROLLBACK TO SAVEPOINT {name}")
        """Take back everything since `begin`; `end` must follow."""
        self.end = partial(at_driver, f"RELEASE SAVEPOINT {name}")
        """Keep what there is."""


def insert_into(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An insert that knows ``on_conflict_do_nothing`` and ``on_conflict_do_update``."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)


def older(connection: Connection, moment: datetime, most: int, *, table: Table) -> Sequence[int]:
    """Numbers of at most so many rows of a *table*, made before *moment*, oldest first."""
    made = table.c.created_at
    statement = select(table.c.id).where(made < moment).order_by(made).limit(most)
    return list(connection.execute(statement).scalars())


def remove(connection: Connection, numbers: Sequence[int], *, table: Table) -> None:
    """Remove the rows of these numbers from a *table*."""
    connection.execute(delete(table).where(table.c.id.in_(numbers)))


def columns_of(
    row: type, *tables: FromClause, **others: ColumnElement[Any]
) -> list[ColumnElement[Any]]:
    """What to select so that ``row(*found)`` is right: a column for each field, of its name.

    Args:
        row: a dataclass; its last fields may have defaults instead of columns.
        tables: where the columns are; the first one that has it gives it.
        others: what the fields are that no column is named after.
    """
    found: list[ColumnElement[Any]] = []
    for field in (one for one in fields(row) if not one.kw_only):
        table = next((one for one in tables if field.name in one.c), None)
        if field.name in others:
            found.append(others[field.name].label(field.name))
        elif table is not None:
            found.append(table.c[field.name])
        elif field.default is MISSING:
            raise TypeError(f"no column is named like {row.__name__}.{field.name}")
        else:
            break
    return found
