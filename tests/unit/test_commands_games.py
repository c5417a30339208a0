"""Names of games in commands: keys, and titles in any spelling."""

from __future__ import annotations

from rows import rows

from pbmserv.commands.grammar.game_names import game_in_front, with_keys
from pbmserv.commands.reading.mail import read_new_mail

GAMES = {
    "ttt": "Tic-tac-toe",
    "connect4": "Connect Four",
    "liar": "Liar's dice",
    "go": "Go",
    "nim": "Solo Nim",
    "draw": "Go",
    "old": "Checkers",
    "new": "Checkers",
}


@rows(
    ("words", "game", "count"),
    [
        ("ttt show 12", "ttt", 1),
        ("Tic-tac-toe show 12", "ttt", 1),
        ("TICTACTOE", "ttt", 1),
        ("tic tac toe show", "ttt", 3),
        ("tic-tac toe", "ttt", 2),
        ("connect 4", "connect4", 2),
        ("connect four", "connect4", 2),
        ("liar's dice", "liar", 2),
        ("liars dice", "liar", 2),
        ("liar 3 twos", "liar", 1),
        ("go go", "go", 1),
        # "Solo Nim" begins with a command, and two games are called Checkers.
        ("solo nim", "", 0),
        ("nim", "nim", 1),
        ("checkers", "", 0),
        ("old", "old", 1),
        ("g o", "", 0),
        ("- go", "", 0),
        ("connect", "", 0),
        ("toe tac tic", "", 0),
        ("", "", 0),
    ],
)
def test_a_game_is_named_by_its_key_or_title(words, game, count):
    assert game_in_front(words.split(), GAMES) == (game, count)


def test_each_name_of_a_game_is_replaced_by_its_key():
    words = ["join", "Connect", "four", "tictactoe", "once"]
    assert with_keys(words, GAMES) == ["join", "connect4", "ttt", "once"]


@rows(
    ("line", "echo"),
    [
        ("Tic-tac-toe show 12", "Tic-tac-toe show 12"),
        ("tic tac toe mvoe 12 alice secret b2", "tic tac toe move 12 alice *** b2"),
        ("Liar\u2019s Dice move 12 alice secret", "Liar's Dice move 12 *** ***"),
        ("CONNECT FOUR frobnicate 12", "CONNECT FOUR frobnicate ..."),
        ("tictactoo show 12", "ttt show 12"),
        (f"go{'!' * 100} show 12", "go show 12"),
    ],
)
def test_an_echo_names_the_game_as_it_was_written(line, echo):
    assert read_new_mail(line, "", GAMES).lines[0].echo == echo


@rows(
    ("line", "echo"),
    [
        ("seek for a game of liar", "liar seek"),
        ("seek rock-a liar", "seek rock-a ***"),
        ("solo rock-in liar", "solo rock-in liar"),
        ("challenge alice rock-in liar", "liar challenge alice rock-in"),
        ("challenge alice rock-in in liar", "liar challenge alice rock-in"),
    ],
)
def test_the_end_of_a_userid_does_not_belong_to_a_game_behind_it(line, echo):
    assert read_new_mail(line, "", GAMES).lines[0].echo == echo


def test_a_password_after_the_userid_of_a_solo_game_is_no_game():
    (line,) = read_new_mail("solo alice liar", "", GAMES).lines
    assert line.with_proof().echo == "solo alice ***"


def test_a_long_line_is_not_searched_for_a_game_at_each_word():
    searches = []

    class Titles(dict):
        def items(self):  # each search asks for the titles
            searches.append(1)
            return super().items()

    def searches_in(words):
        searches.clear()
        read_new_mail(f"ratings {'x ' * words}", "", Titles(GAMES))
        return len(searches)

    assert searches_in(900) == searches_in(90)
