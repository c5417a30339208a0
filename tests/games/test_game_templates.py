"""A game may bring templates of its own; a broken one costs nobody a letter."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from pbmserv.engine import registry
from pbmserv.engine.registry import Registry
from pbmserv.errors import ServerFault
from pbmserv.game import Game, Option
from pbmserv.games.tictactoe import GAME, TicTacToe
from pbmserv.testing.server import server
from pbmserv.views import game_templates, template_loader
from pbmserv.views.environment import environment, forget_templates
from pbmserv.views.game_templates import drop_broken_templates
from pbmserv.views.template_loader import TemplateLoader

Write = Callable[[str, str], None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Return a function that writes an own template of tic-tac-toe."""
    folder = tmp_path / "games" / "ttt"
    folder.mkdir(parents=True)
    loader = template_loader_of_this_process()
    before = loader.searchpath
    # In front of the shared ones, as a game's own templates are.
    for module in (game_templates, template_loader):
        monkeypatch.setattr(module, "template_folders", lambda: [tmp_path])
    forget_compiled()
    yield lambda name, text: (folder / name).write_text(text) and None
    forget_compiled()
    loader.searchpath = before


def forget_compiled() -> None:
    """Forget which templates of tic-tac-toe were found and compiled, here or by other tests."""
    template_loader_of_this_process().unused.discard("ttt")
    forget_templates()


def template_loader_of_this_process() -> TemplateLoader:
    loader = environment().loader
    assert isinstance(loader, TemplateLoader)
    return loader


def letters_of_a_move() -> list[str]:
    with server(GAME) as mails:
        mails.challenge("ttt", ["anna", "bela"])
        mails.reply(mails.newest("anna@players.example"), "b2")
        newest = [mails.newest(f"{name}@players.example") for name in ("anna", "bela")]
        return [letter.text for letter in newest]


def test_a_game_draws_its_boards_itself(write: Write) -> None:
    write("board.txt.j2", "A board of its own: {{ view.table.state }}\n")
    assert all("A board of its own: ....X...." in text for text in letters_of_a_move())


@pytest.mark.parametrize("broken", ["{{ view.nothing.at_all }}", "{{ 1 / 0 }}", "{% if %}"])
def test_a_broken_template_is_replaced_and_reported(
    write: Write, caplog: pytest.LogCaptureFixture, broken: str
) -> None:
    write("board.txt.j2", broken)
    with caplog.at_level(logging.ERROR, "pbmserv.games"):
        letters = letters_of_a_move()
    assert all("X" in text for text in letters)
    (fault,) = [line for line in caplog.records if "template of a game" in line.message]
    assert fault.__dict__["game"] == "ttt"
    assert fault.exc_info is not None


def test_templates_that_cannot_be_read_are_named_at_the_start(write: Write) -> None:
    write("board.html.j2", "<p>\n{% if %}\n</p>")
    (sentence,) = drop_broken_templates()
    assert sentence.startswith("games/ttt/board.html.j2, line 2: ")
    assert sentence.endswith("; the shared templates are used for ttt")
    assert drop_broken_templates() == []
    assert letters_of_a_move()


def test_an_error_of_the_game_itself_blames_no_template(
    write: Write, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def show(*_: object) -> None:
        raise ZeroDivisionError

    write("board.txt.j2", "A board of its own: {{ view.parts }}\n")
    with monkeypatch.context() as patch:
        patch.setattr(TicTacToe, "show", show)
        with pytest.raises(ZeroDivisionError):
            letters_of_a_move()
    assert not [line for line in caplog.records if "template of a game" in line.message]
    assert all("A board of its own" in text for text in letters_of_a_move())


@pytest.mark.parametrize("owner", ["pbmserv.games.blackbox", "pbm_first"])
def test_a_key_belongs_to_the_package_that_had_it_first(
    monkeypatch: pytest.MonkeyPatch, owner: str
) -> None:
    entries = tuple(
        EntryPoint(name, f"{module}:GAME", "pbmserv.games")
        for name, module in (("other", "pbm_second"), ("first", owner))
    )
    key = "blackbox" if owner.startswith("pbmserv") else "ttt"

    class Copy(TicTacToe):
        """Another game."""

    Copy.key = key
    games = {"pbm_second:GAME": Copy(), "pbm_first:GAME": GAME}
    load = EntryPoint.load
    monkeypatch.setattr(EntryPoint, "load", lambda e: games.get(e.value) or load(e))
    monkeypatch.setattr(registry, "announced", lambda: entries)
    with pytest.raises(ServerFault, match=f"has a game with the key '{key}' already") as refusal:
        Registry.installed()
    assert "pbm_second" in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("title", "A title\nof two lines", "one line"),
        ("key", "Two words", "must be a word of small letters"),
        ("seats", 2, r"must be two numbers, such as \(2, 2\), not 2"),
        ("seats", (0, 2), "1 to 8 players"),
        ("seats", (3, 2), "1 to 8 players"),
        ("bots", print, "must be functions by name"),
        ("bots", {"house-of-cards": print}, "is not one of"),
        ("bots", {"house": "a text"}, "must be a function"),
        ("options", Option("size", "", (3, 4), 3), "must be a tuple of options"),
        ("options", {"size": 3}, "must be a tuple of options"),
        ("options", (Option("size", "", (3, 4), 5),), "has the default 5"),
        ("options", (Option("two words", "", (3, 4), 3),), "is not a word"),
        ("options", (Option("size", "", (3, 4), 3),) * 2, "is not a word"),
    ],
)
def test_a_wrong_declaration_is_named_at_the_start(name: str, value: object, why: str) -> None:
    class Wrong(TicTacToe):
        """A game."""

    setattr(Wrong, name, value)
    game: Game[str] = Wrong()
    with pytest.raises(ValueError, match=why):
        Registry([game])
