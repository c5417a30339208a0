"""The server's part around the rules: passes, taps, elimination, moves made together."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

import pytest

from pbmserv.drawing.filters import drawn_aloud, drawn_letter, drawn_page, drawn_text
from pbmserv.engine.adapter import AdaptedGame
from pbmserv.engine.position import Position, opening
from pbmserv.engine.record import GameRecord
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Move, Seat
from pbmserv.errors import Ambiguous, Illegal, MoveError, NotUnderstood, OptionError
from pbmserv.game import After, Game, Grid, Items, Piece, Result, win
from pbmserv.game.cells import laid_out
from pbmserv.games import backgammon, chess, connect4, go, liar, tictactoe
from pbmserv.games import hex as hex_
from pbmserv.testing import check_game

NAMES = ("anna", "bela")

BEATS = {"rock": "scissors", "scissors": "paper", "paper": "rock"}


class Hands(Game[tuple]):
    """Rock, paper, scissors; the last hand wins.

    All choose at once. Hands that are beaten by another one are out, unless all are.
    """

    key, title, seats, together, draws = "hands", "Hands", (3, 3), True, False

    def start(self, seats, options, rng):
        return tuple(range(seats)), 0

    def moves(self, state, seat):
        return list(BEATS) if seat in state[0] else []

    def play_all(self, state, moves, rng):
        live, rounds = state
        beaten = [
            seat for seat in live if any(BEATS[value] == moves[seat] for value in moves.values())
        ]
        out = beaten if len(beaten) < len(live) else []
        left = tuple(seat for seat in live if seat not in out)
        return After((left, rounds + 1), out=out)

    def over(self, state):
        left, _ = state
        places = tuple(1 if seat in left else 2 for seat in range(3))
        return Result(places, "the last hand") if len(left) == 1 else None

    def show(self, state, seat):
        return f"{len(state[0])} hands are left after {state[1]} rounds."

    def leave(self, state, seat, rng):
        return tuple(hand for hand in state[0] if hand != seat), state[1]


def begun(game: AdaptedGame, seats: int = 2, options: tuple[str, ...] = ()) -> Position:
    return opening(game, GameRecord(game.info.key, 1, seats, options, b"engine" * 5))


def moved(position: Position, seat: int, text: str) -> Position:
    game = position.game
    return position.move(Seat(seat), game.parse(game.view(position.state, Seat(seat)), text))


def notes_of(position: Position) -> list[str]:
    return [note.kind for note in position.step.notes]


def test_moves_made_together_are_secret_until_all_are_there() -> None:
    position = begun(AdaptedGame(Hands()), 3)
    assert position.game.to_act(position.state) == {0, 1, 2}
    position = moved(position, 1, "Rock!")
    assert position.game.to_act(position.state) == {0, 2}
    assert not position.is_news_for(Seat(0))
    assert "rock" not in repr(position.game.view(position.state, Seat(0)))
    assert "rock" in repr(position.game.view(position.state, Seat(1)))
    position = moved(moved(position, 0, "scissors"), 2, "rock")
    assert notes_of(position).count("out") == 1
    assert position.game.to_act(position.state) == {1, 2}
    position = moved(moved(position, 2, "paper"), 1, "rock")
    assert position.outcome is not None
    assert position.outcome.places == (2, 2, 1)


def test_a_game_played_together_keeps_the_contract() -> None:
    assert check_game(Hands(), 3).listed == []


class Stuck(Game[tuple]):
    """Numbers; the highest wins.

    A test of passes.
    """

    key, title = "stuck", "Stuck"

    def start(self, seats, options, rng):
        return (3, 1)

    def moves(self, state, seat):
        return ["take"] if state[seat] else []

    def play(self, state, seat, move, rng):
        return tuple(left - (n == seat) for n, left in enumerate(state))

    def over(self, state):
        return win(0, "nothing is left") if state == (0, 0) else None

    def show(self, state, seat):
        return "-".join(map(str, state))


def test_a_seat_without_moves_passes() -> None:
    position = begun(AdaptedGame(Stuck()))
    position = moved(moved(position, 0, "take"), 1, "take")
    position = moved(position, 0, "take")
    assert notes_of(position) == ["told", "passed"]
    assert position.game.to_act(position.state) == {0}
    position = moved(position, 0, "take")
    assert position.outcome is not None


def test_taps_make_moves_of_one_cell_of_two_and_of_a_column() -> None:
    game = AdaptedGame(chess.GAME)
    view = game.view(begun(game).state, Seat(0))
    assert game.tapped(view, "", "e2") == "e2"
    assert game.tapped(view, "e2", "e4") == "e2e4"
    assert game.tapped(view, "e2", "e2") == ""
    page = drawn_page(view, NAMES, view.moves, "e2")[0].rows
    assert page.count('aria-pressed="true"') == 1
    assert 'value="e2" aria-pressed="true"' in page
    assert 'value="e4"' in page
    with pytest.raises(Ambiguous):
        AdaptedGame(Pairs()).parse(
            AdaptedGame(Pairs()).view(begun(AdaptedGame(Pairs())).state, Seat(0)), "a1"
        )
    game = AdaptedGame(connect4.GAME)
    assert game.tapped(game.view(begun(game).state, Seat(0)), "", "D3") == "D"
    view = game.view(moved(begun(game), 0, "d").state, Seat(1))
    cells = laid_out(view.parts[0], view.moves).cells
    taps = {cell.name: cell.tap for cell in cells if cell.name.startswith("D")}
    assert taps == {"D1": "", **{f"D{row}": "D" for row in range(2, 7)}}


class Pairs(tictactoe.TicTacToe):
    """Moves of two cells.

    For half moves.
    """

    key = "pairs"
    bots: Any = {}  # noqa: RUF012

    def moves(self, state, seat):
        return ["A1B1", "A1C1", "B1C1"]


def test_a_half_move_that_can_mean_one_thing_is_that_move() -> None:
    game = AdaptedGame(Pairs())
    view = game.view(begun(game).state, Seat(0))
    assert game.parse(view, "b1").text == "B1C1"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("B2", None),
        ("b2.", None),
        ("2 B", None),
        ("hello", NotUnderstood),
        ("I play b2", NotUnderstood),
        ("b9", Illegal),
        ("b 9", Illegal),
        ("draw", Illegal),
        ("swap", NotUnderstood),
    ],
)
def test_texts(text: str, error: type[Exception] | None) -> None:
    game = AdaptedGame(tictactoe.GAME)
    view = game.view(begun(game).state, Seat(0))
    if error is None:
        assert game.parse(view, text).text == "B2"
        return
    with pytest.raises(error):
        game.parse(view, text)


def test_who_resigns_later_has_a_better_place() -> None:
    position = begun(AdaptedGame(liar.GAME), seats=4)
    for seat in (1, 3, 0):
        position = position.withdraw(Seat(seat))
    assert position.outcome is not None
    assert position.outcome.places == (2, 4, 1, 3)


def test_a_draw_is_claimed_by_one_of_two_where_there_are_draws() -> None:
    class Three(tictactoe.TicTacToe):
        """Is for three players."""

        key, seats = "three", (3, 3)

    outcome = begun(AdaptedGame(tictactoe.GAME)).claim(Seat(0)).outcome
    assert outcome is not None
    assert outcome.places == (1, 1)
    for game, seats in ((hex_.GAME, 2), (Three(), 3)):
        with pytest.raises(Illegal):
            begun(AdaptedGame(game), seats).claim(Seat(0))


def test_an_option_with_two_values_is_refused() -> None:
    game = AdaptedGame(go.GAME)
    assert game.options(("-size=13", "-size=13"), 2)["size"] == 13
    with pytest.raises(OptionError):
        game.options(("-size=13", "-size=19"), 2)


def test_a_preview_shows_no_dice_that_are_not_rolled_yet() -> None:
    game = AdaptedGame(backgammon.GAME)
    position = begun(game)
    (seat,) = game.to_act(position.state)
    view = game.view(position.state, seat)
    preview = game.preview(view, seat, view.example)
    assert (preview.view, preview.is_unforeseen) == (view, True)
    game = AdaptedGame(chess.GAME)
    view = game.view(begun(game).state, Seat(0))
    preview = game.preview(view, Seat(0), "e4")
    assert (preview.view.table.last, preview.is_unforeseen) == ("e2e4", False)


def test_a_preview_shows_nothing_of_a_game_with_secrets() -> None:
    class Hiding(tictactoe.TicTacToe):
        """Hides something."""

        key, hidden = "hiding", True

    game = AdaptedGame(Hiding())
    view = game.view(begun(game).state, Seat(0))
    preview = game.preview(view, Seat(0), "b2")
    assert (preview.view, preview.notes, preview.is_unforeseen) == (view, (), True)


def test_a_wish_to_swap_is_understood_among_other_words() -> None:
    game = AdaptedGame(hex_.GAME)
    view = game.view(moved(begun(game), 0, "c3").state, Seat(1))
    for text in ("I would rather swap with you", "swap sides please", "Can I swap?"):
        assert game.meant(view, text) == Move("swap")
    for text in ("I don't want to swap", "e5, no swap", "should I swap?", "let us swap emails"):
        assert game.meant(view, text) is None


def test_sides_can_be_swapped_after_another_first_move() -> None:
    """The first one was taken back. The second player could not swap any more."""
    position = begun(AdaptedGame(hex_.GAME))
    for seat, text in ((0, "f6"), (0, "takeback"), (1, "accept"), (0, "f6")):
        position = moved(position, seat, text)
    position = moved(position, 1, "swap")
    assert position.state.sides == (1, 0)
    assert not moved(position, 0, "a1").state.may_swap


def test_a_move_beside_talk_is_offered_and_not_played() -> None:
    game = AdaptedGame(chess.GAME)
    view = game.view(begun(game).state, Seat(0))
    for text, example in (
        ("Nf3, dear", "Nf3"),
        ("Knight to f3, ha ha!", "Knight to f3"),
        ("never Nf3", ""),
        ("Nf3 or maybe Nc3", ""),
        ("see you at 5", ""),
    ):
        with pytest.raises(NotUnderstood) as refused:
            game.parse(view, text)
        assert refused.value.refusal.example == example
        assert game.meant(view, text) is None


@pytest.mark.parametrize(
    ("before", "text", "move"),
    [
        ("", "knight to f3", "g1f3"),
        ("", "Pawn e4", "e2e4"),
        ("", "1. e4", "e2e4"),
        ("e4", "1...e5!?", "e7e5"),
        ("", "\u201ce4\u201d", "e2e4"),
        ("", "e4\u2026", "e2e4"),
        ("e4 d5", "pawn takes d5", "e4d5"),
        ("e4 d5", "e4 takes d5", "e4d5"),
        ("e4 e5 Bc4 Nf6", "bishop takes pawn on f7", "c4f7"),
        ("e4 d5", "take pawn on d5", "e4d5"),
        ("e4 d5 Nc3 Nf6 h3 h6", "take pawn with knight", "c3d5"),
        ("e4 d5 exd5", "queen takes pawn", "d8d5"),
        ("e4 e5 Nf3 Nc6 Bb5 a6", "bishop takes knight", "b5c6"),
        ("e4 e5 Nf3 Nc6 Bb5 a6", "takes c6", "b5c6"),
        ("e4 a6 e5 d5", "pawn takes pawn", "e5d6"),
        ("e4 e5 Bc4 Nf6 Nf3 Nc6", "castles king side", "e1g1"),
        ("e4 e5 Bc4 Nf6 Nf3 Nc6", "castle", "e1g1"),
    ],
)
def test_chess_reads_pieces_by_their_names(before: str, text: str, move: str) -> None:
    game = AdaptedGame(chess.GAME)
    position = begun(game)
    for seat, earlier in enumerate(before.split()):
        position = moved(position, seat % 2, earlier)
    (mover,) = game.to_act(position.state)
    assert game.parse(game.view(position.state, mover), text) == Move(move)


def test_a_draw_is_offered_in_other_words() -> None:
    game = AdaptedGame(chess.GAME)
    position = moved(moved(begun(game), 0, "e4"), 1, "e5")
    view = game.view(position.state, Seat(0))
    for text in ("Let's call it a draw?", "Would you like a draw", "draw?"):
        assert game.parse(view, text) == Move("draw", free=True)
    for text in ("no draw", "I do not want a draw", "this is not a draw", "draw to e5"):
        with pytest.raises(MoveError):
            game.parse(view, text)


def test_chess_hears_what_somebody_takes() -> None:
    game = AdaptedGame(chess.GAME)
    position = begun(game)
    for seat, earlier in enumerate(("e4", "d5", "Nc3", "Nf6", "h3", "h6")):
        position = moved(position, seat % 2, earlier)
    view = game.view(position.state, Seat(0))
    assert game.meant(view, "I take your pawn on d5 with my knight!") == Move("c3d5")
    assert game.meant(view, "Knight to b5, check!") == Move("c3b5")
    assert game.meant(view, "I take the pawn on d5") is None  # a pawn and a knight can
    with pytest.raises(Illegal, match="e4d5 or c3d5"):
        game.parse(view, "takes d5")


def test_a_board_is_turned_for_the_second_player() -> None:
    game = AdaptedGame(chess.GAME)
    state = begun(game).state
    first, second = (drawn_text(game.view(state, Seat(n)), ("anna", "bela")) for n in (0, 1))
    assert first.splitlines()[0].split() == list("abcdefgh")
    assert second.splitlines()[0].split() == list("hgfedcba")


def test_texts_of_a_board_name_the_players() -> None:
    class Named(tictactoe.TicTacToe):
        """Three in a row."""

        key = "named"

        def show(self, state, seat):
            grid = Grid(["X."], title="{1's} board")
            return [grid, "Points: {0} 3, {1} 4", Items("Stores", ["{0} 2", "{1} 1"])]

    game = AdaptedGame(Named())
    view = game.view(begun(game).state, Seat(1))
    for shown in (drawn_text(view, NAMES), "\n".join(drawn_aloud(view, NAMES))):
        assert shown.startswith("Your board")
        assert "Points: anna 3, you 4." in shown
        assert "Stores: anna 2" in shown
        assert "you 1" in shown
        assert "{" not in shown
    for seat, owner in enumerate(("of yours", "of anna")):
        assert f"Row 1: A1 X {owner}." in drawn_aloud(
            game.view(begun(game).state, Seat(seat)), NAMES
        )


@pytest.mark.parametrize("shape", ["squares", "lines", "hexes"])
def test_a_cell_with_several_pieces_shows_their_number(
    shape: Literal["squares", "lines", "hexes"],
) -> None:
    class Sown(tictactoe.TicTacToe):
        """Three in a row."""

        key = "sown"

        def show(self, state, seat):
            return Grid(["s.s"], {"s": Piece("o", "stones")}, counts={"A1": 12}, shape=shape)

    game = AdaptedGame(Sown())
    view = game.view(begun(game).state, Seat(0))
    assert "o12" in drawn_text(view, NAMES)
    assert ">o12<" in drawn_letter(view, NAMES, None)[0].rows
    assert ">o12<" in drawn_page(view, NAMES, (), "")[0].rows
    drawing = game.drawing(view, Seat(0), None)
    assert drawing is not None
    assert [shape.text for shape in drawing.shapes if shape.text.startswith("o")] == ["o12", "o"]


@pytest.mark.parametrize(
    ("name", "text", "move"),
    [
        ("chess", "Nf3 please", "g1f3"),
        ("chess", "I play e4, thank you!", "e2e4"),
        ("chess", "My move is Nc3.", "b1c3"),
        ("liar", "I bid 2 fives, please", "2 fives"),
        ("chess", "Should I play Nf3?", None),
        ("chess", "My flat is e4", None),
        ("chess", "Nf3 or Nc3", None),
        ("chess", "please", None),
    ],
)
def test_talk_around_a_move_that_a_game_reads_itself(
    name: str, text: str, move: str | None
) -> None:
    game = AdaptedGame(import_module(f"pbmserv.games.{name}").GAME)
    table = game.setup(2, game.options((), 2), Rng(bytes(32), 0))
    meant = game.meant(game.view(table, Seat(0)), text)
    assert (meant and meant.text) == move


def test_a_word_of_a_move_that_comes_too_early_is_illegal_and_not_unknown() -> None:
    class Dice(tictactoe.TicTacToe):
        """Roll, and hold."""

        key = "dice"
        words = ("roll", "hold")

        def moves(self, state, seat):
            return ["roll"]

    game = AdaptedGame(Dice())
    view = game.view(begun(game).state, Seat(0))
    with pytest.raises(Illegal):
        game.parse(view, "hold")
    with pytest.raises(NotUnderstood):
        game.parse(view, "fold")
