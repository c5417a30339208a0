"""The language of moves: texts that are understood, and refusals that name the mistake."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

import pbmserv.games.blackbox as package
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Move, Seat
from pbmserv.errors import Illegal, MoveError, NotUnderstood, Refusal
from pbmserv.games.blackbox.examples import mentioned
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.meanings import far_cells, meant
from pbmserv.games.blackbox.state import State
from pbmserv.games.blackbox.taps import tapped
from pbmserv.games.blackbox.views import View
from pbmserv.views.environment import environment

ALICE, BOB = Seat(0), Seat(1)


def played(*moves: tuple[int, str], words: tuple[str, ...] = ()) -> State:
    state: State = GAME.setup(2, GAME.options(words, 2), Rng(b"moves", 0))
    for ply, (seat, text) in enumerate(moves, 1):
        move = GAME.parse(GAME.view(state, Seat(seat)), text)
        state = GAME.apply(state, Seat(seat), move, Rng(b"moves", ply)).state
    return state


START = played()
HIDDEN = played((0, "c2,e2,f6,f7"), (1, "g1,b2,b4,f5"))
FIRED = played((0, "c2,e2,f6,f7"), (1, "g1,b2,b4,f5"), (0, "5,+b2,+b4"), (1, "3"))
OVER = GAME.withdraw(HIDDEN, ALICE, Rng(b"", 0)).state


def view(state: State, seat: Seat | None = ALICE) -> View:
    seen: View = GAME.view(state, seat)
    return seen


def refusal(of: View, text: str, kind: type[MoveError] = Illegal) -> Refusal:
    with pytest.raises(MoveError) as caught:
        GAME.parse(of, text)
    assert type(caught.value) is kind
    return caught.value.refusal


@rows(
    ("typed", "values"),
    [
        ("5", {"port": "5", "mark": "a", "later": False}),
        ("?", {"have": 2, "wanted": "4"}),
        ("g,1", {"first": "g"}),
        ("+3b4", {"first": "3", "second": "4"}),
    ],
)
def test_a_refusal_says_what_it_counted(typed: str, values: dict[str, Any]) -> None:
    assert values.items() <= refusal(view(FIRED), typed).values.items()


@rows(
    ("typed", "canonical", "free"),
    [
        ("+1a", "+A1", True),
        ("+ a1", "+A1", True),
        ("-d7", "/D7", True),
        ("/ 8 h", "/A1", True),
        ("!10", "!3", True),
        ("! i2 - 11k", "!B2-D4", True),
        (" G , +b2;/d3,\t!c4,!3,!B2-d4, +c3 ", "G,+B2,/D3,!C4,!3,!B2-D4,+C3", False),
        ("+a1,/b2,+m13,+7g,/k3", "+A1,/B2,+F6,+G7,/D3", True),
        ("+a1,+d5,?,G", "+A1,+D5,?,G", False),
        # A line below a move counts only if it is read directly, as these are.
        ("I'll fire at port g please!", "G", False),
        ("mark b3", "+B3", True),
        ("unlock on B3 please", "unlock B3", True),
    ],
)
def test_a_move_is_read_into_canonical_text(typed: str, canonical: str, free: bool) -> None:
    assert GAME.parse(view(FIRED), typed) == Move(canonical, free)


def test_on_a_wide_board_bottom_ports_are_doubled_letters() -> None:
    wide = played((0, "a1"), (1, "nn9"), words=("-size=14x5", "-atoms=1"))
    assert GAME.parse(view(wide), "aa,+nn3") == Move("AA,+N3")
    assert refusal(view(wide), "oo").code == "blackbox.port-unknown"


@rows(
    ("typed", "code"),
    [
        ("g +c3", "commas"),
        ("+3b4", "two-rows"),
        ("b3c", "two-columns"),
        ("-3", "no-column"),
        ("!15", "line-unknown"),
    ],
)
def test_each_wrong_part_is_named(typed: str, code: str) -> None:
    """Dialogs have the other mistakes, most of them `move-wrong.dialog`."""
    fault = refusal(view(FIRED), typed)
    assert (fault.code, fault.part) == (f"blackbox.{code}", typed)


@rows(
    ("typed", "example"),
    [
        ("c,3", "C"),
        ("5,g", "G"),  # 5 shows a mark
        ("a,b,c", ""),  # three rays are no slip
        ("+g6,+e7,?,x", "+G6,+E7"),
        ("b2", "/B2"),  # there is a marker
        ("g,c3", "G,+C3"),
        ("c2,e2,f6", "+C2,+E2,+F6"),
        ("+b", ""),
    ],
)
def test_an_example_is_made_of_the_players_own_words(typed: str, example: str) -> None:
    assert refusal(view(FIRED), typed).example == example


@rows(
    ("typed", "example"),
    [
        ("8 I think this is close", "8"),
        ("g, good luck!", "G"),
        ("8?", "8"),
        ("8\u756a", "8"),
        ("/b2 I was wrong there", "/B2"),
        ("sorry, I meant 8", "8"),
        ("+\u04308", ""),  # a Cyrillic letter
        ("8\u00bd", ""),
        ("don't fire 8", ""),  # a ray cannot be taken back
        ("not yet, but +b3", "+B3"),
        ("-c3-d4-e5-f6", ""),  # taken away
        ("5 I think this is close", ""),  # 5 shows a mark
        ("on 8.12.", ""),
        ("I, for one, like it", ""),
        ("final answer c3 d4 e5 f6", "+C3,+D4,+E5,+F6"),
        ("I am sure of c3, d4 and e5", ""),
    ],
)
def test_a_sentence_that_mentions_one_move_has_it_for_an_example(typed: str, example: str) -> None:
    assert refusal(view(FIRED), typed, NotUnderstood).example == example


def test_nobody_is_offered_a_box_that_they_did_not_choose() -> None:
    for typed in ("b2,c3,d4", "b2,c3,d4,e5,f6", "b2,c3,d4,z1", "b2,c3,d4,5", "g"):
        assert not refusal(view(START), typed).example


PIECES = ("fire", "g", "mark", "b2", "c3", "?", "guess", "a", "i", "3", "please", "and", "d4")
PIECES += (",", "+", "!", "/", "-", "the")
MARKED = played((0, "c2,e2,f6,f7"), (1, "g1,b2,b4,f5"), (0, "5,+b2,+b4,+c5,+d6"), (1, "3"))


@rows(
    ("state", "typed", "read"),
    [
        (START, "a 1, c 4, e 5 and g 2", "A1,C4,E5,G2"),
        (START, "(b,3) (d,3) (f,4) (g,5)", "B3,D3,F4,G5"),
        (FIRED, '"8"', "8"),
        (FIRED, "c \N{THUMBS UP SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-3}!", "C"),
        (FIRED, "\N{SMILING FACE WITH SMILING EYES} g :-)", "G"),
        (FIRED, "I'd like to fire a ray into g", "G"),
        (FIRED, "g+c3", "G,+C3"),
        (FIRED, "fire g and mark c3, then seal d4", "G,+C3,!D4"),
        (FIRED, "seal row 3", "!3"),
        (FIRED, "g,,+c3,", "G,+C3"),
        (FIRED, "port number twelve please", "12"),
        (START, "B three, D three, F four, G five", "B3,D3,F4,G5"),
        (FIRED, "Dear Server, my move is 8", "8"),
        (FIRED, "8 8", "8"),
    ],
)
def test_a_move_with_one_possible_meaning_is_read(state: State, typed: str, read: str) -> None:
    with pytest.raises(MoveError):
        GAME.parse(view(state), typed)
    move = meant(view(state), typed)
    assert move is not None
    assert move.text == read
    assert GAME.parse(view(state), move.text) == move


@rows(
    "typed",
    [
        *("I guess", "Guess?", "b2?", "fire g?", "at 3", "12:", "Thanks, g", "don't fire g"),
        *("the 5", "the 2nd", "+c3/d3", "g or h", "g, maybe", "fire away", "", "!", "2024"),
        *("play 3 more?", "g\u00b2", "c,3", "1. g", "guess g", "two of us", "two or six"),
        *("I have two", "hello, two of you are away", "8 not 4", "g \N{THINKING FACE}", ":)"),
    ],
)
@rows("state", [FIRED, MARKED], ids=["fired", "marked"])
def test_a_text_that_may_be_words_or_several_moves_is_not_read(state: State, typed: str) -> None:
    assert meant(view(state), typed) is None


@given(
    st.text(max_size=40)
    | st.lists(
        st.sampled_from(PIECES),
        max_size=8,
    ).map(" ".join)
)
def test_a_reading_is_a_legal_move_made_of_what_was_written(text: str) -> None:
    for state in (START, FIRED, MARKED):
        move = meant(view(state), text)
        if move is None:
            continue
        assert GAME.parse(view(state), move.text) == move
        written = "".join(re.findall("[A-Z0-9]", text.upper()))
        for label in re.findall("[A-Z]+|[0-9]+", move.text):
            assert label in written or "!" in move.text, "a range may be turned"
        assert "?" not in move.text or "?" in text or "guess" in text


@given(
    st.text(max_size=40)
    | st.lists(st.sampled_from((*PIECES, "8", "maybe", ".", "12", "+b3", "at")), max_size=8).map(
        " ".join
    )
)
def test_a_move_in_a_sentence_has_only_cells_that_were_written(text: str) -> None:
    for state in (START, FIRED, MARKED):
        example = mentioned(view(state), text)
        if not example:
            continue
        assert GAME.parse(view(state), example).text == example
        assert "?" not in example or "guess" in text
        written = "".join(re.findall("[A-Z0-9]", text.upper()))
        assert all(label in written for label in re.findall("[A-Z]+|[0-9]+", example))


def test_while_waiting_an_example_has_nothing_that_needs_a_turn() -> None:
    assert refusal(view(FIRED, BOB), "99,+c3,g").example == "+C3"


def test_without_guesses_left_none_is_taken() -> None:
    box = replace(FIRED.boxes[0], guesses_left=0)
    fault = refusal(view(FIRED.with_box(ALICE, box)), "+c3,+d4,?")
    assert fault.code == "blackbox.no-guesses"


@rows(
    "typed",
    [
        "b2, and bye",
        "2nd",
        "-Jo",
        "fire away",
        "mark my words",
        "port",
        "/home",
        "+1-2",
        "g5, k\u00e4se",
        "\u0131",
        "g\u00b2",
    ],
)
@rows("state", [START, FIRED, OVER], ids=["start", "playing", "over"])
def test_words_are_no_moves(state: State, typed: str) -> None:
    for seat in (ALICE, BOB, None):
        assert refusal(view(state, seat), typed, NotUnderstood).code == "blackbox.not-a-move"


@rows("typed", ["", "  ", ",", " ; , "])
def test_nothing_is_no_move(typed: str) -> None:
    assert refusal(view(FIRED), typed, NotUnderstood).code == "blackbox.empty"


def raised_codes() -> set[str]:
    folder = Path(package.__file__).parent
    # The command line speaks for itself; the rules leave their sentences to the templates.
    paths = [path for path in sorted(folder.rglob("*.py")) if folder / "cli" not in path.parents]
    source = "\n".join(path.read_text() for path in paths)
    direct = re.findall(r'"blackbox\.([a-z-]+)"', source)
    through = re.findall(r'_refuse\(\s*"([a-z-]+)"', source)
    return {*direct, *through}


def test_every_code_in_the_source_has_a_sentence_and_no_sentence_is_idle() -> None:
    template = environment().get_template("games/blackbox/refusals.j2")
    assert raised_codes() == {name.replace("_", "-") for name in template.blocks}
    assert len(raised_codes()) > 40


ALONE = GAME.setup(1, GAME.options(("-race", "-size=7x7"), 1), Rng(b"taps", 0))


def test_a_seal_tapped_twice_on_a_marker_leaves_the_cell_empty() -> None:
    marked = view(played((0, "c2,e2,f6,f7"), (1, "g1,b2,b4,f5"), (0, "+b2")))
    assert tapped(marked, "", "!B2") == "!B2"
    assert tapped(marked, "!B2", "!B2") == "/B2"


@given(st.text(max_size=30), st.text(max_size=10))
def test_taps_take_any_text(draft: str, tap: str) -> None:
    for state in (ALONE, START, FIRED):
        assert isinstance(tapped(view(state), draft, tap), str)
        assert isinstance(tapped(view(state, None), draft, tap), str)


@rows(
    ("typed", "far"),
    [
        ("g,+h3,?", (("+H3", "+A3"),)),
        ("mark h3", (("+H3", "+A3"),)),
        ("!10", (("!10", "!3"),)),
        ("!h", (("!H", "!A"),)),
        ("n", ()),
        ("14", ()),
        ("fire port 14", ()),
    ],
)
def test_far_cells_of_a_move_are_named(typed: str, far: tuple[tuple[str, str], ...]) -> None:
    assert far_cells(view(HIDDEN), typed) == far
