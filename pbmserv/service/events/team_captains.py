"""The daily check of a team: a captain who is gone or silent gets a successor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification
from pbmserv.service.events.teams import news
from pbmserv.service.time.silence import last_sign, silent_time
from pbmserv.store import teams
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.store.teams import Member, Team

SILENT = timedelta(days=45)
"""Time without a move or a command about the team after which the team gets another captain;
absences and outages do not count."""

DAILY = timedelta(days=1)


def check_team(context: CommandContext, team_id: int) -> Sequence[Notification] | None:
    """Give a team another captain if its captain has left or is silent.

    Returns:
        The letters; `None` if another process does it.
    """
    team = teams.claim(context.connection, team_id, context.now)
    if team is None:
        return None
    members = teams.members(context.connection, team.id)
    if not members:
        teams.disband(context.connection, team.id)
        return []
    teams.put_off(context.connection, team.id, context.now + DAILY)
    captain = next((member for member in members if member.player_id == team.captain_id), None)
    if captain is None:
        return appoint(context, team, "left")
    if _is_silent(context, team, captain):
        return appoint(context, team, "silent")
    return []


def appoint(context: CommandContext, team: Team, why: str) -> list[Notification]:
    """Make the longest-standing member captain who is not silent; return the letters to all.

    If all members are silent and the captain has left, it is the longest-standing one. A captain
    who is silent stays if nobody else writes.

    Args:
        why: ``left`` or ``silent``.
    """
    members = sorted(
        (
            member
            for member in teams.members(context.connection, team.id)
            if member.player_id != team.captain_id and member.state == PlayerState.ACTIVE
        ),
        key=lambda member: (member.since, member.player_id),
    )
    awake = [member for member in members if not _is_silent(context, team, member)]
    candidates = awake or (members if why == "left" else [])
    if not candidates:
        return []
    successor = candidates[0]
    before = teams.member_of(context.connection, team.id, team.captain_id)
    teams.change(context.connection, team.id, captain_id=successor.player_id)
    changed = replace(team, captain_id=successor.player_id)
    former = before.userid if before is not None and why == "silent" else ""
    return news(
        context, changed, "captain", why=why, former=former, days=SILENT.days, writes=bool(awake)
    )


def _is_silent(context: CommandContext, team: Team, member: Member) -> bool:
    last = last_sign(context, member.player_id, member.active_at)
    if last > member.active_at:
        teams.change_member(context.connection, team.id, member.player_id, active_at=last)
    return silent_time(context, member.player_id, last) >= SILENT
