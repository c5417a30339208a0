"""The team of a player: who may command it, and answers to its members."""

from __future__ import annotations

from collections.abc import Sequence

from pbmserv.errors import Refused
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.events.teams import LONGEST_NAME, facts, key_of, words_for_members
from pbmserv.store import teams
from pbmserv.store.accounts import persons
from pbmserv.store.accounts.players import Player
from pbmserv.store.events import event_lists
from pbmserv.store.teams import Team


def named_team(context: CommandContext, words: Sequence[str]) -> Team:
    """Return the team of a name.

    Raises:
        Refused: there is none.
    """
    name = " ".join(words)
    team = teams.of_key(context.connection, key_of(name)) if name else None
    if team is None:
        raise Refused("no-such-team", part=name[:LONGEST_NAME], example="teams")
    return team


def answer_to_member(
    context: CommandContext,
    team: Team,
    topic: str,
    notifications: Sequence[Notification] = (),
    **words: object,
) -> Answer:
    """Return the answer to a member, with the team as it is now.

    Args:
        topic: what the letter tells: see ``letters/team.j2``.
        notifications: letters to others.
        words: further words of the letter.
    """
    part = Part("team", {**words_for_members(context, team), "what": topic, **words})
    return Answer((part,), tuple(notifications))


def own_team(context: CommandContext, player: Player) -> Team:
    """Return the team of a player, locked, and note that the player is active.

    Raises:
        Refused: the player has none.
    """
    team = teams.of_players(context.connection, [player.id])
    team = teams.lock(context.connection, team.id) if team is not None else None
    if team is None:
        raise Refused("team-none", example="teams")
    teams.change_member(context.connection, team.id, player.id, active_at=context.now)
    return team


def lock_events(context: CommandContext, player: Player) -> None:
    """Lock the events whose line-ups follow the team of a player.

    Events are locked before teams, as when entries close, so that no two jobs wait for each other.
    """
    team = teams.of_players(context.connection, [player.id])
    if team is not None:
        event_lists.open_to_team(context.connection, team.id, context.now)


def led_team(context: CommandContext, player: Player) -> Team:
    """Return the team of a captain, locked.

    Raises:
        Refused: the player has none, or is not its captain.
    """
    team = own_team(context, player)
    refuse_unless_captain(context, player, team)
    return team


def refuse_unless_captain(context: CommandContext, player: Player, team: Team) -> None:
    """Refuse a member who does not lead the team."""
    if team.captain_id != player.id:
        captain = facts(context, team, public=False).captain
        raise Refused("team-captain-only", part=captain, example="team")


def refuse_member(context: CommandContext, player: Player) -> None:
    """Refuse a player who is in a team, under any name."""
    own_ids = persons.ids_of_person(context.connection, player.id)
    team = teams.of_players(context.connection, own_ids)
    if team is None:
        return
    members = {member.player_id: member for member in teams.members(context.connection, team.id)}
    if player.id in members:
        raise Refused("team-already", part=team.name, example="team")
    other = next(members[player_id].userid for player_id in sorted(own_ids) if player_id in members)
    raise Refused("team-same-person", part=other, team=team.name, example="teams")
