"""Plans for Blackbox: conditions that the player's own view answers, and moves that can be."""

from __future__ import annotations

import pytest
from rows import rows

from pbmserv.engine.plans import checked_plan, print_plan, read_plan
from pbmserv.engine.position import Position, opening
from pbmserv.engine.record import GameRecord
from pbmserv.engine.types import Seat
from pbmserv.errors import Illegal, MoveError, NotUnderstood
from pbmserv.games.blackbox.game import GAME, Blackbox

ALICE, BOB = Seat(0), Seat(1)
RULES = Blackbox()


def played(*moves: str) -> Position:
    """Return a board after these moves in turn, of which the first two hide atoms."""
    position = opening(GAME, GameRecord("blackbox", 1, 2, (), b"seed"))
    for number, text in enumerate(moves):
        seat = Seat(number % 2)
        view = GAME.view(position.state, seat)
        position = position.move(seat, GAME.parse(view, text))
    return position


HIDDEN = ("b3,d3,a1,f2", "c3,b5,e5,g6")
"""The second are the atoms that alice looks for."""


def settled(text: str, *moves: str, seat: Seat = ALICE) -> str:
    view = GAME.view(played(*HIDDEN, *moves).state, seat)
    return print_plan(checked_plan(GAME, view, read_plan(text)))


def test_a_plan_gets_canonical_words() -> None:
    assert settled("g,+3b if hit: C else j") == "G,+B3 if #: C else J"
    assert settled("if a = reflection or A=a or 014: c") == "if A=% or A=% or 14: C"


@rows(
    ("plan", "error", "code", "part"),
    [
        ("g; g", Illegal, "blackbox.port-used", "g"),
        ("g if #: c else g,+b2", Illegal, "blackbox.port-used", "g"),
        ("g; c,+z9", Illegal, "blackbox.column-unknown", "+z9"),
        ("g; hello", NotUnderstood, "blackbox.not-a-move", "hello"),
        ("+b2,?", Illegal, "blackbox.guess-markers", "?"),
        ("g; pass", Illegal, "blackbox.no-such-turn", "pass"),
        ("if maybe: g", NotUnderstood, "blackbox.condition-unknown", "maybe"),
        ("if 99: g", Illegal, "blackbox.condition-port", "99"),
        ("if z=#: g", Illegal, "blackbox.condition-port", "z=#"),
        ("if a=: g", NotUnderstood, "blackbox.condition-unknown", "a="),
    ],
)
def test_a_plan_that_can_never_work_is_refused_at_once(
    plan: str, error: type[MoveError], code: str, part: str
) -> None:
    with pytest.raises(error) as refused:
        settled(plan)
    assert (refused.value.refusal.code, refused.value.refusal.part) == (code, part)


def test_later_moves_are_checked_against_what_the_earlier_ones_lead_to() -> None:
    assert settled("g,+b2,+c2; +d2,+e2; ?") == "G,+B2,+C2; +D2,+E2; ?"
    markers = "+b2,+c2,+d2,+e2"
    assert settled(f"{markers},?; ?; ?").endswith("?; ?; ?")
    with pytest.raises(Illegal) as refused:
        settled(f"{markers},?; ?; ?; ?")
    assert refused.value.refusal.code == "blackbox.no-guesses"


def test_a_plan_may_begin_with_hiding() -> None:
    view = GAME.view(played().state, BOB)
    assert print_plan(checked_plan(GAME, view, read_plan("a1,a2,a3,a4; 5"))) == "A1,A2,A3,A4; 5"


def test_conditions_speak_of_the_last_own_probe_and_of_ports() -> None:
    def true(*moves: str, seat: Seat = ALICE) -> set[str]:
        view = GAME.view(played(*HIDDEN, *moves).state, seat)
        facts = ("#", "%", "detour", "14", "3=#", "3=%", "1=8", "8=1", "1=detour", "1=9")
        written = (RULES.condition(view, fact) for fact in facts)
        return {fact for fact in written if RULES.holds(view, fact)}

    assert true() == set()
    assert true("3") == {"#", "3=#"}
    assert true("1") == {"detour", "1=8", "8=1", "1=detour"}
    assert true("3", "a", "1") == {"detour", "3=#", "1=8", "8=1", "1=detour"}
    assert true("1", "a", "3") == {"#", "3=#", "1=8", "8=1", "1=detour"}
    assert true("14") == {"%"}
    assert true("3", seat=BOB) == set()  # another player's probes are not a condition
