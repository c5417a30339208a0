"""When our own code fails: the player is told, the mail is kept, and can be carried out later."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from failing_handlers import failing_handler
from indoors import indoors
from running import MovableClock, Running
from seating import HIDINGS, Table, seat_pairs
from smtp_client import Wire, mail
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from pbmserv.cli.main import run
from pbmserv.commands.table import command_types
from pbmserv.commands.table.accounts import ChangePassword, Signup
from pbmserv.commands.table.looking import Help
from pbmserv.commands.table.playing import MakeMove, Message
from pbmserv.errors import OperatorError
from pbmserv.service.core.job_result import Done
from pbmserv.service.mails.incoming import MailParser
from pbmserv.service.mails.mail_service import MailService
from pbmserv.service.operators.deeds import Signature
from pbmserv.service.operators.kept_mails import KeptMails
from pbmserv.store import audit
from pbmserv.store.boards.moves import record
from pbmserv.store.tables.mail import inbox

OURS = "pbmserv@games.example"
PASSWORD = "hunter2-wonderland"
WHY = ("--why", "mended in this version", "--by", "olga")
SIGNED = Signature("olga", "mended in this version")


def moves(server: Running, table: Table) -> list[str]:
    return [ply.text for ply in server.server.read(record, table.board)]


def states(server: Running) -> list[str]:
    return server.server.column(select(inbox.c.state).order_by(inbox.c.id))


def entries(server: Running) -> list[audit.Entry]:
    return server.server.read(audit.entries, None, 9)


def numbers(server: Running) -> list[str]:
    """Return the numbers of kept mails; a rolled back transaction may have used up some."""
    with server.server.database.reading.connect() as connection:
        return [
            str(n) for n in connection.execute(select(inbox.c.id).order_by(inbox.c.id)).scalars()
        ]


def catch_up(server: Running) -> None:
    """The operator's own program goes by the real time; so does the server from now on."""
    clock = server.server.clock
    assert isinstance(clock, MovableClock)
    clock.moment = datetime.now(UTC) + timedelta(days=1)
    server.server.sender.wake()


@pytest.fixture
def operator(server: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Running:
    """A server, and an environment in which `pbmserv inbox` finds its database."""
    monkeypatch.setattr("pbmserv.cli.output.WIDTH", 200)
    monkeypatch.setenv("PBMSERV_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("PBMSERV_DATABASE", server.server.database.url)
    monkeypatch.setenv("PBMSERV_ADDRESS", OURS)
    monkeypatch.setenv("PBMSERV_SMTP", "")
    monkeypatch.setenv("PBMSERV_WEB", "")
    return server


@pytest.mark.sqlite_alone
def test_a_fault_in_a_command_is_survived_told_kept_and_mended(
    operator: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = operator
    table = seat_pairs(server.server, 1)[0]
    first, second = table.players
    subject = f"blackbox move {table.board} {first.userid} secret {HIDINGS[0]}"
    raw = mail(first.address, subject, "my words", Message_ID="<1@players.example>")
    with Wire(server.port) as wire, failing_handler(monkeypatch, MakeMove, "it failed on 'secret'"):
        assert wire.mail(first.address, OURS, raw).startswith("250")
        # The session lives, the rest of the server works, and nothing of the move is there.
        assert wire.mail(first.address, OURS, raw).startswith("250")  # sent twice, kept once
        assert wire.mail(second.address, OURS, mail(second.address, "list")).startswith("250")
    assert moves(server, table) == []
    assert states(server) == ["kept", "answered"]
    (kept,) = server.letters(first.address)
    for words in (kept.text, kept.html, kept.subject):
        assert "Traceback" not in words
        assert "ZeroDivision" not in words
        assert "it failed" not in words
        assert "secret" not in words
    assert len(server.letters(second.address)) == 1

    number, other = numbers(server)
    assert run(["inbox", "list"]) == 0
    listed = capsys.readouterr().out
    assert first.address in listed
    assert "ZeroDivisionError" in listed
    assert "secret" not in listed
    assert run(["inbox", "show", number]) == 0
    shown = capsys.readouterr().out
    assert f"blackbox move {table.board} {first.userid} ***" in shown
    assert "my words" in shown
    assert "ZeroDivisionError: it failed on '***'" in shown
    assert "secret" not in shown
    assert run(["inbox", "show", other]) == 0  # carried out: what it says stays between players
    head = capsys.readouterr().out
    assert "only to an answer" in head
    assert "Sender check: unchecked" in head
    assert "signup" not in head
    assert run(["inbox", "show", "999999"]) == 1
    capsys.readouterr()

    with failing_handler(monkeypatch, MakeMove, "still failing on secret"):
        assert run(["inbox", "retry", number, *WHY]) == 0
    again = capsys.readouterr().out
    assert "failed again, and we still keep it" in again
    assert "secret" not in again
    assert moves(server, table) == []

    assert run(["inbox", "retry", number, *WHY]) == 0
    assert "is carried out" in capsys.readouterr().out
    assert len(moves(server, table)) == 1
    assert states(server) == ["done", "answered"]
    assert run(["inbox", "retry", number, *WHY]) == 1
    assert run(["inbox", "list"]) == 0
    assert "nothing has gone wrong" in capsys.readouterr().out


@pytest.mark.sqlite_alone
def test_a_kept_mail_that_was_carried_out_has_had_its_effect(
    operator: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sent once more it changes nothing, and the running server goes on from there."""
    server = operator
    table = seat_pairs(server.server, 1)[0]
    first, second = table.players
    subject = f"blackbox move {table.board} {first.userid} secret {HIDINGS[0]}"
    raw = mail(first.address, subject, Message_ID="<1@players.example>")
    with failing_handler(monkeypatch, MakeMove):
        assert server.send_raw(first.address, OURS, raw).startswith("250")
    assert run(["inbox", "retry", *numbers(server), *WHY]) == 0
    (tried,) = entries(server)
    assert (tried.operator, tried.action) == ("olga", "retry")
    assert tried.target == f"mail {numbers(server)[0]}"
    catch_up(server)
    assert len(server.letters(first.address)) == 2  # it was kept; it was carried out
    assert server.send_raw(first.address, OURS, raw).startswith("250")
    assert len(moves(server, table)) == 1
    assert server.letters(first.address) == []
    hidden = server.send(second.address, "Re: board", HIDINGS[1], to=table.addresses[1])
    assert hidden.startswith("250")
    assert len(moves(server, table)) == 2


@pytest.mark.sqlite_alone
def test_no_form_of_a_password_is_shown_to_the_operator(
    operator: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    operator.sign_up("carol", PASSWORD)
    commands = {
        Signup: f"signup dora {PASSWORD}",
        ChangePassword: f"change password carol {PASSWORD} {PASSWORD}-new",
        Message: f"message carol {PASSWORD} carol",
    }
    for command, subject in commands.items():
        with failing_handler(monkeypatch, command, f"on {subject}"):
            assert operator.send("carol@players.example", subject, "words").startswith("250")
    encoded = (
        "From: carol@players.example\r\nMessage-ID: <1@players.example>\r\nSubject: =?utf-8?b?"
        + b64encode(f"change password carol {PASSWORD} {PASSWORD}".encode()).decode()
        + "?=\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        + b64encode(b"only words").decode()
    ).encode()
    with failing_handler(monkeypatch, ChangePassword):
        assert operator.send_raw("carol@players.example", OURS, encoded).startswith("250")
    kept = numbers(operator)[-4:]
    for number in kept:
        assert run(["inbox", "show", number]) == 0
    run(["inbox", "list"])
    seen = capsys.readouterr()
    assert PASSWORD not in seen.out + seen.err
    assert "?b?" not in seen.out
    assert "change password carol *** ***\n\nonly words" in seen.out


@pytest.mark.sqlite_alone
def test_a_mail_that_cannot_even_be_read_is_kept_too(
    operator: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A fault of ours in reading; what is wrong with the mail itself is refused at the door."""

    def breaks(*_: object, **__: object) -> None:
        raise RecursionError("in\0the \ud800 reader")  # nothing that a fault says can hurt

    alice = "alice@players.example"
    raw = mail(alice, "help", Message_ID="<1@players.example>")
    with monkeypatch.context() as broken, Wire(operator.port) as wire:
        broken.setattr(MailParser, "parse", breaks)
        assert wire.mail(alice, OURS, raw).startswith("250")
        assert wire.mail(alice, OURS, raw).startswith("250")
        assert wire.mail(alice, OURS, raw + b" \r\n").startswith("250")  # a copy, to a reader
        assert wire.mail(alice, "postmaster", raw).startswith("250")
        assert states(operator) == ["kept", "kept", "kept"]
        number = numbers(operator)[0]
        assert run(["inbox", "list"]) == 0
        assert "(cannot be read)" in capsys.readouterr().out
        assert run(["inbox", "show", number]) == 0
        shown = capsys.readouterr().out
        assert "Message-ID: <1@players.example>" in shown
        assert "Subject" not in shown  # where a password would stand could not be read either
        assert run(["inbox", "retry", number, *WHY]) == 0
        assert "still keep" in capsys.readouterr().out
    assert operator.letters() == []  # who wrote it could not be read, so nobody is told
    assert run(["inbox", "retry", number, *WHY]) == 0
    run(["inbox", "retry", numbers(operator)[1], *WHY])
    catch_up(operator)
    assert len(operator.letters(alice)) == 1
    assert states(operator) == ["answered", "ignored", "kept"]


@pytest.mark.sqlite_alone
def test_a_mail_is_kept_even_if_the_database_is_away_at_that_moment(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Play carries the mail out again when the database is back, meets the fault again, and keeps
    the mail then."""
    keep, faults = MailService.keep, [OperationalError("INSERT", None, Exception("away"))]

    def away_once(*arguments: Any) -> Done:
        if faults:
            raise faults.pop()
        return keep(*arguments)

    monkeypatch.setattr(MailService, "keep", away_once)
    sender = "someone@players.example"
    with Wire(server.port) as wire, failing_handler(monkeypatch, Help):
        assert wire.mail(sender, OURS, mail(sender, "help")).startswith("250")
    assert not faults
    assert states(server) == ["kept"]


def test_an_address_gets_few_letters_about_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anybody can write any address into a mail on which we fail."""
    with (
        indoors(tmp_path, rate_confirmations="2/hour") as house,
        failing_handler(monkeypatch, Help),
    ):
        letters = [house.send("victim@players.example", "help") for _ in range(4)]
    assert [len(to_victim) for to_victim in letters] == [1, 1, 0, 0]


@pytest.mark.sqlite_alone
def test_a_fault_on_an_automatic_mail_is_told_to_nobody(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A player's own program answers a board letter, and we fail on it."""
    table = seat_pairs(server.server, 1)[0]
    player = table.players[0]
    with failing_handler(monkeypatch, command_types.ReplyMove):
        reply = server.send(
            player.address,
            "Re: board",
            HIDINGS[0],
            to=table.addresses[0],
            Auto_Submitted="auto-generated",
        )
    assert reply.startswith("250")
    assert states(server) == ["kept"]
    assert server.letters() == []


def test_the_operators_own_view(server: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two operators retry at once: it is carried out once, and the second is told so."""
    with failing_handler(monkeypatch, Help):
        assert server.send("alice@players.example", "help").startswith("250")
    stage = server.server.play_stage
    read = stage.parser.parse
    first = KeptMails(stage.game, read, stage.retry, stage.operators)
    (kept_mail,) = first.list()
    assert kept_mail.subject == "help"
    assert kept_mail.error == "ZeroDivisionError: the inner workings"

    def slowly(envelope: Any) -> Any:
        post = read(envelope)
        assert "is carried out, " in first.retry(kept_mail.id, SIGNED)
        return post

    second = KeptMails(stage.game, slowly, stage.retry, stage.operators)
    assert "Somebody else" in second.retry(kept_mail.id, SIGNED)
    with pytest.raises(OperatorError, match=f"no kept mail {kept_mail.id}"):
        first.retry(kept_mail.id, SIGNED)
    assert "only to an answer" in str(second.show(kept_mail.id))
    assert len(server.letters("alice@players.example")) == 2  # kept, then help


@pytest.mark.sqlite_alone
def test_several_mails_are_carried_out_again_and_their_faults_are_named(
    operator: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = seat_pairs(operator.server, 1)[0]
    with failing_handler(
        monkeypatch, command_types.ReplyMove, statement="INSERT INTO inbox (peer) VALUES (NULL)"
    ):
        for seat in (0, 1):
            player = table.players[seat]
            operator.send(player.address, "Re", HIDINGS[seat], to=table.addresses[seat])
    assert states(operator) == ["kept", "kept"]
    assert run(["inbox", "list"]) == 0
    listed = capsys.readouterr().out
    assert listed.count("IntegrityError") >= 2
    assert "Background on this error" not in listed

    first, second = numbers(operator)
    assert run(["inbox", "retry", first, "999999", *WHY]) == 1  # all or none
    assert states(operator) == ["kept", "kept"]
    capsys.readouterr()
    assert run(["inbox", "retry", first, second, first, *WHY]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2  # each is carried out once
    assert states(operator) == ["done", "done"]
