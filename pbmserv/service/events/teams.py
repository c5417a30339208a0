"""Facts of teams for letters and pages, and the letters to members."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.store import teams
from pbmserv.store.accounts import players
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.store.tables.teams import MemberStatus
from pbmserv.store.teams import Member, Team
from pbmserv.views.names import ALL_NAMES, PublicNames
from pbmserv.views.public_facts import TeamPage

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


def facts(context: CommandContext, team: Team, *, public: bool) -> TeamPage:
    """Return the facts of a team, without its events.

    Args:
        public: whether everybody may read them, so that they hide names.
    """
    members = teams.members(context.connection, team.id)
    return _facts(context, team, members, public=public)


def _facts(
    context: CommandContext, team: Team, members: Sequence[Member], *, public: bool
) -> TeamPage:
    userids = [member.userid for member in members]
    captain = _captain(context, team, members)
    hidden = {member.userid for member in members if not member.public}
    if captain not in userids:
        hidden.add(captain)
    names = PublicNames(frozenset(hidden)) if public else ALL_NAMES
    shown = names.at_board(userids)
    return TeamPage(
        team=team.id,
        key=team.key or "",
        name=team.name,
        captain=shown.get(captain) or names.of(captain),
        members=[shown[userid] for userid in userids],
        boards=BOARDS,
        created=f"{team.created_at:%Y-%m-%d}",
        events=[],
    )


def _captain(context: CommandContext, team: Team, members: Sequence[Member]) -> str:
    """Return the userid of the captain, who may have left before there is a successor."""
    for member in members:
        if member.player_id == team.captain_id:
            return member.userid
    captain = players.by_id(context.connection, team.captain_id)
    return captain.userid if captain is not None else ""


def listed(context: CommandContext, *, public: bool) -> list[TeamPage]:
    """Return the facts of all teams, by name; see `facts`."""
    all_teams = teams.listed(context.connection, MOST_LISTED)
    members = teams.members_by_team(context.connection, [team.id for team in all_teams])
    return [_facts(context, team, members.get(team.id, ()), public=public) for team in all_teams]


def words_for_all(context: CommandContext, team: Team) -> dict[str, Any]:
    """Return the words of a letter about a team for everybody, without the invitations."""
    return {**asdict(facts(context, team, public=False)), "invited": [], "most": MOST_MEMBERS}


def words_for_members(context: CommandContext, team: Team) -> dict[str, Any]:
    """Return the words of a letter about a team for its members, with the invitations."""
    invited = teams.members(context.connection, team.id, MemberStatus.INVITED)
    names = [member.userid for member in invited]
    return {**words_for_all(context, team), "invited": names}


def news(
    context: CommandContext, team: Team, topic: str, *, without: int = 0, **words: Any
) -> list[Notification]:
    """Return a letter about a team to each member who wants such letters.

    Args:
        topic: what the letter tells: see ``letters/team-news.j2``.
        without: a player who gets none: the one who caused it.
        words: further words of the letter.
    """
    part = Part("team-news", {**words_for_members(context, team), "what": topic, **words})
    return [
        Notification(member.address, member.player_id, part)
        for member in teams.members(context.connection, team.id)
        if member.player_id != without and member.state == PlayerState.ACTIVE and not member.muted
    ]
