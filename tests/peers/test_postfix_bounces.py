"""A real Postfix that cannot deliver: it says so in a report, or at once."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from email.message import EmailMessage
from pathlib import Path

import pytest
from mailers import Player
from postfix import postfix
from processes import Process, wait_until
from programs import free_port, program
from sqlalchemy import Row, select, update

from pbmserv.store.core.database import Database
from pbmserv.store.tables.mail import bounces, outbox

CAROL = "carol@gone.example"
DAVE = "dave@players.example"


@pytest.fixture
def embedded(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/pbmserv.sqlite3"


def text_of(letter: EmailMessage) -> str:
    body = letter.get_body(("plain",))
    assert body is not None
    return " ".join(body.get_content().split())


def test_reports_of_postfix_are_counted(embedded: str, tmp_path: Path) -> None:
    for name in ("postfix", "swaks"):
        program(name)
    lmtp = free_port()
    # Mail to gone.example is taken and then comes back; dave is refused at RCPT.
    gone = {"gone.example": "virtual:"}
    with postfix(lmtp, ("alice",), transports=gone) as mta:
        alice = Player("alice", mta, tmp_path / "alice")
        carol = Player("carol", mta, tmp_path / "carol", domain="gone.example")
        dave = Player("dave", mta, tmp_path / "dave")
        relay = f"smtp://127.0.0.1:{mta.port}"
        with (
            closing(Database(embedded)) as database,
            Process(tmp_path, embedded, lmtp=f"127.0.0.1:{lmtp}", relay=relay),
        ):
            alice.writes("signup alice wonder-land")
            alice.wait_for(1)
            carol.writes("signup carol cheshire-cat")
            wait_until(lambda: _known(database, CAROL) is not None, mta.log)
            letter, again = _letters(database, CAROL)
            assert (letter.state, again.state) == ("failed", "queued")
            assert again.due_at - letter.sent_at > timedelta(hours=23)
            assert letter.error == f'came back (hard): unknown user: "{CAROL}"'
            assert "sender non-delivery notification" in mta.log

            _a_day_ago(database)
            alice.writes("blackbox challenge alice carol -size=2x2 -atoms=1")
            # The report can overtake the answer to the challenge: both are on their way at once.
            alice.wait_for(3)
            letters = {letter["Subject"]: letter for letter in alice.letters()}
            unreachable = letters["carol cannot be reached"]
            assert "You play each other on board 1." in text_of(unreachable)

            dave.writes("signup dave dormouse")
            wait_until(lambda: _known(database, DAVE) is not None, mta.log)
            letter, again = _letters(database, DAVE)
            assert (letter.state, again.state) == ("failed", "queued")
            assert "User unknown" in letter.error
        assert mta.queue().strip() == "Mail queue is empty"


def _known(database: Database, address: str) -> Row | None:
    with database.reading.connect() as connection:
        return connection.execute(select(bounces).where(bounces.c.address == address)).first()


def _letters(database: Database, address: str) -> list[Row]:
    with database.reading.connect() as connection:
        query = select(outbox).where(outbox.c.recipient == address).order_by(outbox.c.id)
        return list(connection.execute(query))


def _a_day_ago(database: Database) -> None:
    """The server's clock cannot be moved, but what it remembers can."""
    with database.writing.begin() as connection:
        for row in connection.execute(select(bounces)).all():
            connection.execute(update(bounces).values(hard_at=row.hard_at - timedelta(days=1)))
