"""A whole game through a real Postfix: swaks writes, mutt reads and replies."""

from __future__ import annotations

import smtplib
from email.message import EmailMessage
from pathlib import Path

import dkim
from mailers import Player
from postfix import Postfix, postfix
from processes import Process
from programs import free_port, program

from pbmserv.outbound.dkim_keys import make_key


def text_of(letter: EmailMessage) -> str:
    body = letter.get_body(("plain",))
    assert body is not None
    return " ".join(body.get_content().split())


def test_a_game_through_postfix_swaks_and_mutt(database_url: str, tmp_path: Path) -> None:
    for name in ("postfix", "swaks", "mutt"):
        program(name)
    lmtp = free_port()
    with postfix(lmtp, ("alice", "bob", "victim")) as mta:
        alice = Player("alice", mta, tmp_path / "alice")
        bob = Player("bob", mta, tmp_path / "bob")
        keys = [make_key(kind, kind, tmp_path / f"{kind}.pem") for kind in ("rsa", "ed25519")]
        with Process(
            tmp_path,
            database_url,
            lmtp=f"127.0.0.1:{lmtp}",
            relay=f"smtp://127.0.0.1:{mta.port}",
            dkim_keys=", ".join(f"{key.kind}={tmp_path}/{key.kind}.pem" for key in keys),
        ):
            alice.writes("signup alice wonder-land")
            bob.writes("signup bob tool-belt")
            assert "Welcome, alice!" in text_of(alice.wait_for(1))
            assert "Welcome, bob!" in text_of(bob.wait_for(1))

            bob.writes("blackbox challenge bob tool-belt alice -size=2x2 -atoms=1", "Shall we?")
            assert "We have invited alice" in text_of(bob.wait_for(2))
            assert "Shall we?" in text_of(alice.wait_for(2))
            alice.replies_in_mutt("accept")
            assert "now you both hide your atoms" in text_of(bob.wait_for(3))
            alice.wait_for(3)

            alice.replies_in_mutt("b2")
            assert "You hid 1 atom" in text_of(alice.wait_for(4))
            bob.wait_for(4)
            bob.writes("blackbox move 1 bob tool-belt a1")
            assert "All atoms are hidden" in text_of(bob.wait_for(5))
            alice.wait_for(5)
            bob.writes("blackbox move 1 bob tool-belt 1")
            text = text_of(alice.wait_for(6))
            assert "bob fired port 1" in text
            assert "Your move on board 1" in text
            bob.wait_for(6)
            alice.replies_in_mutt("+a1,?\n\nThat was quick!")
            assert "You found all the atoms and won board 1" in text_of(alice.wait_for(7))
            lost = bob.wait_for(7)
            assert "That was quick!" in text_of(lost)
            assert "-- Reply above this line --" not in text_of(lost).split("message from alice")[1]
            threads = {str(mail["References"]).split()[0] for mail in bob.letters()[4:]}
            assert len(threads) == 1, "the letters of a board are one thread"
            assert alice.thread_in_mutt() == [
                "A challenge from bob: Blackbox 1",
                "Waiting for bob: Blackbox 1",
                "Waiting for bob: Blackbox 1",
                "You won Blackbox 1 against bob",
                "Your move: Blackbox 1 against bob",
                "Your move: Blackbox 1 against bob",
            ]

            records = {key.name("games.example"): key.record.encode() for key in keys}

            def dns_lookup(name: bytes, timeout: int = 0) -> bytes:
                return records[name.decode().rstrip(".")]

            for letter in mta.maildir("bob").rglob("*/*"):
                if letter.is_file():
                    raw = letter.read_bytes().replace(b"\n", b"\r\n")
                    assert all(dkim.DKIM(raw).verify(n, dnsfunc=dns_lookup) for n in range(2))

            bob.writes("help", to="nobody@games.example", refused=True)
            _refuse_a_forged_reply_address(mta)
        assert mta.queue().strip() == "Mail queue is empty"
        assert mta.complaints() == []
        assert not (mta.maildir("victim") / "new").exists()
        assert "non-delivery notification" not in mta.log


def _refuse_a_forged_reply_address(mta: Postfix) -> None:
    """See that it is refused at RCPT, so that no report goes to the forged sender."""
    with smtplib.SMTP("127.0.0.1", mta.port) as client:
        client.ehlo()
        client.mail("victim@players.example")
        code, words = client.rcpt("pbmserv+aeaqcaabaeaq4tmny@games.example")
        assert (code, b"no such address here" in words) == (550, True)
        client.rset()
        client.mail("victim@players.example")
        assert client.rcpt("postmaster@games.example")[0] == 250
