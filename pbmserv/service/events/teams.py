"""Facts of teams for letters and pages, and the letters to members."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.store import teams
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.store.tables.teams import MemberStatus
from pbmserv.store.teams import Member, Team

BOARDS = 4
"""Boards of a match, and members who play, in the order that the captain sets."""

MOST_MEMBERS = 6
LONGEST_NAME = 30
MOST_LISTED = 200
"""Teams in a list."""

_NOT_IN_KEYS = re.compile(r"[\W_]+")


def key_of(name: str) -> str:
    """Return a team's name as it is compared and as its page is called: ``red-rooks``."""
    return _NOT_IN_KEYS.sub("-", name.casefold()).strip("-")[:40]


def facts(context: CommandContext, team: Team) -> dict[str, Any]:
    """Return the words about a team for everybody, without the invitations."""
    return _facts(context, team, teams.members(context.connection, team.id))


def _facts(context: CommandContext, team: Team, members: Sequence[Member]) -> dict[str, Any]:
    captain: Member | Player | None = next(
        (member for member in members if member.player_id == team.captain_id), None
    )
    if captain is None:  # the captain left, and there is no successor yet
        captain = players.by_id(context.connection, team.captain_id)
    return {
        "team": team.id,
        "name": team.name,
        "key": team.key or "",
        "captain": captain.userid if captain is not None else "",
        "members": [member.userid for member in members],
        "invited": [],
        "created": f"{team.created_at:%Y-%m-%d}",
        "boards": BOARDS,
        "most": MOST_MEMBERS,
    }


def own_facts(context: CommandContext, team: Team) -> dict[str, Any]:
    """Return the words about a team for its members, with the invitations."""
    invited = teams.members(context.connection, team.id, MemberStatus.INVITED)
    return {**facts(context, team), "invited": [member.userid for member in invited]}


def listed(context: CommandContext) -> list[dict[str, Any]]:
    """Return the facts of all teams, by name."""
    all_teams = teams.listed(context.connection, MOST_LISTED)
    members = teams.members_by_team(context.connection, [team.id for team in all_teams])
    return [_facts(context, team, members.get(team.id, ())) for team in all_teams]


def news(
    context: CommandContext, team: Team, topic: str, *, without: int = 0, **words: Any
) -> list[Notification]:
    """Return a letter about a team to each member who wants such letters.

    Args:
        topic: what the letter tells: see ``letters/team-news.j2``.
        without: a player who gets none: the one who caused it.
        words: further words of the letter.
    """
    part = Part("team-news", {**own_facts(context, team), "what": topic, **words})
    return [
        Notification(member.address, member.player_id, part)
        for member in teams.members(context.connection, team.id)
        if member.player_id != without and member.state == PlayerState.ACTIVE and not member.muted
    ]
