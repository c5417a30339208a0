"""Entries of teams to events, by command of their captains."""

from __future__ import annotations

from collections.abc import Sequence

from pbmserv.commands.grammar.game_names import with_keys
from pbmserv.engine.registry import AnyGame
from pbmserv.errors import Refused
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game, refuse_closed_game
from pbmserv.service.core.outcome import Answer
from pbmserv.service.events import course, letters, new_events, team_events
from pbmserv.service.events.entering import entered_already
from pbmserv.service.events.kinds.kind import MOST_ENTERED, Rules
from pbmserv.service.events.kinds.registry import SERVER_KINDS
from pbmserv.service.events.own_teams import (
    answer_to_member,
    led_team,
    lock_events,
    own_team,
    refuse_unless_captain,
)
from pbmserv.service.events.teams import BOARDS, news
from pbmserv.store.accounts import persons
from pbmserv.store.accounts.players import Player
from pbmserv.store.events import event_bars, event_entries, event_lists, events
from pbmserv.store.events.event_entries import Entry
from pbmserv.store.events.events import Event
from pbmserv.store.tables.events import EntryStatus, EventStatus
from pbmserv.store.teams import Member, Team

_KIND = SERVER_KINDS["team"]


def enter(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    """Enter the captain's team for the next event of a game; the first entry creates it.

    Raises:
        Refused: the team is too small, or one of its players may not enter.
    """
    key = _named_game(context, words, "enter").info.key
    event = events.open_event(context.connection, _KIND.word, key, context.now)
    team, lineup = _complete_team(context, player)
    if event is None:
        event = new_events.create_next(context, _KIND, key)
    return _entered(context, player, team, lineup, event)


def enter_event(context: CommandContext, player: Player, event: Event) -> Answer:
    """Enter the captain's team for an event that still takes entries.

    Raises:
        Refused: the team is too small, or one of its players may not enter.
    """
    team, lineup = _complete_team(context, player)
    return _entered(context, player, team, lineup, event)


def _complete_team(context: CommandContext, player: Player) -> tuple[Team, list[Member]]:
    """Return the team of a captain, and its members who would play.

    Raises:
        Refused: the player is not its captain, or it is too small.
    """
    team = led_team(context, player)
    lineup = team_events.lineup(context, team)
    if len(lineup) < BOARDS:
        missing = BOARDS - len(lineup)
        raise Refused("team-too-few", part=team.name, missing=missing, example="team invite FRIEND")
    return team, lineup


def _entered(
    context: CommandContext, player: Player, team: Team, lineup: Sequence[Member], event: Event
) -> Answer:
    entries = [
        entry
        for entry in event_entries.of_event(context.connection, event.id)
        if entry.status == EntryStatus.ENTERED
    ]
    if any(entry.team_id == team.id for entry in entries):
        raise entered_already(context, event)
    _refuse_busy_players(context, lineup, entries)
    most = Rules.of(event).most
    entered_ids = {entry.team_id for entry in entries if entry.team_id is not None}
    entered = team_events.count_complete(context, entered_ids) + 1
    if most and entered > most:
        raise Refused("event-full", part=str(event.id), most=most, example="events")
    ids = [member.player_id for member in lineup]
    team_events.set_lineup(context, event, team, ids)
    if entered == most:
        course.begin_now(context, event)
    facts = letters.facts(context, event)
    about = {
        "event": event.id,
        "event_name": facts.name,
        "starts": facts.starts,
        "most_teams": most,
        "begins_now": entered == most,
        "own_event": event.owner_id == player.id,
    }
    notifications = news(context, team, "entered", without=player.id, **about)
    return answer_to_member(context, team, "entered", notifications, game=event.game, **about)


def _refuse_busy_players(
    context: CommandContext, players: Sequence[Member], entries: Sequence[Entry]
) -> None:
    """Refuse a line-up with a player who is barred, in very many events, or in another team under
    any name."""
    entered = {entry.player_id: entry.userid for entry in entries}
    ids = [member.player_id for member in players]
    people = persons.persons_of(context.connection, ids)
    for member in players:
        own_ids = people.ids_of_person(member.player_id)
        barred_until = event_bars.barred_until(context.connection, own_ids, context.now)
        if barred_until is not None:
            until = f"{barred_until:%Y-%m-%d}"
            raise Refused("team-barred", part=member.userid, until=until, example="team")
        if event_lists.count_entered(context.connection, own_ids) >= MOST_ENTERED:
            raise Refused("team-many", part=member.userid, most=MOST_ENTERED, example="team")
        twice = [entered[player_id] for player_id in sorted(own_ids) if player_id in entered]
        twice += [
            other.userid for other in players if other.player_id in own_ids - {member.player_id}
        ]
        if twice:
            raise Refused("team-twice", part=member.userid, other=twice[0], example="team")


def withdraw(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    """Take the team out of an event that still takes entries."""
    lock_events(context, player)
    team = led_team(context, player)
    key = _named_game(context, words, "withdraw").info.key
    # Another mail may have withdrawn the team while this one waited for the locks.
    mine = event_lists.open_to_team(context.connection, team.id, context.now)
    event = next((event for event in mine if event.game == key and not event.is_own), None)
    if event is None:
        raise Refused("team-not-entered", part=team.name, example=f"team enter {key}")
    return _withdrawn(context, player, team, event)


def withdraw_from(
    context: CommandContext, player: Player, event: Event, *, is_entered: bool
) -> Answer:
    """Take the captain's team out of an event that has not begun.

    Args:
        is_entered: whether the player is in the line-up of a team there.

    Raises:
        Refused: the player is not its captain, it has not entered, or entries are closed.
    """
    team = own_team(context, player)
    if is_entered and team.captain_id != player.id:
        raise Refused("team-entered", part=str(event.id), example="team")
    refuse_unless_captain(context, player, team)
    entries = event_entries.of_event(context.connection, event.id)
    if all(entry.team_id != team.id for entry in entries):
        raise Refused("event-not-entered", part=f"event {event.id}", example="events")
    if event.status != EventStatus.OPEN or context.now >= event.closes_at:
        raise Refused("event-closed", part=str(event.id), example=f"events {event.id}")
    return _withdrawn(context, player, team, event)


def _withdrawn(context: CommandContext, player: Player, team: Team, event: Event) -> Answer:
    team_events.set_lineup(context, event, team, [])
    name = letters.facts(context, event).name
    notifications = news(context, team, "withdrawn", without=player.id, event_name=name)
    return answer_to_member(context, team, "withdrawn", notifications, event_name=name)


def _named_game(context: CommandContext, words: Sequence[str], verb: str) -> AnyGame:
    words = with_keys([word.lower() for word in words], context.services.registry.titles)
    if len(words) != 1:
        raise Refused("team-game", part=verb, example=f"team {verb} {context.usual_game}")
    game = known_game(context, words[0])
    refuse_closed_game(context, game)
    _KIND.refuse_impossible(game, "events")
    return game
