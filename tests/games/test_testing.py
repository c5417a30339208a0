"""The server that authors of games have in their tests."""

from __future__ import annotations

import pytest

from pbmserv.game import Game, ranked
from pbmserv.games import tictactoe
from pbmserv.stages.lane_loads import LANE_MAILS
from pbmserv.testing.server import server


def test_a_long_game_may_take_more_mails_than_may_wait() -> None:
    with server(tictactoe.GAME) as mails:
        anna = mails.sign_up("anna")
        for _ in range(LANE_MAILS + 1):
            mails.send(anna, "help")


class Bids(Game[tuple]):
    """Bid together; the sealed bids are opened at once."""

    key, title, seats, together, draws = "bids", "Bids", (4, 4), True, False

    def start(self, seats, options, rng):
        return ()

    def moves(self, state, seat):
        return [f"bid {coins}" for coins in range(13)]

    def play_all(self, state, moves, rng):
        return tuple(sorted(moves.items()))

    def over(self, state):
        return ranked([int(move.split()[1]) for _, move in state], "all bids") if state else None

    def show(self, state, seat):
        return "Four sealed bids."


def test_several_players_are_named_with_commas_and_one_and() -> None:
    with server(Bids()) as mails:
        mails.challenge("bids", ["anna", "bela", "cleo", "dora"])
        first = next(letter for letter in mails.letters if letter.recipient.startswith("bela"))
        assert "to play Bids with you, cleo and dora on board" in first.text
        assert "Bids with you, cleo and dora on board" in first.html
        mails.reply(mails.newest("anna@players.example"), "bid 3")
        letter = mails.newest("anna@players.example")
        assert "waiting for bela, cleo and dora." in letter.text
        assert "Waiting for bela, cleo and dora." in letter.html


def test_two_numbers_never_become_one_bid() -> None:
    with server(Bids()) as mails:
        mails.challenge("bids", ["anna", "bela", "cleo", "dora"])
        mails.reply(mails.newest("anna@players.example"), "bid 1,2")
        assert '"bid 1,2" is not' in mails.newest("anna@players.example").text
        mails.reply(mails.newest("anna@players.example"), "BID 12.")
        assert "You chose bid 12." in mails.newest("anna@players.example").text


class DrawnBids(Bids):
    """Bid together for a lot that is drawn; the sealed bids are opened at once."""

    key = "drawnbids"

    def start(self, seats, options, rng):
        rng.below(6)
        return ()


def test_a_letter_that_waits_for_an_answer_shows_no_draw_though_it_is_made_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with server(DrawnBids()) as mails:
        anna, bela, cleo, dora = map(mails.sign_up, ("anna", "bela", "cleo", "dora"))
        mails.send(anna, "drawnbids challenge anna bela cleo dora")
        mails.reply(mails.newest(bela), "accept")
        with monkeypatch.context() as busy:  # post makes no letters meanwhile
            busy.setattr(mails, "_new_letters", list)
            mails.reply(mails.newest(cleo), "accept")
        mails.reply(mails.newest(dora), "accept")
        early, late = [letter for letter in mails.letters if letter.recipient == anna][-2:]
        assert "The game begins when dora has, too." in early.text
        assert early.subject == "Waiting for dora: Bids 1"
        assert "Four sealed bids." not in early.text
        assert "Four sealed bids." not in early.html
        assert "Four sealed bids." in late.text
