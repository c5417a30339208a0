"""Statements that are compiled once, and savepoints with a fixed name.

SQLAlchemy sets up a context for each execution, which takes several times as long as an embedded
database needs to answer. On SQLite a `Prepared` statement is passed to the driver with the
conversions of its columns. On PostgreSQL, where a statement travels to a server and back, it is
executed as usual.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import (
    JSON,
    Boolean,
    Connection,
    Executable,
)
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine

from pbmserv.store.core.database import as_dbapi_error, at_driver
from pbmserv.store.tables.columns import from_json, to_json

Values: TypeAlias = Mapping[str, Any]
_Convert: TypeAlias = Callable[[Any], Any] | None
_Conversion: TypeAlias = tuple[int, Callable[[Any], Any]]
"""A place in a row, and the function for the value there."""

_DIALECT = SQLiteDialect_pysqlite(json_serializer=to_json)
_NO_VALUES: Sequence[Values] = ({},)


class Prepared:
    """A Core statement that is compiled once.

    Args:
        statement: statement to execute.
        columns: all columns that an insert fills; their defaults are not applied.
    """

    def __init__(self, statement: Executable, columns: Sequence[str] | None = None) -> None:
        self._statement = statement
        self._columns = columns

    def run(self, connection: Connection, *each: Values) -> Sequence[Sequence[Any]]:
        """Execute it for each set of values; return the rows, if there is one set."""
        if connection.dialect.name != "sqlite":
            result = connection.execute(self._statement, each or _NO_VALUES)
            return result.all() if result.returns_rows else []
        if not connection.in_transaction():
            connection.begin()  # as the first statement of SQLAlchemy does
        rows = self._run_embedded(connection, each or _NO_VALUES)
        results = self._embedded.results
        return [_converted(row, results) for row in rows] if results else rows

    def _run_embedded(self, connection: Connection, each: Sequence[Values]) -> list[Sequence[Any]]:
        """Execute it for each set of values at the driver; return the rows as the driver does."""
        text, names, conversions, constants, _ = self._embedded
        bound = []
        for values in each:
            parameters = {**values, **constants} if constants else values
            bound.append(_converted(map(parameters.__getitem__, names), conversions))
        driver: Any = connection.connection.dbapi_connection
        try:
            if len(bound) == 1:
                cursor = driver.execute(text, bound[0])
            else:
                cursor = driver.executemany(text, bound)
            rows: list[Sequence[Any]] = cursor.fetchall()
        except sqlite3.Error as error:
            raise as_dbapi_error(text, error) from error
        return rows

    @cached_property
    def _embedded(self) -> _Embedded:
        statement: Any = self._statement
        compiled: SQLCompiler = statement.compile(dialect=_DIALECT, column_keys=self._columns)
        names = list(compiled.positiontup or ())
        conversions: list[_Conversion] = []
        constants: dict[str, Any] = {}
        for place, name in enumerate(names):
            bind = compiled.binds[name]
            convert = _for_driver(bind.type)
            if not bind.required:
                value = bind.value
                constants[name] = value if value is None or convert is None else convert(value)
            elif convert is not None:
                conversions.append((place, convert))
        results: list[_Conversion] = []
        for place, column in enumerate(getattr(statement, "exported_columns", ())):
            convert = _from_driver(column.type)
            if convert is not None:
                results.append((place, convert))
        return _Embedded(str(compiled), names, conversions, constants, results)


class _Embedded(NamedTuple):
    """A statement for SQLite's driver.

    NULL is `None` in all of our types and is never converted.

    Attributes:
        names: name of each ``?``.
        conversions: place and conversion of each ``?`` that needs one.
        constants: values of parameters that are part of the statement.
        results: place and conversion of each column that needs one.
    """

    text: str
    names: Sequence[str]
    conversions: Sequence[_Conversion]
    constants: Values
    results: Sequence[_Conversion]


def _converted(values: Iterable[Any], conversions: Sequence[_Conversion]) -> list[Any]:
    """Return values with conversions at some places."""
    converted = list(values)
    for place, convert in conversions:
        if converted[place] is not None:
            converted[place] = convert(converted[place])
    return converted


def _for_driver(kind: TypeEngine[Any]) -> _Convert:
    if isinstance(kind, Boolean):
        return None  # the driver accepts booleans
    if isinstance(kind, JSON):
        return to_json
    return kind.dialect_impl(_DIALECT).bind_processor(_DIALECT)


def _from_driver(kind: TypeEngine[Any]) -> _Convert:
    if isinstance(kind, JSON):
        return from_json
    return kind.dialect_impl(_DIALECT).result_processor(_DIALECT, None)


class Savepoint:
    """A savepoint with a fixed name in an open transaction.

    `begin_nested` would take as long as an ordinary job.
    """

    def __init__(self, name: str) -> None:
        self.begin = partial(at_driver, f"SAVEPOINT {name}")
        """Set the savepoint."""
        self.undo = partial(at_driver, f"ROLLBACK TO SAVEPOINT {name}")
        """Roll back to `begin`; `end` must follow."""
        self.end = partial(at_driver, f"RELEASE SAVEPOINT {name}")
        """Release the savepoint."""
