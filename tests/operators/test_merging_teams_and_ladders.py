"""Merging two accounts of one person: teams, and places on ladders."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from deeds import do
from indoors import PASSWORD, Indoors, address_of
from seating import gather_team
from sqlalchemy import select, update

from pbmserv.service.ladder import tables
from pbmserv.service.operators import ladders, merging
from pbmserv.store import teams
from pbmserv.store.ladders.ladder_reigns import FAME
from pbmserv.store.tables.ladders import ladder_reigns
from pbmserv.store.tables.teams import MemberStatus, team_members

pytestmark = [pytest.mark.slow, pytest.mark.both_databases]

NAMES = ("alice", "bob", "carol", "dora", "eve", "finn")


def says(house: Indoors, name: str, verb: str, rest: str) -> None:
    house.send(address_of(name), f"{verb} {name} {PASSWORD} {rest}")


# -- ladders -----------------------------------------------------------------------------------


def climb(house: Indoors, *names: str) -> None:
    """Let these players join the ladder, the best one first."""
    house.sign_up(*NAMES[3:])
    house.server.scheduler.begin()
    for name in names:
        says(house, name, "ladder", "join blackbox")


def order(house: Indoors) -> list[str]:
    rows = house.look(partial(ladders.place_lines, game="blackbox", most=9))
    return [row[1] for row in rows]


def page(house: Indoors) -> Any:
    game = house.server.services.registry.newest("blackbox")
    return house.look(partial(tables.ladder_page, game=game))


def ranks_before(house: Indoors) -> dict[str, int | None]:
    """Return the ranks of a month ago, by player."""
    return {str(rung.userid): rung.before for rung in page(house).rungs}


def test_a_player_who_is_on_no_ladder_gets_the_place(house: Indoors) -> None:
    climb(house, "carol", "alice", "dora")
    house.live(days=40)
    says(house, "alice", "ladder", "challenge carol blackbox")
    do(house, merging.merge, userid="alice", into="bob")
    house.letters()
    assert order(house) == ["carol", "bob", "dora"]
    assert ranks_before(house) == {"carol": 1, "bob": None, "dora": 3}
    (game,) = page(house).running
    assert (game.challenger, game.defender) == ("bob", "carol")
    do(house, ladders.settle, number=game.board, winner="bob")
    letters = house.live(minutes=2)
    assert order(house) == ["bob", "carol", "dora"]
    news = {letter.recipient for letter in letters if letter.kind == "ladder-news"}
    assert news == {address_of("bob"), address_of("carol")}


@pytest.mark.parametrize("into", ["alice", "dora"])
def test_of_two_places_the_better_one_is_kept(house: Indoors, into: str) -> None:
    (old,) = {"alice", "dora"} - {into}
    climb(house, "carol", "alice", "bob", "dora", "eve")
    house.live(days=40)
    do(house, merging.merge, userid=old, into=into)
    assert order(house) == ["carol", into, "bob", "eve"]
    kept = {"carol": 1, "bob": 3, "eve": 5}
    assert {name: ranks_before(house)[name] for name in kept} == kept, "the others have not moved"


def test_time_at_first_place_goes_on_after_a_merge(house: Indoors) -> None:
    climb(house, "alice", "carol", "bob")
    with house.server.database.writing.begin() as connection:
        began_at = house.server.clock.now() - FAME + timedelta(days=5)
        connection.execute(update(ladder_reigns).values(began_at=began_at))
    do(house, merging.merge, userid="alice", into="bob")
    house.live(days=10)
    assert order(house) == ["bob", "carol"]
    (fame,) = page(house).fame
    assert (fame.userid, fame.days) == ("bob", FAME.days + 5)


# -- teams -------------------------------------------------------------------------------------


def members(house: Indoors, name: str) -> list[str]:
    """Return the members of a team in the order of the boards, its captain in capitals."""
    with house.server.database.reading.connect() as connection:
        team = teams.of_key(connection, name)
        if team is None:
            return []
        return [
            member.userid.upper() if member.player_id == team.captain_id else member.userid
            for member in teams.members(connection, team.id)
        ]


def gather(house: Indoors, name: str, names: Sequence[str]) -> None:
    gather_team(house.server, name, [NAMES.index(member) + 1 for member in names])


def test_the_team_keeps_its_member_and_captain(house: Indoors) -> None:
    house.sign_up(*NAMES[3:])
    gather(house, "rooks", ("carol", "alice", "dora"))
    gather(house, "pawns", ("eve", "finn"))
    do(house, merging.merge, userid="alice", into="bob")
    do(house, merging.merge, userid="carol", into="bob")
    assert members(house, "rooks") == ["BOB", "dora"], "both were in this team"
    deed = do(house, merging.merge, userid="eve", into="bob")
    assert "It has left the team pawns, since bob is in another one." in deed.summary
    assert members(house, "rooks") == ["BOB", "dora"], "a member stays in the own team"
    assert members(house, "pawns") == ["finn"]
    house.server.scheduler.begin()
    letters = house.live(days=2)
    assert members(house, "pawns") == ["FINN"], "the captain has left"
    news = [letter for letter in letters if letter.kind == "team-news"]
    assert {letter.recipient for letter in news} == {address_of("finn")}


def test_invitations_to_teams_and_refusals_move(house: Indoors) -> None:
    house.sign_up(*NAMES[3:])
    gather(house, "rooks", ("carol", "dora"))
    gather(house, "pawns", ("eve", "finn"))
    says(house, "carol", "team", "invite alice bob")
    says(house, "eve", "team", "invite alice")
    do(house, merging.merge, userid="alice", into="bob")
    with house.server.database.reading.connect() as connection:
        rows = connection.execute(
            select(team_members.c.team_id, team_members.c.player_id)
            .where(team_members.c.status == MemberStatus.INVITED)
            .order_by(team_members.c.team_id)
        ).all()
    assert [tuple(row) for row in rows] == [(1, 2), (2, 2)]
    says(house, "bob", "team", "join pawns")
    assert members(house, "pawns") == ["EVE", "finn", "bob"]
