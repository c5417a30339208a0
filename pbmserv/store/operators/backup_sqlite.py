"""Copies of a SQLite database: the game store, with the mail store packed into a table of it.

By VACUUM INTO: it reads one moment of the database and holds no writer up. SQLite's backup
interface begins anew with each commit of another process, unless it goes in one step; that takes
as long (250 MB beside a busy writer: 1.7 s) and copies free pages as well.

The game store is copied first. So what it does not know as carried out is still in the mail store
when that is copied, if the door removes nothing in between (`file_locks.exclusive_work`).
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Connection,
    NullPool,
    Table,
    column,
    create_engine,
    func,
    insert,
    select,
    text,
    type_coerce,
)
from sqlalchemy import table as sql_table
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import NullType

from pbmserv.errors import OperatorError
from pbmserv.file_locks import ENDING_S, exclusive_work
from pbmserv.files import Place, file_of, make_file, make_private, over, written
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database, mail_url
from pbmserv.store.delivery import arrivals
from pbmserv.store.tables.accounts import PlayerState, address_changes, players, signups
from pbmserv.store.tables.columns import Instant, metadata
from pbmserv.store.tables.mail import arrivals as arrived
from pbmserv.store.tables.mail import settled, stores

MAGIC = b"SQLite format 3\x00"
"""How a copy begins."""

_COUNTED = ("boards", "inbox", "outbox")
"""Tables of which SQLite itself remembers the highest number that it ever gave."""

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


_PIECE = 1 << 20
"""Octets of the packed mail store that one row has."""


def save(database: Database, target: Path) -> None:
    """Copy both stores into an empty file.

    Raises:
        OperatorError: there is no room for it, or another copy takes too long.
    """
    url = mail_url(database.url)
    mail = file_of(url)
    if mail is None or not mail.exists():  # it comes with the first start
        _copy(database, target)
        return
    with exclusive_work(mail, arrivals.REMOVAL, ENDING_S) as is_ours:
        if not is_ours:
            raise OperatorError("another copy is being made just now; try again when it is done")
        _copy(database, target)
        with closing(Database(url)) as store, _beside(target) as whole:
            _copy(store, whole)
            _pack(whole, target)


def _copy(database: Database, target: Path) -> None:
    with database.reading.connect() as connection:
        driver: Any = connection.connection.dbapi_connection
        try:
            driver.execute("VACUUM INTO ?", (str(target),))
        except sqlite3.OperationalError as error:
            raise OperatorError(f"the copy cannot be written: {error}") from None


def _pack(whole: Path, target: Path) -> None:
    """Put a file into a table of the copy, in pieces."""
    try:
        with closing(sqlite3.connect(target)) as copy, copy, whole.open("rb") as opened:
            copy.execute("CREATE TABLE mail_store (piece INTEGER PRIMARY KEY, octets BLOB)")
            while octets := opened.read(_PIECE):
                copy.execute("INSERT INTO mail_store (octets) VALUES (?)", (octets,))
    except sqlite3.OperationalError as error:
        raise OperatorError(f"the copy cannot be written: {error}") from None


def _unpack(copy: Path, whole: Path) -> bool:
    """Take the mail store out of a copy again; false: there is none in it."""
    with closing(sqlite3.connect(copy)) as opened, opened:
        if not _unpacked(opened, whole):
            return False
        opened.execute("DROP TABLE mail_store")
    return True


def _unpacked(copy: sqlite3.Connection, whole: Path) -> bool:
    """Lay the mail store of a copy into a file; false: there is none in it."""
    there = "SELECT 1 FROM sqlite_master WHERE name = 'mail_store'"
    if copy.execute(there).fetchone() is None:
        return False
    with whole.open("wb") as file:
        for (octets,) in copy.execute("SELECT octets FROM mail_store ORDER BY piece"):
            file.write(octets)
    revision(whole)
    return True


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """An empty file for a while."""
    made = path.with_name(f"{path.name}.mail")
    make_file(made)
    try:
        yield made
    finally:
        made.unlink(missing_ok=True)
        _drop_logs(made)


def _drop_logs(file: Path) -> None:
    """What an older database has left beside it must never be read into another one."""
    for end in ("-wal", "-shm", "-journal"):
        with contextlib.suppress(FileNotFoundError):
            file.with_name(file.name + end).unlink()


def revision(copy: Path) -> str | None:
    """The revision of a whole copy; ``None`` for another program's database.

    Raises:
        OperatorError: it is damaged.
    """
    try:
        with closing(sqlite3.connect(_unchanged(copy), uri=True)) as opened:
            (found,) = opened.execute("PRAGMA integrity_check(1)").fetchone()
            if found != "ok":
                raise OperatorError(f"the copy is damaged: {found}")
            (pages,) = opened.execute("PRAGMA page_count").fetchone()
            (octets,) = opened.execute("PRAGMA page_size").fetchone()
            if copy.stat().st_size != pages * octets:  # the end of a text is not looked at above
                raise OperatorError("the copy is damaged: its end is missing")
            ours = "SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'"
            if opened.execute(ours).fetchone() is None:
                return None
            (number,) = opened.execute("SELECT version_num FROM alembic_version").fetchone()
            return str(number)
    except (sqlite3.DatabaseError, TypeError) as error:
        raise OperatorError(f"the copy is damaged: {error}") from None


def restore(url: str, source: Path, place: Place, skipped: int) -> None:
    """Put a whole copy where the database belongs; see `backup.restore`."""
    named, mail = file_of(url), file_of(mail_url(url))
    assert named is not None
    assert mail is not None
    file = named.resolve()
    make_private(file.parent)
    with _alone(file, place), written(file, over) as made, _beside(made) as whole:
        shutil.copyfile(source, made)
        has_mails = _unpack(made, whole)
        with closing(Database(f"sqlite:///{made}")) as game:
            schema.prepare(game, ("game",))
            with game.writing.begin() as connection:
                _skip(connection, skipped)
            if has_mails:
                _bring_back(whole, mail.resolve(), game, place)
        _drop_logs(file)


def _bring_back(whole: Path, mail: Path, game: Database, place: Place) -> None:
    """Add to the mail store what *game* has not carried out: all of it had its 250.

    What waits in the store that is there had its own, and stays. One that is damaged, or not there,
    is made anew, under a new name: so no number that it gives looks settled. One that a newer
    version has upgraded is kept beside it, named by its revision: nobody here can read it.
    """
    with (
        closing(Database(f"sqlite:///{whole}")) as copied,
        _alone(mail, over),
        written(mail, over) as made,
    ):
        schema.prepare(copied, ("mail",))
        try:
            found = revision(mail) if mail.exists() else None
            is_there = found is not None
            if found is not None and not schema.is_known(found) and place is over:
                shutil.copy2(mail, mail.with_name(f"{mail.name}.{found}"))
                is_there = False
        except OperatorError:
            if place is not over:
                raise
            is_there = False
        if is_there:
            shutil.copyfile(mail, made)
        with closing(Database(f"sqlite:///{made}")) as store, copied.reading.connect() as other:
            schema.prepare(store, ("mail",))
            with store.writing.begin() as target, game.reading.connect() as known:
                done = arrivals.settled_since(known, arrivals.store_of(other), 0)
                arrivals.take_over(target, other, done)
        _drop_logs(mail)


@contextmanager
def _alone(file: Path, place: Place) -> Iterator[None]:
    """Keep everybody else out of the database that is there, if there is one.

    Raises:
        OperatorError: it is in use, or there is something in it that may not be replaced.
    """
    if not file.exists() or not file.stat().st_size:
        yield
        return
    with closing(sqlite3.connect(file, timeout=1, isolation_level=None)) as held:
        tables = 1
        try:
            tables = held.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            held.execute("PRAGMA journal_mode=DELETE")  # for which nobody else may have it open
            held.execute("BEGIN EXCLUSIVE")
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode in _BUSY:
                raise OperatorError(f"{file} is in use; stop the server first") from None
            # It is damaged: that may be why a copy is to take its place.
        if tables and place is not over:
            raise OperatorError(f"{file} is not empty; with --overwrite it is replaced")
        yield


def _skip(connection: Connection, many: int) -> None:
    """Leave out so many numbers of all that reply addresses name.

    Where SQLite remembers no highest number, a row that means nobody stands there.
    """
    count = text("UPDATE sqlite_sequence SET seq = seq + :many WHERE name = :name")
    first = text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :many)")
    for name in _COUNTED:
        values = {"name": name, "many": many}
        if not connection.execute(count, values).rowcount:
            connection.execute(first, values)
    now = datetime.now(UTC)
    player, signup, change = (
        (connection.execute(select(func.max(table.c.id))).scalar() or 0) + many
        for table in (players, signups, address_changes)
    )
    connection.execute(
        insert(players).values(
            id=player,
            userid=f"gone-{player}",
            password_hash="",
            address="",
            state=PlayerState.DELETED,
            accept="none",
            created_at=now,
        )
    )
    nobody = {"address": "", "batch": "restored", "player_id": player, "created_at": now}
    connection.execute(insert(signups).values(id=signup, userid="", password_hash="", **nobody))
    connection.execute(insert(address_changes).values(id=change, confirmed_at=None, **nobody))


# -- what is in a copy, for another kind of database -------------------------------------------


class Contents:
    """All rows of a copy, at this version's revision.

    Attributes:
        tables: those that are in it; one that others refer to comes before them.
    """

    def __init__(self, connection: Connection, has_mails: bool) -> None:
        self._connection = connection
        self.tables = [
            table
            for table in metadata.sorted_tables
            if has_mails or table.info.get("store") != "mail"
        ]
        self._highest: dict[str, int] = {}
        for store in ("main", "mail") if has_mails else ("main",):
            given = sql_table("sqlite_sequence", column("name"), column("seq"), schema=store)
            self._highest |= dict(connection.execute(select(given.c.name, given.c.seq)).all())

    def rows(self, table: Table) -> Iterator[Sequence[Any]]:
        """The rows of a table as they are kept, one by one: 0 and 1 for false and true, JSON as
        its text; moments are aware. Mails that are carried out are left out.

        Raises:
            OperatorError: something in it is no value of its column.
        """
        as_kept = (
            one if isinstance(one.type, Instant) else type_coerce(one, NullType())
            for one in table.c
        )
        found = select(*as_kept)
        if table is arrived:
            own = select(stores.c.uuid).scalar_subquery()
            done = select(settled.c.number).where(settled.c.store == own)
            found = found.where(table.c.id.not_in(done))
        try:
            yield from self._connection.execute(found)
        except (DBAPIError, ValueError):  # SQLite quotes what it cannot read
            raise OperatorError(
                f"the copy has something in {table.name} that cannot be read"
            ) from None

    def highest(self, table: Table) -> int:
        """The highest number that a table ever gave, as far as SQLite remembers; else 0."""
        return self._highest.get(table.name, 0)


@contextmanager
def contents(copy: Path, is_current: bool) -> Iterator[Contents]:
    """What is in a whole copy. An older one is upgraded in the system's temporary folder, where
    the mail store is laid in any case.

    Args:
        is_current: it is of this version's revision.

    Raises:
        OperatorError: there is no room for that.
    """
    with contextlib.ExitStack() as stack:
        with tempfile.TemporaryDirectory(prefix="pbmserv-copy-") as folder:
            game, mail = Path(folder) / "game", Path(folder) / "mail"
            try:
                has_mails = _laid_out(copy, is_current, game, mail)
            except (OSError, sqlite3.Error, DBAPIError) as error:
                reason = error.orig if isinstance(error, DBAPIError) else error
                raise OperatorError(
                    f"the copy cannot be unpacked in {folder}: {reason};"
                    " TMPDIR may name a folder that has more room"
                ) from None
            whole = game if game.exists() else copy
            engine = create_engine(
                "sqlite://",
                creator=partial(_both, whole, mail if has_mails else None),
                poolclass=NullPool,
                hide_parameters=True,
            )
            found = Contents(stack.enter_context(engine.connect()), has_mails)
        # What was laid out is open, and has no name any more: if we are killed, nothing is left.
        yield found


def _laid_out(copy: Path, is_current: bool, game: Path, mail: Path) -> bool:
    """Lay out the mail store of a copy, if there is one, and its game store if that is older."""
    if is_current:
        with closing(sqlite3.connect(_unchanged(copy), uri=True)) as opened:
            return _unpacked(opened, mail)
    shutil.copyfile(copy, game)
    has_mails = _unpack(game, mail)
    for file, store in ((game, "game"), (mail, "mail")):
        if file.exists():
            with closing(Database(f"sqlite:///{file}")) as database:
                schema.prepare(database, (store,))
    return has_mails


def _both(game: Path, mail: Path | None) -> sqlite3.Connection:
    opened = sqlite3.connect(_unchanged(game), uri=True)
    if mail is not None:
        opened.execute("ATTACH ? AS mail", (_unchanged(mail),))
    return opened


def _unchanged(file: Path) -> str:
    """A file that nobody writes meanwhile, and nothing is made beside."""
    return f"{file.absolute().as_uri()}?immutable=1"
