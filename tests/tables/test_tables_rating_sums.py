"""The sums of ratings: who wins goes up, who loses goes down, and nobody depends on the clock."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbmserv.engine.ratings import (
    NEWCOMER,
    SURE_AFTER,
    UNRATED,
    Past,
    Rating,
    chances,
    is_provisional,
    rate,
    settle,
)

ratings = st.builds(
    Rating, st.floats(-10, 60, allow_nan=False), st.floats(0.5, 25 / 3, allow_nan=False)
)


def test_a_newcomer_is_shown_as_a_thousand_and_has_even_chances() -> None:
    assert NEWCOMER.shown == 1000
    assert chances([NEWCOMER, NEWCOMER]) == (0.5, 0.5)


def test_a_first_win_and_a_first_loss_move_the_number_as_the_letters_say() -> None:
    won, lost = rate([NEWCOMER, NEWCOMER], [1, 2])
    assert (won.shown, lost.shown) == (1138, 927)


@given(ratings, ratings)
def test_a_win_never_lowers_the_number_and_a_loss_never_raises_the_strength(
    winner: Rating, loser: Rating
) -> None:
    won, lost = rate([winner, loser], [1, 2])
    assert won.mu >= winner.mu
    assert won.shown >= winner.shown
    assert lost.mu <= loser.mu
    assert won.sigma <= winner.sigma
    assert lost.sigma <= loser.sigma


@given(st.lists(ratings, min_size=2, max_size=8), st.data())
def test_the_order_of_seats_does_not_change_ratings(
    before: list[Rating], data: st.DataObject
) -> None:
    places = data.draw(
        st.lists(st.integers(1, len(before)), min_size=len(before), max_size=len(before))
    )
    forwards = rate(before, places)
    backwards = rate(before[::-1], places[::-1])[::-1]
    for rating, other in zip(forwards, backwards, strict=True):
        assert rating.mu == pytest.approx(other.mu)
        assert rating.sigma == pytest.approx(other.sigma)
    assert rate(before, places) == forwards
    assert sum(chances(before)) == pytest.approx(1)


def test_wins_losses_and_draws_are_counted_for_any_number_of_seats() -> None:
    two = settle([UNRATED, UNRATED], [2, 1], {})
    assert [(s.wins, s.losses, s.draws, s.games) for s in two] == [(0, 1, 0, 1), (1, 0, 0, 1)]
    draw = settle(two, [1, 1], {(0, 1): Past(1, met=True)})
    assert [(s.wins, s.losses, s.draws) for s in draw] == [(0, 1, 1), (1, 0, 1)]
    three = settle([UNRATED] * 3, [1, 3, 1], {})
    assert [(s.wins, s.losses, s.draws) for s in three] == [(0, 0, 1), (0, 1, 0), (0, 0, 1)]


def test_a_rating_is_provisional_for_its_first_games() -> None:
    assert is_provisional(0)
    assert is_provisional(SURE_AFTER - 1)
    assert not is_provisional(SURE_AFTER)
