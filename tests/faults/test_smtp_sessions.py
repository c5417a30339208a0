"""Sessions that take too long, say too much or lead to nothing; and who may open one at all."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows
from running import Running, start
from smtp_client import Wire, mail

from pbmserv.mail.networks import block_name
from pbmserv.smtpd import listener, session
from pbmserv.smtpd.session import MOST_COMMANDS, MOST_ERRORS

ALICE = "alice@players.example"
OURS = "pbmserv@games.example"


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder: Path = tmp_path_factory.mktemp("sessions")
    with start(folder) as running:
        yield running


@rows(
    "line",
    [
        b"NOOP\rRSET\r\n",
        b"NOOP\x00\r\n",
        b"\x00\r\n",
        b"RSET\x1b\r\n",
        b"MAIL FROM:<a@b.example>\rRCPT TO:<x@y.example>\r\n",
        b"\r\n",
        b"NOOP " + b"x" * 600 + b"\r\n",
        b"NOOP " + b"x" * 60_000 + b"\r\n",
    ],
)
def test_a_command_line_that_is_none_is_refused_and_forgotten(
    embedded: Running, line: bytes
) -> None:
    with Wire(embedded.port) as wire:
        assert wire.ask(line).startswith("500 ")
        assert wire.ask("NOOP").startswith("250")  # one reply to one line


@pytest.mark.parametrize("at_once", [True, False])
@rows(
    "line",
    [
        b"NOOP\n",
        b"\n",
        f"NOOP\nMAIL FROM:<{ALICE}>\r\n".encode(),
        f"MAIL FROM:<{ALICE}>\nRCPT TO:<{OURS}>\nDATA\n".encode(),
        b"NOOP " + b"x" * 5000 + f"\nMAIL FROM:<{ALICE}>\r\n".encode(),
        b"NOOP " + b"x" * 5000 + f"\r\n\nMAIL FROM:<{ALICE}>\r\n".encode(),
    ],
)
def test_commands_behind_a_bare_lf_are_never_carried_out(
    embedded: Running, line: bytes, at_once: bool
) -> None:
    """A stricter server in front took it for the rest of the line, or for the text of a mail."""
    with Wire(embedded.port) as wire:
        assert wire.ask("NOOP").startswith("250")
        if at_once:
            wire.say(line)
        else:
            head, _, rest = line.partition(b"\n")
            wire.say(head)
            wire.say(b"\n" + rest)
        replies = []
        while reply := wire.answer():
            replies.append(reply)
    assert replies.pop() == "421 4.7.0 lines end in CRLF here (RFC 5321, 2.3.8), goodbye"
    assert replies
    assert {reply[:3] for reply in replies} == {"500"}


def test_a_bare_lf_right_behind_a_mail_is_seen_whatever_came_with_it(embedded: Running) -> None:
    with Wire(embedded.port) as wire:
        for line in (f"MAIL FROM:<{ALICE}>", f"RCPT TO:<{OURS}>", "DATA"):
            assert wire.ask(line)[0] in "23"
        wire.say(b"X: this has no From\r\n.\r\n\nNOOP\r")
        replies = [wire.answer() for _ in range(4)]
    assert [reply[:3] for reply in replies] == ["554", "500", "421", ""]


@given(
    st.lists(st.sampled_from([b"NOOP", b"RSET", b"x" * 1200, b"\r", b"\n", b"\r\n"]), max_size=9)
)
def test_one_reply_to_one_line_however_they_end(embedded: Running, words: list[bytes]) -> None:
    octets = b"".join(words)
    before, lf, _ = octets.replace(b"\r\n", b"\0").partition(b"\n")
    whole = before.split(b"\0")
    with Wire(embedded.port) as wire:
        wire.say(octets)
        wire.half_close()
        replies = []
        while reply := wire.answer():
            replies.append(reply[:3])
    sound = [b"NOOP", b"RSET"]
    expected = ["250" if line in sound else "500" for line in whole[:-1]]
    assert replies == [*expected, *(["500", "421"] if lf else [])]


@rows("first", ["GET / HTTP/1.1", "POST / HTTP/1.0", "Host: games.example"])
def test_a_browser_is_told_where_it_is(embedded: Running, first: str) -> None:
    with Wire(embedded.port, hello="") as wire:
        wire.say(f"{first}\r\nContent-Type: text/plain\r\n\r\nEHLO a\r\nMAIL FROM:<{ALICE}>")
        answers = [wire.answer() for _ in range(3)]
    assert answers[0].startswith("500")
    assert answers[1].startswith("421 4.7.0 this is a mail server")
    assert answers[2] == ""


@pytest.mark.parametrize("verb", [b"HELO", b"EHLO"])
@rows("name", [b"\xff\xfe", b"a b", b"x" * 300, "münchen.example".encode(), b"", b" ", b"a\tb"])
def test_names_that_no_machine_has(embedded: Running, verb: bytes, name: bytes) -> None:
    with Wire(embedded.port, hello="") as wire:
        assert wire.ask(verb + b" " + name + b"\r\n").startswith("501")
        assert wire.ask(f"MAIL FROM:<{ALICE}>").startswith("503")
        assert wire.ask("EHLO players.example").startswith("250")


@rows("name", ["[127.0.0.1]", "[IPv6:::1]", "localhost", "MY_PC", "1", "-.-"])
def test_names_that_careless_machines_have(embedded: Running, name: str) -> None:
    with Wire(embedded.port, hello="") as wire:
        answer = wire.ask(f"EHLO {name}")
        assert answer.startswith("250")
        assert "AUTH" not in answer
        assert wire.ask(f"MAIL FROM:<{ALICE}>").startswith("250")


@rows("command", ["NOOP", "RSET", "HELP", "VRFY root", "EHLO a"])
def test_a_client_that_only_chats_is_sent_away(embedded: Running, command: str) -> None:
    with Wire(embedded.port) as wire:
        wire.say(f"{command}\r\n".encode() * MOST_COMMANDS)  # the greeting counts, too
        answers = []
        while answer := wire.answer():
            answers.append(answer)
    assert len(answers) <= MOST_COMMANDS
    assert answers[-1].startswith("421 4.7.0")
    assert all(answer.startswith("25") for answer in answers[:-1])


@rows(
    "command",
    ["RCPT TO:<nobody@games.example>", "MAIL FROM:<", "DATA", "XYZZY", "NOOP " + "x" * 600, "\x01"],
)
def test_a_client_that_errs_on_and_on_is_sent_away(embedded: Running, command: str) -> None:
    with Wire(embedded.port) as wire:
        wire.say(f"MAIL FROM:<{ALICE}>")
        assert wire.answer().startswith("250")
        wire.say(f"{command}\r\n".encode() * (MOST_ERRORS + 5))
        answers = []
        while answer := wire.answer():
            answers.append(answer[:3])
    assert answers[-1] in {"421", "502"}  # aiosmtpd has still less patience with unknown words
    assert len(answers) <= MOST_ERRORS + 1


def test_a_mail_that_is_taken_renews_patience(embedded: Running) -> None:
    with Wire(embedded.port) as wire:
        for n in range(4):
            for _ in range(MOST_ERRORS // 2):
                assert wire.ask("DATA").startswith("503")
            raw = mail(ALICE, f"help {n}", Message_ID=f"<patience.{n}@players.example>")
            assert wire.mail(ALICE, OURS, raw).startswith("250")


def test_silence_ends_a_session(embedded: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the first command, within a command, and within a mail."""
    monkeypatch.setattr(listener, "SESSION_TIMEOUT_S", 1.0)  # a busy machine may say less in time
    _, command, message = wires = [Wire(embedded.port, hello="") for _ in range(3)]
    command.say(b"EHLO play")
    message.say(f"EHLO a\r\nMAIL FROM:<{ALICE}>\r\nRCPT TO:<{OURS}>\r\nDATA\r\nx".encode())
    assert [message.answer()[:3] for _ in range(4)] == ["250", "250", "250", "354"]
    for wire in wires:
        assert wire.answer().startswith("421 4.4.2")
        assert wire.answer() == ""
        wire.close()


def test_a_session_that_never_ends_is_ended(
    embedded: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Wire(embedded.port) as wire:
        assert wire.ask(f"MAIL FROM:<{ALICE}>").startswith("250")
        monkeypatch.setattr(session, "LONGEST_SESSION_S", -1)
        assert wire.ask(f"RCPT TO:<{OURS}>").startswith("250")  # not in the middle of a mail
        assert wire.ask("RSET").startswith("250")
        assert wire.answer().startswith("421 4.3.2")


@rows("peer", ["", "/run/pbmserv.sock", "nonsense"])
def test_a_text_that_is_no_address_belongs_to_no_network(peer: str) -> None:
    assert block_name(peer) == ""


def test_clients_that_hang_up_at_once_leave_nothing_behind(embedded: Running) -> None:
    for _ in range(40):
        socket.create_connection(("127.0.0.1", embedded.port), 20).close()
    with Wire(embedded.port) as wire:
        assert wire.ask("NOOP").startswith("250")
