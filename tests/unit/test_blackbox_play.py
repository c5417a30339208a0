"""Playing Blackbox: turns, secrets, markers and seals, guesses and how a board ends."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Outcome, Seat, Step
from pbmserv.games.blackbox.facts import facts_of
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.game_ids import read_id
from pbmserv.games.blackbox.lessons import lessons_of
from pbmserv.games.blackbox.options import ENDLESS, Scoring
from pbmserv.games.blackbox.practice import Practice, begin
from pbmserv.games.blackbox.rays import trace_all
from pbmserv.games.blackbox.state import State
from pbmserv.games.blackbox.views import View
from pbmserv.views.texts import note_sentences, render_text

ALICE, BOB = Seat(0), Seat(1)


class Board:
    """A board to play by typing moves."""

    def __init__(self, *words: str, seed: bytes = b"play") -> None:
        self.seed = seed
        self.state: State = GAME.setup(2, GAME.options(words, 2), Rng(seed, 0))
        self.plies = 0

    def types(self, seat: Seat, text: str) -> Step[State]:
        move = GAME.parse(self.view(seat), text)
        self.plies += 1
        step = GAME.apply(self.state, seat, move, Rng(self.seed, self.plies))
        self.state = step.state
        return step

    def view(self, seat: Seat | None) -> View:
        seen: View = GAME.view(self.state, seat)
        return seen

    def turns(self) -> tuple[int, int]:
        return GAME.turn(self.state, ALICE), GAME.turn(self.state, BOB)

    @property
    def outcome(self) -> Outcome | None:
        return GAME.outcome(self.state)


def hidden(*words: str, for_bob: str = "c2,e2,f6,f7", for_alice: str = "g1,b2,b4,f5") -> Board:
    board = Board(*words)
    board.types(ALICE, for_bob)
    board.types(BOB, for_alice)
    return board


def notes_for(step: Step[State], reader: Seat | None) -> list[tuple[str, Mapping[str, object]]]:
    return [
        (note.kind, note.values)
        for note in step.notes
        if note.audience is None or reader in note.audience
    ]


def kinds(step: Step[State], reader: Seat | None = None) -> list[str]:
    return [kind for kind, _ in notes_for(step, reader)]


def test_sealing_what_is_sealed_opens_it_but_a_gap_is_closed_first() -> None:
    board = hidden()
    board.types(ALICE, "!b2")
    board.types(ALICE, "!b")
    own = board.view(ALICE).own
    assert own is not None
    assert len(own.sealed) == 7
    assert kinds(board.types(ALICE, "!b"), ALICE) == ["opened"]
    own = board.view(ALICE).own
    assert own is not None
    assert not own.sealed


def test_a_right_guess_wins_at_once_and_opens_both_boxes() -> None:
    board = hidden()
    step = board.types(ALICE, "+g1,?,+b2,g,+b4,+f5")
    assert kinds(step) == ["marked", "guess-right", "revealed", "revealed", "box-id", "box-id"]
    assert board.outcome == Outcome((1, 2), "solved", ALICE)
    assert GAME.to_act(board.state) == frozenset()
    assert not any(board.state.boxes[ALICE].marks), (
        "the probe after the winning guess was not fired"
    )
    for reader in (ALICE, BOB, None):
        assert all(box.atoms is not None for box in board.view(reader).boxes)
    assert GAME.legal(board.view(ALICE)) == ()


def test_a_probe_before_the_winning_guess_is_fired() -> None:
    board = hidden()
    step = board.types(ALICE, "g,+g1,+b2,+b4,+f5,?")
    assert kinds(step)[:3] == ["marked", "probe", "guess-right"]


# Eight atoms around the middle of 3x3 swallow every ray, so none tells what the middle holds.
RING = "a1,b1,c1,a2,c2,a3,b3,c3"
NO_PORT_TELLS = ("-size=3x3", "-atoms=8-9")
GUESS_RING = "".join(f"+{cell}," for cell in RING.split(",")) + "?"


@given(st.binary(min_size=1, max_size=8))
def test_with_clue_else_a_port_is_fired_that_tells_the_layouts_apart(seed: bytes) -> None:
    board = Board("-clue", seed=seed)
    board.types(ALICE, "c2,e2,f6,f7")
    board.types(BOB, "g1,b2,b4,f5")
    step = board.types(ALICE, "+g1,+b2,+b4,+f6,?")
    kind, values = notes_for(step, BOB)[-1]
    assert kind == "clue-port"
    port = board.state.options.board.ports.index(str(values["port"]))
    assert board.state.boxes[ALICE].marks[port] == values["mark"]
    assert board.turns() == (5, 4), "the clue costs no turn"
    assert board.state.boxes[ALICE].fired is None, "a clue is no probe, on which plans depend"


def solo(*moves: str, box: str = "w5h5m2M2#tea") -> Practice:
    game = begin(read_id(box), Scoring.PRACTICE, ENDLESS, fair=True, clue=True)
    for move in moves:
        game = game.play(move)
    return game


def marked_by(view: View) -> dict[str, str]:
    """The ports of the drawn box that have a ! behind their marks, with these."""
    drawn = view.boxes[0].drawn
    shown = [
        *drawn.top_marks,
        *(row.right_mark for row in drawn.rows),
        *drawn.bottom_marks,
        *(row.left_mark for row in drawn.rows),
    ]
    marks = zip(view.options.board.ports, shown, strict=True)
    return {port: mark[:-1].strip() for port, mark in marks if mark.endswith("!")}


def test_a_wrong_guess_on_a_box_of_the_server_circles_the_ray() -> None:
    """It stays until the next move; in words and to programs it is told, too."""
    fresh = solo("+a1,+b1,?")
    (clue,) = [note for note in fresh.notes if note.kind == "clue-port"]
    ends = {str(clue.values["port"]), str(clue.values["exit"] or clue.values["port"])}
    assert set(marked_by(fresh.view)) == ends
    again = fresh.play("?")
    assert [note.kind for note in again.notes] == ["guess-wrong", "clue-mark"]
    assert set(marked_by(again.view)) == ends
    assert marked_by(again.play("+c1").view) == {}
    assert marked_by(again.undo().view) == marked_by(fresh.view)
    words = {"view": again.view, "names": ["you"], "you": Seat(0)}
    spoken = render_text("games/blackbox/spoken.txt.j2", words)
    assert "The markers do not agree with port" in spoken
    assert set(facts_of(again.view).boxes[0].circled) == ends


@given(
    st.sets(st.sampled_from(["A", "C", "7", "3"])),
    st.sets(st.sampled_from(["A1", "B2", "C3", "E5", "D4"]), min_size=1),
)
def test_an_opened_box_names_every_port_that_tells(ports: set[str], markers: set[str]) -> None:
    """In words and on the board: the same ports that Simon Tatham's program marks."""
    game = solo()
    for port in sorted(ports):
        if port in game.view.unused_ports:
            game = game.play(port)
    game = game.play(",".join(f"+{cell}" for cell in sorted(markers)))
    assert marked_by(game.view) == {}
    over = game.solve()
    box, board = over.state.boxes[0], over.options.board
    real, guessed = trace_all(board, box.atoms or ()), trace_all(board, box.markers)
    differing = {board.ports[n]: box.marks[n] for n in range(len(real)) if real[n] != guessed[n]}
    assert marked_by(over.view) == differing
    assert marked_by(solo().solve().view) == {}  # no marker was set
    ports_by_kind = {
        note.kind: note.values.get("ports", ()) for note in lessons_of(over.state, Seat(0))
    }
    assert set(ports_by_kind.get("contradicted", ())) == {
        port for port, mark in differing.items() if mark
    }
    telling = {port for port, mark in differing.items() if not mark}
    assert set(ports_by_kind.get("distinguishing", ())) == telling
    sentences = " ".join(note_sentences(GAME, lessons_of(over.state, Seat(0)), ["you"], Seat(0)))
    for port in telling:
        assert re.search(rf"\b{port}\b", sentences)


def test_a_probe_that_the_clue_has_just_answered_is_not_fired_again() -> None:
    seen = set()
    for number in range(40):
        board = Board("-clue", seed=bytes([number]))
        board.types(ALICE, "c2,e2,f6,f7")
        board.types(BOB, "g1,b2,b4,f5")
        seen.add(kinds(board.types(ALICE, "+g1,+b2,+b4,+f6,?,6"))[-1])
    assert seen == {"probe", "probe-known"}


def test_with_clue_it_is_said_when_no_port_could_tell() -> None:
    board = hidden(*NO_PORT_TELLS, "-clue", for_bob=RING, for_alice=f"{RING},b2")
    assert kinds(board.types(ALICE, GUESS_RING)) == ["marked", "guess-wrong", "clue-none"]


def test_detours_are_lettered_in_the_solvers_own_order_past_z() -> None:
    board = hidden("-size=26x26", "-atoms=1", for_bob="a1", for_alice="z26")
    ports = [f"{n}" for n in range(1, 25)] + list("ABCDEFGHIJ")
    for n, port in enumerate(ports):
        step = board.types(ALICE, port)
        mark = dict(notes_for(step, None))["probe"]["mark"]
        assert mark == "abcdefghijklmnopqrstuvwxyzABCDEFGH"[n]
        board.types(BOB, board.view(BOB).unused_ports[-1])
