"""The operators' command groups on a real terminal line: what they print, and how they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest
from indoors import address_of, indoors

from pbmserv.cli.main import run


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A server's folder with two players, a board, and the settings to find it."""
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
    (("user", "list", "bo"), "bob"),
    (("user", "show", "alice"), "letters to   alice@players.example"),
    (("user", "suspend", "bob", *WHY), "bob is suspended."),
    (("user", "list", "--state", "barred"), "bob"),
    (("user", "restore", "bob", *WHY), "bob may play again."),
    (("user", "reset", "bob", *WHY), "Reply addresses of bob are revoked"),
    (("board", "list", "--player", "alice"), "alice - bob"),
    (("board", "show", "1"), "waits for    bob since"),
    (("board", "deadline", "1", "--forfeittime", "40", *WHY), "forfeit after 40"),
    (("board", "hand-over", "1", "bob", "alice-2", *WHY), "in place of bob"),
    (("board", "end", "1", *WHY), "Board 1 has ended"),
    (("user", "merge", "alice-2", "bob", *WHY), "is part of bob now"),
    (("game", "list"), "blackbox"),
    (("game", "show", "blackbox"), "state        open"),
    (("game", "suspend", "blackbox", *WHY), "No new boards of blackbox"),
    (("game", "restore", "blackbox", *WHY), "are made again"),
    (("rating", "list"), "Nobody has a rating"),
    (("rating", "exclude", "1", *WHY), "already"),
    (("rating", "rebuild", *WHY), "all as it should be"),
    (("audit", "ratings"), "rebuild"),
    (("ratings", "rebuild", "--check"), "all as it should be"),
    (("outbox", "list"), "queued"),
    (("outbox", "show", "6"), "Letter 6"),
    (("outbox", "hold", "6", *WHY), "is held."),
    (("outbox", "list", "--state", "held"), "held"),
    (("outbox", "retry", "6", *WHY), "as soon as possible"),
    (("outbox", "drop", "6", *WHY), "will not be sent"),
    (("outbox", "list", "--state", "failed"), "dropped"),
    (("outbox", "retry", "1", *WHY), "has been sent"),
    (("outbox", "show", "99"), "there is no letter 99"),
    (("audit",), "olga"),
    (("audit", "user", "bob"), "suspend"),
)


def test_every_command_says_what_it_did(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, expected in DONE:
        run(words)
        told = capsys.readouterr()
        shown = " ".join((told.out + told.err).split())
        assert " ".join(expected.split()) in shown, words


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("user", "show", "nobody"), "there is no player nobody"),
        (("board", "show", "77"), "there is no board 77"),
        (("game", "show", "chess"), "there is no game chess"),
        (("user", "suspend", "alice", "--why", " "), "a reason is needed"),
        (("board", "end", "77", *WHY), "there is no board 77"),
    ],
)
def test_a_refusal_is_one_kind_line(
    settings: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], expected: str
) -> None:
    assert run(words) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert expected in told.err
    assert len(told.err.splitlines()) == 1


def test_a_change_needs_a_reason(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(("user", "suspend", "alice")) == 2
    assert "--why" in capsys.readouterr().err
