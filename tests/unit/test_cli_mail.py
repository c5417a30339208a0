"""`pbmserv send` and `pbmserv read`, with a real SMTP server and real Maildirs."""

from __future__ import annotations

import os
import socket
import threading
from contextlib import closing
from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import default

import pytest
from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import Envelope
from migrated import migrated
from processes import Sink

from pbmserv.cli.main import run
from pbmserv.cli.read import print_more
from pbmserv.cli.settling import wait_until_settled
from pbmserv.outbound.mailbox import Mailbox
from pbmserv.outbound.maildir import MaildirRelay
from pbmserv.outbound.relay import OutgoingLetter
from pbmserv.store import heartbeats
from pbmserv.store.core.database import Database, mail_url
from pbmserv.store.delivery import arrivals
from pbmserv.store.delivery.arrivals import NewArrival


class Door(Sink):
    """A mail server that keeps mails with their envelopes, and answers as it is told."""

    def __init__(self, **options) -> None:
        self.came: list[Envelope] = []
        self.answer = "250 noted"
        super().__init__(**options)

    async def handle_DATA(self, server, session, envelope):
        self.came.append(envelope)
        return self.answer

    def message(self):
        return message_from_bytes(self.came[-1].content.replace(b"\r\n", b"\n"), policy=default)


@pytest.fixture
def door(monkeypatch, tmp_path):
    opened = Door()
    monkeypatch.setenv("PBMSERV_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("PBMSERV_SMTP", f"127.0.0.1:{opened.port}")
    yield opened
    opened.close()


@pytest.fixture
def letters(monkeypatch, tmp_path):
    """Puts a letter into a mailbox as the server's relay would."""
    monkeypatch.setenv("PBMSERV_DATA_DIR", str(tmp_path))
    count = iter(range(1, 100))

    def deliver(to: str, body: str, *headers: str) -> None:
        number = next(count)
        lines = ["From: pbmserv@localhost", f"To: {to}", *headers]
        if not any(h.startswith("Content-Type") for h in headers):
            lines.append("Content-Type: text/plain; charset=utf-8")
        raw = "\r\n".join([*lines, "", body]).encode()
        MaildirRelay(tmp_path / "mail").deliver(
            OutgoingLetter(number, f"<{number}@localhost>", "", to, raw)
        )

    return deliver


def test_a_mail_is_sent_and_the_servers_answer_printed(door, capsys) -> None:
    assert run(["send", "--from", "Bob <bob@localhost>", "-s", "signup bob pw", "hello", "x"]) == 0
    assert capsys.readouterr().out == "250 noted\n"
    (sent,) = door.came
    assert (sent.mail_from, sent.rcpt_tos) == ("bob@localhost", ["pbmserv@localhost"])
    message = door.message()
    assert message["Subject"] == "signup bob pw"
    assert message["From"] == "bob@localhost"
    assert message["Date"]
    assert message["Message-ID"].endswith("@localhost>")
    assert message.get_content() == "hello x\n"


@pytest.fixture
def pipe(monkeypatch):
    """Standard input as a pipe; what comes back writes to it and closes it."""
    reader, writer = os.pipe()
    with os.fdopen(reader) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)

        def write(text: str) -> None:
            os.write(writer, text.encode())
            os.close(writer)

        yield write


@pytest.mark.parametrize("arguments", [["-"], [], ["--subject", "multiple"]])
def test_the_body_comes_through_a_pipe(door, pipe, arguments) -> None:
    pipe("help\nlist\n")
    assert run(["send", "--from", "b@x", *arguments]) == 0
    assert door.message().get_content() == "help\nlist\n"


@pytest.mark.parametrize("answer", ["550 no such board", "451 later"])
def test_a_refusal_is_told_in_the_servers_words(door, capsys, answer) -> None:
    door.answer = answer
    assert run(["send", "--from", "b@x", "hello"]) == 1
    printed = capsys.readouterr()
    assert printed.err == f"127.0.0.1:{door.port} refused the mail: {answer}\n"
    assert printed.out == ""


def test_a_server_that_turns_everybody_away_is_quoted(monkeypatch, capsys) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    greetings = [b"554 not today\r\n", b""]

    def turn_away() -> None:
        for greeting in greetings:
            connection, _ = listener.accept()
            connection.sendall(greeting)
            connection.close()

    thread = threading.Thread(target=turn_away)
    thread.start()
    where = f"127.0.0.1:{listener.getsockname()[1]}"
    monkeypatch.setenv("PBMSERV_SMTP", where)
    assert run(["send", "--from", "b@x", "hello"]) == 1
    assert capsys.readouterr().err == f"{where} refused the mail: 554 not today\n"
    assert run(["send", "--from", "b@x", "hello"]) == 1
    assert "closed the connection" in capsys.readouterr().err
    thread.join()
    listener.close()
    assert run(["send", "--from", "b@x", "hello"]) == 1
    assert f"No mail server answers at {where}" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["socket", "port"])
def test_lmtp_is_used_where_there_is_no_smtp(monkeypatch, capsys, tmp_path, place) -> None:
    path = tmp_path / "lmtp" if place == "socket" else None
    with closing(Door(path=path, kind=LMTP)) as door:  # which does not know EHLO
        monkeypatch.setenv("PBMSERV_LMTP", str(path or f"127.0.0.1:{door.port}"))
        monkeypatch.setenv("PBMSERV_SMTP", "")
        assert run(["send", "--from", "b@x", "hello"]) == 0
    assert capsys.readouterr().out == "250 noted\n"
    assert len(door.came) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["--from", "bob"],
        ["--from", "b@x", "--to", "nobody"],
        ["--from", "bö@x"],
        ["--from", "b@x", "--subject", "two\nlines"],
    ],
)
def test_a_wrong_address_or_subject_is_a_usage_error(door, arguments) -> None:
    assert run(["send", *arguments, "hello"]) == 2
    assert door.came == []


def test_a_reply_answers_the_newest_letter(door, letters) -> None:
    letters("bob@localhost", "old", "Reply-To: old@localhost", "Message-ID: <1@localhost>")
    letters(
        "bob@localhost",
        "your turn",
        "Reply-To: pbmserv+token@localhost",
        "Subject: Blackbox 12: your turn",
        "Message-ID: <2@localhost>",
        "References: <0@localhost> <1@localhost>",
    )
    assert run(["send", "--from", "bob@localhost", "--reply", "g,+b2"]) == 0
    message = door.message()
    assert door.came[0].rcpt_tos == ["pbmserv+token@localhost"]
    assert message["To"] == "pbmserv+token@localhost"
    assert message["Subject"] == "Re: Blackbox 12: your turn"
    assert message["In-Reply-To"] == "<2@localhost>"
    assert message["References"] == "<0@localhost> <1@localhost> <2@localhost>"
    assert message.get_content() == "g,+b2\n"


BOARD = "      A  B  C       \n     |d |  |  |     \n 1|d |  |? |  |8 "


def test_new_letters_are_printed_as_they_are_and_marked_read(letters, capsys) -> None:
    letters("bob@localhost", "first", "Subject: one", "Reply-To: pbmserv+t1@localhost")
    letters("bob@localhost", BOARD, "Subject: two", "Reply-To: pbmserv+t2@localhost")
    assert run(["read", "bob@localhost"]) == 0
    assert capsys.readouterr().out == (
        "From: pbmserv@localhost\nTo: bob@localhost\nSubject: one\n"
        "Reply-To: pbmserv+t1@localhost\n\nfirst\n"
        'To answer: pbmserv send --from bob@localhost --to pbmserv+t1@localhost "…"\n'
        + "="
        * 76
        + "\nFrom: pbmserv@localhost\nTo: bob@localhost\nSubject: two\n"
        f"Reply-To: pbmserv+t2@localhost\n\n{BOARD}\n"
        'To answer: pbmserv send --from bob@localhost --reply "…"\n' + "=" * 76 + "\n"
    )
    assert run(["read", "bob@localhost"]) == 0
    assert capsys.readouterr().out == (
        "No new letters for bob@localhost. To see old ones: pbmserv read --all bob@localhost\n"
    )
    assert run(["read", "--all", "bob@localhost"]) == 0
    assert capsys.readouterr().out.count("To answer:") == 2


def test_words_of_another_player_do_not_control_the_terminal(letters, capsys) -> None:
    letters("bob@localhost", "chat: \x1b]0;owned\x07 \u202eok\u2066\r\n\tfine")
    assert run(["read", "bob@localhost"]) == 0
    assert "chat: ?]0;owned? ?ok?\n\tfine\n" in capsys.readouterr().out


def test_an_unknown_address_is_told_which_have_letters(letters, capsys) -> None:
    assert run(["read", "bob@localhost"]) == 1
    assert "There are no letters at all yet." in capsys.readouterr().err
    letters("alice@localhost", "hello")
    assert run(["read", "bob@localhost"]) == 1
    assert capsys.readouterr().err == (
        "No letter has ever gone to bob@localhost. There are letters for: alice@localhost\n"
    )


def test_following_prints_letters_as_they_come(letters, capsys, tmp_path) -> None:
    news = iter(["first", "second"])

    def pause() -> None:
        body = next(news, None)
        if body is None:
            raise KeyboardInterrupt
        letters("bob@localhost", body)

    print_more(
        Mailbox(tmp_path / "mail", "bob@localhost"), "bob@localhost", html=False, pause=pause
    )
    out = capsys.readouterr().out
    assert out.index("first") < out.index("second")


def test_earlier_mails_are_waited_for_and_not_later_ones(tmp_path) -> None:
    url = migrated(tmp_path / "pbmserv.sqlite3")
    with closing(Database(url)) as game, closing(Database(mail_url(url))) as mail:

        def arrive() -> int:
            new = NewArrival.without_mail("form", b"", "pages", datetime.now(UTC))
            with mail.writing.begin() as connection:
                return arrivals.add(connection, new)

        earlier = [arrive()]
        with game.writing.begin() as connection:
            heartbeats.beat(connection, datetime.now(UTC))

        def pause() -> None:
            arrive()
            with mail.writing.begin() as connection:
                arrivals.remove(connection, [earlier.pop()])

        wait_until_settled(mail, game, "bob@localhost", pause)
        assert not earlier
