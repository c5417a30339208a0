"""Slips that need more than a dialog can set up: a second game, and very many commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from heaps import HEAPS, show_heaps
from running import Running, start

from pbmserv.engine.registry import Registry


@pytest.fixture
def two_games(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Running]:
    """Start a server with Blackbox and Heaps."""
    show_heaps()
    games = [*Registry.installed(), HEAPS]
    monkeypatch.setattr(Registry, "installed", classmethod(lambda cls: cls(games)))
    with start(tmp_path, database_url, web="") as running:
        yield running


def test_the_wrong_game_for_a_board(two_games: Running) -> None:
    anna, bela = two_games.sign_up("anna"), two_games.sign_up("bela")
    two_games.send(anna, "heaps challenge anna bela")
    two_games.letters()

    two_games.send(anna, "blackbox move 1 anna secret b3,d3,a1,g6")
    answer = two_games.letter(anna)
    assert "Board 1 is a game of heaps, not of blackbox." in answer.one_line
    assert "secret" not in answer.text

    # Without any game in front the board's own is meant, and in a challenge the first game.
    two_games.send(anna, "move anna 1 secret 3")
    assert "You played 3." in two_games.letter(anna).one_line
    two_games.letters()
    two_games.send(bela, "challenge bela anna")
    assert "Your challenge to anna is board 2." in two_games.letter(bela).one_line
    two_games.send(bela, "challange bela anna")
    assert "Your challenge to anna is board 3." in two_games.letter(bela).one_line
    two_games.send(bela, "heap challenge bela anna")
    assert "We have invited anna" in two_games.letter(bela).one_line


def test_sixty_five_commands_in_one_mail(server: Running) -> None:
    server.send("carol@players.example", "multiple", "list\n" * 65)
    (answer,) = server.letters("carol@players.example")
    assert answer.subject == "Done: 50 of 50 - Games you can play here"
    lines = [line for line in answer.text.split("\n") if ". not tried: " in line]
    numbered = [f"{number}. not tried: list" for number in range(51, 61)]
    assert lines == [*numbered, "61. not tried: ..."]
    why = "A mail can have at most 50 commands, so we stopped reading there."
    assert f"{why} We did not carry out the lines marked" in answer.one_line
    assert "nor 5 more commands." in answer.one_line
    assert why in answer.html


def test_a_numbered_list_in_answer_to_a_message_is_one_message(server: Running) -> None:
    anna, bela = server.sign_up("anna"), server.sign_up("bela")
    server.send(anna, "message anna secret bela", "When shall we meet?")
    server.letters(anna)
    server.reply(server.letter(bela), "1: Monday would be fine.\n2: Tuesday as well.")
    (answer,) = server.letters(anna)
    assert "1: Monday would be fine." in answer.text
    assert "2: Tuesday as well." in answer.text
    assert len(server.letters(bela)) == 1
