"""Commands of operators beside a running server: its play carries them out."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest
from processes import Process, wait_until
from smtp_client import Wire, mail
from sqlalchemy import select, text

from pbmserv.cli.main import run
from pbmserv.config.settings import load
from pbmserv.errors import OperatorError
from pbmserv.file_locks import borrow_stage, claim_stage
from pbmserv.service.operators import people
from pbmserv.service.operators.deeds import Signature
from pbmserv.service.operators.orders import order
from pbmserv.stages.operator_orders import OperatorOrders
from pbmserv.store.core.database import Database
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.store.tables.accounts import players as rows

pytestmark = pytest.mark.slow

ALICE = "alice@players.example"
OURS = "pbmserv@games.example"
WHY = ("--why", "a test")


@pytest.fixture
def settings(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> pytest.MonkeyPatch:
    for name, value in {"DATA_DIR": tmp_path, "DATABASE": database_url}.items():
        monkeypatch.setenv(f"PBMSERV_{name}", str(value))
    monkeypatch.setenv("PBMSERV_ADDRESS", OURS)
    monkeypatch.setattr("pbmserv.log.configure", lambda level: None)
    return monkeypatch


@pytest.mark.both_databases
@pytest.mark.usefixtures("settings")
def test_commands_upgrade_nothing(database_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An older server may still run, and an empty database may wait for a copy."""
    with closing(Database(database_url)) as database:
        revision = text("SELECT version_num FROM alembic_version")
        with database.writing.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
        for command in (["user", "list"], ["board", "list"], ["inbox", "list"], ["audit"]):
            assert run(command) == 1
            assert "run: pbmserv db upgrade" in capsys.readouterr().err
        with database.reading.connect() as connection:
            assert connection.execute(revision).scalar_one() == "0001"


@pytest.mark.both_databases
@pytest.mark.usefixtures("settings")
def test_commands_write_while_the_server_has_the_file(
    database_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    database = Database(database_url)

    def is_suspended() -> bool:
        with database.reading.connect() as connection:
            return connection.execute(select(rows.c.state)).scalar() == PlayerState.BARRED

    with Process(tmp_path, database_url) as process:
        with Wire(process.port) as wire:
            assert wire.mail(ALICE, OURS, mail(ALICE, "signup alice wonder-land")).startswith("250")

        box = tmp_path / "mail" / ALICE / "new"
        wait_until(lambda: len(list(box.glob("*"))) == 1, "the letter that asks her")
        assert run(["user", "suspend", "alice", *WHY]) == 0
        assert is_suspended()
        assert run(["user", "suspend", "nobody", *WHY]) == 1
        printed = capsys.readouterr()
        assert "alice" in printed.out
        assert "nobody" in printed.err
        wait_until(lambda: len(list(box.glob("*"))) == 2, "the letter that tells her")
        # Their pages do it in the same way.
        pages = OperatorOrders(load(os.environ, None).settings)
        signed = Signature("olga", "a test")
        assert "alice may play again" in pages.do(signed, order(people.restore, "alice"))
        assert not is_suspended()
        with pytest.raises(OperatorError, match="no kept mail 99"):
            pages.retry(99, signed)
        with pytest.raises(OperatorError, match="not suspended"):
            pages.do(signed, order(people.restore, "alice"))
    pages.do(signed, order(people.suspend, "alice", end_games=False))
    with pytest.raises(OperatorError, match="no kept mail 99"):
        pages.retry(99, signed)
    assert is_suspended()
    assert run(["user", "restore", "alice", *WHY]) == 0  # nobody plays: it writes for itself
    assert not is_suspended()
    database.close()


def test_a_command_detects_a_running_server(tmp_path: Path) -> None:
    path = tmp_path / "pbmserv.sqlite3"
    with borrow_stage(path, "play") as is_ours:
        assert is_ours
    with claim_stage(path, "play"), borrow_stage(path, "play") as is_ours:
        assert not is_ours  # the mark has our own number, which runs
