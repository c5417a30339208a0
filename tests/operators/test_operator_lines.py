"""Commands of operators on a terminal: their output and refusals."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fork_server
import pytest
import typer
from indoors import PASSWORD, address_of, indoors
from rows import rows
from sqlalchemy import text

from pbmserv.cli.main import app, run
from pbmserv.store.accounts import signing_keys
from pbmserv.store.core.database import Database

pytestmark = pytest.mark.slow


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the settings of a server with two players and a board."""
    with indoors(tmp_path) as house:
        house.sign_up("alice", "bob", "alice-2")
        house.send(address_of("alice"), "blackbox challenge alice bob")
    monkeypatch.setenv("PBMSERV_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("PBMSERV_DATABASE", f"sqlite:///{tmp_path}/pbmserv.sqlite3")
    monkeypatch.setenv("PBMSERV_ADDRESS", "pbmserv@games.example")
    return tmp_path


WHY = ("--why", "asked for by telephone", "--by", "olga")

DONE = (
    (("user", "list"), "alice@players.example"),
    (("user", "show", "alice"), "letters to   alice@players.example"),
    (("user", "suspend", "Bob", *WHY), "bob is suspended."),
    (("user", "list", "--state", "barred"), "bob"),
    (("user", "restore", "bob", *WHY), "bob may play again."),
    (("user", "reset", "bob", *WHY), "The reply addresses of bob are revoked"),
    (("board", "list", "--player", "alice"), "alice - bob"),
    (("board", "show", "1"), "waits for    bob since"),
    (("board", "deadline", "1", "--forfeittime", "40", *WHY), "forfeit after 40"),
    (("board", "hand-over", "1", "bob", "alice-2", *WHY), "in place of bob"),
    (("board", "end", "1", *WHY), "Board 1 has ended"),
    (("user", "merge", "alice-2", "bob", *WHY), "is part of bob now"),
    (("game", "list"), "blackbox"),
    (("game", "show", "blackbox"), "state        open"),
    (("game", "suspend", "Blackbox", *WHY), "nobody can begin a board of blackbox"),
    (("game", "restore", "blackbox", *WHY), "can begin boards of blackbox again"),
    (("rating", "list"), "Nobody has a rating"),
    (("rating", "exclude", "1", *WHY), "counts for no ratings: it was declined or called off"),
    (("rating", "rebuild", *WHY), "all correct"),
    (("audit", "ratings"), "rebuild"),
    (("mails", "alice"), "carried out"),
    (("block", "Spam.example", "--until", "2099-12-31", *WHY), "refuses mail from spam.example"),
    (("blocked",), "2099-12-31"),
    (("unblock", "spam.example", *WHY), "takes mail from spam.example again"),
    (("mails", "nobody@players.example"), "No mail of nobody@players.example is known."),
    (("rating", "rebuild", "--check"), "all correct"),
    (("outbox", "list"), "queued"),
    (("outbox", "list", "carol"), "There are no such letters."),
    (("outbox", "show", "6"), "Letter 6"),
    (("outbox", "hold", "6", *WHY), "We hold letter 6"),
    (("outbox", "list", "--state", "held"), "held"),
    (("outbox", "retry", "6", "--since", "2026-01-01", *WHY), "Name one or more letters"),
    (("outbox", "retry", "6", *WHY), "as soon as possible"),
    (("outbox", "drop", "6", *WHY), "We will not send letter 6"),
    (("outbox", "flush", *WHY), "No letter waits for another"),
    (("outbox", "retry", "1", *WHY), "has been sent"),
    (("outbox", "show", "99"), "there is no letter 99"),
    (("audit",), "olga"),
    (("audit", "Bob"), "suspend"),
    (("audit", "o"), "Operators have done nothing"),
    (("user", "rename", "bob", "robert", *WHY), "bob is called robert now."),
    (("user", "export", "robert", "--to", "bob@new.example", *WHY), "way to bob@new.example"),
    (("user", "erase", "robert", *WHY), "personal data of robert are deleted"),
    (("rotate-keys", *WHY), "Key 2 is stored."),
    (("retire-keys", *WHY), "no key is old enough"),
    (("retire-keys", "--days", "0", *WHY), "Retired: key 1."),
    (("announcement", "list"), "Nothing was announced."),
    (("announcement", "stop", "1", *WHY), "there is no announcement 1"),
    (("announcement", "resume", "1", *WHY), "there is no announcement 1"),
)


LADDER = (
    (("ladder", "list"), "blackbox 2 1 alice"),
    (("ladder", "show", "blackbox"), "2 bob"),
    (("ladder", "annul", "2", *WHY), "Board 2 moves nobody on the ladder."),
    (("ladder", "remove", "blackbox", "bob", *WHY), "bob was number 2 on the ladder"),
    (("audit", "ladder", "blackbox"), "remove"),
)


def check_output(
    commands: Sequence[tuple[tuple[str, ...], str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Run commands, and look for words in what each prints."""
    for words, expected in commands:
        run(words)
        printed = capsys.readouterr()
        shown = " ".join((printed.out + printed.err).split())
        assert " ".join(expected.split()) in shown, words


def test_every_command_about_ladders_prints_what_it_did(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(("ladder", "list"))
    assert "There are no ladders." in capsys.readouterr().out
    with indoors(settings) as house:
        house.send(address_of("alice"), "list")  # its number was that of an earlier mail
        for name in ("alice", "bob"):
            house.send(address_of(name), f"ladder join {name} {PASSWORD} blackbox")
        house.send(address_of("bob"), f"blackbox ladder challenge bob {PASSWORD} alice")
    check_output(LADDER, capsys)


def test_every_command_prints_what_it_did(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check_output(DONE, capsys)


def test_the_audit_names_the_person_behind_sudo(
    settings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SUDO_USER", "olga")
    monkeypatch.setenv("LOGNAME", "pbmserv")
    assert run(("user", "suspend", "bob", *WHY[:2])) == 0
    assert run(("user", "restore", "bob", *WHY[:2], "--by", "peter")) == 0
    monkeypatch.delenv("SUDO_USER")
    assert run(("user", "suspend", "bob", *WHY[:2])) == 0
    capsys.readouterr()
    assert run(("audit", "user", "bob")) == 0
    lines = capsys.readouterr().out.splitlines()[-3:]
    assert [
        next(name for name in ("olga", "peter", "pbmserv") if name in line) for line in lines
    ] == [
        "pbmserv",
        "peter",
        "olga",
    ]


@rows(
    ("words", "expected"),
    [
        (("user", "show", "nobody"), "there is no player nobody"),
        (("game", "show", "chess"), "there is no game chess"),
        (("user", "suspend", "alice", "--why", " "), "give a reason with --why"),
        (("board", "end", "77", *WHY), "there is no board 77"),
        (("board", "list", "--game", "chess"), "there is no game chess; there are: blackbox"),
        (("mails", "nobody"), "there is no player nobody"),
        (("unblock", "spam.example", *WHY), "spam.example is not blocked"),
        (("block", "0.0.0.0/0", *WHY), "0.0.0.0/0 is too large a network"),
        (("user", "rename", "bob", "Bob B", *WHY), "'bob b' cannot be a userid, which has"),
        (("block", "127.0.0.1", *WHY), "127.0.0.1 is this machine"),
        (("block", "nonsense", *WHY), "is not an address, a domain or a network"),
        (("block", "a.example", "--until", "2001-01-01", *WHY), "2001-01-01 is past"),
        (("block", "a.example", "--until", "soon", *WHY), "'soon' is not a day such as 2026-12-31"),
        (("ladder", "settle", "1", "alice", *WHY), "board 1 is no challenge of a ladder"),
        (
            ("audit", "usr", "Bob"),
            "announcement, sender; try `pbmserv audit user bob`",
        ),
        (
            ("audit", "players", "bob"),
            "has no kind players; there are user, board, game, event, mail",
        ),
    ],
)
def test_a_refusal_is_one_kind_line(
    settings: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], expected: str
) -> None:
    assert run(words) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert expected in printed.err
    assert len(printed.err.splitlines()) == 1


def test_a_change_needs_a_reason(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(("user", "suspend", "alice")) == 2
    assert "--why" in capsys.readouterr().err


@rows(
    ("words", "expected"),
    [
        (("user", "list", "--state", "nosuch"), "'active', 'left', 'barred', 'deleted', 'house'"),
        (("board", "list", "--status", "foo"), "'proposed', 'active', 'finished', 'declined'"),
        (("outbox", "list", "--state", "foo"), "'queued', 'held', 'parked'"),
        *(
            ((*command, str(2**63), *more), "9223372036854775807")
            for command, more in (
                (("board", "show"), ()),
                (("inbox", "retry"), WHY),
                (("user", "list", "--most"), ()),
            )
        ),
    ],
)
def test_an_impossible_number_is_wrong_usage(
    settings: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], expected: str
) -> None:
    assert run(words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert expected in " ".join(printed.err.replace("\u2502", " ").split())


def test_the_largest_possible_number_is_only_unknown(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (("board", "show"), ("outbox", "show"), ("inbox", "show")):
        assert run((*words, str(2**63 - 1))) == 1
        assert "here is no" in capsys.readouterr().err
    assert run(("user", "list", "--most", str(2**63 - 1))) == 0


def commands(group: Any, path: str = "pbmserv") -> Iterator[tuple[str, Any]]:
    """Return every command of a group and its subgroups."""
    if not hasattr(group, "commands"):
        yield path, group
        return
    for name, command in group.commands.items():
        yield from commands(command, f"{path} {name}")


def test_every_command_has_an_example_in_its_help() -> None:
    by_name = dict(commands(typer.main.get_command(app)))
    assert len(by_name) > 40
    without = [name for name, command in by_name.items() if "Example" not in (command.help or "")]
    assert without == []


def test_a_read_only_database_is_reported_in_one_line(postgres_url: str, tmp_path: Path) -> None:
    database = Database(postgres_url)
    with database.writing.begin() as connection:
        signing_keys.add(connection, 1, b"k" * 32, datetime(2026, 3, 1, tzinfo=UTC))
        name = connection.engine.url.database
        connection.execute(text(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on'))
    database.close()
    environment = {
        **os.environ,
        "PBMSERV_DATA_DIR": str(tmp_path),
        "PBMSERV_DATABASE": postgres_url,
        "PBMSERV_SMTP": "127.0.0.1:0",
        "PBMSERV_WEB": "",
    }
    for arguments in (("game", "suspend", "blackbox", *WHY), ("serve",)):
        result = fork_server.run(arguments, environment, timeout=60)
        assert result.returncode == 1
        (line,) = result.stderr.splitlines()
        assert line.startswith("pbmserv: the database cannot be used: cannot execute ")
        assert "read-only transaction" in line
