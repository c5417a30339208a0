"""LMTP, from a mail server in front: one reply for each recipient, whatever becomes of the mail."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import Running, start
from smtp_client import Wire, mail

from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.smtpd.dialog import Dialog
from pbmserv.smtpd.listener import LARGEST_MAIL
from pbmserv.store.tables.mail import inbox

ALICE = "alice@players.example"
OURS = "pbmserv@games.example"


def taken(server: Running) -> int:
    server.carry_out()
    return server.server.count(inbox)


@pytest.mark.sqlite_alone
def test_every_recipient_has_a_reply_of_its_own(database_url: str, tmp_path: Path) -> None:
    with start(tmp_path, database_url, lmtp="127.0.0.1:0") as server:
        reply_to = server.server.mail_domain.address_of(ReplyAddress(Purpose.PLAYER, 1))
        with Wire(server.lmtp_port, hello="LHLO mta.games.example") as wire:
            assert wire.ask("EHLO mta.games.example").startswith("500")
            assert wire.ask("HELO mta.games.example").startswith("500")

            wire.begin(ALICE, OURS, reply_to, "postmaster@games.example")
            replies = [wire.ask(mail(ALICE, "help one") + b"\r\n.\r\n")]
            replies += [wire.answer(), wire.answer()]
            assert [reply[:3] for reply in replies] == ["250", "250", "250"]
            assert taken(server) == 3

            # The same address twice is one mail, but two replies are owed.
            wire.begin(ALICE, OURS, OURS, OURS.upper())
            replies = [wire.ask(mail(ALICE, "help two") + b"\r\n.\r\n")]
            replies += [wire.answer(), wire.answer()]
            assert [reply[:3] for reply in replies] == ["250", "250", "250"]
            assert taken(server) == 4

            # RFC 2033 section 4.2: a recipient that was refused has had its reply.
            assert wire.ask(f"MAIL FROM:<{ALICE}>").startswith("250")
            assert wire.ask(f"RCPT TO:<{OURS}>").startswith("250")
            assert wire.ask("RCPT TO:<nobody@games.example>").startswith("550")
            assert wire.ask("DATA").startswith("354")
            assert wire.ask(b"Subject: from nobody\r\n\r\n\r\n.\r\n").startswith("554")

            too_large = b"x" * 78 + b"\r\n"
            for raw, code in (
                (b"X: " + b"y" * 1500, "550"),
                (too_large * (LARGEST_MAIL // len(too_large) + 1), "552"),
                (b"From: a@b.example\r\nX: bare\nfeed\r\n", "550"),
            ):
                wire.begin(ALICE, OURS, reply_to)
                first = wire.ask(raw + b"\r\n.\r\n")
                assert (first[:3], wire.answer()[:3]) == (code, code)
                assert wire.ask("NOOP") == "250 OK"
            assert wire.ask("QUIT").startswith("221")
        assert taken(server) == 4
        assert len(server.letters(ALICE)) == 3  # help twice, and the reply address's own answer


def test_a_fault_of_ours_is_told_to_every_recipient(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object) -> None:
        raise LookupError("inner workings")

    monkeypatch.setattr(Dialog, "store_mail", breaks)
    with (
        start(tmp_path, lmtp="127.0.0.1:0") as server,
        Wire(server.lmtp_port, hello="LHLO mta.games.example") as wire,
    ):
        wire.begin(ALICE, OURS, "postmaster@games.example")
        replies = [wire.ask(mail(ALICE, "help one") + b"\r\n.\r\n"), wire.answer()]
        assert replies == ["451 4.3.0 cannot take mail just now, please try again later"] * 2
        assert wire.ask("NOOP") == "250 OK"


def test_lmtp_over_a_socket_in_the_file_system(tmp_path: Path) -> None:
    import socket

    path = tmp_path / "lmtp.sock"
    with start(tmp_path, lmtp=str(path)):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(20)
            client.connect(str(path))
            assert client.recv(200).startswith(b"220 games.example")
            client.sendall(b"LHLO mta\r\nMAIL FROM:<>\r\n")
            seen = b""
            while b"2.1.0 ok" not in seen:
                seen += client.recv(1000)
        assert path.stat().st_mode & 0o777 == 0o660
