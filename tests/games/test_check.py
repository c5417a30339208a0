"""`pbmserv game check` says what is wrong with a game, and in which method."""

from __future__ import annotations

import inspect
import io
import random
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from blackbox_alone import every_game

from pbmserv.cli import game_authoring
from pbmserv.cli.main import run
from pbmserv.engine import registry
from pbmserv.game import After, Game, Grid, Items, Option, Told, win
from pbmserv.games.go import Go
from pbmserv.games.liar import LiarsDice
from pbmserv.games.tictactoe import CELLS, TicTacToe
from pbmserv.testing import check, check_game, endless


@pytest.fixture(autouse=True)
def _short_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "LONGEST", 100)
    monkeypatch.setattr(endless, "LIMIT_S", 0.1)


def findings(game: Any, seeds: int = 2) -> dict[str, str]:
    return {finding.method: finding.sentence for finding in check_game(game, seeds).listed}


EMPTY_BOARD = "." * 9


class Plain(TicTacToe):
    """Three in a row.

    Without bots, so that checks are quick.
    """

    key = "plain"
    bots: ClassVar[Any] = {}


def test_a_good_game_has_no_findings() -> None:
    assert findings(Plain()) == {}


class Crashing(Plain):
    """Crashes in the middle."""

    def play(self, state, seat, move, rng):
        return {}[move] if state.count("X") == 2 else super().play(state, seat, move, rng)


class Changing(Plain):
    """Changes the state that it was given."""

    def start(self, seats, options, rng):
        return ["."] * 9

    def play(self, state, seat, move, rng):
        state[CELLS.index(move)] = "XO"[seat]
        return state


class Gambling(Plain):
    """Draws lots on its own."""

    lots = random.Random("the same ones in each run")

    def play(self, state, seat, move, rng):
        first = min(self.moves(state, seat))
        return super().play(state, seat, move if self.lots.random() < 0.5 else first, rng)


class Endless(Plain):
    """Never ends."""

    def start(self, seats, options, rng):
        return 0

    def moves(self, state, seat):
        return ["on"]

    def play(self, state, seat, move, rng):
        return state + 1

    def over(self, state):
        return None

    def show(self, state, seat):
        return str(state)


class Stuck(Plain):
    """Loops for ever, where no exception is noticed."""

    def play(self, state, seat, move, rng):
        while state.count("X") == 2:
            with suppress(Exception):
                state = super().play(state, seat, "A9", rng)
        return super().play(state, seat, move, rng)


class Numeric(Plain):
    """Lists numbers."""

    def moves(self, state, seat):
        return [n for n, mark in enumerate(state) if mark == "."]


class Shapeless(Game[str]):
    """Has nothing to look at."""

    key, title = "shapeless", "Shapeless"
    start, moves, play, over = Plain.start, Plain.moves, Plain.play, Plain.over


class Twofold(Plain):
    """Has two moves that nobody can tell apart."""

    def moves(self, state, seat):
        return [*super().moves(state, seat), *[move.lower() for move in super().moves(state, seat)]]


class Repeating(Plain):
    """Lists each move twice."""

    def moves(self, state, seat):
        return super().moves(state, seat) * 2


class Choosing(Plain):
    """Carries out moves together, and changes the state."""

    together = True

    def start(self, seats, options, rng):
        return ["."] * 9

    def play_all(self, state, moves, rng):
        for seat, move in moves.items():
            state[CELLS.index(move)] = "XO"[seat]
        return state


class Sleeping(Plain):
    """Waits for something."""

    def play(self, state, seat, move, rng):
        time.sleep(0.05)
        return super().play(state, seat, move, rng)


class Secretive(Plain):
    """Hides something without saying so."""

    def seen(self, state, seat):
        return state.replace("X", "?")

    def moves(self, state, seat):
        return [cell for cell, mark in zip(CELLS, state, strict=True) if mark == "."]

    def show(self, state, seat):
        return Grid(["".join(state)])


class Remembering(Plain):
    """Keeps things in itself."""

    def __init__(self) -> None:
        self.count = 0

    def play(self, state, seat, move, rng):
        self.count += 1
        return super().play(state, seat, move, rng)


class Unexplained(TicTacToe):
    key = "unexplained"


class Optional(Plain):
    """Has an option with many values, and one that breaks it."""

    options = (
        Option("size", "rows", range(3, 23), 3),
        Option("odd", "breaks the game", (False, True), False),
    )

    def start(self, seats, options, rng):
        return 7 if options["odd"] else EMPTY_BOARD


class Printing(Plain):
    """Prints what its author wants to see, again and again."""

    def moves(self, state, seat):
        print("state:", state.count("X"), "marks")
        return super().moves(state, seat)

    def over(self, state):
        sys.stderr.write("over?")
        return super().over(state)


def test_what_rules_print_is_shown_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    lines, first = inspect.getsourcelines(Printing)
    line = next(number for number, text in enumerate(lines, first) if "print(" in text)
    found = findings(Printing())
    assert found["moves"] == (
        f"writes 'state: 0 marks' to stdout (line {line}), which on a server is the server's own "
        "output"
    )
    assert "writes 'over?" in found["over"]
    assert "to stderr" in found["over"]
    assert set(found) == {"moves", "over"}
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("game", "method", "sentence"),
    [
        (Crashing(), "play", "raises KeyError"),
        (Changing(), "play", "changes the state"),
        (Gambling(), "play", "draw from rng"),
        (Endless(), "over", "has not ended"),
        (Stuck(), "play", "has not ended after 0.1 s of processor time"),
        (Numeric(), "moves", "0 is not a text of words"),
        (Shapeless(), "show", "is missing"),
        (Twofold(), "moves", "differ in capitals"),
        (Repeating(), "moves", "lists a move twice"),
        (Choosing(), "play_all", "changes the state"),
        (Secretive(), "hidden", "must be True"),
        (Remembering(), "Remembering", "keep everything in states"),
        (Unexplained(), "Unexplained", "has no docstring"),
        (Optional(), "moves", "(-odd)"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Plain) else None,
)
def test_faults_of_a_game_are_named(game: Any, method: str, sentence: str) -> None:
    faults = findings(game)
    assert method in faults
    assert sentence in faults[method]


@pytest.mark.parametrize(
    ("method", "value", "sentence"),
    [
        ("start", None, "returns None in place of a state"),
        ("start", "." * 1_000_001, "a state has 1000 kB; 1 MB is the most"),
        ("file", EMPTY_BOARD, "returns '.........', not a suffix and a text"),
        ("file", ("txt", EMPTY_BOARD), "the suffix is 'txt'; write one such as '.pgn'"),
        ("play", None, "returns None in place of a state"),
        ("play", After(EMPTY_BOARD, "{0} moved."), "told is '{0} moved.', not a list of sentences"),
        ("play", After(EMPTY_BOARD, [5]), "told has 5, which is not a text"),
        ("play", After(EMPTY_BOARD, ["{2} moved."]), "told names a seat that is not there: '{2} "),
        (
            "play",
            After(EMPTY_BOARD, [Told("Psst.", [2])]),
            "told has a seat that is not there: [2]",
        ),
        ("play", After(EMPTY_BOARD, next=1), "next is 1, not a list of seats"),
        ("play", After(EMPTY_BOARD, next=[2]), "next has a seat that is not there: [2]"),
        ("play", After(EMPTY_BOARD, out=[2]), "out has a seat that is not there: [2]"),
        ("play", After(EMPTY_BOARD, secret=7), "secret is 7, not a text"),
        ("over", "seat 0 has won", "returns 'seat 0 has won', which is neither None nor a result"),
        ("show", 5, "returns 5 in place of a board"),
        ("show", [5], "returns 5, not a Grid, Items or a text"),
        ("show", Items("Dice", 5), "Items has 5 in place of a list of texts"),
        ("show", "{2} begins.", "names a seat that is not there: '{2} begins.'"),
        ("show", Items("{2's} dice", ["6"]), "names a seat that is not there"),
        ("ask", 'Reply with a cell, such as "B9".', 'quotes "B9", which is no move then'),
    ],
)
def test_an_impossible_value_is_shown(method: str, value: Any, sentence: str) -> None:
    class Returning(Plain):
        """Returns the same value each time."""

    setattr(Returning, method, lambda *_: value)
    faults = findings(Returning())
    assert list(faults) == [method]
    assert sentence in faults[method]


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("bots", {"house": lambda state, seat, rng: "B2"}, "plays 'B2', which is not legal"),
        ("bots", {"house": lambda state, seat, rng: 5}, "house returns 5, which is not a text"),
        ("seats", (1, 2), "nobody can play alone"),
        ("key", "help", "must not be 'help', which is a command"),
    ],
)
def test_a_wrong_declaration_is_named(name: str, value: Any, sentence: str) -> None:
    class Declared(Plain):
        """Says something wrong about itself."""

    setattr(Declared, name, value)
    assert sentence in findings(Declared())[name]


class Numbers(Game[tuple]):
    """Write the higher number.

    Each player holds a card and writes a number in secret. The higher number wins, and then the
    higher card.
    """

    key, title, hidden, draws = "numbers", "Numbers", True, False

    def start(self, seats, options, rng):
        return (rng.below(50), rng.below(50)), (0, 0)

    def first(self, state):
        return (0, 1)

    def moves(self, state, seat):
        return [] if state[1][seat] else ["1", "2", "3", "4"]

    def play(self, state, seat, move, rng):
        numbers = tuple(int(move) if n == seat else number for n, number in enumerate(state[1]))
        notes = [Told(f"{{{seat}}} wrote {move}.", [seat]), Told(f"{{{seat}}} wrote.", [1 - seat])]
        return After((state[0], numbers), notes, secret="a number", final=True)

    def over(self, state):
        cards, numbers = state
        if not all(numbers) or -1 in cards:
            return None
        return win(0 if (numbers[0], cards[0]) >= (numbers[1], cards[1]) else 1)

    def seen(self, state, seat):
        cards, numbers = state
        return (
            tuple(card if n == seat else self.back(card) for n, card in enumerate(cards)),
            tuple(number if n == seat else self.cover(number) for n, number in enumerate(numbers)),
        )

    def back(self, card):
        return -1

    def cover(self, number):
        return number and 9

    def show(self, state, seat):
        return f"The numbers are {state[1][0]} and {state[1][1]}."


class Marked(Numbers):
    """Has marked cards: their backs tell whether they are odd."""

    def back(self, card):
        return -2 + card % 2 if card >= 0 else card


class Open(Numbers):
    """Says that it hides something, and does not."""

    def seen(self, state, seat):
        return state


class Thin(Numbers):
    """Has thin paper, through which one reads whether a number is large."""

    def cover(self, number):
        return number if number in {0, 8, 9} else 8 if number > 2 else 9


class Gossiping(Numbers):
    """Tells everybody the number."""

    def play(self, state, seat, move, rng):
        return replace(super().play(state, seat, move, rng), told=[f"{{{seat}}} wrote {move}."])


class Drawn(Numbers):
    """Draws the number, and tells everybody."""

    def moves(self, state, seat):
        return [] if state[1][seat] else ["any"]

    def play(self, state, seat, move, rng):
        number = str(1 + rng.below(4))
        done = super().play(state, seat, number, rng)
        return replace(done, told=[f"{{{seat}}} drew {number}."])


@pytest.mark.parametrize(
    ("game", "method", "sentence"),
    [
        (Numbers(), "", ""),
        (Marked(), "seen", "depends on what it hides"),
        (Open(), "seen", "hides nothing from anybody, though hidden is True"),
        (Thin(), "seen", "can tell which secret move was made"),
        (Gossiping(), "play", "told says something hidden"),
        (Drawn(), "play", "told says something hidden"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Numbers) else None,
)
def test_secrets_that_leak_are_named(game: Any, method: str, sentence: str) -> None:
    leaks = check_game(game, 4).listed
    assert {leak.method for leak in leaks} == ({method} if method else set())
    assert any(sentence in leak.sentence for leak in leaks) or not method


def test_a_new_package_is_a_game_that_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["game", "new", "nim"]) == 0
    assert run(["game", "new", "nim"]) == 1
    assert run(["game", "new", "blackbox"]) == 1
    assert "a game blackbox is installed already" in capsys.readouterr().err
    assert run(["game", "new", "help"]) == 1
    assert "a command is called help" in capsys.readouterr().err
    file = "pbm-nim/pbm_nim/__init__.py"
    assert run(["game", "check", file, "--seeds", "2"]) == 0
    assert "Nothing is wrong." in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.StringIO("4\n2\nresign\n"))
    assert run(["game", "try", file, "--bot", "house-easy"]) == 0
    shown = capsys.readouterr().out
    assert "Reply with a move: 1, 2 or 3." in shown
    assert "You played 2." in shown
    assert "You have lost: resigned." in shown


def test_a_move_that_waits_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "LONGEST_WAIT_S", 0.04)
    assert "rules must not sleep" in findings(Sleeping())["play"]


UNORDERED = """
from pbmserv.game import Game, win

class Lots(Game[tuple]):
    "One of nine names is drawn, by its place in a set."
    key, title = "lots", "Lots"

    def start(self, seats, options, rng):
        return ()

    def moves(self, state, seat):
        return ["draw"]

    def play(self, state, seat, move, rng):
        return (*state, ORDER[rng.below(9)])

    def over(self, state):
        return win(0) if len(state) > 8 else None

    def show(self, state, seat):
        return "Lots were drawn."

ORDER = list({"anna", "bela", "cleo", "dora", "emil", "fred", "gina", "hugo", "ines"})
GAME = Lots()
"""


def test_a_game_that_another_process_plays_otherwise_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "lots.py"
    file.write_text(UNORDERED, encoding="utf-8")
    assert run(["game", "check", str(file), "--seeds", "2"]) == 1
    assert "play: gives another state in another process" in capsys.readouterr().err
    ordered = UNORDERED.replace("= list({", "= sorted({")
    kept = ordered.replace("ORDER[rng.below(9)]", "frozenset(ORDER)")
    for text in (ordered, kept):  # a set that is only kept is the same in any order
        file.write_text(text, encoding="utf-8")
        assert run(["game", "check", str(file), "--seeds", "2"]) == 0


def test_a_file_may_have_several_versions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "versions.py"
    text = inspect.getsource(sys.modules[TicTacToe.__module__])
    newer = """
class Newer(TicTacToe):
    "The second version."
    version, bots = 2, {}
    def over(self, state):
        return 5
GAMES = (TicTacToe(), Newer())
"""
    file.write_text(text.replace("GAME = TicTacToe()", newer), encoding="utf-8")
    assert run(["game", "check", str(file), "--seeds", "1"]) == 1
    assert "over: returns 5" in capsys.readouterr().err


def test_several_bots_have_names_of_their_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = inspect.getfile(LiarsDice)
    monkeypatch.setattr("sys.stdin", io.StringIO("\n1 two\nquit\n"))
    assert run(["game", "try", file, "--seats", "3", "--bot", "house", "--seed", "a"]) == 0
    shown = capsys.readouterr().out
    assert "house-2" in shown
    assert '""' not in shown, "an empty line is no move"
    assert run(["game", "try", file, "--seats", "9"]) == 1
    assert "is for 2 to 6 players, not 9" in capsys.readouterr().err


def test_a_slow_check_says_how_far_it_has_come(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(game_authoring, "PROGRESS_S", 0.0)
    assert run(["game", "check", inspect.getfile(TicTacToe), "--seeds", "2"]) == 0
    shown = capsys.readouterr()
    bots = len(TicTacToe.bots)
    assert f"Playing game 2 of {2 + bots}, move 5 ...\n" in shown.err
    assert f"Playing game {2 + bots} of {2 + bots} (bot house" in shown.err
    assert "Nothing is wrong." in shown.out


def test_a_key_of_an_installed_game_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(registry, "announced", every_game)
    file = tmp_path / "mine.py"
    source = Path(inspect.getfile(TicTacToe))
    file.write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    note = "the key ttt belongs to pbmserv.games.tictactoe, which is installed"
    assert run(["game", "check", str(file), "--seeds", "1"]) == 0
    assert note in capsys.readouterr().out
    assert run(["game", "check", "pbmserv.games.tictactoe:GAME", "--seeds", "1"]) == 0
    assert "Note:" not in capsys.readouterr().out


def test_a_game_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["game", "check", "nowhere"]) == 1
    assert "no installed game is called nowhere" in capsys.readouterr().err
    assert run(["game", "check", str(Path(__file__).parent)]) == 1
    assert "is a folder; name the file in it" in capsys.readouterr().err
    assert run(["game", "check", "blackbox"]) == 1
    assert "blackbox is built on pbmserv.engine" in capsys.readouterr().err


def test_a_game_is_tried_with_options(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    go = inspect.getfile(Go)
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    assert run(["game", "try", go, "-size=13", "--bot", "house-easy"]) == 0
    assert "N" in capsys.readouterr().out.splitlines()[2], "the name of the thirteenth column"
    for wrong, why in (("size=9", "Go has no option"), ("-size=99", "-size")):
        assert run(["game", "try", go, wrong]) == 1
        assert why in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("import pbmserv.game\ndef start(self)\n", "line 2: expected ':'"),
        ("import nowhere\n", "line 1: ModuleNotFoundError: No module named 'nowhere'"),
        ("import json\n\njson.loads('[')\n", "line 3: JSONDecodeError"),
        ("import sys\nsys.exit(0)\n", "line 2: SystemExit"),
    ],
)
def test_the_line_of_a_file_that_cannot_be_run_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: str, why: str
) -> None:
    file = tmp_path / "unfinished.py"
    file.write_text(source)
    assert run(["game", "check", str(file)]) == 1
    assert f"{file}, {why}" in capsys.readouterr().err
