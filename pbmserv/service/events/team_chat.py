"""Words to the members of a team: ``team chat``, and replies to it."""

from __future__ import annotations

from pbmserv.commands.table.events import TeamChat
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.words_for_others import required_words
from pbmserv.service.events.own_teams import own_team
from pbmserv.store import teams
from pbmserv.store.accounts.players import Player
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.store.teams import Team


def chat(context: CommandContext, command: TeamChat) -> Answer:
    """``team chat``: send the words below it to the other members.

    Raises:
        Refused: there are no words, or nobody to read them.
    """
    player = context.speaker(command.credentials)
    return _send_words_to_team(context, player, own_team(context, player))


def chat_by_reply(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """Send a reply to words of a member to the whole team."""
    player = context.speaker(None)
    team = own_team(context, player)
    if team.id != reply_address.about:
        raise Refused("team-not-yours", part="team chat", example="team")
    return _send_words_to_team(context, player, team)


def _send_words_to_team(context: CommandContext, player: Player, team: Team) -> Answer:
    words = required_words(context, "team chat")
    readers = [
        member
        for member in teams.members(context.connection, team.id)
        if member.player_id != player.id and member.state == PlayerState.ACTIVE
    ]
    if not readers:
        raise Refused("team-alone", part=team.name, example="team invite FRIEND")
    part = Part(
        "team-chat", {"by": player.userid, "said": words, "team": team.id, "name": team.name}
    )
    to_readers = tuple(
        Notification(member.address, member.player_id, part)
        for member in readers
        if not member.muted
    )
    unreachable = [member.userid for member in readers if member.unreachable_since]
    sent = {"to": [member.userid for member in readers], "unreachable": unreachable, "said": words}
    return Answer((Part("message-sent", sent),), to_readers)
