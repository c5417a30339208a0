"""The plug is pulled between the pledge and the result; the letters prove the game all the same."""

from __future__ import annotations

from email import message_from_bytes, policy
from pathlib import Path

import pytest
from processes import Process, Sink, wait_until
from smtp_client import Wire, mail
from sqlalchemy import update

from pbmserv.engine.registry import Registry
from pbmserv.store.core.database import Database
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
        raw = mail(ALICE, subject, body, Message_ID=f"<{len(self._sent)}@players.example>")
        self._sent.append(raw)
        with Wire(process.port) as wire:
            assert wire.mail(ALICE, to, raw).startswith("250")

    def reply(self, process: Process, letters: int, body: str) -> None:
        """Reply to the newest letter once this many have arrived."""
        wait_until(lambda: len(self._sink.taken) >= letters, f"{letters} letters")
        newest = message_from_bytes([*self._sink.taken.values()][-1][0], policy=policy.default)
        self.write(process, "Re: board", body, str(newest["Reply-To"]))


def test_a_killed_server_opens_what_it_pledged(
    database: Database, tmp_path: Path, sink: Sink
) -> None:
    relay = f"smtp://127.0.0.1:{sink.port}"
    alice = Player(sink)
    process = Process(tmp_path, database.url, relay=relay)
    alice.write(process, "signup alice wonder-land")
    wait_until(lambda: len(sink.taken) >= 1, "the welcome")
    alice.write(process, "blackbox challenge alice house")
    alice.reply(process, 2, "yes")
    alice.reply(process, 3, "b3,d3,a1,f2")
    alice.reply(process, 4, "5")
    process.kill()
    with database.writing.begin() as connection:  # its leases end
        connection.execute(
            update(outbox).where(outbox.c.state == "queued").values(due_at=outbox.c.created_at)
        )
    process = Process(tmp_path, database.url, relay=relay)
    alice.reply(process, 5, "resign")
    wait_until(lambda: len(sink.taken) >= 6, "the result")
    assert process.stop() == 0
    mailbox = Mailbox()
    mailbox.add_all(alice.mails)
    (verdict,) = verdicts(mailbox, Registry.installed())
    sentences = [finding.sentence for finding in verdict.findings]
    assert verdict.is_proven, sentences
    assert "The mail of alice with move" in " ".join(sentences)
