"""Texts for players: boards, notes, advice and rules."""

from __future__ import annotations

import re

from rows import rows

from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Seat
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.state import State
from pbmserv.games.blackbox.views import View
from pbmserv.letters.replies import Mailto
from pbmserv.views.environment import environment

NAMES = ("dzander1", "dzander2")
LONG = ("a" * 20, "b" * 20)
ALICE, BOB = Seat(0), Seat(1)

# An order of moves that gives the letters of the original's example their places.
PROBES = ("5", "3", "d", "g", "13", "5", "a", "13", "f", "j", "9", "l")
SEED_GAME = [
    (0, "c2,e2,f6,f7"),
    (1, "g1,b2,b4,f5"),
    *zip((0, 1) * 6, PROBES, strict=True),
    (0, "10,+b2,+b4,+12m"),
    (1, "+c2,+m13"),
]


def played(*words: str, moves: list[tuple[int, str]]) -> State:
    state: State = GAME.setup(2, GAME.options(words, 2), Rng(b"board", 0))
    for ply, (seat, text) in enumerate(moves, 1):
        move = GAME.parse(GAME.view(state, Seat(seat)), text)
        state = GAME.apply(state, Seat(seat), move, Rng(b"board", ply)).state
    return state


MAILTO = Mailto("pbmserv+token@games.example", "Re: a board")


def render(
    name: str,
    state: State,
    you: Seat | None,
    names: tuple[str, str] = NAMES,
    board: int = 12,
    *,
    beginner: bool = True,
) -> str:
    template = environment().get_template(f"games/blackbox/{name}.j2")
    view = GAME.view(state, you)
    return template.render(
        view=view, names=names, you=you, board=board, mailto=MAILTO, links="none",
        people=[], compact=False, beginner=beginner,
    )  # fmt: skip


@rows("width", range(2, 27))
def test_boards_stand_side_by_side_while_they_fit_and_else_below_each_other(width: int) -> None:
    lines = render("board.txt", played(f"-size={width}x3", moves=[]), ALICE).splitlines()
    drawn = [line for line in lines if "|" in line or line.startswith("     ")]
    board_width = 3 * width + 11
    wide = 2 * board_width if 2 * board_width <= 76 else board_width
    assert {len(line) for line in drawn} == {wide}
    assert len(drawn) == (11 if wide > board_width else 22)


def test_a_single_guess_and_long_names_keep_within_the_line() -> None:
    lines = render("board.txt", played("-guesses=1", moves=[]), ALICE, LONG).splitlines()
    assert lines[:2] == [
        f"Player {LONG[0]}'s board on left.",
        f"Player {LONG[1]}'s board on right.",
    ]
    assert lines[-1] == f"Player {LONG[1]} has 1 guess left."
    assert max(map(len, lines)) <= 76


POSITIONS = {
    "hide": played(moves=[]),
    "hidden": played(moves=[(0, "c2,e2,f6,f7")]),
    "seed": played(moves=SEED_GAME),
    "range": played("-atoms=2-30", "-size=26x26", "-guesses=1", moves=[]),
    "many": played("-atoms=80", "-size=10x10", moves=[]),
    "one": played("-atoms=1", "-size=2x2", moves=[(0, "a1"), (1, "a1")]),
    "over": GAME.withdraw(played(moves=SEED_GAME), ALICE, Rng(b"", 0)).state,
}


@rows("name", POSITIONS)
@rows("you", [ALICE, BOB, None])
def test_advice_fits_the_line_and_every_example_in_it_works(name: str, you: Seat | None) -> None:
    state = POSITIONS[name]
    advice = render("advice.txt", state, you, LONG, 1_234_567)
    assert max(map(len, advice.splitlines())) <= 76
    assert advice.endswith("\n")
    assert "\n\n\n" not in advice
    view: View = GAME.view(state, you)
    _, _, offered = advice.partition("eply with")
    examples = [
        line.split()[0] for line in offered.splitlines() if line[:2] == "  " and line[2] != " "
    ]
    if you is None or view.phase == "over":
        assert examples == []
    elif name != "many":
        assert len(examples) == (1 if not view.has_hidden else 5 if view.may_act else 3)
    for example in examples:
        move = GAME.parse(view, example)
        assert move.free or view.may_act
    for example in examples:
        page = render("advice.html", state, you)
        # Random markers are not an example of a guess.
        shown = re.escape("?" if "?" in example else example)
        assert re.search(f"<code[^>]*>{shown}</code>", page)


@rows("name", POSITIONS)
@rows("you", [ALICE, BOB])
def test_an_experienced_player_gets_one_line_of_advice_whose_example_works(
    name: str, you: Seat
) -> None:
    state = POSITIONS[name]
    view: View = GAME.view(state, you)
    long, short = (
        render("advice.txt", state, you, LONG, 1_234_567, beginner=new) for new in (True, False)
    )
    assert max(map(len, short.splitlines())) <= 76
    assert "\n\n\n" not in short
    if view.phase == "over":
        assert short == long
        return
    above, _, how = short.partition("eply with")
    assert above.rpartition("\n")[0] in long
    assert len(how.splitlines()) == (1 if name != "many" else len(how.splitlines()))
    assert not view.has_hidden or 'help blackbox"' in how
    for example in re.findall(r"such as (\S+)\.(?:\s|$)", how):
        move = GAME.parse(view, example)
        assert move.free or view.may_act
