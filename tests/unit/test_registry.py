"""Games that packages of their own announce: their templates, and what is said of bad ones."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from heaps import Heaps
from one_process import Server
from rows import rows

from pbmserv.config.settings import load
from pbmserv.engine import registry
from pbmserv.engine.registry import Registry
from pbmserv.engine.types import GameInfo, Outcome, Seat
from pbmserv.errors import ServerFault
from pbmserv.service.boards.board_ends import check_outcome


def announced(
    monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, source: str
) -> tuple[EntryPoint, ...]:
    """Return the entry points of an installed package with this source."""
    package = folder / name
    (package / "templates" / "games" / name).mkdir(parents=True)
    (package / "__init__.py").write_text(source)
    (package / "templates" / "games" / name / "notes.j2").write_text("A note.")
    monkeypatch.syspath_prepend(str(folder))
    entries = (EntryPoint(name, f"{name}:GAME", registry.GROUP),)
    monkeypatch.setattr(registry, "announced", lambda: entries)
    return entries


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("broken", "1 / 0", "broken = broken:GAME: ZeroDivisionError"),
        ("ending", "import sys; sys.exit(0)", "ending = ending:GAME: SystemExit"),
        ("number", "GAME = 42", "number = number:GAME: AttributeError"),
    ],
)
def test_a_game_that_cannot_be_loaded_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, source: str, message: str
) -> None:
    announced(monkeypatch, tmp_path, name, source)
    with pytest.raises(ServerFault, match=message):
        Registry.installed()


class Called(Heaps):
    """Heaps by another name."""

    def __init__(self, key: str) -> None:
        self.info = GameInfo(key, "Heaps", "take", 2, 2, hidden=False, rules_version=1)


@pytest.mark.parametrize("key", ["../../x", "Chess", "", "a b"])
def test_a_key_is_a_word(key: str) -> None:
    with pytest.raises(ServerFault, match="a game's key is a word"):
        Registry([Called(key)])


def test_a_game_is_not_called_as_a_command_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    games = [*Registry.installed(), Called("show")]
    monkeypatch.setattr(Registry, "installed", classmethod(lambda cls: cls(games)))
    url = f"sqlite:///{tmp_path}/game.sqlite3"
    settings = {"PBMSERV_DATABASE": url, "PBMSERV_ADDRESS": "pbmserv@games.example"}
    with pytest.raises(ServerFault, match='a game cannot be called "show"'):
        Server(load(settings, None).settings)


@rows(
    ("outcome", "is_told"),
    [
        (Outcome((1, 2), "solved"), True),
        (Outcome((1, 1), "solved", Seat(1), (3, 4)), True),
        (Outcome((1,), "solved"), False),
        (Outcome((1, 2, 3), "solved"), False),
        (Outcome((2, 3), "solved"), False),
        (Outcome((0, 1), "solved"), False),
        (Outcome((1, 2), "solved", Seat(2)), False),
        (Outcome((1, 2), "solved", None, (3,)), False),
        (Outcome(("1", 2), "solved"), False),
        (Outcome((1, 2.0), "solved"), False),
    ],
)
def test_an_outcome_says_how_each_seat_did(outcome: Outcome, is_told: bool) -> None:
    try:
        check_outcome(outcome, 2)
    except ServerFault:
        assert not is_told
    else:
        assert is_told
