"""Commands of teams: ``team``, ``team chat`` and ``teams``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pbmserv.commands.table.events import OneTeam, TeamChat, Teams
from pbmserv.engine.registry import AnyGame
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.service.core import contact
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game, refuse_closed_game, unknown_player, userids_in
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.words_for_others import pass_on, words_for_others
from pbmserv.service.events import course, letters, new_events, team_events
from pbmserv.service.events.kinds.kind import MOST_ENTERED, Rules
from pbmserv.service.events.kinds.registry import SERVERS
from pbmserv.service.events.team_captains import appoint
from pbmserv.service.events.teams import (
    BOARDS,
    LONGEST_NAME,
    MOST_MEMBERS,
    facts,
    key_of,
    listed,
    news,
    own_facts,
)
from pbmserv.store import events, teams
from pbmserv.store.accounts import persons, players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import histories
from pbmserv.store.events import Entry, Event
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.store.tables.events import EntryStatus, EventStatus
from pbmserv.store.tables.teams import MemberStatus
from pbmserv.store.teams import Member, Team

MOST_INVITED = 12
"""Most invitations of a team that wait for an answer."""

_NAME = re.compile(r"[\w .'!?&+-]+")
_KIND = SERVERS["team"]
_ON_OFF = frozenset({"on", "off"})


def one_team(context: CommandContext, command: OneTeam) -> Answer:
    """``team [create|invite|join|leave|order|captain|remove|letters …]``

    Raises:
        Refused: the words are not understood, or the player may not do that.
    """
    player = context.speaker(command.who)
    if not command.words:
        return _show_own(context, player)
    verb, *words = command.words
    handle = _VERBS.get(verb.lower())
    if handle is not None:
        return handle(context, player, words)
    if teams.of_key(context.connection, key_of(" ".join(command.words))) is None:
        raise Refused("team-verb", part=verb[:20], example="teams")
    return _show(context, player, command.words)


def show_teams(context: CommandContext, command: Teams) -> Answer:  # noqa: ARG001
    """``teams``: list the teams."""
    return Answer((Part("teams", {"rows": listed(context)}),))


# -- the team of a player ------------------------------------------------------------------------


def _show_own(context: CommandContext, player: Player) -> Answer:
    team = teams.of_players(context.connection, [player.id])
    inviting = teams.inviting(context.connection, player.id)
    if team is not None:
        teams.change_member(context.connection, team.id, player.id, active_at=context.now)
        return _answer(context, team, "own")
    if not inviting:
        raise Refused("team-none", example="teams")
    words = {"what": "invitations", "names": [inviter.name for inviter in inviting], "invited": []}
    return Answer((Part("team", words),))


def _show(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:  # noqa: ARG001
    team = _called(context, words)
    return Answer((Part("team", {**facts(context, team), "what": "shown"}),))


def _called(context: CommandContext, words: Sequence[str]) -> Team:
    """Return the team of a name.

    Raises:
        Refused: there is none.
    """
    name = " ".join(words)
    team = teams.of_key(context.connection, key_of(name)) if name else None
    if team is None:
        raise Refused("no-such-team", part=name[:LONGEST_NAME], example="teams")
    return team


def _answer(context: CommandContext, team: Team, topic: str, **words: object) -> Answer:
    """Return the answer to a member, with the team as it is now."""
    return Answer((Part("team", {**own_facts(context, team), "what": topic, **words}),))


def _own(context: CommandContext, player: Player) -> Team:
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


def _lock_events(context: CommandContext, player: Player) -> None:
    """Lock the events whose line-ups follow the team of a player, which come before the team."""
    team = teams.of_players(context.connection, [player.id])
    if team is not None:
        events.open_to_team(context.connection, team.id, context.now)


def _led_by(context: CommandContext, player: Player) -> Team:
    """Return the team of a captain, locked.

    Raises:
        Refused: the player has none, or is not its captain.
    """
    team = _own(context, player)
    _refuse_unless_captain(context, player, team)
    return team


def _refuse_unless_captain(context: CommandContext, player: Player, team: Team) -> None:
    if team.captain_id != player.id:
        captain = facts(context, team)["captain"]
        raise Refused("team-captain-only", part=captain, example="team")


def _create(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    name = _checked_name(context, " ".join(words))
    _refuse_member(context, player)
    if not histories.of_player(context.connection, player.id, None, 1):
        raise Refused("team-newcomer", example=f"{context.usual_game} seek")
    team_id = teams.create(context.connection, name, key_of(name), player.id, context.now)
    if not team_id:
        raise Refused("team-taken", part=name, example="teams")
    team = teams.load(context.connection, team_id)
    assert team is not None
    return _answer(context, team, "created")


def _checked_name(context: CommandContext, written: str) -> str:
    """Return the name of a team, which everybody may read."""
    name = " ".join(written.split())
    is_good = len(name) <= LONGEST_NAME and _NAME.fullmatch(name) and key_of(name)
    if is_good and str(pass_on(context, name)) != name:
        context.current.echo_hidden = True
        is_good = False
    if not is_good:
        raise Refused("team-name", most=LONGEST_NAME, example="team create NAME")
    return name


def _refuse_member(context: CommandContext, player: Player) -> None:
    """Refuse a player who is in a team, under any name."""
    names = persons.names_of(context.connection, player.id)
    team = teams.of_players(context.connection, names)
    if team is None:
        return
    members = {member.player_id: member for member in teams.members(context.connection, team.id)}
    if player.id in members:
        raise Refused("team-already", part=team.name, example="team")
    other = next(members[name].userid for name in sorted(names) if name in members)
    raise Refused("team-same-person", part=other, team=team.name, example="teams")


# -- invitations ---------------------------------------------------------------------------------


def _invite(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    team = _led_by(context, player)
    names = userids_in(words)
    if not names:
        raise Refused("team-whom", part="invite", example="team invite FRIEND")
    invited = teams.members(context.connection, team.id, MemberStatus.INVITED)
    if len(invited) + len(names) > MOST_INVITED:
        raise Refused("team-many-invited", most=MOST_INVITED, example="team")
    others: list[Player] = []
    for name in names:
        other = _named(context, name)
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
    part = Part("team-invited", {**facts(context, team), "inviter": player.userid})
    answer = _answer(context, team, "invited", names=[other.userid for other in others])
    notifications = tuple(Notification(other.address, other.id, part) for other in others)
    return replace(answer, notifications=notifications)


def _join(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    return _joined(context, player, _called(context, words).id)


def join_by_reply(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``yes`` to an invitation."""
    return _joined(context, context.speaker(None), reply_address.about)


def _joined(context: CommandContext, player: Player, team_id: int) -> Answer:
    """Add an invited player to a team.

    Raises:
        Refused: the player was not invited or is in a team, or the team is full or gone.
    """
    team = teams.lock(context.connection, team_id)
    if team is None or team.key is None:
        raise Refused("team-gone", example="teams")
    _refuse_member(context, player)
    if teams.member_of(context.connection, team.id, player.id) is None:
        raise Refused("team-not-invited", part=team.name, example="teams")
    if len(teams.members(context.connection, team.id)) >= MOST_MEMBERS:
        raise Refused("team-full", part=team.name, most=MOST_MEMBERS, example="teams")
    teams.set_member(context.connection, team.id, player.id, MemberStatus.MEMBER, context.now)
    notifications = news(context, team, "joined", without=player.id, player=player.userid)
    return replace(_answer(context, team, "joined"), notifications=tuple(notifications))


def decline_by_reply(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``no`` to an invitation: the captain reads it, and cannot ask again.

    Raises:
        Refused: the invitation was answered before, or the team is gone.
    """
    player = context.speaker(None)
    team = teams.lock(context.connection, reply_address.about)
    if team is None or team.key is None:
        raise Refused("team-gone", example="teams")
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
    part = Part("team", {**facts(context, team), "what": "declined"})
    return Answer((part,), tuple(notifications))


# -- members -------------------------------------------------------------------------------------


def _leave(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:  # noqa: ARG001
    _lock_events(context, player)
    team = _own(context, player)
    teams.remove(context.connection, team.id, player.id)
    part = Part("team", {**facts(context, team), "what": "left"})
    notifications = news(context, team, "left", player=player.userid)
    if team.captain_id == player.id:
        notifications = appoint(context, team, "left")
        team = teams.load(context.connection, team.id) or team
    notifications += team_events.follow_order(context, team)
    if not teams.members(context.connection, team.id):
        teams.disband(context.connection, team.id)
    return Answer((part,), tuple(notifications))


def _order(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    """Set the order of the boards; members who are not named come behind the others."""
    _lock_events(context, player)
    team = _led_by(context, player)
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
    return _answer(context, team, "ordered")


def _captain(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    """Hand the team over to another member."""
    team = _led_by(context, player)
    other = _named_member(context, team, words, "captain")
    if other.id == player.id:
        raise Refused("team-yourself", part="captain", example="team")
    teams.change(context.connection, team.id, captain_id=other.id)
    team = replace(team, captain_id=other.id)
    notifications = news(
        context, team, "captain", without=player.id, why="handed", former=player.userid
    )
    return replace(_answer(context, team, "handed"), notifications=tuple(notifications))


def _remove(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    _lock_events(context, player)
    team = _led_by(context, player)
    other = _named_member(context, team, words, "remove")
    if other.id == player.id:
        raise Refused("team-yourself", part="remove", example="team leave")
    teams.remove(context.connection, team.id, other.id)
    notifications = team_events.follow_order(context, team)
    answer = _answer(context, team, "removed", player=other.userid)
    words_to_other = {**facts(context, team), "what": "removed"}
    letter = Notification(other.address, other.id, Part("team-news", words_to_other))
    return replace(answer, notifications=(letter, *notifications))


def _letters(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    team = _own(context, player)
    wanted = words[0].lower() if words else ""
    if wanted not in _ON_OFF:
        raise Refused("team-letters", part=wanted[:20], example="team letters off")
    if wanted == "off":
        teams.mute(context.connection, team.id, player.id)
    else:
        teams.change_member(context.connection, team.id, player.id, muted=False)
    return _answer(context, team, "letters", on=wanted == "on")


def _named(context: CommandContext, name: str) -> Player:
    player = players.active_by_userid(context.connection, name)
    if player is None:
        raise unknown_player(context, name)
    return player


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


# -- events --------------------------------------------------------------------------------------


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
    team = _led_by(context, player)
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
        for entry in events.entries_of(context.connection, event.id)
        if entry.status == EntryStatus.ENTERED
    ]
    facts = letters.facts(context, event)
    if any(entry.team_id == team.id for entry in entries):
        raise Refused("event-entered", part=facts["name"], example=f"events {event.id}")
    _refuse_busy_players(context, lineup, entries)
    most = Rules.of(event).most
    entered = len({entry.team_id for entry in entries}) + 1
    if most and entered > most:
        raise Refused("event-full", part=str(event.id), most=most, example="events")
    ids = [member.player_id for member in lineup]
    team_events.set_lineup(context, event, team, ids)
    if entered == most:
        course.begin_now(context, event)
    about = {
        "event": event.id,
        "event_name": facts["name"],
        "starts": facts["starts"],
        "most_teams": most,
        "own_event": event.owner_id == player.id,
    }
    notifications = news(context, team, "entered", without=player.id, **about)
    answer = _answer(context, team, "entered", game=event.game, **about)
    return replace(answer, notifications=tuple(notifications))


def _refuse_busy_players(
    context: CommandContext, players: Sequence[Member], entries: Sequence[Entry]
) -> None:
    """Refuse a line-up with a player who is barred, in very many events, or in another team under
    any name."""
    entered = {entry.player_id: entry.userid for entry in entries}
    ids = [member.player_id for member in players]
    people = persons.persons_of(context.connection, ids)
    for member in players:
        names = people.names(member.player_id)
        barred_until = events.barred_until(context.connection, names, context.now)
        if barred_until is not None:
            until = f"{barred_until:%Y-%m-%d}"
            raise Refused("team-barred", part=member.userid, until=until, example="team")
        if events.count_entered(context.connection, names) >= MOST_ENTERED:
            raise Refused("team-many", part=member.userid, most=MOST_ENTERED, example="team")
        twice = [entered[name] for name in sorted(names) if name in entered]
        twice += [
            other.userid for other in players if other.player_id in names - {member.player_id}
        ]
        if twice:
            raise Refused("team-twice", part=member.userid, other=twice[0], example="team")


def _withdraw(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    """Take the team out of an event that still takes entries."""
    _lock_events(context, player)
    team = _led_by(context, player)
    key = _named_game(context, words, "withdraw").info.key
    # Another mail may have withdrawn the team while this one waited for the locks.
    mine = events.open_to_team(context.connection, team.id, context.now)
    event = next((event for event in mine if event.game == key and not event.is_own), None)
    if event is None:
        raise Refused("team-not-entered", part=team.name, example=f"team enter {key}")
    return _withdrawn(context, player, team, event)


def withdraw_from(
    context: CommandContext, player: Player, event: Event, *, is_entered: bool
) -> Answer:
    """Take the captain's team out of an event that has not begun.

    Args:
        is_entered: the player is to play there.

    Raises:
        Refused: the player is not its captain, it has not entered, or entries are closed.
    """
    team = _own(context, player)
    if is_entered and team.captain_id != player.id:
        raise Refused("team-entered", part=str(event.id), example="team")
    _refuse_unless_captain(context, player, team)
    entries = events.entries_of(context.connection, event.id)
    if all(entry.team_id != team.id for entry in entries):
        raise Refused("event-not-entered", part=f"event {event.id}", example="events")
    if event.status != EventStatus.OPEN or context.now >= event.closes_at:
        raise Refused("event-closed", part=str(event.id), example=f"events {event.id}")
    return _withdrawn(context, player, team, event)


def _withdrawn(context: CommandContext, player: Player, team: Team, event: Event) -> Answer:
    team_events.set_lineup(context, event, team, [])
    name = letters.facts(context, event)["name"]
    notifications = news(context, team, "withdrawn", without=player.id, event_name=name)
    answer = _answer(context, team, "withdrawn", event_name=name)
    return replace(answer, notifications=tuple(notifications))


def _named_game(context: CommandContext, words: Sequence[str], verb: str) -> AnyGame:
    if len(words) != 1:
        raise Refused("team-game", part=verb, example=f"team {verb} {context.usual_game}")
    game = known_game(context, words[0].lower())
    refuse_closed_game(context, game)
    SERVERS["team"].refuse_impossible(game, "events")
    return game


# -- words ---------------------------------------------------------------------------------------


def chat(context: CommandContext, command: TeamChat) -> Answer:
    """``team chat``: send the words below it to the other members.

    Raises:
        Refused: there are no words, or nobody to read them.
    """
    player = context.speaker(command.who)
    return _said_to_team(context, player, _own(context, player))


def chat_by_reply(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """Send a reply to words of a member to the whole team."""
    player = context.speaker(None)
    team = _own(context, player)
    if team.id != reply_address.about:
        raise Refused("team-not-yours", part="team chat", example="team")
    return _said_to_team(context, player, team)


def _said_to_team(context: CommandContext, player: Player, team: Team) -> Answer:
    message = words_for_others(context)
    if not message:
        raise Refused("no-words", part="team chat")
    readers = [
        member
        for member in teams.members(context.connection, team.id)
        if member.player_id != player.id and member.state == PlayerState.ACTIVE
    ]
    if not readers:
        raise Refused("team-alone", part=team.name, example="team invite FRIEND")
    part = Part(
        "team-chat", {"by": player.userid, "said": message, "team": team.id, "name": team.name}
    )
    to_readers = tuple(
        Notification(member.address, member.player_id, part)
        for member in readers
        if not member.muted
    )
    sent = {"to": [member.userid for member in readers], "unreachable": [], "said": message}
    return Answer((Part("message-sent", sent),), to_readers)


_VERBS: Mapping[str, Callable[[CommandContext, Player, Sequence[str]], Answer]] = {
    "create": _create,
    "invite": _invite,
    "join": _join,
    "leave": _leave,
    "order": _order,
    "captain": _captain,
    "remove": _remove,
    "letters": _letters,
    "show": _show,
    "enter": enter,
    "withdraw": _withdraw,
}
