"""The rules of ladders: whom one may challenge, and where a result leads."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbmserv.service.ladder.ranks import (
    best_target,
    most_incoming,
    order_before,
)
from pbmserv.store.ladders.ladder_places import Movement

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("rank", "best"),
    [(2, 1), (3, 1), (11, 1), (12, 2), (20, 10), (25, 15), (26, 16), (30, 18), (50, 30)],
)
def test_one_may_challenge_ten_places_up_or_40_per_cent_if_that_is_more(
    rank: int, best: int
) -> None:
    assert best_target(rank) == best


def test_the_first_take_more_challenges_than_the_others() -> None:
    assert [most_incoming(rank) for rank in (1, 5, 6, 10, 11, 900)] == [5, 5, 4, 4, 3, 3]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9), st.integers(0, 9)), max_size=30))
def test_the_order_of_a_month_ago_follows_from_the_movements(steps: list) -> None:
    order: list[int] = [1, 2, 3]
    first, fresh, movements = list(order), 4, []

    def note(player: int, before: int | None, after: int | None) -> None:
        movements.insert(0, Movement(0, player, "", before, after, "", None, NOW))

    for kind, a, b in steps:
        if kind == 0 or not order:
            order.append(fresh)
            note(fresh, None, len(order))
            fresh += 1
        elif kind == 1:
            place = a % len(order)
            note(order.pop(place), place + 1, None)
        else:
            before, after = a % len(order), b % len(order)
            player = order.pop(before)
            order.insert(after, player)
            note(player, before + 1, after + 1)
    assert order_before(order, movements) == first
