"""Each game that ships is played by mail to its end; its first and last letters are read."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from examples import DEEP
from indoors import HandedIn, indoors
from running import Letter
from sqlalchemy import update

from pbmserv.engine.position import bot_move
from pbmserv.engine.registry import Registry
from pbmserv.engine.types import Seat
from pbmserv.game.search import Effort
from pbmserv.service.boards import new_boards
from pbmserv.store.boards import boards
from pbmserv.store.tables.boards import seeks

MODULES = (
    *("backgammon", "battleships", "chess", "connect4", "go", "gomoku", "hex", "liar"),
    *("reversi", "tictactoe"),
)
GAMES = [import_module(f"pbmserv.games.{name}").GAME for name in MODULES]
WORDS_OF_BLACKBOX = re.compile(
    r"\b(ray|rays|port|ports|atom|atoms|marker|markers|seal|seals|Blackbox)\b", re.IGNORECASE
)
MOST = 400
MOST_READ = MOST if DEEP else 8
"""The plies of a game whose letters are made and read, beside those of the last ply."""


@pytest.fixture
def server(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[HandedIn]:
    monkeypatch.setattr(Registry, "installed", classmethod(lambda cls: cls(GAMES)))
    monkeypatch.setattr(Effort, "share", 0.004)
    # Dice and bots draw from a board's seed, so each game has one end.
    seeded = SimpleNamespace(token_bytes=bytes, token_hex=secrets.token_hex)
    monkeypatch.setattr(new_boards, "secrets", seeded)
    with indoors(tmp_path, database_url, signup="confirm") as inside:
        yield HandedIn(inside)


class Table:
    """A board, and the newest letter of each player."""

    def __init__(self, server: HandedIn, key: str, options: str, names: tuple[str, ...]) -> None:
        self.server = server
        self.key = key
        self.names = names
        self.addresses = [server.sign_up(name) for name in names]
        self.newest: dict[str, Letter] = {}
        self.letters: list[Letter] = []
        first = self.addresses[0]
        server.send(first, f"{key} challenge {' '.join(names)} {options}".strip())
        self.read()
        for address in self.addresses[1:]:
            self.reply(address, "accept")

    def read(self) -> None:
        for address in self.addresses:
            for letter in self.server.letters(address):
                self.newest[address] = letter
                self.letters.append(letter)

    def reply(self, address: str, text: str) -> None:
        self.server.reply(self.newest[address], text)
        self.read()

    def move_unread(self, seat: Seat, text: str) -> None:
        """Move, and read the letters about it only if the game is over."""
        line = f"{self.key} move 1 {self.names[seat]} secret {text}"
        self.server.send(self.addresses[seat], line)
        if self.position().outcome is None:
            self.server.drop_letters()
        else:
            self.read()

    def position(self):
        with self.server.server.database.reading.connect() as connection:
            board = boards.load(connection, 1)
            assert board is not None
            return self.server.server.positions.newest(connection, board)

    def play(self, moves: str = "") -> None:
        """Reply with these moves, then with what the best bot would play, to the end."""
        waiting = [move.replace("_", " ") for move in moves.split()]
        for _ in range(MOST):
            position = self.position()
            if position.outcome is not None:
                return
            seat = Seat(min(position.game.to_act(position.state)))
            if waiting:
                text = waiting.pop(0)
            else:
                text = bot_move(position, seat, list(position.game.bots)[-1]).text
            before = position.number
            if before < MOST_READ:
                self.reply(self.addresses[seat], text)
            else:
                self.move_unread(seat, text)
            assert self.position().number > before, self.newest[self.addresses[seat]].text
        raise AssertionError("the game does not end")


@pytest.mark.parametrize(
    ("key", "options", "moves", "end"),
    [
        ("ttt", "", "b2 a1 c1 a3 a2 c2 b1 b3 c3", "draw: the board is full"),
        ("connect4", "", "d e d e d e d", "won board 1: four in a row"),
        ("reversi", "-size=6", "", "most discs"),
        ("hex", "-size=5", "c3 swap a1 c2 b2 b4 d1 a5 e5", "a chain from edge to edge"),
        ("gomoku", "", "h8,i9,g7 white j10 a1 k11 b2 l12 c3 m13", "five in a row"),
        ("go", "", "c5 g5 pass pass dead_g5 agree", "black by 73.5 points"),
        # `proving/test_games_proven.py` plays Backgammon and Battleships by mail.
        ("liar", "-dice=1", "1_six liar", "the last player with dice"),
        ("chess", "", "e4 e5 Bc4 Nc6 Qh5 Nf6 Qxf7", "checkmate"),
    ],
)
def test_a_game_by_mail(server: HandedIn, key: str, options: str, moves: str, end: str) -> None:
    table = Table(server, key, options, ("anna", "bela"))
    first = table.letters[1].one_line
    summary = table.position().game.info.summary
    assert f": {summary}." in first
    assert re.search(r"\bwins?\b", summary), "the first letter says how one wins"
    table.play(moves)
    for address in table.addresses:
        assert end in table.newest[address].one_line
    for letter in table.letters:
        assert all(len(line) <= 76 for line in letter.text.splitlines()), letter.text
        assert WORDS_OF_BLACKBOX.search(letter.text) is None, letter.text


def test_a_game_of_chess_is_saved_for_chess_programs(server: HandedIn) -> None:
    table = Table(server, "chess", "", ("anna", "bela"))
    first = table.newest[table.addresses[0]]
    assert "body=e2" in first.html, "a cell of the board is a link"
    assert len(first.html.encode()) <= 16_000
    for seat, move in ((0, "f3"), (1, "e5"), (0, "g4"), (1, "Qh4")):
        table.reply(table.addresses[seat], move)
    table.reply(table.addresses[0], "pgn")
    letter = table.newest[table.addresses[0]]
    (file,) = letter.message.iter_attachments()
    assert file.get_filename() == "chess-1.pgn"
    assert '[White "anna"]' in file.get_content()
    assert file.get_content().endswith("\n\n1. f3 e5 2. g4 Qh4# 0-1\n")
    table.reply(table.addresses[0], "help save")
    assert ".pgn" in table.newest[table.addresses[0]].text


@pytest.mark.parametrize("key", ["go", "connect4"])
def test_talk_with_a_cell_in_it_is_no_move(server: HandedIn, key: str) -> None:
    table = Table(server, key, "", ("anna", "bela"))
    (talk, move) = ("My flat is B4, come round", "my move is b4, thanks")
    if key == "connect4":
        (talk, move) = ("Plan B it is", "I play b, thanks")
    table.reply(table.addresses[0], talk)
    assert table.position().number == 0
    assert f"To say it:  chat {talk}" in table.newest[table.addresses[0]].text
    table.reply(table.addresses[0], move)
    assert table.position().number == 1


def test_a_move_before_other_words_is_offered(server: HandedIn) -> None:
    table = Table(server, "ttt", "", ("anna", "bela"))
    table.reply(table.addresses[0], "b3 ha ha")
    assert table.position().number == 0
    letter = table.newest[table.addresses[0]]
    assert "If you mean a move, write it on a line of its own" in letter.one_line
    assert "Try this:   B3\n" in letter.text


def test_no_colour_is_chosen_before_the_first_stones(server: HandedIn) -> None:
    table = Table(server, "gomoku", "", ("anna", "bela"))
    table.reply(table.addresses[0], "black")
    assert "Place your stones first" in table.newest[table.addresses[0]].text


def test_no_chat_is_offered_with_the_cells_of_ships(server: HandedIn) -> None:
    table = Table(server, "battleships", "", ("anna", "bela"))
    for talk in ("I put the big one at a1-a5 in the corner", "My big one goes at a 1 today"):
        table.reply(table.addresses[0], talk)
        assert "chat" not in table.newest[table.addresses[0]].text.partition("This is board")[0]
    table.reply(table.addresses[0], "carrier a1-a5, c1-c4, e1-e3, g1-g3 and destroyer i1-i2")
    assert "* You placed the ships: A1-A5 C1-C4 E1-E3 G1-G3 I1-I2." in (
        table.newest[table.addresses[0]].text
    )


def test_a_chess_move_is_read_with_a_blank_in_its_square_and_a_list_of_two_is_refused(
    server: HandedIn,
) -> None:
    table = Table(server, "chess", "", ("anna", "bela"))
    table.reply(table.addresses[0], "e4\ne5")
    letter = table.newest[table.addresses[0]]
    assert '"e4,e5" is more than one move, so none was played.' in letter.one_line
    assert "Try this:   e4\n" in letter.text
    table.reply(table.addresses[0], "E 4")
    assert "You played e4." in table.newest[table.addresses[0]].one_line


@pytest.mark.parametrize("wish", ["you choose", "Auto, please!", "I don't care, anywhere"])
def test_the_server_places_ships_for_a_player_who_leaves_it_to_chance(
    server: HandedIn, wish: str
) -> None:
    table = Table(server, "battleships", "", ("anna", "bela"))
    table.reply(table.addresses[0], "I can't find it anywhere")
    assert table.position().number == 0
    table.reply(table.addresses[0], wish)
    assert "* You placed the ships: " in table.newest[table.addresses[0]].text
    assert "anna placed the ships." in table.newest[table.addresses[1]].one_line
    table.reply(table.addresses[1], "random")
    table.reply(table.addresses[0], "anywhere")
    assert '"anywhere" is not a move of Battleships.' in table.newest[table.addresses[0]].one_line


def test_looking_for_an_opponent_ends_though_the_game_is_not_installed_any_more(
    server: HandedIn,
) -> None:
    anna = server.sign_up("anna")
    server.send(anna, "hex seek anna secret")
    server.drop_letters()
    statement = update(seeks).values(game="checkers")
    server.server.writer.submit(lambda c: c.execute(statement)).result()
    server.send(anna, "seek anna secret off")
    letter = server.letter(anna)
    assert "no longer looking for an opponent for you at checkers (not installed)." in (
        letter.one_line
    )


def test_a_full_column_is_a_move_that_is_not_legal(server: HandedIn) -> None:
    table = Table(server, "connect4", "", ("anna", "bela"))
    for n in range(6):
        table.reply(table.addresses[n % 2], "d")
    table.reply(table.addresses[0], "d")
    assert '"d" is not legal now. Reply with a column: A, B, C, E, F, G.' in (
        table.newest[table.addresses[0]].one_line
    )
