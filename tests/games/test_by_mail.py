"""Games of `pbmserv.game` by mail: letters, refusals, offers, the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from indoors import HandedIn, indoors
from running import Letter

from pbmserv.engine.adapter import adapt
from pbmserv.engine.registry import Registry
from pbmserv.engine.types import Note, Seat
from pbmserv.game import Game, win
from pbmserv.games import battleships
from pbmserv.games.tictactoe import GAME
from pbmserv.views.texts import note_sentences

Begin = Callable[..., HandedIn]


class Auction(Game[int]):
    """Bid more than the other one, up to 9."""

    key, title = "auction", "Auction"

    def start(self, seats, options, rng):
        return 0

    def moves(self, state, seat):
        return [f"bid {n}" for n in range(state + 1, 10)]

    def play(self, state, seat, move, rng):
        return int(move.removeprefix("bid "))

    def over(self, state):
        return win(0) if state == 9 else None

    def show(self, state, seat):
        return f"The bid is {state}."


class Pair:
    """Anna and Bela at board 1 of a game; she has begun."""

    def __init__(self, server: HandedIn, key: str, options: str = "") -> None:
        self.server = server
        self.addresses = {name: server.sign_up(name) for name in ("anna", "bela")}
        server.send(self.addresses["anna"], f"{key} challenge anna bela {options}".strip())
        server.letters(self.addresses["anna"])
        server.reply(server.letter(self.addresses["bela"]), "accept")
        self.last = {name: self.read(name)[-1] for name in self.addresses}

    def read(self, name: str) -> list[Letter]:
        return self.server.letters(self.addresses[name])

    def say(self, name: str, text: str) -> Letter:
        """Reply to the newest letter; the answer."""
        self.server.reply(self.last[name], text)
        for address in self.addresses:
            letters = self.read(address)
            self.last[address] = letters[-1] if letters else self.last[address]
        return self.last[name]

    def other(self, name: str) -> Letter:
        return self.last["bela" if name == "anna" else "anna"]


@pytest.fixture
def playing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    """Start a server that plays a game."""
    with ExitStack() as stack:

        def begin(game: Game[Any]) -> HandedIn:
            monkeypatch.setattr(Registry, "installed", classmethod(lambda cls: cls([game])))
            return HandedIn(stack.enter_context(indoors(tmp_path)))

        yield begin


@pytest.fixture
def pair(playing: Begin) -> Pair:
    return Pair(playing(GAME), "ttt")


def test_a_game_to_its_end(pair: Pair) -> None:
    letter = pair.last["anna"]
    assert " 2 |   |   |   |\n" in letter.text
    assert "body=B2" in letter.html
    assert "You played B2." in pair.say("anna", "b2, please!").one_line
    assert "anna played B2." in pair.last["bela"].one_line
    assert "(X)" in pair.last["bela"].text
    assert '"B2" is not legal now.' in pair.say("bela", "B2").one_line
    pair.say("bela", "1a")
    pair.say("anna", "a2")
    pair.say("bela", "b1")
    pair.say("anna", "c2")
    assert "You won board 1: three in a row" in pair.last["anna"].text
    assert "anna won board 1: three in a row" in pair.last["bela"].text
    assert "[X]" in pair.last["bela"].text


def test_a_draw_is_offered_and_accepted(pair: Pair) -> None:
    refused = pair.say("anna", "draw")
    assert "You cannot offer a draw now." in refused.one_line
    pair.say("anna", "b2")
    pair.say("bela", "a1")
    pair.say("bela", "draw")
    assert "bela offered a draw." in pair.last["anna"].one_line
    assert 'reply "accept" or "reject"' in pair.last["anna"].one_line
    pair.say("anna", "reject")
    assert "anna declined the draw." in pair.last["bela"].one_line
    pair.say("anna", "draw")
    pair.say("anna", "c1")
    assert "anna withdrew the offer of a draw." in pair.last["bela"].one_line
    assert "nothing else waits for your answer" in pair.say("bela", "accept").one_line
    pair.say("anna", "draw")
    pair.say("bela", "a3")
    assert "bela declined the draw." in pair.last["anna"].one_line
    pair.say("anna", "offer a draw")
    pair.say("bela", "accept")
    assert "Board 1 is a draw: by agreement" in pair.last["bela"].one_line
    assert "Board 1 is a draw: by agreement" in pair.last["anna"].one_line


def test_a_draw_is_claimed_from_a_silent_opponent(pair: Pair) -> None:
    pair.say("anna", "b2")
    pair.say("bela", "a1")
    pair.say("anna", "c1")
    assert "has been silent for half of the time" in pair.say("anna", "claim").one_line
    pair.server.live(days=10, hours=12)
    assert "Both of you have moved" in pair.say("anna", "claim abort").one_line
    pair.say("anna", "claim draw")
    drawn = "Board 1 is a draw: claimed after a long silence"
    assert drawn in pair.last["anna"].one_line
    assert drawn in pair.last["bela"].one_line
    assert "anna claimed a draw after a long silence." in pair.last["bela"].one_line


def test_a_move_is_taken_back_by_consent(pair: Pair) -> None:
    pair.say("anna", "b2")
    pair.say("bela", "a1")
    pair.say("bela", "takeback")
    assert "bela asked to take back the last move." in pair.last["anna"].one_line
    pair.say("anna", "accept")
    assert "anna agreed that the move is taken back." in pair.last["bela"].one_line
    assert " 1 |   |   |   |\n" in pair.last["bela"].text
    pair.say("bela", "c3")
    assert "bela played C3." in pair.last["anna"].one_line


def test_a_sentence_is_only_for_its_audience() -> None:
    game = adapt(battleships.GAME)
    note = Note("told", Seat(0), frozenset({Seat(0)}), {"text": "The ships: A1-A5."})
    readers = (Seat(0), Seat(1), None)
    sentences = [note_sentences(game, [note], ["anna", "bela"], reader) for reader in readers]
    assert sentences == [["The ships: A1-A5."], [], []]


def test_hidden_ships_are_shown_after_a_resignation(playing: Begin) -> None:
    pair = Pair(playing(battleships.GAME), "battleships")
    pair.say("anna", "random")
    pair.say("bela", "A1-A5 C1-C4 E1-E3 G1-G3 J9-J10")
    pair.say("anna", "b7")

    before = [line for line in pair.last["anna"].text.splitlines() if " . ." in line]
    assert sum(line.count("#") for line in before) == 17  # her own ships
    pair.say("anna", "resign")
    after = [line for line in pair.last["anna"].text.splitlines() if " . ." in line]
    assert sum(line.count("#") for line in after) == 34


def test_a_queued_move_depends_on_the_opponents_move(pair: Pair) -> None:
    pair.say("anna", "b2")
    refused = pair.say("anna", "queue c3 if hello")
    assert "is not a condition" in refused.one_line
    pair.say("anna", "queue c3 if A1 else A1")
    pair.say("bela", "a1")
    assert "anna played C3." in pair.last["bela"].one_line


def test_rules_are_the_docstring(pair: Pair) -> None:
    pair.server.send(pair.addresses["anna"], "help ttt")
    text = pair.read("anna")[-1].one_line
    assert "Take turns to name a free cell." in text
    assert "-unrated" in text


@pytest.mark.parametrize("bid", ["bid -1", "-1", "I bid -1, thanks"])
def test_a_negative_number_is_not_read_without_its_sign(playing: Begin, bid: str) -> None:
    pair = Pair(playing(Auction()), "auction")
    answer = pair.say("anna", bid)
    assert "is not a move of Auction. Reply with a move: bid 1, bid 2, bid 3" in answer.one_line
    assert "You played bid 1." in pair.say("anna", "bid 1").one_line
