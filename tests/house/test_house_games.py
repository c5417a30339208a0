"""The house plays games that have bots, and kindly refuses others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType

import pytest
from heaps import HEAPS, Heaps, show_heaps
from indoors import Indoors, address_of, indoors

from pbmserv.engine.registry import Registry

ALICE = address_of("alice")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Indoors]:
    """Start a server with Blackbox and Heaps."""
    show_heaps()
    games = [*Registry.installed(), HEAPS]
    monkeypatch.setattr(Registry, "installed", classmethod(lambda cls: cls(games)))
    with indoors(tmp_path) as inside:
        inside.sign_up("alice")
        yield inside


def answer_to(server: Indoors, subject: str) -> str:
    (letter,) = server.send(ALICE, subject)
    return letter.one_line


def test_the_house_plays_what_has_a_bot(server: Indoors) -> None:
    (letter,) = server.begin(ALICE, "heaps challenge house alice")
    assert "You play house on board 1." in letter.text
    assert "Your move on board 1" in letter.text
    (letter,) = server.reply(letter, "1")
    assert "You played 1." in letter.text
    assert letter.text.index("You played 1.") < letter.text.index("house played")
    (letter,) = server.reply(letter, "propose")
    assert "house played reject." in letter.text
    for _ in range(9):
        (letter,) = server.reply(letter, "1")
        if letter.kind == "result":
            break
    assert letter.kind == "result"


def test_a_level_that_a_game_does_not_have(server: Indoors) -> None:
    answer = answer_to(server, "heaps challenge alice house-hard")
    assert "The house plays Heaps as house, but not as house-hard." in answer
    assert "heaps challenge alice house" in answer


def test_a_game_without_bots(server: Indoors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Heaps, "bots", MappingProxyType({}))
    answer = answer_to(server, "heaps challenge alice house")
    assert "The house does not play Heaps." in answer
    assert '"seek" finds' in answer
