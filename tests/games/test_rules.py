"""Rules of the games by published counts and by examples; `test_oracles` plays whole games."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from chess_positions import of_fen, perft
from examples import DEEP
from rows import rows

from pbmserv.engine.rng import Rng
from pbmserv.engine.table import CountedRng
from pbmserv.game import After, No
from pbmserv.games import backgammon, battleships, chess, go, gomoku, liar
from pbmserv.games import hex as hex_

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
ENDING = "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"
PROMOTIONS = "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1"
BISHOP_OR_PAWN = "4k3/8/8/8/2p5/1P6/8/4KB2 w - - 0 1"
CHECKS = "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8"


def chance(seed: int = 0):
    return CountedRng(Rng(b"rules", seed))


def played(game, moves: str, state=None, **options):
    """The state after moves of seats that take turns."""
    state = game.start(2, options, chance()) if state is None else state
    for n, move in enumerate(moves.split()):
        seat = n % 2
        done = game.play(state, seat, game.read(state, seat, move), chance(n))
        state = done.state if isinstance(done, After) else done
    return state


# -- chess: https://www.chessprogramming.org/Perft_Results


@rows(
    ("fen", "usual", "deep"),
    [
        (START, (20, 400), (8_902, 197_281)),
        (KIWIPETE, (48, 2_039), (97_862,)),
        (ENDING, (14, 191, 2_812), (43_238, 674_624)),
        (PROMOTIONS, (6, 264, 9_467), (422_333,)),
        (CHECKS, (44, 1_486), (62_379,)),
    ],
)
def test_chess_has_as_many_lines_as_others_count(
    fen: str, usual: tuple[int, ...], deep: tuple[int, ...]
) -> None:
    position = of_fen(fen)
    counts = (*usual, *deep) if DEEP else usual
    assert tuple(perft(position, n + 1) for n in range(len(counts))) == counts


@rows(
    ("number", "counts"),
    [(518, (20, 400, 8_902)), (0, (19, 361, 7_735)), (959, (19, 361, 7_735))],
)
def test_the_first_rows_of_chess960(number: int, counts: tuple[int, ...]) -> None:
    row = chess.board_960(number)
    assert sorted(row) == sorted("RNBQKBNR")
    assert row.index("R") < row.index("K") < row.rindex("R")
    assert row.index("B") % 2 != row.rindex("B") % 2
    if number == 518:
        board = row.lower() + chess.START[8:56] + row
        rooks = frozenset(n for n, piece in enumerate(board) if piece in "Rr")
        position = chess.Position(board, rooks=rooks, is_960=True)
        assert tuple(perft(position, n + 1) for n in range(3)) == counts


def test_all_first_rows_of_chess960_differ() -> None:
    assert len({chess.board_960(n) for n in range(960)}) == 960


@rows(
    ("moves", "why"),
    [
        ("f3 e5 g4 Qh4", "checkmate"),
        ("Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8", "the same position for the third time"),
        ("e4 Nf6 Nf3 Ng8 Ng1 Nf6 Nf3 Ng8 Ng1", "the same position for the third time"),
        (
            "e3 a5 Qh5 Ra6 Qxa5 h5 h4 Rah6 Qxc7 f6 Qxd7 Kf7 Qxb7 Qd3 Qxb8 Qh7 Qxc8 Kg6 Qe6",
            "stalemate",
        ),
    ],
)
def test_the_ends_of_chess(moves: str, why: str) -> None:
    result = chess.GAME.over(played(chess.GAME, moves, chess960=False))
    assert result is not None
    assert result.why == why


@rows(
    ("fen", "quiet", "why"),
    [
        (ENDING, 99, ""),
        (ENDING, 100, "fifty moves without a capture or a pawn's move"),
        ("4k3/8/8/8/8/8/2b5/B3K3 w - - 0 1", 0, ""),
        ("4k3/8/8/8/8/8/3b4/B3K3 w - - 0 1", 0, "neither side can mate"),
    ],
)
def test_the_draws_of_chess(fen: str, quiet: int, why: str) -> None:
    result = chess.GAME.over(replace(of_fen(fen), quiet=quiet))
    assert (result.why if result else "") == why


@rows(
    ("fen", "text", "move"),
    [
        (START, "Nf3", "g1f3"),
        (START, "e2-e4", "e2e4"),
        (START, "E4", "e2e4"),
        (KIWIPETE, "O-O", "e1g1"),
        (KIWIPETE, "0-0-0", "e1c1"),
        (KIWIPETE, "dxe6", "d5e6"),
        (CHECKS, "dxc8=Q", "d7c8q"),
        (CHECKS, "d7c8n", "d7c8n"),
        (CHECKS, "d7c8", "d7c8q"),
        ("4k3/8/8/8/8/8/4K3/R6R w - - 0 1", "Rad1", "a1d1"),
        (BISHOP_OR_PAWN, "bxc4", "b3c4"),
        (BISHOP_OR_PAWN, "Bxc4", "f1c4"),
        (BISHOP_OR_PAWN, "Bc4", "f1c4"),
    ],
)
def test_notations_of_chess(fen: str, text: str, move: str) -> None:
    assert chess.GAME.read(of_fen(fen), 0, text) == move


@rows(("fen", "text"), [("4k3/8/8/8/8/8/4K3/R6R w - - 0 1", "Rd1"), (BISHOP_OR_PAWN, "bc4")])
def test_a_move_of_two_pieces_is_not_guessed(fen: str, text: str) -> None:
    with pytest.raises(No, match="name its first square"):
        chess.GAME.read(of_fen(fen), 0, text)


@rows(
    ("fen", "text", "why"),
    [
        (START, "Ke2", "No king of yours can go to e2 now."),
        (START, "queen h5", "No queen of yours can go to h5 now."),
        (START, "qh5", "No queen of yours can go to h5 now."),
        (START, "e5", "No pawn of yours can go to e5 now."),
        (START, "exd5", "No pawn of yours can go to d5 now."),
        (START, "pawn takes d7", "No pawn of yours can go to d7 now."),
        (START, "queen takes knight", "It is not a legal move here."),
        (START, "e2e5", "The pawn on e2 cannot go to e5 now."),
        (START, "Ng1h4", "No knight of yours can go to h4 now."),
        (START, "R1d1", "No rook of yours can go to d1 now."),
        (START, "e9", "There is no square e9."),
        (START, "O-O", "You cannot castle like that now."),
        (START, "castle", "You cannot castle like that now."),
        (START, "f2f3f4", "It is not a legal move here."),
        (START, "g1", "Name the square to which the knight on g1 goes, too."),
        (START, "e7", "The piece on e7 is not yours."),
        (START, "e4e5", "There is no piece on e4."),
        ("4k3/4r3/8/8/8/4N3/8/4K3 w - - 0 1", "Nd5", "That would leave your king in check."),
        ("4k3/4r3/8/8/8/8/3N4/4K3 w - - 0 1", "Nb3", "Your king is in check, and this move"),
    ],
)
def test_a_refusal_of_chess_says_why(fen: str, text: str, why: str) -> None:
    with pytest.raises(No, match=f"^{re.escape(why)}"):
        chess.GAME.read(of_fen(fen), 0, text)


# -- go


def test_a_ko_of_go_is_not_taken_back_at_once() -> None:
    state = played(go.GAME, "d5 e5 c4 f4 d3 e3 e4 d4", size=9, komi=7.5, handicap=0)
    with pytest.raises(No, match="superko"):
        go.GAME.read(state, 0, "e4")


def test_suicide_is_not_allowed_in_go() -> None:
    state = played(go.GAME, "a2 e5 b1 e4", size=9, komi=7.5, handicap=0)
    with pytest.raises(No, match="no liberty"):
        go.GAME.read(state, 1, "a1")


def test_dead_without_a_stone_is_refused_in_go() -> None:
    """It stands in "nothing is dead" and in "everything is dead"."""
    state = played(go.GAME, "c5 g5 pass pass", size=9, komi=0.5, handicap=0)
    with pytest.raises(No, match="or reply none"):
        go.GAME.read(state, 0, "dead")


def test_dead_stones_of_go_are_agreed_on() -> None:
    state = played(go.GAME, "c5 g5 pass pass", size=9, komi=0.5, handicap=0)
    state = go.GAME.play(state, 0, go.GAME.read(state, 0, "dead g5"), chance()).state
    assert go.GAME.over(state) is None
    state = go.GAME.play(state, 1, "agree", chance()).state
    result = go.GAME.over(state)
    assert result is not None
    assert (result.places, result.why) == ((1, 2), "black by 80.5 points")


@rows("count", range(2, 10))
def test_handicap_stones_are_symmetric(count: int) -> None:
    for size in (9, 13, 19):
        cells = go.star_points(size, count)
        assert len(set(cells)) == count
        last = size * size - 1
        if count != 3:
            assert {last - cell for cell in cells} == set(cells)


def test_white_gets_a_point_for_each_handicap_stone() -> None:
    state = go.GAME.start(2, {"size": 9, "komi": 0.5, "handicap": 3}, chance())
    assert go.lead(state, state.board) == 81 - 3 - 0.5


# -- gomoku


def test_swap_2_gives_the_second_player_the_choice() -> None:
    game = gomoku.GAME
    state = game.start(2, {"opening": "swap2", "exact": False}, chance())
    state = game.play(state, 0, game.read(state, 0, "h8 i9 g7"), chance()).state
    assert [state.board.count(stone) for stone in "XO"] == [2, 1]
    white = game.play(state, 1, "white", chance())
    assert white.next == [1], "white has a stone less"
    assert white.state.black == 0
    two = game.play(state, 1, game.read(state, 1, "a1 b2"), chance()).state
    chosen = game.play(two, 0, "black", chance())
    assert chosen.next == [1]
    assert chosen.state.black == 0


@rows(("exact", "wins"), [(False, True), (True, False)])
def test_six_in_a_row(exact: bool, wins: bool) -> None:
    game = gomoku.GAME
    state = game.start(2, {"opening": "free", "exact": exact}, chance())
    for n, name in enumerate(
        ["a1", "a15", "b1", "b15", "c1", "c15", "e1", "e15", "f1", "f15", "d1"]
    ):
        state = game.play(state, n % 2, name.upper(), chance())
    assert (game.over(state) is not None) == wins


# -- backgammon


@rows(
    ("men", "dice", "moves"),
    [
        ({24: 1}, (6, 5), {"24/18 18/13"}),
        ({6: 1, 3: 1}, (6, 5), {"6/off 3/off", "6/1 3/off"}),
        ({25: 1, 6: 1}, (1, 2), {"bar/24 24/22", "bar/24 6/4", "bar/23 6/5"}),
        ({2: 1}, (6, 5), {"2/off"}),
        ({24: 1, 13: -2}, (5, 6), {"24/18"}),
    ],
)
def test_plays_of_backgammon(men: dict[int, int], dice: tuple[int, int], moves: set[str]) -> None:
    points = [men.get(n, 0) for n in range(26)]
    legal = {backgammon.text_of(play) for play in backgammon.plays(points, 0, dice).values()}
    assert legal == moves


@rows(
    ("text", "steps"),
    [
        ("13/7 8/7", ((13, 7), (8, 7))),
        ("24/18/13", ((24, 18), (18, 13))),
        ("bar/22*", ((25, 22),)),
        ("6/off(2)", ((6, 0), (6, 0))),
        ("13 7 8 7", ((13, 7), (8, 7))),
        ("13-7, 8-7", ((13, 7), (8, 7))),
        ("13/7 and 8/7", ((13, 7), (8, 7))),
        ("From 13 to 7, then bar to 22", ((13, 7), (25, 22))),
    ],
)
def test_notations_of_backgammon(text: str, steps: tuple[tuple[int, int], ...]) -> None:
    assert backgammon.read_steps(text) == steps


@rows(("text", "answer"), [("Accept", "take"), ("decline", "drop"), ("reject", "drop")])
def test_a_double_is_answered_like_other_offers(text: str, answer: str) -> None:
    board = backgammon.GAME.start(2, {"match": 3, "cube": True}, chance())
    assert backgammon.GAME.read(replace(board, stage="take"), 1, text) == answer


def test_nobody_doubles_in_the_one_game_after_a_player_comes_within_a_point_of_the_match() -> None:
    game = backgammon.GAME
    board = replace(game.start(2, {"match": 3, "cube": True}, chance()), score=(1, 0))
    crawford = game.scored(board, 0, 1, [], chance(1)).state
    after = game.scored(crawford, 1, 1, [], chance(2)).state
    last = game.scored(after, 1, 1, [], chance(3)).state
    for score, state, may_double in (
        ((2, 0), crawford, False),
        ((2, 1), after, True),
        ((2, 2), last, True),
    ):
        assert (state.score, state.may_double) == (score, may_double)


@rows(
    ("men", "bar", "points"),
    [({10: 14}, 0, 1), ({10: 15}, 0, 2), ({20: 1, 10: 14}, 0, 3), ({10: 14}, 1, 3)],
)
def test_a_game_counts_more_if_the_loser_is_far_behind(
    men: dict[int, int], bar: int, points: int
) -> None:
    theirs = tuple(-men.get(25 - n, 0) for n in range(26))
    assert backgammon.GAME.worth(backgammon.Board(theirs, bar, (), 0), winner=0) == points


# -- hex


@rows(("cell", "swaps"), [("A1", False), ("F1", False), ("F6", True), ("C3", True)])
def test_a_bot_of_hex_takes_over_a_good_first_move(cell: str, swaps: bool) -> None:
    board = played(hex_.GAME, cell, size=11)
    assert hex_.GAME.worth_swapping(board) == swaps


# -- liar's dice


@rows(
    ("text", "move"),
    [
        ("3 fives", "3 fives"),
        ("three fives", "3 fives"),
        ("3x5", "3 fives"),
        ("3 5", "3 fives"),
        ("2 sixes", "2 sixes"),
        ("1 six", "1 six"),
        ("three fives?", "3 fives"),
    ],
)
def test_bids(text: str, move: str) -> None:
    state = liar.Round(((1, 2, 3), (4, 5, 6)))
    assert liar.GAME.read(state, 0, text) == move


@rows("text", ["liar", "Liar!", "I doubt it.", "Call!", "bluff"])
def test_doubts(text: str) -> None:
    state = liar.Round(((1, 2, 3), (4, 5, 6)), bid=(2, 5))
    assert liar.GAME.read(state, 0, text) == "liar"


def test_a_player_who_leaves_takes_the_dice_along() -> None:
    state = liar.GAME.start(3, {"dice": 5, "wild": True}, chance())
    after = liar.GAME.leave(state, 1, chance())
    assert [len(dice) for dice in after.state.dice] == [5, 0, 5]
    assert after.next == [2]


def test_the_player_who_lost_a_die_begins_unless_it_was_the_last_one() -> None:
    for dice, begins in ((2, 1), (1, 2)):
        state = liar.GAME.start(3, {"dice": dice, "wild": True}, chance())
        after = liar.GAME.next_round(state, 1, [], chance())
        assert after.next == [begins]


def test_ones_are_wild() -> None:
    state = liar.Round(((1, 1, 5), (5, 6, 6)), bid=(4, 5), bidder=0)
    assert state.count(5) == 4
    done = liar.GAME.play(state, 1, "liar", chance())
    assert [len(dice) for dice in done.state.dice] == [3, 2], "the bid was true"


# -- battleships


@rows(
    ("text", "why"),
    [
        ("b4", "^Place ships of 5, 4, 3, 3 and 2 cells"),
        ("a1-a5 c1-c4", "You named ships of 5 and 4 cells. Place ships of 5, 4, 3, 3 and 2 cells"),
        ("a1-b5 b1-b4 c1-c3 d1-d3 e1-e2", "neither a row nor a column"),
        ("a1-a5 a1-d1 c5-c7 d5-d7 e5-e6", "crosses"),
    ],
)
def test_fleets_that_cannot_be(text: str, why: str) -> None:
    state = battleships.GAME.start(2, {"salvo": False, "apart": False}, chance())
    with pytest.raises(No, match=why):
        battleships.GAME.read(state, 0, text)


def test_ships_touch_only_without_apart() -> None:
    fleet = "a1-a5 b1-b4 g5-g7 i5-i7 j9-j10"
    with pytest.raises(No, match="touches another"):
        battleships.GAME.fleet(fleet, touching=False)
    assert len(battleships.GAME.fleet(fleet, touching=True)) == 5


def test_nobody_fires_at_a_cell_twice() -> None:
    theirs = battleships.Waters(is_ready=True, misses=frozenset({0}), hits=frozenset({1}))
    state = (battleships.Waters(is_ready=True), theirs)
    for cell in ("A1", "B1"):
        with pytest.raises(No, match=f"You have fired at {cell} already"):
            battleships.GAME.read(state, 0, cell)


@rows("text", ["a1 k5", "a1, b2 and a11", "k5"])
def test_shots_outside_the_waters_are_refused_though_others_are_inside(text: str) -> None:
    state = (battleships.Waters(is_ready=True),) * 2
    with pytest.raises(No, match=r"There is no cell (K5|A11); cells are A1 to J10\."):
        battleships.GAME.read(state, 0, text)


def test_a_salvo_has_a_shot_for_each_ship_that_is_afloat() -> None:
    state = (battleships.Waters(salvo=True, sunk=(0, 3)), battleships.Waters(salvo=True))
    assert [battleships.GAME.shots(state, seat) for seat in (0, 1)] == [3, 5]


@rows("seed", range(10))
def test_ships_apart_do_not_touch(seed: int) -> None:
    ships = battleships.random_fleet(chance(seed), touching=False)
    for n, ship in enumerate(ships):
        near = frozenset().union(*map(battleships.around, ship))
        for other in ships[:n]:
            assert near.isdisjoint(other)


def test_bots_know_that_ships_apart_are_not_beside_a_sunk_one() -> None:
    sunk = (44, 45)
    waters = battleships.Waters(
        ((), (), (), (), sunk), True, frozenset(sunk), sunk=(4,), touching=False
    )
    beside = frozenset().union(*map(battleships.around, sunk))
    chances = battleships.chances(waters)
    assert {cell for cell in battleships.PLACE.values() if not chances[cell]} == beside
    allowed = battleships.chances(replace(waters, touching=True))
    assert {cell for cell in battleships.PLACE.values() if not allowed[cell]} == set(sunk)


def test_a_shot_outside_the_waters_is_refused_as_such() -> None:
    state = battleships.GAME.start(2, {"salvo": False, "apart": False}, chance())
    ready = tuple(replace(waters, is_ready=True) for waters in state)
    for text in ("K1", "a11"):
        with pytest.raises(No, match=f"There is no cell {text.upper()}"):
            battleships.GAME.read(ready, 0, text)


def test_an_example_of_stones_is_no_colour() -> None:
    state = played(gomoku.GAME, "H8,I9,G7", opening="swap2", exact=False)
    with pytest.raises(No, match=r"such as [A-O]\d+ [A-O]\d+, or reply black or white"):
        gomoku.GAME.read(state, 1, "j10")
