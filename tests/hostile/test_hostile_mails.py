"""Mails that broke other readers come through the real door, and each gets what it must."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hostile_mails import ANSWERED, CASES, NO_BODY, SENDERS, SILENT
from running import Running, start
from sqlalchemy import func, select

from pbmserv.store.tables.mail import inbox

NUMBERS = count(1)
"""No two mails may be alike, or the second would count as a copy of the first."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server for all mails, so that one mail may disturb the next."""
    folder: Path = tmp_path_factory.mktemp("hostile")
    with start(folder) as running:
        yield running


def octets(text: str | bytes) -> bytes:
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


def comes_of(server: Running, sender: str, raw: bytes, caplog: pytest.LogCaptureFixture) -> str:
    """The SMTP reply, or, where it is a 250, what became of the mail."""
    caplog.clear()
    reply = server.send_raw(sender, server.address, raw)
    faults = [record for record in caplog.records if record.levelname in {"ERROR", "CRITICAL"}]
    assert not faults
    assert "Traceback" not in reply
    if not reply.startswith("250"):
        assert reply.isascii()
        return reply
    letters = server.letters()
    assert {str(letter.message["To"]) for letter in letters} <= {sender}
    assert len(letters) <= 1
    for letter in letters:
        assert "a person will look" not in letter.text
    return ANSWERED if letters else SILENT


@pytest.mark.slow
@pytest.mark.parametrize(("head", "body", "outcome"), CASES.values(), ids=CASES)
def test_a_hostile_mail_gets_what_it_must(server, caplog, head, body, outcome):
    sender = f"a{next(NUMBERS)}@players.example"
    raw = f"From: {sender}\r\n".encode() + octets(head)
    raw += b"\r\n" + octets(body) if body != NO_BODY else b""
    assert comes_of(server, sender, raw, caplog).startswith(outcome)


@pytest.mark.parametrize(("sender", "outcome"), SENDERS.values(), ids=SENDERS)
def test_a_hostile_sender_gets_what_it_must(server, caplog, sender, outcome):
    raw = octets(sender) + f"\r\nSubject: help {next(NUMBERS)}\r\n\r\nhelp\r\n".encode()
    assert comes_of(server, "a@players.example", raw, caplog).startswith(outcome)


def test_nothing_was_kept_for_a_fault_of_ours(server):
    kept = select(func.count()).where(inbox.c.state == "kept")
    assert server.server.value(kept) == 0
