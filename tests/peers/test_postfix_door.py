"""A real Postfix in front refuses what we would refuse, before it has taken it."""

from __future__ import annotations

import smtplib
from pathlib import Path

from mailers import Player
from postfix import postfix
from processes import Process
from programs import free_port, program


def test_nobody_gets_a_report_about_a_mail_that_was_forged(tmp_path: Path) -> None:
    """Garbage behind the plus sign is refused at RCPT: no report goes to the forged sender."""
    for name in ("postfix", "swaks"):
        program(name)
    lmtp = free_port()
    with postfix(lmtp, ("alice", "victim")) as mta:
        relay = f"smtp://127.0.0.1:{mta.port}"
        database = f"sqlite:///{tmp_path}/pbmserv.sqlite3"
        with Process(tmp_path, database, lmtp=f"127.0.0.1:{lmtp}", relay=relay):
            with smtplib.SMTP("127.0.0.1", mta.port) as client:
                for _ in range(2):
                    client.ehlo()
                    client.mail("victim@players.example")
                    code, words = client.rcpt("pbmserv+aeaqcaabaeaq4tmny@games.example")
                    assert (code, b"no such address here" in words) == (550, True)
                    client.rset()
                client.mail("victim@players.example")
                assert client.rcpt("nobody@games.example")[0] == 550
                client.rset()
                client.mail("victim@players.example")
                assert client.rcpt("postmaster@games.example")[0] == 250

            alice = Player("alice", mta, tmp_path / "alice")
            alice.writes("signup alice wonder-land")
            letters = alice.wait_for(1)
            with smtplib.SMTP("127.0.0.1", mta.port) as client:
                client.ehlo()
                client.mail("alice@players.example")
                assert client.rcpt(str(letters["Reply-To"]))[0] == 250
        assert not (mta.maildir("victim") / "new").exists()
        assert "non-delivery notification" not in mta.log
        assert mta.queue().strip() == "Mail queue is empty"
