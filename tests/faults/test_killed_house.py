"""The plug is pulled between a player's move and the house's: the next process moves once, and the
letters of both prove the game."""

from __future__ import annotations

from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

import pytest
from processes import Process, Sink, wait_until
from smtp_client import Wire, mail
from sqlalchemy import select, update

from pbmserv.engine.registry import Registry
from pbmserv.store.core.database import Database
from pbmserv.store.tables.boards import plies
from pbmserv.store.tables.mail import outbox
from pbmserv.verifying.checking import verdicts
from pbmserv.verifying.letters import Mailbox

pytestmark = pytest.mark.slow

ALICE, OURS = "alice@players.example", "pbmserv@games.example"


class Player:
    """A player with a mailbox of sent and received mails."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._sent: list[bytes] = []

    @property
    def mails(self) -> list[bytes]:
        return [*self._sent, *(copies[0] for copies in self._sink.taken.values())]

    def write(self, process: Process, subject: str, body: str = "", to: str = OURS) -> None:
        number = len(self._sent) + 1
        raw = mail(ALICE, subject, body, Message_ID=f"<{number}@players.example>")
        self._sent.append(raw)
        with Wire(process.port) as wire:
            assert wire.mail(ALICE, to, raw).startswith("250")

    def newest(self, count: int) -> EmailMessage:
        """Return the newest letter once this many have arrived."""
        wait_until(lambda: len(self._sink.taken) >= count, f"{count} letters")
        letter = message_from_bytes([*self._sink.taken.values()][-1][0], policy=policy.default)
        assert isinstance(letter, EmailMessage)
        return letter

    def reply(self, process: Process, letters: int, body: str) -> None:
        """Reply to the newest letter once this many have arrived."""
        self.write(process, "Re: board", body, str(self.newest(letters)["Reply-To"]))


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_the_house_moves_once_and_the_server_opens_what_it_pledged(
    database: Database, tmp_path: Path, sink: Sink
) -> None:
    relay = f"smtp://127.0.0.1:{sink.port}"
    alice = Player(sink)
    process = Process(tmp_path, database.url, relay=relay)
    alice.write(process, "signup alice wonder-land")
    alice.newest(1)
    alice.write(process, "blackbox challenge alice house")
    alice.reply(process, 2, "yes")
    alice.reply(process, 3, "b3,d3,a1,f2")
    alice.reply(process, 4, "5")
    process.kill()
    with database.writing.begin() as connection:
        # Should it have been quick, and died with the letter in its hands: the lease ends.
        connection.execute(
            update(outbox).where(outbox.c.state == "queued").values(due_at=outbox.c.created_at)
        )

    process = Process(tmp_path, database.url, relay=relay)
    letter = alice.newest(5)
    assert letter["In-Reply-To"] == "<5@players.example>"
    part = letter.get_body(("plain",))
    assert part is not None
    text = part.get_content()
    assert "* You fired port 5" in text
    assert "* house fired port" in text
    with database.reading.connect() as connection:
        seats = connection.execute(select(plies.c.seat).order_by(plies.c.number)).scalars().all()
    assert seats == [1, 0, 0, 1]
    assert len(sink.taken) == 5

    alice.reply(process, 5, "resign")
    alice.newest(6)
    assert process.stop() == 0
    mailbox = Mailbox()
    mailbox.add_all(alice.mails)
    (verdict,) = verdicts(mailbox, Registry.installed())
    sentences = [finding.sentence for finding in verdict.findings]
    assert verdict.is_proven, sentences
    assert "The mail of alice with move" in " ".join(sentences)
