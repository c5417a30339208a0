"""What all tables share: the one metadata, and the types of their columns.

Long values (letters, mails, the words of letters) are compressed with zlib at its fastest level.
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
    BigInteger,
    DateTime,
    Dialect,
    Integer,
    LargeBinary,
    MetaData,
    String,
    TypeDecorator,
)

from pbmserv.errors import ServerFault

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite numbers rows by itself only when the key is declared INTEGER.
Key = BigInteger().with_variant(Integer, "sqlite")


class Instant(TypeDecorator[datetime]):
    """An aware moment in UTC; SQLite keeps it without the zone."""

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


def _moment_of(kept: str | None) -> datetime | None:
    """The moment that SQLite keeps in so many words; in one step, since a board has a dozen."""
    return None if kept is None else datetime.fromisoformat(f"{kept}+00:00")


class InstantText(TypeDecorator[str]):
    """An `Instant` as JSON has it, to the second; an old account has a hundred thousand of them."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:
        if dialect.name != "sqlite":
            return super().result_processor(dialect, coltype)
        return _json_of

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        moment: datetime | None = value
        return None if moment is None else moment.astimezone(UTC).isoformat(timespec="seconds")


def _json_of(kept: str | None) -> str | None:
    """What SQLite keeps, in JSON's words: a fifth of the time that it takes through a datetime."""
    return None if kept is None else f"{kept[:10]}T{kept[11:19]}+00:00"


@lru_cache(maxsize=8)  # a mail writes its moment half a dozen times
def _moment_text(moment: datetime | None) -> str | None:
    """A moment as SQLAlchemy's DateTime keeps it in SQLite."""
    if moment is None:
        return None
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(" ", "microseconds").removesuffix("+00:00")


class State(TypeDecorator[StrEnum]):
    """One of the members of a `StrEnum`, as its text."""

    impl = String
    cache_ok = True

    def __init__(self, states: type[StrEnum], length: int) -> None:
        super().__init__(length)
        self.states = states

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:  # noqa: ARG002
        return lambda state: None if state is None else str(state)  # drivers look twice at others

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:  # noqa: ARG002
        members: dict[str | None, StrEnum | None] = {one.value: one for one in self.states}
        members[None] = None
        return members.__getitem__


written: Callable[[Any], str] = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
"""JSON as it is kept."""
read: Callable[[str], Any] = json.JSONDecoder().decode
"""What it says."""

_PLAIN, _ZLIB = b"\x00", b"\x01"
"""The first octet of what is kept: how the rest is to be read."""

_SHORTEST = 200
"""Octets; what is shorter hardly becomes smaller."""
_LONGEST = 256 * 1024
"""Octets; what is longer is most often a file, which is compressed already, and the writer would
be at it for tens of milliseconds."""


class Unpacked(bytes):
    """Octets that were kept packed, and how: a mail goes from one table to another as it is.

    Attributes:
        packed: what `pack` makes of them.
    """

    packed: bytes


def pack(value: bytes | Mapping[str, Any]) -> bytes:
    """Octets, or an object of JSON, as they are kept; nothing stays nothing, so that its length
    tells that."""
    if not value:
        return b""
    if isinstance(value, Unpacked):
        return value.packed
    octets = value if isinstance(value, bytes) else written(value).encode()
    if _SHORTEST <= len(octets) <= _LONGEST:
        small = zlib.compress(octets, level=1)
        if len(small) < len(octets):
            return _ZLIB + small
    return _PLAIN + octets


def unpack(kept: bytes | None, *, is_json: bool) -> Any:
    """What `pack` was given; ``None`` stays ``None``.

    Raises:
        ServerFault: this was kept by something else.
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
        return read(octets.decode()) if octets else {}
    found = Unpacked(octets)
    found.packed = kept
    return found


class PackedBytes(TypeDecorator[bytes]):
    """Octets."""

    impl = LargeBinary
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:  # noqa: ARG002
        return pack  # both drivers take octets as they are, and give them so

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:  # noqa: ARG002
        return partial(unpack, is_json=False)


class PackedJson(TypeDecorator[Any]):
    """An object of JSON, as its text; nothing is kept of an empty one."""

    impl = LargeBinary
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:  # noqa: ARG002
        return pack

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:  # noqa: ARG002
        return partial(unpack, is_json=True)
