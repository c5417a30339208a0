"""Invitations to teams, and the answers of invited players."""

from __future__ import annotations

from collections.abc import Sequence

from pbmserv.errors import Refused
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.service.core import contact
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import active_player, userids_in
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.events.own_teams import answer_to_member, led_team, named_team, refuse_member
from pbmserv.service.events.teams import MOST_MEMBERS, news, words_for_all
from pbmserv.store import teams
from pbmserv.store.accounts.players import Player
from pbmserv.store.tables.teams import MemberStatus
from pbmserv.store.teams import Team

MOST_INVITED = 12
"""Most invitations of a team that wait for an answer."""


def invite(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    """Invite players to the captain's team."""
    team = led_team(context, player)
    names = userids_in(words)
    if not names:
        raise Refused("team-whom", part="invite", example="team invite FRIEND")
    invited = teams.members(context.connection, team.id, MemberStatus.INVITED)
    if len(invited) + len(names) > MOST_INVITED:
        raise Refused("team-many-invited", most=MOST_INVITED, example="team")
    others: list[Player] = []
    for name in names:
        other = active_player(context, name)
        before = teams.member_of(context.connection, team.id, other.id)
        if before is not None and before.status == MemberStatus.DECLINED:
            raise Refused("team-declined", part=other.userid, team=team.name, example="team")
        if other.accept == "none":
            raise Refused("unavailable", part=other.userid)
        if before is None:
            others.append(other)
    contact.refuse_blocked_players(context, player.id, others)
    contact.refuse_blocks_among(context, others)
    for other in others:
        teams.set_member(context.connection, team.id, other.id, MemberStatus.INVITED, context.now)
    part = Part("team-invited", {**words_for_all(context, team), "inviter": player.userid})
    letters = [Notification(other.address, other.id, part) for other in others]
    names = [other.userid for other in others]
    return answer_to_member(context, team, "invited", letters, names=names)


def join(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    """Join the named team, which has invited the player."""
    return _joined(context, player, named_team(context, words).id)


def join_by_reply(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``yes`` to an invitation."""
    return _joined(context, context.speaker(None), reply_address.about)


def _joined(context: CommandContext, player: Player, team_id: int) -> Answer:
    """Add an invited player to a team.

    Raises:
        Refused: the player was not invited or is in a team, or the team is full or gone.
    """
    team = _locked_team(context, team_id)
    refuse_member(context, player)
    if teams.member_of(context.connection, team.id, player.id) is None:
        raise Refused("team-not-invited", part=team.name, example="teams")
    if len(teams.members(context.connection, team.id)) >= MOST_MEMBERS:
        raise Refused("team-full", part=team.name, most=MOST_MEMBERS, example="teams")
    teams.set_member(context.connection, team.id, player.id, MemberStatus.MEMBER, context.now)
    notifications = news(context, team, "joined", without=player.id, player=player.userid)
    return answer_to_member(context, team, "joined", notifications)


def decline_by_reply(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``no`` to an invitation: the captain reads it, and cannot ask again.

    Raises:
        Refused: the invitation was answered before, or the team is gone.
    """
    player = context.speaker(None)
    team = _locked_team(context, reply_address.about)
    before = teams.member_of(context.connection, team.id, player.id)
    if before is not None and before.status == MemberStatus.MEMBER:
        raise Refused("team-already", part=team.name, example="team leave")
    declined = before is not None and before.status == MemberStatus.INVITED
    notifications: list[Notification] = []
    if declined:
        teams.set_member(context.connection, team.id, player.id, MemberStatus.DECLINED, context.now)
        notifications = [
            notification
            for notification in news(context, team, "declined", player=player.userid)
            if notification.player_id == team.captain_id
        ]
    part = Part("team", {**words_for_all(context, team), "what": "declined"})
    return Answer((part,), tuple(notifications))


def _locked_team(context: CommandContext, team_id: int) -> Team:
    """Return a team, locked.

    Raises:
        Refused: it is gone, or has no members.
    """
    team = teams.lock(context.connection, team_id)
    if team is None or team.key is None:
        raise Refused("team-gone", example="teams")
    return team
