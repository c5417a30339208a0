"""The scores of games, item by item, as in the score tables of the original games."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pbmserv.engine.position import Position, opening
from pbmserv.engine.record import GameRecord
from pbmserv.engine.types import Seat
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.geometry import geometry
from pbmserv.games.blackbox.racing import Score, score
from pbmserv.games.blackbox.rays import HIT, trace

ALONE = Seat(0)


def begun(*words: str, seats: int = 1) -> Position:
    return opening(GAME, GameRecord("blackbox", 1, seats, ("-race", *words), b"seed"))


def played(
    position: Position, text: str, seat: Seat = ALONE, seconds: int | None = None
) -> Position:
    move = GAME.parse(GAME.view(position.state, seat), text)
    return position.move(seat, move if seconds is None else GAME.stamped(move, seconds))


def score_of(position: Position, seat: int = 0) -> Score:
    return score(position.state.options, position.state.boxes[seat])


@given(st.text("abcdef0123456789", min_size=1, max_size=8), st.data())
def test_classic_counts_as_the_web_guide_does(seed: str, data: st.DataObject) -> None:
    """1 a hit, 1 a reflection, 2 a detour, 5 for every ball that is guessed wrong."""
    position = begun("-size=6x6", "-atoms=3", f"-seed={seed}")
    board = geometry(6, 6)
    atoms = position.state.boxes[0].atoms
    points = 0
    for _ in range(data.draw(st.integers(0, 6))):
        port = data.draw(st.sampled_from(GAME.view(position.state, ALONE).unused_ports))
        position = played(position, port)
        result = trace(board, atoms, board.ports.index(port))
        points += 1 if result in (HIT, board.ports.index(port)) else 2
    guess = data.draw(st.permutations(range(36)).map(lambda cells: frozenset(cells[:3])))
    marks = ",".join("+" + board.name(cell) for cell in sorted(guess))
    over = played(position, f"{marks},?")
    assert over.outcome is not None
    wrong = 0 if over.outcome.reason == "solved" else 5 * len(atoms - guess)
    assert score_of(over).total == points + wrong == over.outcome.scores[0]


def test_a_port_that_a_clue_fires_costs_nothing() -> None:
    position = begun("-size=4x4", "-atoms=1", "-seed=monday", "-guesses=2", "-clue")
    position = played(position, "+d1,?")
    before = score_of(position)
    assert (before.ports, before.hits, before.reflections, before.detours) == (0, 0, 0, 0)
    assert any(position.state.boxes[0].marks), "the clue has fired one"
    assert score_of(played(position, "/d1,+a4,?")).total == 0


def endings(position: Position, seats: int, data: st.DataObject) -> Position:
    """Play each seat of a race to its end, in one of the ways in which it can end."""
    board, atoms = geometry(4, 4), position.state.boxes[0].atoms
    for seat in map(Seat, range(seats)):
        for _ in range(data.draw(st.integers(0, 4))):
            view = GAME.view(position.state, seat)
            position = played(position, data.draw(st.sampled_from(view.unused_ports)), seat)
        how = data.draw(st.sampled_from(["right", "wrong", "resigned", "forfeit"]))
        if how == "right":
            marks = ",".join("+" + board.name(cell) for cell in sorted(atoms))
            position = played(position, f"{marks},?", seat)
        elif how == "wrong":
            cells = data.draw(st.permutations([c for c in board.cells if c not in atoms]))
            marks = ",".join("+" + board.name(cell) for cell in cells[: len(atoms)])
            position = played(position, f"{marks},?", seat)
        elif how == "resigned":
            position = position.withdraw(seat)
        else:
            position = position.forfeit(seat)
        if position.outcome is not None:
            break
    return position


@given(st.sampled_from(["classic", "timed", "first"]), st.integers(2, 5), st.data())
def test_a_race_is_won_by_solving_the_box(scoring: str, seats: int, data: st.DataObject) -> None:
    """Each seat that solved the box comes before each that did not; if none did, none won."""
    words = ("-size=4x4", "-atoms=2", "-seed=monday", f"-scoring={scoring}")
    over = endings(begun(*words, seats=seats), seats, data)
    outcome = over.outcome
    assert outcome is not None
    reasons = [box.result.reason for box in over.state.boxes]
    solvers = [place for place, why in zip(outcome.places, reasons, strict=True) if why == "solved"]
    others = [place for place, why in zip(outcome.places, reasons, strict=True) if why != "solved"]
    if not solvers:
        assert outcome.reason == "unsolved"
        assert set(outcome.places) == {1}
        return
    assert outcome.reason == "race"
    assert max(solvers) < min(others, default=seats + 1)
    if scoring == "first":
        return
    points = dict(enumerate(outcome.scores))
    for group in ("solved", "out-of-guesses"):
        members = [seat for seat, why in enumerate(reasons) if why == group]
        by_place = sorted(members, key=lambda seat: outcome.places[seat])
        assert [points[seat] for seat in by_place] == sorted(points[seat] for seat in members)
    gave_up = [
        place
        for place, why in zip(outcome.places, reasons, strict=True)
        if why in {"resigned", "forfeit"}
    ]
    guessed_wrong = [
        place for place, why in zip(outcome.places, reasons, strict=True) if why == "out-of-guesses"
    ]
    assert max(guessed_wrong, default=0) < min(gave_up, default=seats + 1)
