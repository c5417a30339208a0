"""Commands of one event: ``event`` and ``events``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta

from pbmserv.commands.table.events import EventByNumber, Events
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.service.core import contact
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import active_player, known_game, userids_in
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.events import course, games, letters, pages, team_entries
from pbmserv.service.events.entering import answer_to_entry, entered_already, refuse_busy_player
from pbmserv.service.events.event_creation import create_event
from pbmserv.service.events.game_event_commands import join_by_game
from pbmserv.service.events.kinds.kind import Rules
from pbmserv.service.events.kinds.registry import kind_of
from pbmserv.store.accounts.players import Player
from pbmserv.store.events import event_entries, event_lists, events
from pbmserv.store.events.events import OVER, Event
from pbmserv.store.tables.events import EntryStatus, EventStatus

MOST_INVITED, INVITED_IN = 64, timedelta(days=7)
"""Most players whom one player invites in this time to events that they do not enter."""


def event_by_number(context: CommandContext, command: EventByNumber) -> Answer:
    """``event join|leave|create|invite|letters|cancel …``

    Raises:
        Refused: the words are not understood, or the player may not do that.
    """
    player = context.speaker(command.credentials)
    verb, *words = command.words
    handle = _VERBS.get(verb.lower())
    if handle is None:
        raise Refused("event-verb", part=verb[:20], example="event join NUMBER")
    return handle(context, player, words)


def _numbered(context: CommandContext, words: Sequence[str], example: str) -> Event:
    """Return and lock the event whose number is the first word.

    Args:
        example: the command, for a refusal of what is not a number.
    """
    text = words[0].lstrip("#") if words else ""
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise Refused("event-number", part=text[:20], example=example)
    event = events.lock(context.connection, int(text))
    if event is None:
        raise Refused("no-such-event", part=text, example="events")
    return event


def _join(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    event = _numbered(context, words, "event join NUMBER")
    kind = kind_of(event)
    if kind.team_size > 1 and not event.is_own:
        return team_entries.enter(context, player, [event.game])
    if kind.is_entered_by_game and not event.is_own:
        game = known_game(context, event.game)
        return join_by_game(context, player, kind, game, once=kind.recurs)
    entry = event_entries.of_player(context.connection, event.id, player.id)
    rules = Rules.of(event)
    if entry is not None and entry.status == EntryStatus.ENTERED:
        raise entered_already(context, event)
    has_left = entry is not None and entry.status in {EntryStatus.LEFT, EntryStatus.REMOVED}
    if has_left or event.status != EventStatus.OPEN or context.now >= event.closes_at:
        raise Refused("event-closed", part=str(event.id), example="events")
    if rules.invited and entry is None and event.owner_id != player.id:
        raise Refused("event-invited", part=str(event.id), example="events")
    if kind.team_size > 1:
        return team_entries.enter_event(context, player, event)
    refuse_busy_player(context, player, event)
    count = event_entries.count(context.connection, [event.id]).get(event.id, 0) + 1
    if rules.most and count > rules.most:
        raise Refused("event-full", part=str(event.id), most=rules.most, example="events")
    event_entries.enter(context.connection, event.id, [player.id], context.now)
    if count == rules.most:
        course.begin_now(context, event)
    return answer_to_entry(context, player, event)


def join_by_reply(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``yes`` to an invitation."""
    return _join(context, context.speaker(None), [str(reply_address.about)])


def decline_by_reply(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``no`` to an invitation, which stays open in case the player changes their mind.

    Raises:
        Refused: the player has entered, or the event is gone.
    """
    player = context.speaker(None)
    event = _numbered(context, [str(reply_address.about)], "events")
    entry = event_entries.of_player(context.connection, event.id, player.id)
    if entry is not None and entry.status == EntryStatus.ENTERED:
        raise entered_already(context, event)
    return Answer((letters.entry_part(context, event, "declined"),))


def _leave(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    event = _numbered(context, words, "event leave NUMBER")
    entry = event_entries.of_player(context.connection, event.id, player.id)
    is_entered = entry is not None and entry.status == EntryStatus.ENTERED
    if kind_of(event).team_size > 1 and event.status in {EventStatus.OPEN, EventStatus.CLOSED}:
        return team_entries.withdraw_from(context, player, event, is_entered=is_entered)
    if entry is None or not is_entered:
        raise Refused("event-not-entered", part=f"event {event.id}", example="events")
    if event.status in OVER:
        raise Refused("event-over", part=str(event.id), example=f"events {event.id}")
    status, notifications = "before", list[Notification]()
    if entry.group_number is None:
        _take_back(context, player, event)
    else:
        notifications = games.withdraw(context, event, player.id)
        events.change(context.connection, event.id, due_at=context.now)
        after = event_entries.of_player(context.connection, event.id, player.id)
        assert after is not None
        status = str(after.status)
    context.current.speaker, context.current.focus = player, None
    part = letters.entry_part(context, event, "withdrawn", status=status)
    return Answer((part,), tuple(notifications))


def _take_back(context: CommandContext, player: Player, event: Event) -> None:
    """Take back an entry before the draw; an invited player may enter again."""
    if Rules.of(event).invited and event.owner_id != player.id:
        event_entries.change(context.connection, event.id, player.id, status=EntryStatus.INVITED)
    else:
        event_entries.drop(context.connection, event.id, player.id)


def _letters(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    event = _numbered(context, words, "event letters NUMBER")
    wanted = words[1].lower() if len(words) > 1 else ""
    if wanted not in {"on", "off"}:
        raise Refused("event-letters", part=wanted[:20], example=f"event letters {event.id} off")
    if event_entries.of_player(context.connection, event.id, player.id) is None:
        raise Refused("event-not-entered", part=f"event {event.id}", example="events")
    event_entries.change(context.connection, event.id, player.id, muted=wanted == "off")
    return Answer((letters.entry_part(context, event, "letters", on=wanted == "on"),))


def _cancel(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    event = _own(context, player, words, "cancel")
    notifications = course.cancel(context, event, by=player.userid)
    others = tuple(letter for letter in notifications if letter.player_id != player.id)
    return Answer((letters.entry_part(context, event, "cancelled"),), others)


def _own(context: CommandContext, player: Player, words: Sequence[str], verb: str) -> Event:
    """Return an event of the player's own that has not started."""
    event = _numbered(context, words, f"event {verb} NUMBER")
    if event.owner_id != player.id:
        raise Refused("event-not-yours", part=str(event.id), example=f"events {event.id}")
    if event.status != EventStatus.OPEN:
        raise Refused("event-closed", part=str(event.id), example=f"events {event.id}")
    return event


def _invite(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    """Invite players to an event of one's own."""
    event = _own(context, player, words, "invite")
    names = userids_in(words[1:])
    if not names:
        raise Refused("event-whom", part=str(event.id), example=f"event invite {event.id} FRIEND")
    entries = {entry.player_id for entry in event_entries.of_event(context.connection, event.id)}
    since = context.now - INVITED_IN
    if event_lists.count_invited(context.connection, player.id, since) + len(names) > MOST_INVITED:
        raise Refused("event-many-invited", most=MOST_INVITED, example=f"events {event.id}")
    invited = []
    for name in names:
        other = active_player(context, name)
        if other.accept == "none":
            raise Refused("unavailable", part=other.userid)
        if other.id not in entries and other.id != player.id:
            invited.append(other)
    contact.refuse_blocked_players(context, player.id, invited)
    ids = [other.id for other in invited]
    event_entries.enter(context.connection, event.id, ids, context.now, EntryStatus.INVITED)
    names = [other.userid for other in invited]
    part = letters.entry_part(context, event, "invited", names=names)
    invitation = letters.invitation_part(context, event, by=player.userid)
    return Answer(
        (part,), tuple(Notification(guest.address, guest.id, invitation) for guest in invited)
    )


_VERBS: Mapping[str, Callable[[CommandContext, Player, Sequence[str]], Answer]] = {
    "join": _join,
    "enter": _join,
    "leave": _leave,
    "withdraw": _leave,
    "letters": _letters,
    "create": create_event,
    "invite": _invite,
    "cancel": _cancel,
}


def show_events(context: CommandContext, command: Events) -> Answer:
    """``events``: list the events; ``events 12``: show the tables of one.

    Raises:
        Refused: there is no such event.
    """
    if not command.subjects:
        rows = [asdict(line) for line in pages.overview(context)]
        return Answer((Part("events", {"rows": rows, "game": context.usual_game}),))
    number, group = (*command.subjects, "1")[:2]
    # Somebody may have written "events alice secret".
    context.current.echo_hidden = not number.lstrip("#").isdigit()
    event = _numbered(context, [number], "events NUMBER")
    first = int(group) if group.isascii() and group.isdecimal() and len(group) < 6 else 1
    page = pages.page(context, event, max(1, first), public=False)
    return Answer((Part("event", asdict(page)),))
