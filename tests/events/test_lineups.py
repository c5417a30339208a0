"""Line-ups of teams in events by invitation."""

from __future__ import annotations

from collections.abc import Callable

from seasons import GAME, PAWNS, ROOKS, Field, gather_two, kinds_to
from test_teams import finish_a_game


def test_an_invited_captain_stays_invited_on_the_reserve(field: Callable[[int], Field]) -> None:
    players = field(10)
    gather_two(players, ROOKS[:4], ("jack", *PAWNS))
    finish_a_game(players, "ann", "bob")
    players.says("ann", f'event create {GAME} team "Office match" -entries=3 -invited')
    players.says("ann", "event invite 1 jack")
    players.says("jack", "event join 1")
    # Jack puts himself on the reserve: the team stays entered, and he can enter it again.
    players.says("jack", "team order finn gus hal ivy jack")
    assert players.event(1)["entered"] == 2
    (refused,) = players.says("jack", "event join 1")
    assert "already" in refused.text
    players.says("jack", "event leave 1")
    assert players.event(1)["entered"] == 1
    assert kinds_to(players.says("jack", "event join 1"), "jack") == ["team"]
    # The team shrinks, and is out; so is its captain. Its next captain may enter it again.
    players.says("hal", "team leave")
    players.says("jack", "team leave")
    assert players.event(1)["entered"] == 1
    for name in ("hal", "jack"):
        players.says("finn", f"team invite {name}")
        players.says(name, "team join Pawns")
    assert kinds_to(players.says("finn", "event join 1"), "finn") == ["team"]
    (refused,) = players.says("gus", "event leave 1")
    assert "only the captain" in refused.text


def test_a_player_is_always_invited_to_an_event_of_their_own(
    field: Callable[[int], Field],
) -> None:
    players = field(3)
    finish_a_game(players, "ann", "bob")
    players.says("ann", f'event create {GAME} cup "Office cup" -entries=3 -invited')
    players.says("ann", "event leave 1")
    (refused,) = players.says("cleo", "event join 1")
    assert "invited" in refused.text
    players.says("ann", "event join 1")
    assert players.event(1)["entered"] == 1
