"""A reply that meets a server in the middle of a restart is taken soon after it, and not lost."""

from __future__ import annotations

import smtplib
from email.utils import parseaddr
from pathlib import Path

import pytest
from mailers import Player
from postfix import Postfix, postfix
from processes import Process, wait_until
from programs import free_port, program


def answer_at_rcpt(mta: Postfix, recipient: str) -> int:
    """Return the code of Postfix's answer to RCPT."""
    with smtplib.SMTP("127.0.0.1", mta.port, "phone.players.example", timeout=60) as phone:
        phone.helo()
        phone.mail("alice@players.example")
        code, _ = phone.rcpt(recipient)
        return code


@pytest.mark.slow
def test_a_reply_address_asked_about_during_a_restart_is_known_after_it(tmp_path: Path) -> None:
    for name in ("postfix", "swaks"):
        program(name)
    lmtp = free_port()

    def server(mta: Postfix) -> Process:
        relay = f"smtp://127.0.0.1:{mta.port}"
        return Process(tmp_path, lmtp=f"127.0.0.1:{lmtp}", relay=relay)

    with postfix(lmtp, ("alice",), verify_s=4) as mta:
        alice = Player("alice", mta, tmp_path / "alice")
        with server(mta):
            alice.writes("signup alice wonder-land")
            reply_address = parseaddr(str(alice.wait_for(1)["Reply-To"]))[1]
        assert answer_at_rcpt(mta, reply_address) == 450
        with server(mta):
            wait_until(lambda: answer_at_rcpt(mta, reply_address) == 250, "the address is known")
