"""The server that authors of games have in their tests."""

from __future__ import annotations

from pbmserv.games import tictactoe
from pbmserv.testing.server import server


def test_a_game_by_mail_in_a_few_lines() -> None:
    with server(tictactoe.GAME) as mails:
        mails.challenge("ttt", ["anna", "bela"])
        mails.reply(mails.newest("anna@players.example"), "b2")
        letter = mails.newest("bela@players.example")
        assert "anna played B2." in letter.text
        assert "body=A1" in letter.html


def test_a_bot_answers_at_once() -> None:
    with server(tictactoe.GAME) as mails:
        mails.challenge("ttt", ["anna"], "house-best")
        mails.reply(mails.newest("anna@players.example"), "yes")
        mails.reply(mails.newest("anna@players.example"), "b2")
        assert "house-best played" in mails.newest("anna@players.example").text
