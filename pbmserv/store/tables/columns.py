"""Metadata and column types of all tables.

Long values (letters, mails, words of letters) are compressed with zlib at its fastest level.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache, partial
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    Enum,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    TypeDecorator,
)

from pbmserv.engine.clocks import Terms
from pbmserv.errors import ServerFault

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite generates numbers only for keys that are declared INTEGER.
Key = BigInteger().with_variant(Integer, "sqlite")


class Instant(TypeDecorator[datetime]):
    """An aware moment in UTC; SQLite stores it without the zone.

    For SQLite it writes and reads the text itself, since SQLAlchemy takes five times as long.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any] | None:
        if dialect.name != "sqlite":
            return super().bind_processor(dialect)
        return _moment_text

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:
        if dialect.name != "sqlite":
            return super().result_processor(dialect, coltype)
        return _moment_of

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        moment: datetime | None = value
        return None if moment is None else moment.astimezone(UTC)


def _moment_of(text: str | None) -> datetime | None:
    """Return the moment of a text in SQLite."""
    return None if text is None else datetime.fromisoformat(f"{text}+00:00")


@lru_cache(maxsize=8)  # a mail writes the same moment several times
def _moment_text(moment: datetime | None) -> str | None:
    """Return a moment as SQLAlchemy's DateTime stores it in SQLite."""
    if moment is None:
        return None
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(" ", "microseconds").removesuffix("+00:00")


def state_type(states: type[StrEnum], length: int) -> Enum:
    """Return the type of a column for members of a `StrEnum`, which is stored as their texts."""
    texts = [state.value for state in states]
    return Enum(states, native_enum=False, length=length, values_callable=lambda _: texts)


def partial_index(name: str, *columns: Any, where: Any, unique: bool = False) -> Index:
    """Return an index of the rows that meet a condition.

    Args:
        columns: columns, or their names inside a `Table`.
    """
    return Index(name, *columns, unique=unique, postgresql_where=where, sqlite_where=where)


to_json: Callable[[Any], str] = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
"""Encode JSON for the store."""
from_json: Callable[[str], Any] = json.JSONDecoder().decode
"""Decode JSON of the store."""


class JsonTuple(TypeDecorator[tuple[str, ...] | tuple[int, ...]]):
    """A JSON list that is read as a tuple: option words of a board, or numbers of players."""

    impl = JSON
    cache_ok = True

    def process_result_value(
        self,
        value: Any,
        dialect: Dialect,  # noqa: ARG002
    ) -> tuple[str, ...] | tuple[int, ...]:
        return tuple(value)


class JsonTerms(TypeDecorator[Terms]):
    """The terms of a board that does not exist yet, as a JSON list."""

    impl = JSON
    cache_ok = True

    def process_bind_param(self, value: Terms | None, dialect: Dialect) -> Any:  # noqa: ARG002
        assert value is not None
        return value.as_list()

    def process_result_value(self, value: Any, dialect: Dialect) -> Terms:  # noqa: ARG002
        return Terms(*value)


_PLAIN, _ZLIB = b"\x00", b"\x01"
"""First octet of a packed value: the form of the rest."""

_SHORTEST = 200
"""Octets below which compression saves little."""
_LONGEST = 256 * 1024
"""Octets above which a value is not compressed: it is mostly a file that is compressed already, and
would keep the writer busy for tens of milliseconds."""


def pack(value: bytes | Mapping[str, Any]) -> bytes:
    """Return octets, or a JSON object, in stored form.

    An empty value stays empty, so that the length of the column shows that.
    """
    if not value:
        return b""
    octets = value if isinstance(value, bytes) else to_json(value).encode()
    if _SHORTEST <= len(octets) <= _LONGEST:
        small = zlib.compress(octets, level=1)
        if len(small) < len(octets):
            return _ZLIB + small
    return _PLAIN + octets


def unpack(kept: bytes | None, *, is_json: bool) -> Any:
    """Return the value that was given to `pack`; `None` stays `None`.

    Raises:
        ServerFault: the stored value is damaged, or in an unknown form.
    """
    if kept is None:
        return None
    form, octets = kept[:1], kept[1:]
    if form == _ZLIB:
        try:
            octets = zlib.decompress(octets)
        except zlib.error as error:
            raise ServerFault("a compressed value in the database is damaged") from error
    elif form not in {_PLAIN, b""}:
        raise ServerFault("a value in the database is compressed in no form that we know")
    if is_json:
        return from_json(octets.decode()) if octets else {}
    return octets


class PackedBytes(TypeDecorator[bytes]):
    """Octets, compressed if that makes them shorter."""

    impl = LargeBinary
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:  # noqa: ARG002
        return pack

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:  # noqa: ARG002
        return partial(unpack, is_json=False)


class PackedJson(TypeDecorator[Any]):
    """A JSON object as compressed text; an empty one is stored as empty octets."""

    impl = LargeBinary
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:  # noqa: ARG002
        return pack

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:  # noqa: ARG002
        return partial(unpack, is_json=True)
