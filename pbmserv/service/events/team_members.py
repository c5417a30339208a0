"""Members of teams: their order, and members who leave or lead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pbmserv.errors import Refused
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import userids_in
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.events import team_events
from pbmserv.service.events.own_teams import answer_to_member, led_team, lock_events, own_team
from pbmserv.service.events.team_captains import appoint
from pbmserv.service.events.teams import BOARDS, news, words_for_all
from pbmserv.store import teams
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.teams import Team


def leave(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:  # noqa: ARG001
    """Leave the team. A captain who leaves has a successor, and the last member ends the team."""
    lock_events(context, player)
    team = own_team(context, player)
    teams.remove(context.connection, team.id, player.id)
    part = Part("team", {**words_for_all(context, team), "what": "left"})
    notifications = news(context, team, "left", player=player.userid)
    if team.captain_id == player.id:
        notifications = appoint(context, team, "left")
        team = teams.load(context.connection, team.id) or team
    notifications += team_events.follow_order(context, team)
    if not teams.members(context.connection, team.id):
        teams.disband(context.connection, team.id)
    return Answer((part,), tuple(notifications))


def set_order(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    """Set the order of the boards; members who are not named come behind the others."""
    lock_events(context, player)
    team = led_team(context, player)
    members = {member.userid: member for member in teams.members(context.connection, team.id)}
    names = userids_in(words)
    strangers = [name for name in names if name not in members]
    if strangers:
        raise Refused("team-not-member", part=strangers[0], team=team.name, example="team")
    if len(names) < min(BOARDS, len(members)):
        example = " ".join(("team order", *members))
        raise Refused("team-order", boards=min(BOARDS, len(members)), example=example)
    order = [*names, *(name for name in members if name not in names)]
    teams.set_order(context.connection, team.id, [members[name].player_id for name in order])
    team_events.follow_order(context, team)
    return answer_to_member(context, team, "ordered")


def hand_over(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    """Hand the team over to another member."""
    team = led_team(context, player)
    other = _named_member(context, team, words, "captain")
    if other.id == player.id:
        raise Refused("team-yourself", part="captain", example="team")
    teams.change(context.connection, team.id, captain_id=other.id)
    team = replace(team, captain_id=other.id)
    notifications = news(
        context, team, "captain", without=player.id, why="handed", former=player.userid
    )
    return answer_to_member(context, team, "handed", notifications)


def remove(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    """Remove another member from the captain's team."""
    lock_events(context, player)
    team = led_team(context, player)
    other = _named_member(context, team, words, "remove")
    if other.id == player.id:
        raise Refused("team-yourself", part="remove", example="team leave")
    teams.remove(context.connection, team.id, other.id)
    notifications = team_events.follow_order(context, team)
    words_to_other = {**words_for_all(context, team), "what": "removed"}
    letter = Notification(other.address, other.id, Part("team-news", words_to_other))
    return answer_to_member(context, team, "removed", [letter, *notifications], player=other.userid)


def _named_member(context: CommandContext, team: Team, words: Sequence[str], verb: str) -> Player:
    """Return the member whom the only word names.

    Raises:
        Refused: the words do not name exactly one member.
    """
    names = userids_in(words)
    if len(names) != 1:
        raise Refused("team-whom", part=verb, example="team")
    member = next(
        (
            member
            for member in teams.members(context.connection, team.id)
            if member.userid == names[0]
        ),
        None,
    )
    player = players.by_id(context.connection, member.player_id) if member is not None else None
    if player is None:
        raise Refused("team-not-member", part=names[0], team=team.name, example="team")
    return player
