"""The plug is pulled between a player's move and the house's; the next process makes it, once."""

from __future__ import annotations

from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

import pytest
from processes import Process, Sink, wait_until
from smtp_client import Wire, mail
from sqlalchemy import select, update

from pbmserv.store.core.database import Database
from pbmserv.store.tables.boards import plies
from pbmserv.store.tables.mail import outbox

pytestmark = pytest.mark.slow

ALICE = "alice@players.example"
OURS = "pbmserv@games.example"


def arrived(sink: Sink) -> list[EmailMessage]:
    """Every letter that came, oldest first; each once."""
    letters = [
        message_from_bytes(copies[0], policy=policy.default) for copies in sink.taken.values()
    ]
    return [letter for letter in letters if isinstance(letter, EmailMessage)]


def send(process: Process, to: str, subject: str, body: str, message_id: str) -> None:
    with Wire(process.port) as wire:
        raw = mail(ALICE, subject, body, Message_ID=message_id)
        assert wire.mail(ALICE, to, raw).startswith("250")


def newest(sink: Sink, count: int) -> EmailMessage:
    wait_until(lambda: len(sink.taken) >= count, f"{count} letters")
    return arrived(sink)[-1]


def test_the_house_moves_after_the_plug_was_pulled(
    database: Database, tmp_path: Path, sink: Sink
) -> None:
    relay = f"smtp://127.0.0.1:{sink.port}"
    process = Process(tmp_path, database.url, relay=relay)
    send(process, OURS, "signup alice wonder-land", "", "<1@p>")
    newest(sink, 1)
    send(process, OURS, "blackbox challenge alice house", "", "<2@p>")
    send(process, str(newest(sink, 2)["Reply-To"]), "Re: board", "yes", "<3@p>")
    send(process, str(newest(sink, 3)["Reply-To"]), "Re: board", "b3,d3,a1,f2", "<4@p>")
    send(process, str(newest(sink, 4)["Reply-To"]), "Re: board", "5", "<5@p>")
    process.kill()
    with database.writing.begin() as connection:
        # Should it have been quick, and died with the letter in its hands: the lease ends.
        connection.execute(
            update(outbox).where(outbox.c.state == "queued").values(due_at=outbox.c.created_at)
        )

    process = Process(tmp_path, database.url, relay=relay)
    letter = newest(sink, 5)
    assert process.stop() == 0
    assert letter["In-Reply-To"] == "<5@p>"
    part = letter.get_body(("plain",))
    assert part is not None
    text = part.get_content()
    assert "* You fired port 5" in text
    assert "* house fired port" in text
    with database.reading.connect() as connection:
        seats = connection.execute(select(plies.c.seat).order_by(plies.c.number)).scalars().all()
    assert seats == [1, 0, 0, 1]
    assert len(sink.taken) == 5
