"""Ratings that somebody tries to farm: with two accounts, in a ring, by resigning at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from indoors import PASSWORD, Indoors, address_of, indoors
from sqlalchemy import Connection

from pbmserv.engine.position import opening
from pbmserv.engine.ratings import (
    NEW,
    OPPONENTS,
    UNRATED,
    Past,
    Rating,
    Standing,
    pair_weight,
    settle,
    weights,
)
from pbmserv.engine.record import GameRecord
from pbmserv.engine.types import Move, Seat
from pbmserv.games.blackbox.game import GAME
from pbmserv.service.boards.board_ends import everybody_played
from pbmserv.service.ratings import rebuilding
from pbmserv.store import ratings
from pbmserv.store.accounts import players
from pbmserv.store.ratings import Rated

pytestmark = pytest.mark.slow

ALICE, BOB, CAROL = map(address_of, ("alice", "bob", "carol"))
FIRST_WIN = 138
"""Points that a newcomer's first win against a newcomer adds to the number that people see."""


@pytest.fixture
def house(database_url: str, tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path, database=database_url) as server:
        server.sign_up("alice", "bob", "carol")
        yield server


def farm(games: Sequence[tuple[int, int]], accounts: int) -> list[Standing]:
    """Accounts that play so many games, winner and loser named, all within the window."""
    standings = [UNRATED] * accounts
    played: dict[frozenset[int], int] = {}
    for winner, loser in games:
        pair = frozenset((winner, loser))
        lately = played.get(pair, 0)
        pasts: Mapping[tuple[int, int], Past] = {(0, 1): Past(lately, met=lately > 0)}
        after = settle([standings[winner], standings[loser]], [1, 2], pasts)
        standings[winner], standings[loser] = after
        played[pair] = lately + 1
    return standings


def test_twelve_games_of_two_accounts_bring_less_than_two_and_no_place() -> None:
    farmer, _ = farm([(0, 1)] * 12, 2)
    assert farmer.rating.shown - 1000 < 2 * FIRST_WIN
    assert (farmer.games, farmer.opponents) == (12, 1)
    again, _ = farm([(0, 1)] * 200, 2)
    assert again.rating.shown == farmer.rating.shown


def test_a_ring_of_three_gets_no_place() -> None:
    ring = farm([pair for _ in range(40) for pair in ((0, 1), (1, 2), (2, 0))], 3)
    assert not any(player.opponents >= OPPONENTS for player in ring)
    for player in ring:
        assert abs(player.rating.shown - 1000) < 2 * FIRST_WIN
    to_one = farm([pair for _ in range(40) for pair in ((0, 1), (0, 2))], 3)
    assert to_one[0].rating.shown - 1000 < 4 * FIRST_WIN


@given(st.integers(2, 8), st.data())
def test_a_board_counts_for_each_seat_what_its_pairs_count_on_the_mean(
    seats: int, data: st.DataObject
) -> None:
    pasts = {
        pair: Past(data.draw(st.integers(0, 60)), met=True)
        for pair in combinations(range(seats), 2)
        if data.draw(st.booleans())
    }
    shares = weights(pasts, seats)
    for seat, weight in enumerate(shares):
        others = [
            (min(seat, opponent), max(seat, opponent))
            for opponent in range(seats)
            if opponent != seat
        ]
        assert weight == pytest.approx(
            sum(pair_weight(pasts.get(pair, NEW)) for pair in others) / (seats - 1)
        )
        assert 0 < weight <= 1


def test_games_with_enough_people_bring_a_place() -> None:
    pairs = list(product([0], range(1, OPPONENTS + 1)))
    assert farm(pairs, OPPONENTS + 1)[0].opponents >= OPPONENTS
    assert farm(pairs[1:], OPPONENTS + 1)[0].opponents < OPPONENTS


def resigned(house: Indoors, number: int, *, opened: bool) -> str:
    """A game of alice and bob that bob gives up; what alice's letter says."""
    house.send(ALICE, "blackbox challenge alice bob")
    for userid in ("alice", "bob"):
        line = f"blackbox move {number} {userid} {PASSWORD} a1,b2,c3,d4"
        house.send(address_of(userid), line)
    if opened:
        house.open_up(number, "alice", "bob")
    letters = house.send(BOB, f"blackbox resign {number} bob {PASSWORD}")
    (won,) = [letter for letter in letters if letter.recipient == ALICE]
    return won.one_line


def test_the_opening_lasts_until_the_last_player_has_used_four_turns() -> None:
    position = opening(GAME, GameRecord("blackbox", 1, 2, (), b"opening"))
    moves = ["A1,B2,C3,D4", "A1,B2,C3,D4", "A", "A", "B", "B", "C", "C"]
    for number, text in enumerate(moves):
        seat = Seat(number % 2)
        assert position.withdraw(seat).ended_in_opening, f"{number} turns were used"
        position = position.move(seat, Move(text))
    assert not position.withdraw(Seat(0)).ended_in_opening


def test_resigning_at_the_first_turn_changes_no_rating_and_the_letter_says_so(
    house: Indoors,
) -> None:
    for number in range(1, 4):
        text = resigned(house, number, opened=False)
        assert "rating:" not in text
        assert (
            "No rating changes: a game that somebody gives up before each player has used 4 turns"
            in text
        )
    (table,) = house.send(CAROL, "blackbox standings")
    assert "nobody is rated yet" in table.text
    assert rebuilding.check(house.server.database).differences == 0


@pytest.mark.parametrize(
    ("bob", "of_event", "counts"),
    [
        ("", False, False),  # he may not know of the board: somebody may have forged his mail
        ("a1,b2,c3,d4", False, True),
        ("resign", False, True),
        ("resign", True, False),  # of an event, boards can be given up before the first move
        ("late", False, False),
    ],
)
def test_a_game_counts_only_if_each_player_has_done_something(
    bob: str, of_event: bool, counts: bool
) -> None:
    position = opening(GAME, GameRecord("blackbox", 1, 2, (), b"seed"))
    hide = "b3,d3,a1,f2"
    position = position.move(Seat(0), GAME.parse(GAME.view(position.state, Seat(0)), hide))
    if bob == "resign":
        position = position.withdraw(Seat(1))
    elif bob == "late":
        position = position.forfeit(Seat(1))
    elif bob:
        position = position.move(Seat(1), GAME.parse(GAME.view(position.state, Seat(1)), bob))
    board: Any = SimpleNamespace(of_event=of_event, seats=2)
    assert everybody_played(board, position) == counts


def test_the_same_two_again_and_again_have_no_place_and_a_rebuild_agrees(house: Indoors) -> None:
    texts = [resigned(house, number, opened=True) for number in range(1, 5)]
    assert "Your Blackbox rating: 1138 (+138)" in texts[0]
    for text, percent in zip(texts[1:], (50, 25, 12), strict=True):
        assert f"It counts for {percent} % of a game" in text
    (table,) = house.send(CAROL, "blackbox standings")
    rows = [line.split()[:2] for line in table.text.split("\n") if "?  " in line]
    assert rows == [["-", "alice"], ["-", "bob"]]
    assert "- means not ranked yet: to be ranked, play 5 different opponents." in table.text
    assert rebuilding.check(house.server.database).differences == 0
    # After the window a game counts in full again.
    house.live(days=45)
    house.live(days=46)
    assert "It counts for" not in resigned(house, 5, opened=True)
    assert rebuilding.check(house.server.database).differences == 0


def test_players_whose_ratings_look_equal_share_a_rank(house: Indoors) -> None:
    now = house.server.clock.now()

    def rate(connection: Connection) -> None:
        rows = []
        for userid, mu in (("alice", 30.001), ("bob", 30.0), ("carol", 25.0)):
            player = players.account_of(connection, userid)
            assert player is not None
            rows.append(Rated(player.id, Standing(Rating(mu, 2.0), 9, 0, 0, OPPONENTS), now))
        ratings.lock(connection, "blackbox", [row.player_id for row in rows], now)
        ratings.settle(connection, "blackbox", rows)

    house.server.writer.submit(rate).result()
    (table,) = house.send(CAROL, "blackbox standings")
    rows = [line.split()[:2] for line in table.text.split("\n") if "?  " in line]
    assert rows == [["1", "alice"], ["1", "bob"], ["3", "carol"]]
