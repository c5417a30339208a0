"""Games against bots by mail: the letters offer only what a bot answers."""

from __future__ import annotations

import re

import pytest

from pbmserv.game.search import Effort
from pbmserv.games import connect4, liar
from pbmserv.testing.server import server


def test_no_draw_and_no_takeback_is_offered_against_a_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Effort, "share", 0.01)
    with server(connect4.GAME) as mails:
        mails.challenge("connect4", ["anna", "bela"])
        anna, bela = "anna@players.example", "bela@players.example"
        mails.reply(mails.newest(anna), "C")
        mails.reply(mails.newest(bela), "C")
        assert 'Reply "takeback"' in mails.newest(anna).text
        mails.send(anna, "connect4 challenge anna house-easy")
        mails.reply(mails.newest(anna), "yes")
        mails.reply(mails.newest(anna), "C")
        letter = mails.newest(anna)
        assert "house-easy played" in letter.text
        for text in (letter.text, letter.html):
            assert "takeback" not in text
            assert "a draw" not in text


def test_a_doubt_names_the_dice_that_were_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Effort, "share", 0.01)
    with server(liar.GAME) as mails:
        mails.sign_up("anna")
        mails.send("anna@players.example", "liar challenge anna house")
        mails.reply(mails.newest("anna@players.example"), "yes")
        letters = mails.reply(mails.newest("anna@players.example"), "10 sixes")
        text = letters[-1].text
        assert "house doubted 10 sixes." in text
        counted = r"There w(as|ere) \d six(es)?, with the ones\. You had "
        assert re.search(counted, " ".join(text.split()))
