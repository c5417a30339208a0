"""Entries of players to events: who may not enter, and the answer."""

from __future__ import annotations

from pbmserv.errors import Refused
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer
from pbmserv.service.events import letters
from pbmserv.service.events.kinds.kind import MOST_ENTERED, Rules
from pbmserv.store.accounts import persons
from pbmserv.store.accounts.players import Player
from pbmserv.store.events import event_bars, event_entries, event_lists
from pbmserv.store.events.events import Event
from pbmserv.store.tables.events import EntryStatus


def refuse_busy_player(context: CommandContext, player: Player, event: Event | None) -> None:
    """Refuse a player who is barred or in very many events under any name, or has entered this one
    under another name."""
    own_ids = persons.ids_of_person(context.connection, player.id)
    until = event_bars.barred_until(context.connection, own_ids, context.now)
    if until is not None:
        raise Refused("event-barred", until=f"{until:%Y-%m-%d}", example="events")
    if event_lists.count_entered(context.connection, own_ids) >= MOST_ENTERED:
        raise Refused("event-many", most=MOST_ENTERED, example="events")
    if event is None:
        return
    for other_id in own_ids - {player.id}:
        entry = event_entries.of_player(context.connection, event.id, other_id)
        if entry is not None and entry.status != EntryStatus.INVITED:
            raise Refused("event-same-person", part=entry.userid, example=f"events {event.id}")


def entered_already(context: CommandContext, event: Event) -> Refused:
    """Return the refusal of a second entry."""
    name = letters.facts(context, event).name
    return Refused("event-entered", part=name, example=f"events {event.id}")


def answer_to_entry(
    context: CommandContext,
    player: Player,
    event: Event,
    *,
    once: bool = False,
    digest: bool = False,
) -> Answer:
    """Return the answer to a player who has entered an event.

    Args:
        once: whether the player has entered only one of the events that recur.
        digest: whether the entry has given the player the daily digest.
    """
    count = event_entries.count(context.connection, [event.id]).get(event.id, 0)
    rules = Rules.of(event)
    part = letters.entry_part(
        context,
        event,
        "entered",
        entered=count,
        least=rules.least,
        most=rules.most,
        boxes=rules.boxes,
        own=event.is_own,
        invited=rules.invited,
        holds=player.id == event.owner_id,
        once=once,
        digest=digest,
    )
    return Answer((part,))
