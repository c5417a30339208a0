"""Copies of the database as files: private, complete or absent, never in place of other files."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from fork_server import run
from migrated import migrated
from typer.testing import CliRunner

from pbmserv import files
from pbmserv.cli.main import app
from pbmserv.errors import OperatorError
from pbmserv.file_locks import borrow_stage
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database, mail_url
from pbmserv.store.operators import backup

pytestmark = pytest.mark.slow


def save(url: str, file: Path, place: files.Place = files.only_new) -> backup.Copy:
    return backup.save(url, file, place)


def restore(url: str, file: Path, place: files.Place = files.only_new) -> backup.Copy:
    return backup.restore(url, file, place)


def names(folder: Path) -> list[str]:
    """Return the names of all files except the mail store, which is not copied here."""
    return sorted(path.name for path in folder.iterdir() if "-mail" not in path.name)


@pytest.fixture
def own(tmp_path: Path) -> str:
    """Return a SQLite database."""
    return migrated(tmp_path / "pbmserv.sqlite3")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_only_the_owner_can_read_a_copy(own: str, tmp_path: Path) -> None:
    file = tmp_path / "copy"
    before = os.umask(0)
    try:
        save(own, file)
        assert mode(file) == 0o600
        file.chmod(0o666)
        save(own, file, files.replacing)
        assert mode(file) == 0o600
        restore(f"sqlite:///{tmp_path}/new/pbmserv.sqlite3", file)
    finally:
        os.umask(before)
    assert mode(tmp_path / "new") == 0o700
    assert mode(tmp_path / "new" / "pbmserv.sqlite3") == 0o600
    assert names(tmp_path) == ["copy", "new", "pbmserv.sqlite3"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_files_that_root_makes_belong_to_the_server(own: str, tmp_path: Path) -> None:
    """Else a server that runs as another user could not use them."""
    folder, user = tmp_path / "server", 65_534
    folder.mkdir()
    os.chown(folder, user, user)
    save(own, tmp_path / "copy")
    database = f"sqlite:///{folder}/pbmserv.sqlite3"
    restore(database, tmp_path / "copy")
    restore(database, tmp_path / "copy", files.replacing)
    environment = {"PBMSERV_DATA_DIR": str(folder), "PBMSERV_DATABASE": database}
    file = str(tmp_path / "nightly")
    assert CliRunner().invoke(app, ["db", "backup", file], env=environment).exit_code == 0
    with borrow_stage(folder / "pbmserv.sqlite3", "play"):
        made = {path.name: path.stat().st_uid for path in folder.iterdir()}
    assert {"pbmserv.sqlite3", "pbmserv.sqlite3.play.lock", "last-backup"} <= made.keys()
    assert set(made.values()) == {user}
    assert (tmp_path / "copy").stat().st_uid == 0


def _folder(path: Path) -> None:
    path.mkdir()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _link(path: Path) -> None:
    path.symlink_to(path.parent / "pbmserv.sqlite3")


def _dangling(path: Path) -> None:
    path.symlink_to(path.parent / "nothing")


LAID = {_folder: "is not a file", _pipe: "is not a file", _dangling: "cannot be read"}


def test_nothing_but_a_file_is_replaced(own: str, tmp_path: Path) -> None:
    laid = {lay.__name__: lay for lay in (*LAID, _link)}
    for name, lay in laid.items():
        lay(tmp_path / name)
        for place in (files.only_new, files.replacing):
            with pytest.raises(OperatorError, match="is not a file, so a copy cannot replace it"):
                save(own, tmp_path / name, place)
    assert names(tmp_path) == sorted([*laid, "pbmserv.sqlite3"])


def make_mail_store(own: str) -> None:
    with closing(Database(mail_url(own))) as store:
        schema.prepare(store, ("mail",))


@pytest.mark.parametrize("name", ["pbmserv.sqlite3", "pbmserv.sqlite3-wal", "pbmserv-mail.sqlite3"])
def test_a_copy_never_replaces_its_own_database(own: str, tmp_path: Path, name: str) -> None:
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    make_mail_store(own)
    before = [path.stat().st_ino for path in tmp_path.glob("*.sqlite3")]
    for folder in (tmp_path, tmp_path / "link"):
        with pytest.raises(OperatorError, match=f"{name} is a file of the database"):
            save(own, folder / name, files.replacing)
    assert [path.stat().st_ino for path in tmp_path.glob("*.sqlite3")] == before


def test_a_mail_store_is_not_restored_as_a_copy(own: str, tmp_path: Path) -> None:
    make_mail_store(own)
    with pytest.raises(OperatorError, match="is a mail store, which holds only mails"):
        restore(own, tmp_path / "pbmserv-mail.sqlite3", files.replacing)


def test_nothing_but_a_file_is_restored(own: str, tmp_path: Path) -> None:
    for lay, message in LAID.items():
        lay(tmp_path / lay.__name__)
        with pytest.raises(OperatorError, match=message):
            restore(own, tmp_path / lay.__name__, files.replacing)


def test_an_existing_file_is_replaced_only_with_overwrite(own: str, tmp_path: Path) -> None:
    file = tmp_path / "copy"
    file.write_text("precious")
    with pytest.raises(OperatorError, match="--overwrite replaces it"):
        save(own, file)
    copy = tmp_path / "made"
    copy.touch()
    with pytest.raises(OperatorError, match="--overwrite replaces it"):
        files.only_new(copy, file)  # it came while the copy was written
    assert file.read_text() == "precious"
    with pytest.raises(OperatorError, match="no folder"):
        save(own, tmp_path / "missing" / "copy")


def test_a_file_system_without_links_is_good_enough(
    own: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unlinked(*_: object, **__: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", unlinked)
    save(own, tmp_path / "copy")
    copy = tmp_path / "made"
    copy.touch()
    with pytest.raises(OperatorError, match="--overwrite replaces it"):
        files.only_new(copy, tmp_path / "copy")


LIMITED = """
import resource
from pbmserv.__main__ import main
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
main()
"""


def pbmserv(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command on a disk on which files have at most 100 kB."""
    return run(["-c", LIMITED, *words], {"PBMSERV_DATA_DIR": str(folder)})


def test_a_full_disk_leaves_nothing_behind(own: str, tmp_path: Path) -> None:
    done = pbmserv(tmp_path, "db", "backup", str(tmp_path / "copy"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "cannot be written" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert names(tmp_path) == ["pbmserv.sqlite3"]

    save(own, tmp_path / "copy")
    (tmp_path / "new").mkdir()
    done = pbmserv(tmp_path / "new", "db", "restore", str(tmp_path / "copy"))
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert names(tmp_path / "new") == []


def test_the_log_of_an_old_database_is_not_applied_to_a_restored_one(
    own: str, tmp_path: Path
) -> None:
    save(own, tmp_path / "copy")
    database = tmp_path / "pbmserv.sqlite3"
    with closing(sqlite3.connect(database)) as lost:
        lost.execute("PRAGMA journal_mode=WAL")
        lost.execute("CREATE TABLE foreign_one (id)")
        lost.commit()
        log = (tmp_path / "pbmserv.sqlite3-wal").read_bytes()
    database.unlink()
    (tmp_path / "pbmserv.sqlite3-wal").write_bytes(log)
    restore(own, tmp_path / "copy")
    assert names(tmp_path) == ["copy", "pbmserv.sqlite3"]


def test_a_damaged_database_is_replaced(own: str, tmp_path: Path) -> None:
    save(own, tmp_path / "copy")
    (tmp_path / "pbmserv.sqlite3").write_bytes(b"not a database at all" * 1000)
    with pytest.raises(OperatorError, match="not empty"):
        restore(own, tmp_path / "copy")
    restore(own, tmp_path / "copy", files.replacing)
    with closing(Database(own)) as database:
        schema.require(database)


def test_a_database_without_file_or_tables_is_not_copied(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="in memory"):
        save("sqlite://", tmp_path / "copy")
    with pytest.raises(OperatorError, match="no tables"):
        save(f"sqlite:///{tmp_path}/pbmserv.sqlite3", tmp_path / "copy")


def test_a_compressed_copy_is_smaller_and_restored_as_it_is(own: str, tmp_path: Path) -> None:
    plain, packed = tmp_path / "plain", tmp_path / "packed"
    save(own, plain)
    copy = backup.save(own, packed, files.only_new, is_compressed=True)
    assert packed.read_bytes()[:2] == b"\x1f\x8b"
    assert copy.size == packed.stat().st_size < plain.stat().st_size / 2
    assert mode(packed) == 0o600
    assert names(tmp_path) == ["packed", "pbmserv.sqlite3", "plain"]
    restored = tmp_path / "new" / "pbmserv.sqlite3"
    restore(f"sqlite:///{restored}", packed)
    with closing(Database(f"sqlite:///{restored}")) as database:
        schema.require(database)


def test_a_damaged_compressed_copy_changes_nothing(own: str, tmp_path: Path) -> None:
    packed = tmp_path / "packed"
    backup.save(own, packed, files.only_new, is_compressed=True)
    octets = packed.read_bytes()
    new = tmp_path / "new.sqlite3"
    for damaged in (octets[:-20], octets[:100] + b"damage" + octets[106:], octets[:10]):
        packed.write_bytes(damaged)
        with pytest.raises(OperatorError, match="is damaged"):
            restore(f"sqlite:///{new}", packed)
        assert not new.exists()


def test_the_commands_print_what_they_did_and_what_is_lost(own: str, tmp_path: Path) -> None:
    settings = {"PBMSERV_DATABASE": own, "PBMSERV_DATA_DIR": str(tmp_path)}
    file = str(tmp_path / "copy")

    def output_of(*words: str) -> str:
        done = CliRunner().invoke(app, ["db", *words], env=settings)
        assert done.exit_code == 0, done.output
        return " ".join(done.output.split())

    for more in ((), ("--overwrite",)):
        assert output_of("backup", file, *more).startswith(f"{file} is a whole copy of sqlite:")
    printed = output_of("restore", file, "--overwrite")
    assert f"is now the copy {file} (revision {schema.head()})" in printed
    assert "players must send again what they have sent since" in printed
    assert "skip 100,000 numbers" in printed

    with closing(Database(own)) as database, schema.migrating(database) as connection:
        command.downgrade(schema.alembic_config(connection, ("game",)), "0018")
    assert output_of("backup", file, "--overwrite").endswith("revision 0018).")
    printed = output_of("restore", file, "--overwrite")
    assert f"is now the copy {file} (revision {schema.head()}, upgraded from 0018)" in printed
    output_of("check")
