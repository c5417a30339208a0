"""Copies a SQLite database: the game store, with the mail store packed into one of its tables.

VACUUM INTO reads one state of the database and does not block writers. SQLite's backup interface
would start again with each commit of another process, or copy everything in one step, which takes
as long and includes free pages.

The game store is copied first, and the door removes no mails meanwhile
(`file_locks.exclusive_work`). So every mail that the copied game store has not carried out is in
the copied mail store.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
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
)
from sqlalchemy import table as sql_table
from sqlalchemy.exc import DBAPIError

from pbmserv.errors import OperatorError, ServerFault
from pbmserv.file_locks import ENDING_S, exclusive_work
from pbmserv.files import (
    Place,
    give_to_owner_of,
    make_file,
    make_private,
    replacing,
    sqlite_file,
    whole_file,
)
from pbmserv.store.accounts import players as player_rows
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database, mail_url
from pbmserv.store.delivery import arrivals, mail_stores, settled_arrivals
from pbmserv.store.tables.accounts import address_changes, players, signups
from pbmserv.store.tables.columns import metadata
from pbmserv.store.tables.mail import arrivals as arrived
from pbmserv.store.tables.mail import settled, stores

MAGIC = b"SQLite format 3\x00"
"""First octets of a copy."""

_COUNTED = ("boards", "inbox", "outbox")
"""Tables for which SQLite remembers the highest number that it ever gave."""

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


_PIECE = 1 << 20
"""Octets of the packed mail store in one row."""


def save(database: Database, target: Path) -> None:
    """Copy both stores into an empty file.

    Raises:
        OperatorError: the disk has no room, or another copy is being made.
    """
    url = mail_url(database.url)
    mail = sqlite_file(url)
    if mail is None or not mail.exists():  # the first start creates it
        _copy(database, target)
        return
    with exclusive_work(mail, arrivals.REMOVAL, ENDING_S) as is_ours:
        if not is_ours:
            raise OperatorError("another copy is being made just now; try again when it is done")
        _copy(database, target)
        with closing(Database(url)) as store, _temporary_file(target) as mail_copy:
            _copy(store, mail_copy)
            _pack(mail_copy, target)


def _copy(database: Database, target: Path) -> None:
    with database.reading.connect() as connection:
        driver: Any = connection.connection.dbapi_connection
        try:
            driver.execute("VACUUM INTO ?", (str(target),))
        except sqlite3.OperationalError as error:
            raise OperatorError(f"the copy cannot be written: {error}") from None


def _pack(mail: Path, target: Path) -> None:
    """Put the copied mail store into a table of the copy, in pieces."""
    try:
        with closing(sqlite3.connect(target)) as copy, copy, mail.open("rb") as opened:
            copy.execute("CREATE TABLE mail_store (piece INTEGER PRIMARY KEY, octets BLOB)")
            while octets := opened.read(_PIECE):
                copy.execute("INSERT INTO mail_store (octets) VALUES (?)", (octets,))
    except sqlite3.OperationalError as error:
        raise OperatorError(f"the copy cannot be written: {error}") from None


def _unpack(copy: Path, mail: Path) -> bool:
    """Move the mail store out of a copy into a file; return whether it has one."""
    with closing(sqlite3.connect(copy)) as opened, opened:
        has_mails = "SELECT 1 FROM sqlite_master WHERE name = 'mail_store'"
        if opened.execute(has_mails).fetchone() is None:
            return False
        with mail.open("wb") as file:
            for (octets,) in opened.execute("SELECT octets FROM mail_store ORDER BY piece"):
                file.write(octets)
        revision(mail)
        opened.execute("DROP TABLE mail_store")
    return True


@contextmanager
def _temporary_file(path: Path) -> Iterator[Path]:
    """Yield an empty file beside *path*, and remove it afterwards."""
    temporary = path.with_name(f"{path.name}.mail")
    make_file(temporary)
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)
        _drop_logs(temporary)


def _drop_logs(file: Path) -> None:
    """Remove the logs of a replaced database, so that SQLite does not apply them to the new one."""
    for end in ("-wal", "-shm", "-journal"):
        with contextlib.suppress(FileNotFoundError):
            file.with_name(file.name + end).unlink()


def revision(copy: Path) -> str | None:
    """Return the revision of a copy, `None` if it is of another program's database.

    Raises:
        OperatorError: the copy is damaged.
    """
    try:
        with closing(sqlite3.connect(_unchanged(copy), uri=True)) as opened:
            (result,) = opened.execute("PRAGMA integrity_check(1)").fetchone()
            if result != "ok":
                raise OperatorError(f"the copy is damaged: {result}")
            (pages,) = opened.execute("PRAGMA page_count").fetchone()
            (octets,) = opened.execute("PRAGMA page_size").fetchone()
            if copy.stat().st_size != pages * octets:  # the check skips the end of long texts
                raise OperatorError("the copy is damaged: its end is missing")
            has_revision = "SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'"
            if opened.execute(has_revision).fetchone() is None:
                return None
            (number,) = opened.execute("SELECT version_num FROM alembic_version").fetchone()
            return str(number)
    except (sqlite3.DatabaseError, TypeError) as error:
        raise OperatorError(f"the copy is damaged: {error}") from None


def check_has_game_store(copy: Path) -> None:
    """Check that a database at one of our revisions is not only a mail store.

    Raises:
        OperatorError: it has no players and boards.
    """
    with closing(sqlite3.connect(_unchanged(copy), uri=True)) as opened:
        has_players = "SELECT 1 FROM sqlite_master WHERE name = 'players'"
        if opened.execute(has_players).fetchone() is None:
            raise OperatorError(
                f"{copy} is a mail store, which holds only mails; name a copy from `db backup`"
            )


def restore(url: str, source: Path, place: Place, skipped: int) -> None:
    """Put a copy in the place of the database; see `backup.restore`."""
    named, mail = sqlite_file(url), sqlite_file(mail_url(url))
    assert named is not None
    assert mail is not None
    file = named.resolve()
    make_private(file.parent)
    with (
        _locked(file, place),
        whole_file(file, replacing) as new_file,
        _temporary_file(new_file) as mail_copy,
    ):
        shutil.copyfile(source, new_file)
        give_to_owner_of(file.parent, new_file)
        has_mails = _unpack(new_file, mail_copy)
        with closing(Database(f"sqlite:///{new_file}")) as game:
            schema.prepare(game, ("game",))
            with game.writing.begin() as connection:
                _skip_numbers(connection, skipped)
            if has_mails:
                _restore_mails(mail_copy, mail.resolve(), game, place)
        _drop_logs(file)


def _restore_mails(mail_copy: Path, mail: Path, game: Database, place: Place) -> None:
    """Add copied mails that *game* has not carried out to the mail store.

    Mails that wait in the existing store stay; they had their 250, too. If that store cannot be
    used, a new one is created, with a new UUID, so that none of its numbers looks settled.
    """
    with (
        closing(Database(f"sqlite:///{mail_copy}")) as copied,
        _locked(mail, replacing),
        whole_file(mail, replacing) as new_file,
    ):
        give_to_owner_of(mail.parent, new_file)
        schema.prepare(copied, ("mail",))
        if _is_usable(mail, place):
            shutil.copyfile(mail, new_file)
        with (
            closing(Database(f"sqlite:///{new_file}")) as store,
            copied.reading.connect() as source,
        ):
            schema.prepare(store, ("mail",))
            with store.writing.begin() as target, game.reading.connect() as games:
                done = settled_arrivals.numbers_since(games, mail_stores.uuid_of(source), 0)
                arrivals.take_over(target, source, done)
        _drop_logs(mail)


def _is_usable(mail: Path, place: Place) -> bool:
    """Return whether a mail store exists that this version can read.

    If a newer version has upgraded it, it is kept beside the new one, under its name and revision.

    Raises:
        OperatorError: it is damaged and may not be replaced.
    """
    try:
        number = revision(mail) if mail.exists() else None
    except OperatorError:
        if place is not replacing:
            raise
        return False
    if number is not None and not schema.is_known(number) and place is replacing:
        shutil.copy2(mail, mail.with_name(f"{mail.name}.{number}"))
        return False
    return number is not None


@contextmanager
def _locked(file: Path, place: Place) -> Iterator[None]:
    """Lock an existing database against all other processes.

    Raises:
        OperatorError: the database is in use, or not empty and may not be replaced.
    """
    if not file.exists() or not file.stat().st_size:
        yield
        return
    with closing(sqlite3.connect(file, timeout=1, isolation_level=None)) as connection:
        tables = 1
        try:
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            connection.execute("PRAGMA journal_mode=DELETE")  # fails if it is open elsewhere
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode in _BUSY:
                raise OperatorError(f"{file} is in use; stop the server first") from None
            # A damaged database may be replaced: perhaps it is the reason for the restore.
        if tables and place is not replacing:
            raise OperatorError(f"{file} is not empty; with --overwrite it is replaced")
        yield


def _skip_numbers(connection: Connection, skipped: int) -> None:
    """Skip numbers of every table whose numbers are in reply addresses.

    In tables for which SQLite remembers no highest number, a placeholder row gets the number.
    """
    advance = text("UPDATE sqlite_sequence SET seq = seq + :skipped WHERE name = :name")
    start = text("INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :skipped)")
    for name in _COUNTED:
        values = {"name": name, "skipped": skipped}
        if not connection.execute(advance, values).rowcount:
            connection.execute(start, values)
    now = datetime.now(UTC)
    player, signup, change = (
        (connection.execute(select(func.max(table.c.id))).scalar() or 0) + skipped
        for table in (players, signups, address_changes)
    )
    player_rows.reserve(connection, f"gone-{player}", now, id=player)
    nobody = {"address": "", "batch": "restored", "player_id": player, "created_at": now}
    connection.execute(insert(signups).values(id=signup, userid="", password_hash="", **nobody))
    connection.execute(insert(address_changes).values(id=change, confirmed_at=None, **nobody))


# -- the contents of a copy, for PostgreSQL ------------------------------------------------------


class Contents:
    """The rows of an unpacked copy.

    Attributes:
        tables: tables of the copy, in an order that satisfies foreign keys.
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
            numbers = sql_table("sqlite_sequence", column("name"), column("seq"), schema=store)
            self._highest |= dict(connection.execute(select(numbers.c.name, numbers.c.seq)).all())

    def rows(self, table: Table) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of a table, without mails that are carried out.

        Raises:
            OperatorError: a value does not fit its column. The message does not quote it.
        """
        statement = select(table)
        if table is arrived:
            uuid = select(stores.c.uuid).scalar_subquery()
            done = select(settled.c.number).where(settled.c.store == uuid)
            statement = statement.where(table.c.id.not_in(done))
        types = {column.name: column.type.python_type for column in table.c}
        try:
            for row in self._connection.execute(statement).mappings():
                for name, value in row.items():
                    if value is not None and not isinstance(value, types[name]):
                        raise TypeError(name)
                yield dict(row)
        except (DBAPIError, LookupError, TypeError, ValueError, ServerFault):
            raise OperatorError(
                f"the copy has something in {table.name} that cannot be read"
            ) from None

    def highest(self, table: Table) -> int:
        """Return the highest number that SQLite remembers for a table, 0 if there is none."""
        return self._highest.get(table.name, 0)


@contextmanager
def contents(copy: Path) -> Iterator[Contents]:
    """Unpack a copy into the system's temporary folder, upgrade it, and open its contents.

    Raises:
        OperatorError: the temporary folder has no room.
    """
    with contextlib.ExitStack() as stack:
        with tempfile.TemporaryDirectory(prefix="pbmserv-copy-") as folder:
            game, mail = Path(folder) / "game", Path(folder) / "mail"
            try:
                shutil.copyfile(copy, game)
                has_mails = _unpack(game, mail)
                for file, store in ((game, "game"), (mail, "mail")):
                    if file.exists():
                        with closing(Database(f"sqlite:///{file}")) as database:
                            schema.prepare(database, (store,))
            except (OSError, sqlite3.Error, DBAPIError) as error:
                reason = error.orig if isinstance(error, DBAPIError) else error
                raise OperatorError(
                    f"the copy cannot be unpacked in {folder}: {reason};"
                    " TMPDIR may name a folder that has more room"
                ) from None
            engine = create_engine(
                "sqlite://",
                creator=partial(_open_both, game, mail if has_mails else None),
                poolclass=NullPool,
                hide_parameters=True,
            )
            opened = Contents(stack.enter_context(engine.connect()), has_mails)
        # The files are open and already deleted, so nothing stays behind if we are killed.
        yield opened


def _open_both(game: Path, mail: Path | None) -> sqlite3.Connection:
    opened = sqlite3.connect(_unchanged(game), uri=True)
    if mail is not None:
        opened.execute("ATTACH ? AS mail", (_unchanged(mail),))
    return opened


def _unchanged(file: Path) -> str:
    """Return the URI to open a file without locks and logs: nobody writes it meanwhile."""
    return f"{file.absolute().as_uri()}?immutable=1"
