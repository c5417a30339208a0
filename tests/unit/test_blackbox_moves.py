"""The language of moves: texts that are understood, and refusals that name the mistake."""

from __future__ import annotations

import re
from contextlib import suppress
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
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.geometry import geometry
from pbmserv.games.blackbox.meanings import far_cells, meant
from pbmserv.games.blackbox.refusals import mentioned
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
OVER = GAME.withdraw(HIDDEN, ALICE).state


def view(state: State, seat: Seat | None = ALICE) -> View:
    seen: View = GAME.view(state, seat)
    return seen


def refusal(of: View, text: str, kind: type[MoveError] = Illegal) -> Refusal:
    with pytest.raises(MoveError) as caught:
        GAME.parse(of, text)
    assert type(caught.value) is kind
    return caught.value.refusal


@rows(
    ("typed", "canonical", "free"),
    [
        ("g", "G", False),
        ("007", "7", False),
        ("14", "14", False),
        ("+1a", "+A1", True),
        ("+ a1", "+A1", True),
        ("-d7", "/D7", True),
        ("-14K", "/D7", True),
        ("/ 8 h", "/A1", True),
        ("!c4", "!C4", True),
        ("!10", "!3", True),
        ("!j", "!C", True),
        ("!b2-d4", "!B2-D4", True),
        ("! i2 - 11k", "!B2-D4", True),
        (" G , +b2;/d3,\t!c4,!3,!B2-d4, +c3 ", "G,+B2,/D3,!C4,!3,!B2-D4,+C3", False),
        ("+a1,/b2,+m13,+7g,/k3", "+A1,/B2,+F6,+G7,/D3", True),
        ("+a1,+d5,?,G", "+A1,+D5,?,G", False),
    ],
)
def test_a_move_is_read_into_canonical_text(typed: str, canonical: str, free: bool) -> None:
    assert GAME.parse(view(FIRED), typed) == Move(canonical, free)


def test_on_a_wide_board_bottom_ports_are_doubled_letters() -> None:
    wide = played((0, "a1"), (1, "nn9"), words=("-size=14x5", "-atoms=1"))
    assert GAME.parse(view(wide), "aa,+nn3") == Move("AA,+N3")
    assert refusal(view(wide), "oo").code == "blackbox.port-unknown"


@rows(
    ("state", "typed", "code", "part"),
    [
        (FIRED, "g,,+b2", "empty-element", ""),
        (FIRED, "g,", "empty-element", ""),
        (FIRED, "g +c3", "commas", "g +c3"),
        (FIRED, "o", "port-unknown", "o"),
        (FIRED, "+c3,15", "port-unknown", "15"),
        (FIRED, "+o1", "column-unknown", "+o1"),
        (FIRED, "g,/a15", "row-unknown", "/a15"),
        (FIRED, "+bb3", "column-unknown", "+bb3"),
        (FIRED, "+3b4", "two-rows", "+3b4"),
        (FIRED, "b3c", "two-columns", "b3c"),
        (FIRED, "+bc3", "two-columns", "+bc3"),
        (FIRED, "+b", "no-row", "+b"),
        (FIRED, "-3", "no-column", "-3"),
        (FIRED, "+", "cell-missing", "+"),
        (FIRED, "!b2-", "cell-missing", "!b2-"),
        (FIRED, "!b2-d", "no-row", "!b2-d"),
        (FIRED, "!15", "line-unknown", "!15"),
        (FIRED, "!d4-b2", "range-backwards", "!d4-b2"),
        (FIRED, "!b4-d2", "range-backwards", "!b4-d2"),
        (FIRED, "b2", "unsigned-cell", "b2"),
        (FIRED, "g,b2", "unsigned-cell", "b2"),
        (FIRED, "c2,e2,f6,f7", "already-hidden", "c2"),
        (FIRED, "g,1", "two-probes", "1"),
        (FIRED, "5", "port-used", "5"),
        (FIRED, "H", "port-used", "H"),
        (FIRED, "?,+c3,+d4,?", "two-guesses", "?"),
        (FIRED, "?", "guess-markers", "?"),
        (FIRED, "+c3,+d4,+e5,?", "guess-markers", "?"),
        (FIRED, "+c3,!b2,+d4,?", "guess-markers", "?"),
        (START, "g", "hide-first", "g"),
        (START, "+b2", "hide-first", "+b2"),
        (START, "b2,c3,d4,5", "placement-element", "5"),
        (START, "b2,c3,d4", "too-few-atoms", "b2,c3,d4"),
        (START, "b2,c3,d4,e5,f6", "too-many-atoms", "b2,c3,d4,e5,f6"),
        (START, "b2,c3,d4,i9", "repeated-cell", "i9"),
        (OVER, "g", "finished", ""),
    ],
)
def test_each_wrong_part_is_named(state: State, typed: str, code: str, part: str) -> None:
    fault = refusal(view(state), typed)
    assert (fault.code, fault.part) == (f"blackbox.{code}", part)
    if fault.example:
        GAME.parse(view(state), fault.example)


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
    ("typed", "example"),
    [
        ("c,3", "C"),
        ("5,g", "G"),  # 5 shows a mark
        ("a,b,c", ""),  # three rays are no slip
        ("+g6,+e7,?,x", "+G6,+E7"),
        ("+g6,?,?", "+G6"),  # a marker is missing, so that the example has no guess
        ("c3", "+C3"),
        ("b2", "/B2"),  # there is a marker
        ("g,c3", "G,+C3"),
        ("c2,e2,f6", "+C2,+E2,+F6"),
        ("+c3,15", "+C3"),
        ("o", ""),
        ("5", ""),
        ("?", ""),
        ("+b", ""),
    ],
)
def test_an_example_is_made_of_the_players_own_words(typed: str, example: str) -> None:
    assert refusal(view(FIRED), typed).example == example


@rows(
    ("typed", "example"),
    [
        ("8 I think this is close", "8"),
        ("8, good luck!", "8"),
        ("g, good luck!", "G"),
        ("1. 8", "8"),
        ("- 8", "8"),
        ("8?", "8"),
        ("8 bitte", "8"),
        ("Zug: 8", "8"),
        ("8\u756a", "8"),
        ("8, +b3 and good luck", "8,+B3"),
        ("/b2 I was wrong there", "/B2"),
        ("sorry, I meant 8", "8"),
        ("8 or 4", ""),
        ("+\u04308", ""),  # a Cyrillic letter
        ("\u00fc8", ""),
        ("8\u00bd", ""),
        ("don't fire 8", ""),  # a ray cannot be taken back
        ("wait, 8", ""),
        ("not yet, but +b3", "+B3"),
        ("-c3-d4-e5-f6", ""),  # taken away
        ("5 I think this is close", ""),  # 5 shows a mark
        ("17 I think this is close", ""),  # there is none
        ("8 of us", ""),
        ("at 8:30", ""),
        ("on 8.12.", ""),
        ("8 pm", ""),
        ("$8", ""),
        ("board #8", ""),
        ("a nice game", ""),
        ("I, for one, like it", ""),
        ("b3 is it?", ""),
        ("final answer c3 d4 e5 f6", "+C3,+D4,+E5,+F6"),
        ("c3, d4, e5, f6 are the atoms!", "+C3,+D4,+E5,+F6"),
        ("I am sure of c3, d4 and e5", ""),
    ],
)
def test_a_sentence_that_mentions_one_move_has_it_for_an_example(typed: str, example: str) -> None:
    assert refusal(view(FIRED), typed, NotUnderstood).example == example


def test_a_sentence_that_names_all_atoms_has_them_for_an_example() -> None:
    sentence = "I think I take b3, d3 and f4"
    assert refusal(view(START), f"{sentence} and g5", NotUnderstood).example == "B3,D3,F4,G5"
    for typed in (sentence, f"{sentence} and g5 or g6", "8, good luck!"):
        assert not refusal(view(START), typed, NotUnderstood).example


def test_a_sentence_that_speaks_of_a_guess_has_one_for_an_example() -> None:
    sentence = "I guess the atoms are at c3 d4"
    assert refusal(view(FIRED), f"{sentence} e5 f6", NotUnderstood).example == "+C3,+D4,+E5,+F6"
    assert refusal(view(HIDDEN), f"{sentence} e5 f6", NotUnderstood).example == "+C3,+D4,+E5,+F6,?"
    for before in ("I do not guess c3 d4", "I won't guess c3 d4", "Later I guess c3 d4"):
        example = refusal(view(HIDDEN), f"{before} e5 f6", NotUnderstood).example
        assert example == "+C3,+D4,+E5,+F6"
    assert (
        refusal(view(FIRED, BOB), f"{sentence} e5 f6", NotUnderstood).example == "+C3,+D4,+E5,+F6"
    )


def test_nobody_is_offered_a_box_that_they_did_not_choose() -> None:
    for typed in ("b2,c3,d4", "b2,c3,d4,e5,f6", "b2,c3,d4,z1", "b2,c3,d4,5", "g"):
        assert not refusal(view(START), typed).example


PIECES = ("fire", "g", "mark", "b2", "c3", "?", "guess", "a", "i", "3", "please", "and", "d4")
PIECES += (",", "+", "!", "/", "-", "the")
MARKED = played((0, "c2,e2,f6,f7"), (1, "g1,b2,b4,f5"), (0, "5,+b2,+b4,+c5,+d6"), (1, "3"))


@rows(
    ("state", "typed", "read"),
    [
        (START, "A1 C4 E5 G2", "A1,C4,E5,G2"),
        (START, "a 1, c 4, e 5 and g 2", "A1,C4,E5,G2"),
        (START, "b3d3f4g5", "B3,D3,F4,G5"),
        (START, "(b,3) (d,3) (f,4) (g,5)", "B3,D3,F4,G5"),
        (START, "My atoms: b3, d3, f4 and g5.", "B3,D3,F4,G5"),
        (START, "+b3,+d3,+f4,+g5", "B3,D3,F4,G5"),
        (FIRED, '"8"', "8"),
        (FIRED, "\u201cg\u201d", "G"),
        (FIRED, "D!", "D"),
        (FIRED, "c please", "C"),
        (FIRED, "c \N{THUMBS UP SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-3}!", "C"),
        (FIRED, "\N{SMILING FACE WITH SMILING EYES} g :-)", "G"),
        (FIRED, "8 :)", "8"),
        (FIRED, "I'd like to fire a ray into g", "G"),
        (FIRED, "my move is g", "G"),
        (FIRED, "+c3 +d3", "+C3,+D3"),
        (FIRED, "g+c3", "G,+C3"),
        (FIRED, "fire g and mark c3, then seal d4", "G,+C3,!D4"),
        (FIRED, "seal row 3", "!3"),
        (FIRED, "!d4-b2", "!B2-D4"),
        (FIRED, "g,,+c3,", "G,+C3"),
        (FIRED, "guess c3 d4", "+C3,+D4,?"),
        (FIRED, "I guess c3, d4", "+C3,+D4,?"),
        (FIRED, "port number twelve please", "12"),
        (FIRED, "fire port seven", "7"),
        (FIRED, "Twelve.", "12"),
        (FIRED, "guess C three, D four", "+C3,+D4,?"),
        (START, "B three, D three, F four, G five", "B3,D3,F4,G5"),
        (FIRED, "Dear Server, my move is 8", "8"),
        (FIRED, "hi bob, 8", "8"),
        (FIRED, "I would like number 8", "8"),
        (FIRED, "I'll go with 8", "8"),
        (FIRED, "let us try 8", "8"),
        (FIRED, "8 8", "8"),
        (MARKED, "Guess", "?"),
        (MARKED, "take a guess please", "?"),
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
        *(
            "I guess",
            "let me guess",
            "Guess?",
            "a?",
            "b2?",
            "fire g?",
            "at 3?",
            "at 3",
            "12:",
            "a)",
        ),
        *("- J", "Thanks, g", "ok, g", "no, 5", "don't fire g", "not g", "the 5", "the 2nd"),
        *(
            "+c3/d3",
            "+b",
            "g or h",
            "g, maybe",
            "fire away",
            "a, b, and then we'll see",
            "",
            "!",
            "2024",
        ),
        *(
            "I have 3 markers on it",
            "play 3 more?",
            "g\u00b2",
            "c,3",
            "? please",
            "1. g",
            "guess g",
        ),
        *(
            "two of us",
            "two more",
            "two or six",
            "see you at seven",
            "I have two",
            "to fire",
        ),
        *("hello, two of you are away", "hi, g", "go for 8", "at number", "8 or 4", "8 not 4"),
        *("g \N{THUMBS DOWN SIGN}", "g \N{THINKING FACE}", "g:)", ":)", "\N{THUMBS UP SIGN}"),
    ],
)
@rows("state", [FIRED, MARKED], ids=["fired", "marked"])
def test_a_text_that_may_be_words_or_several_moves_is_not_read(state: State, typed: str) -> None:
    assert meant(view(state), typed) is None


def test_nobody_else_and_no_moment_after_the_end_reads_moves_out_of_words() -> None:
    assert meant(view(FIRED, None), "c please") is None
    assert meant(view(OVER), "c please") is None


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


def test_a_text_that_is_too_long_is_not_read() -> None:
    move = ",".join(["+b2"] * 251)
    assert refusal(view(FIRED), move).code == "blackbox.too-long"
    assert GAME.parse(view(FIRED), move[:999]).free
    long = "dear Bob, " * 200
    assert refusal(view(FIRED), long, NotUnderstood).code == "blackbox.not-a-move"


def test_a_board_of_many_atoms_may_have_long_placements() -> None:
    full = played(words=("-size=26x26", "-atoms=600"))
    typed = ", ".join(f"{a}{n}" for n in range(1, 27) for a in "ABCDEFGHIJKLMNOPQRSTUVW")
    assert len(typed) > 1000
    cells = typed + ", x1, x2"
    assert GAME.parse(view(full), cells).text.endswith(",X1,X2")


@rows(
    "typed",
    [
        "Hi",
        "ok",
        "thanks, g",
        "b2, and bye",
        "b2?",
        "the 2nd",
        "2nd",
        "- Jo",
        "-Jo",
        "xx",
        "g.",
        "G!",
        "g please",
        "a good move",
        "I fire",
        "fire away",
        "fire a ray",
        "mark my words",
        "I guess",
        "port",
        "2024",
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


@rows(
    ("typed", "meant"),
    [
        ("Port g", "G"),
        ("fire g", "G"),
        ("I fire g.", "G"),
        ("I'll shoot at 12", "12"),
        ("please mark b2", ""),
        ("mark b2", "+B2"),
        ("unmark cell 2b", "/B2"),
        ("seal c3!", "!C3"),
        ("12.", "12"),
        ("g,+b2.", "G,+B2"),
    ],
)
def test_moves_are_understood_in_words(typed: str, meant: str) -> None:
    if not meant:
        assert refusal(view(HIDDEN), typed, NotUnderstood).part == typed
    else:
        assert GAME.parse(view(HIDDEN), typed).text == meant


@rows("typed", ["", "  ", ",", " ; , "])
def test_nothing_is_no_move(typed: str) -> None:
    assert refusal(view(FIRED), typed, NotUnderstood).code == "blackbox.empty"


cells = st.tuples(st.sampled_from("ABCDEFG"), st.integers(1, 7)).map(lambda c: f"{c[0]}{c[1]}")
seals = cells.map("!{}".format) | st.sampled_from(["!3", "!C", "!A1-C3", "!B2-B2", "!G7-G7"])
aids = st.lists(cells.map("+{}".format) | cells.map("/{}".format) | seals, max_size=6)
unused = st.sampled_from(view(FIRED).unused_ports)


@given(aids, st.none() | unused, st.integers(0, 6), st.sampled_from([str.lower, str.upper]))
def test_canonical_text_is_read_as_itself(
    aids: list[str], probe: str | None, place: int, case: Any
) -> None:
    elements = list(aids)
    if probe or not elements:
        elements.insert(place, probe or "G")
    text = ",".join(elements)
    move = GAME.parse(view(FIRED), case(text))
    assert move == Move(text, free=not probe and bool(aids))
    assert GAME.parse(view(FIRED), " ; ".join(elements)) == move


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
TAPS = [*geometry(7, 7).ports, "+B2", "/B2", "!B2", "+C3", "!C3", "D4", "?"]


@given(st.lists(st.sampled_from(TAPS)))
def test_two_taps_on_a_cell_leave_it_as_before(taps: list[str]) -> None:
    """A move made by taps has at most one port, one guess at its end, and no cell twice."""
    board, draft = geometry(7, 7), ""
    for tap in taps:
        once = tapped(view(ALONE), draft, tap)
        parts = once.split(",") if once else []
        cells = [part.lstrip("+/!") for part in parts]
        assert len(set(cells)) == len(cells)
        assert sum(board.port(part) is not None for part in parts) <= 1
        assert "?" not in parts[:-1]
        if tap in parts:
            twice = tapped(view(ALONE), once, tap)
            assert set(twice.split(",")) - {""} == set(parts) - {tap}
        draft = once


@given(
    st.lists(
        st.sampled_from(["+B2", "!B2", "+C3", "!C3", "!2", "!B2-C3", "lock B2", "lock 2"]),
        max_size=4,
    ),
    st.lists(
        st.tuples(
            st.sampled_from(["B2", "C3", "D4", "2", "C"]),
            st.sampled_from(["mark", "seal", "lock"]),
        ),
        max_size=8,
    ),
    st.sampled_from(["", "!2", "!B2-C3", "A,!C", "lock 2", "A,unlock C"]),
)
def test_taps_do_what_the_page_offers(
    aids: list[str], taps: list[tuple[str, str]], typed: str
) -> None:
    """Each button acts on cells as the page shows them, whatever was there before the draft."""
    state = ALONE
    for aid in aids:
        with suppress(Illegal):  # a locked marker stays
            move = GAME.parse(view(state), aid)
            state = GAME.apply(state, ALICE, move, Rng(b"taps", 1)).state
    now, draft = view(state), typed
    board = geometry(7, 7)
    for name, tool in taps:
        seen = previewed(now, draft).own
        assert seen is not None
        cell = board.named(name)
        if cell is None:  # a port: its row or column is locked
            cells = {"2": set(range(7, 14)), "C": set(range(2, 49, 7))}[name]
            held = cells <= seen.sealed | seen.locked
            draft = tapped(now, draft, f"lock {name}")
            after = previewed(now, draft).own
            assert after is not None
            if draft.split(",")[-1].endswith(f"lock {name}"):  # it was not just taken back
                assert after.markers == seen.markers
                assert (after.sealed | after.locked) & cells == (set() if held else cells)
            continue
        if cell in seen.locked and tool != "lock":
            continue  # no button
        marked, sealed, locked = (
            cell in cells for cells in (seen.markers, seen.sealed, seen.locked)
        )
        sign = {"mark": "/" if marked else "+", "seal": "!"}.get(tool)
        sign = sign or ("unlock " if sealed or locked else "lock ")
        draft = tapped(now, draft, sign + name)
        after = previewed(now, draft).own
        assert after is not None
        wanted = {
            "mark": (not marked, False, False),
            "seal": (False, not sealed, False),
            "lock": (marked, not marked and not sealed, marked and not locked),
        }[tool]
        assert (cell in after.markers, cell in after.sealed, cell in after.locked) == wanted
        others = set(board.cells) - {cell}
        assert after.markers & others == seen.markers & others
        assert after.sealed & others == seen.sealed & others
        assert after.locked & others == seen.locked & others


def previewed(now: View, draft: str) -> View:
    """Return the board as the page with this draft shows it."""
    return GAME.preview(now, ALICE, draft).view if draft else now


@given(st.text(max_size=30), st.text(max_size=10))
def test_taps_take_any_text(draft: str, tap: str) -> None:
    for state in (ALONE, START, FIRED):
        assert isinstance(tapped(view(state), draft, tap), str)
        assert isinstance(tapped(view(state, None), draft, tap), str)


@given(st.integers(2, 26), st.integers(2, 26), st.booleans(), st.data())
def test_a_cell_is_far_when_one_of_its_labels_is(
    width: int, height: int, is_hidden: bool, data: st.DataObject
) -> None:
    """Of a cell, either label may be near or far, in either order; ports are never far."""
    words = (f"-size={width}x{height}", "-atoms=1")
    state = played(*((0, "a1"), (1, "a1")) if is_hidden else (), words=words)
    of, board = view(state), geometry(width, height)
    row, column = data.draw(st.integers(0, height - 1)), data.draw(st.integers(0, width - 1))
    letters = data.draw(st.sampled_from([board.top, board.bottom]))[column]
    number = data.draw(st.sampled_from([board.left, board.right]))[row]
    sign = data.draw(st.sampled_from("+/!")) if is_hidden else ""
    cell = data.draw(st.sampled_from([letters + number, number + letters]))
    typed = sign + data.draw(st.sampled_from([cell, cell.lower()]))
    name = sign + board.name(row * width + column)
    is_near = letters in board.top and number in board.left
    assert far_cells(of, typed) == (() if is_near else ((typed.upper(), name),))
    assert far_cells(of, data.draw(st.sampled_from(board.ports))) == ()


@rows(
    ("typed", "far"),
    [
        ("B1 C3 D5 H8", (("H8", "A1"),)),
        ("b3,d3,8h,13n", (("8H", "A1"), ("13N", "G6"))),
        ("b3; d3; h 8, f2", (("H8", "A1"),)),
        ("hide at a1 b2 c3 and h4 please", (("H4", "A4"),)),
        ("b3,d3,a1,g6", ()),
        ("see you on h8 street", ()),
    ],
)
def test_far_cells_of_a_placement_are_named(typed: str, far: tuple[tuple[str, str], ...]) -> None:
    assert far_cells(view(START), typed) == far


@rows(
    ("typed", "far"),
    [
        ("+H3", (("+H3", "+A3"),)),
        ("g,+h3,?", (("+H3", "+A3"),)),
        ("mark h3", (("+H3", "+A3"),)),
        ("!10", (("!10", "!3"),)),
        ("!h", (("!H", "!A"),)),
        ("!b2-d9", (("!B2-D9", "!B2-D2"),)),
        ("n", ()),
        ("14", ()),
        ("fire port 14", ()),
    ],
)
def test_far_cells_of_a_move_are_named(typed: str, far: tuple[tuple[str, str], ...]) -> None:
    assert far_cells(view(HIDDEN), typed) == far
