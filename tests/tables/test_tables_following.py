"""Following other people's boards: every turn or only the end, and nothing that is hidden."""

from __future__ import annotations

import re

import pytest
from indoors import PASSWORD, Indoors, address_of
from running import Correspondence, Letter

from pbmserv.service.boards import followers


def test_hidden_facts_change_no_letter_to_followers(server: Correspondence) -> None:
    seen = []
    for turn, (hers, his) in enumerate(
        ((("a5,c6,e7,g5"), ("b6,d7,f5,a7")), (("b7,d5,f6,c7"), ("g6,e5,a6,b5")))
    ):
        alice, bob, carol = (f"{name}{turn}" for name in ("alice", "bob", "carol"))
        homes = {name: server.sign_up(name) for name in (alice, bob, carol)}
        board = turn + 1
        server.send(homes[alice], f"blackbox challenge {alice} secret {bob}")
        server.send(homes[bob], f"accept {board} {bob} secret")
        server.send(homes[carol], f"subscribe {board} {carol} secret")
        server.letters(homes[carol])
        for player, text in (
            (alice, hers),
            (bob, his),
            (alice, "+b2"),
            (alice, "1"),
            (bob, "!c3"),
            (bob, "2"),
        ):
            server.send(homes[player], f"move {board} {player} secret {text}")
        letters = server.letters(homes[carol])
        assert len(letters) == 4, "after each turn"
        seen.append([_neutral(letter, turn, board) for letter in letters])
    assert seen[0] == seen[1]


def test_letters_to_followers_have_limits(house: Indoors, monkeypatch: pytest.MonkeyPatch) -> None:
    house.sign_up("alice", "bob", "carol", "dave")
    for _ in range(2):
        house.send(address_of("alice"), f"blackbox challenge alice {PASSWORD} bob")

    def subscribe(name: str, board: int) -> str:
        return house.send(address_of(name), f"subscribe {board} {name} {PASSWORD}")[0].one_line

    assert "a letter after every turn" in subscribe("carol", 1)
    monkeypatch.setattr(followers, "MOST_FOLLOWED", 1)
    assert "You follow 1 boards already" in subscribe("carol", 2)
    assert "a letter after every turn" in subscribe("carol", 1)
    monkeypatch.setattr(followers, "MOST_FOLLOWERS", 1)
    assert "1 people follow board 1 already" in subscribe("dave", 1)


def _neutral(letter: Letter, turn: int, board: int) -> str:
    """A letter without hashes, its board's number and the numbers in its players' names."""
    text = f"{letter.subject}\n{letter.text}\n{letter.html}"
    for name in ("alice", "bob", "carol"):
        text = text.replace(f"{name}{turn}", name)
    text = re.sub(r"[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}", "HASH", text)
    return re.sub(rf"\b([Bb]oard|Blackbox) {board}\b", r"\1 N", text)
