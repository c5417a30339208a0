"""Matches of teams, played by mail in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from indoors import PASSWORD, Indoors, address_of, indoors
from seasons import GAME, Field, gather, kinds_to

from pbmserv.service.events import team_tables
from pbmserv.service.events.tables import LOSS, WIN
from pbmserv.store.events import Pairing
from pbmserv.store.tables.events import EventStatus

ROOKS = ("ann", "bob", "cleo", "dan", "eve")
PAWNS = ("finn", "gus", "hal", "ivy")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def either(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Indoors]:
    url = "" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    with indoors(tmp_path, url) as server:
        yield server


@pytest.mark.both_databases
def test_a_match_of_two_teams(either: Indoors) -> None:
    players = Field(either, (*ROOKS, *PAWNS))
    gather(players, "Rooks", ROOKS)
    gather(players, "Pawns", PAWNS)
    letters = players.says("ann", f"team enter {GAME}")
    assert kinds_to(letters, "ann") == ["team"]
    assert kinds_to(letters, "bob") == kinds_to(letters, "eve") == ["team-news"]
    (refused,) = players.says("ann", f"team enter {GAME}")
    assert refused.kind == "refusal"
    players.says("finn", f"team enter {GAME}")
    # Eve plays on the first board, and Bob is the reserve.
    (order,) = players.says("ann", "team order eve ann cleo dan bob")
    assert "reserve" in order.text
    letters = players.until(1, EventStatus.RUNNING)
    begins = {one.recipient: one for one in letters if one.kind == "event-begins"}
    assert set(begins) == {address_of(name) for name in ("eve", "ann", "cleo", "dan", *PAWNS)}
    assert "finn (Pawns)" in begins[address_of("eve")].text
    (section,) = players.event(1)["sections"]
    (match,) = section["matches"]
    assert match["open"]
    boards = [(game["number"], {game["first"], game["second"]}) for game in match["boards"]]
    pairs = [{"eve", "finn"}, {"ann", "gus"}, {"cleo", "hal"}, {"dan", "ivy"}]
    assert boards == list(enumerate(pairs, 1))
    first = [game["first"] in ROOKS for game in section["games"]]
    assert first in ([True, False, True, False], [False, True, False, True])
    # Dan never moves, and harms only his own board.
    for game in match["boards"]:
        if "dan" not in {game["first"], game["second"]}:
            loser = {"eve": "finn", "ann": "ann", "cleo": "hal"}[
                next(name for name in (game["first"], game["second"]) if name in ROOKS)
            ]
            line = f"{GAME} resign {game['board']} {loser} {PASSWORD}"
            either.send_unread(address_of(loser), line)
        else:
            line = f"{GAME} move {game['board']} ivy {PASSWORD} d"
            either.send_unread(address_of("ivy"), line)
    letters = players.until(1, EventStatus.FINISHED)
    (section,) = players.event(1)["sections"]
    rows = [(row["team"], row["points"], row["board_points"]) for row in section["teams"]]
    assert rows == [("Rooks", 1, 4), ("Pawns", 1, 4)]
    assert section["matches"][0]["boards"][3]["reason"] == "forfeit"
    results = [one for one in players.letters if one.kind == "event-news"]
    ended = [one for one in results if "Matches" in one.text]
    assert {one.recipient for one in ended} == set(begins)
    assert section["removed"] == []


def test_a_team_of_three_does_not_enter_and_one_that_shrinks_is_out(
    field: Callable[[int], Field],
) -> None:
    players = field(9)
    gather(players, "Rooks", ROOKS[:3])
    gather(players, "Pawns", PAWNS)
    (refused,) = players.says("ann", f"team enter {GAME}")
    assert "1 more is missing" in " ".join(refused.text.split())
    (refused,) = players.says("gus", f"team enter {GAME}")
    assert "Only the captain" in refused.text
    players.says("finn", f"team enter {GAME}")
    assert players.event(1)["entered"] == 1
    (refused,) = players.says("gus", "event leave 1")
    assert "only the captain" in refused.text
    letters = players.says("gus", "team leave")
    assert any("no longer in" in " ".join(one.text.split()) for one in letters)
    assert players.event(1)["entered"] == 0


def pairing(number: int, first: int, second: int, points: tuple[int, int]) -> Pairing:
    return Pairing(1, 1, number, first, second, number, *points, "solved")


def test_match_points_come_before_board_points() -> None:
    team_of = {player: player // 10 for player in (10, 11, 12, 13, 20, 21, 22, 23, *range(30, 34))}
    lineups = {team: {board: team * 10 + board for board in range(4)} for team in (1, 2, 3)}
    games = team_tables.pairs([1, 2, 3], lineups)
    assert len(games) == 12
    begins = [team_of[first] for _, first, _ in games[:4]]
    assert begins in ([1, 2, 1, 2], [2, 1, 2, 1])
    played = []
    for number, first, second in games:
        assert second is not None
        pair = {team_of[first], team_of[second]}
        board = first % 10
        winner = 1 if pair == {1, 2} and board < 3 else min(pair - {1} or pair)
        if pair == {1, 3}:
            winner = 1 if board < 3 else 3
        if pair == {2, 3}:
            winner = 2
        points = (WIN, LOSS) if team_of[first] == winner else (LOSS, WIN)
        played.append(pairing(number, first, second, points))
    lines = team_tables.table([1, 2, 3], team_tables.matches([1, 2, 3], played, team_of))
    # The second team has more points at the boards, and the first has won both matches.
    assert [(one.team, one.points, one.board_points) for one in lines] == [
        (1, 4, 12),
        (2, 2, 10),
        (3, 0, 2),
    ]
