"""Rows of teams and their members."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection, insert, select

from pbmserv.store.core.statements import (
    change_rows,
    claim_due,
    columns_of,
    delete_rows,
    due_keys,
    first_row,
    insert_into,
    put_off_due,
    put_row,
)
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.teams import MemberStatus, team_members, teams


@dataclass(frozen=True, slots=True)
class Team:
    """A team.

    Attributes:
        key: the name as it is compared and as its page is called; `None` if all have left.
    """

    id: int
    name: str
    key: str | None
    captain_id: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a team, or an invited player.

    Attributes:
        muted: the player wants no words and news of the team.
        active_at: a time at which the player was active.
        state, address, public, unreachable_since: those of the player's account.
    """

    player_id: int
    userid: str
    status: MemberStatus
    muted: bool
    since: datetime
    active_at: datetime
    state: PlayerState
    address: str
    public: bool
    unreachable_since: datetime | None


_TEAM = select(*columns_of(Team, teams))
_MEMBER = select(*columns_of(Member, team_members, players)).join(
    players, players.c.id == team_members.c.player_id
)
_IN_ORDER = (
    team_members.c.place.is_(None),
    team_members.c.place,
    team_members.c.since,
    team_members.c.player_id,
)


# -- teams -------------------------------------------------------------------------------------


def create(connection: Connection, name: str, key: str, captain_id: int, now: datetime) -> int:
    """Add a team with its captain as the only member; return its id, 0 if the name is taken."""
    team_id: int | None = connection.execute(
        insert_into(connection, teams)
        .values(name=name, key=key, captain_id=captain_id, created_at=now, due_at=now)
        .on_conflict_do_nothing(index_elements=["key"])
        .returning(teams.c.id)
    ).scalar()
    if team_id is None:
        return 0
    connection.execute(
        insert(team_members).values(
            team_id=team_id,
            player_id=captain_id,
            status=MemberStatus.MEMBER,
            place=1,
            since=now,
            active_at=now,
        )
    )
    return team_id


def change(connection: Connection, team_id: int, **values: Any) -> None:
    """Set columns of a team."""
    change_rows(connection, teams, {"id": team_id}, **values)


def load(connection: Connection, team_id: int) -> Team | None:
    """Return a team, `None` if there is none."""
    return first_row(connection, Team, _TEAM.where(teams.c.id == team_id))


def lock(connection: Connection, team_id: int) -> Team | None:
    """Return a team and lock it until the end of the transaction."""
    return first_row(connection, Team, _TEAM.where(teams.c.id == team_id).with_for_update())


def of_key(connection: Connection, key: str) -> Team | None:
    """Return the team of a name, `None` if there is none."""
    return first_row(connection, Team, _TEAM.where(teams.c.key == key))


def listed(connection: Connection, most: int) -> list[Team]:
    """Return the teams that have members, by name."""
    statement = _TEAM.where(teams.c.key.is_not(None)).order_by(teams.c.key).limit(most)
    return [Team(*row) for row in connection.execute(statement)]


def names_of(connection: Connection, team_ids: Collection[int]) -> dict[int, str]:
    """Return the names of teams by id."""
    rows = connection.execute(select(teams.c.id, teams.c.name).where(teams.c.id.in_(team_ids)))
    return {row.id: row.name for row in rows}


def of_players(connection: Connection, player_ids: Collection[int]) -> Team | None:
    """Return the team of which one of these players is a member, `None` if there is none."""
    statement = (
        _TEAM.join(team_members, team_members.c.team_id == teams.c.id)
        .where(
            team_members.c.player_id.in_(player_ids),
            team_members.c.status == MemberStatus.MEMBER,
        )
        .order_by(teams.c.id)
        .limit(1)
    )
    return first_row(connection, Team, statement)


def inviting(connection: Connection, player_id: int) -> list[Team]:
    """Return the teams that wait for a player's answer."""
    rows = connection.execute(
        _TEAM.join(team_members, team_members.c.team_id == teams.c.id)
        .where(
            team_members.c.player_id == player_id,
            team_members.c.status == MemberStatus.INVITED,
            teams.c.key.is_not(None),
        )
        .order_by(teams.c.id)
    )
    return [Team(*row) for row in rows]


# -- members -----------------------------------------------------------------------------------


def members(
    connection: Connection, team_id: int, status: MemberStatus = MemberStatus.MEMBER
) -> list[Member]:
    """Return the players of a team with a status, in the order of the boards."""
    statement = _MEMBER.where(team_members.c.team_id == team_id, team_members.c.status == status)
    return [Member(*row) for row in connection.execute(statement.order_by(*_IN_ORDER))]


def members_by_team(connection: Connection, team_ids: Collection[int]) -> dict[int, list[Member]]:
    """Return the members of teams, by team, each in the order of the boards."""
    statement = _MEMBER.add_columns(team_members.c.team_id).where(
        team_members.c.team_id.in_(team_ids), team_members.c.status == MemberStatus.MEMBER
    )
    by_team: dict[int, list[Member]] = {}
    for *member, team_id in connection.execute(statement.order_by(*_IN_ORDER)):
        by_team.setdefault(team_id, []).append(Member(*member))
    return by_team


def member_of(connection: Connection, team_id: int, player_id: int) -> Member | None:
    """Return a member or an invited player of a team, `None` if the player is neither."""
    statement = _MEMBER.where(
        team_members.c.team_id == team_id, team_members.c.player_id == player_id
    )
    return first_row(connection, Member, statement)


def set_member(
    connection: Connection, team_id: int, player_id: int, status: MemberStatus, now: datetime
) -> None:
    """Set the status of a player in a team, from now on, without a place."""
    values: dict[str, Any] = {"status": status, "place": None, "since": now, "active_at": now}
    put_row(connection, team_members, {"team_id": team_id, "player_id": player_id}, **values)


def remove(connection: Connection, team_id: int, player_id: int) -> None:
    """Remove a player from a team."""
    delete_rows(connection, team_members, team_id=team_id, player_id=player_id)


def set_order(connection: Connection, team_id: int, player_ids: Sequence[int]) -> None:
    """Store the order of the boards; all members are in it."""
    for place, player_id in enumerate(player_ids, 1):
        change_member(connection, team_id, player_id, place=place)


def change_member(connection: Connection, team_id: int, player_id: int, **values: Any) -> bool:
    """Set columns of a member; return whether there is one."""
    which = {"team_id": team_id, "player_id": player_id, "status": MemberStatus.MEMBER}
    return change_rows(connection, team_members, which, **values) > 0


def mute(connection: Connection, team_id: int, player_id: int) -> bool:
    """Send a member no more words and news of a team; return whether that changed anything."""
    member = member_of(connection, team_id, player_id)
    if member is None or member.muted:
        return False
    return change_member(connection, team_id, player_id, muted=True)


def move(connection: Connection, old: int, new: int, now: datetime) -> None:
    """Give one player's membership and invitations to another, who is in one team only.

    A member of another team stays there. In the same team, the better place is kept. An invitation
    or refusal stays with the old player if the other one has any row of the same team.
    """
    statement = select(team_members).order_by(team_members.c.team_id)
    rows = connection.execute(statement.where(team_members.c.player_id == old)).all()
    rows_of_new = connection.execute(statement.where(team_members.c.player_id == new)).all()
    own = {row.team_id: row for row in rows_of_new}
    own_team = next((row.team_id for row in rows_of_new if row.status == MemberStatus.MEMBER), None)
    for row in rows:
        is_member = row.status == MemberStatus.MEMBER
        has_other_team = own_team not in {None, row.team_id}
        if (is_member and has_other_team) or (not is_member and row.team_id in own):
            continue
        lock(connection, row.team_id)
        values: dict[str, Any] = {"player_id": new, "active_at": now}
        if is_member and own_team is not None:  # the same team
            twin = own[own_team]
            places = [place for place in (row.place, twin.place) if place is not None]
            values["place"] = min(places, default=None)
            values["since"] = min(row.since, twin.since)
            values["muted"] = twin.muted
        remove(connection, row.team_id, new)
        key = {"team_id": row.team_id, "player_id": old}
        change_rows(connection, team_members, key, **values)
        change_rows(connection, teams, {"id": row.team_id, "captain_id": old}, captain_id=new)


# -- the daily check ---------------------------------------------------------------------------


due = partial(due_keys, table=teams)
"""Return teams whose check is due."""
claim = partial(claim_due, row=Team, table=teams)
"""Lock a due team; return `None` if another process has it or has checked it."""
put_off = partial(put_off_due, table=teams)
"""Check a team no earlier than a moment."""


def disband(connection: Connection, team_id: int) -> None:
    """End a team without members: its name is free, and all invitations are dropped."""
    change(connection, team_id, name=f"Team {team_id}", key=None, due_at=None)
    delete_rows(connection, team_members, team_id=team_id)
