"""Bars of players who lose on time: for some time they may enter no event."""

from __future__ import annotations

from datetime import timedelta

from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification
from pbmserv.service.events import letters
from pbmserv.service.events.kinds.registry import kind_of
from pbmserv.store.events import event_bars, event_entries, event_lists, events, regulars
from pbmserv.store.events.events import Event

BAR, LONG_BAR = timedelta(days=30), timedelta(days=90)
"""Time without new entries after a loss on time, and after another loss during that time."""

ENDING_LOSSES, RECENT = 2, timedelta(days=200)
"""Losses on time, in events that began within this time, that end the recurring entry."""


def bar_late_player(
    context: CommandContext, event: Event, player_id: int, losses: int
) -> list[Notification]:
    """Bar a player who lost on time from new entries, and return the letter about it.

    Enough losses end the recurring entry, also to the next season.

    Args:
        losses: number of games of the event that the player has just lost on time.
    """
    connection = context.connection
    entry = event_entries.of_player(connection, event.id, player_id)
    if entry is None:
        return []
    event_entries.change(connection, event.id, player_id, forfeits=entry.forfeits + losses)
    is_barred = event_bars.barred_until(connection, [player_id], context.now) is not None
    until = context.now + (LONG_BAR if is_barred else BAR)
    event_bars.bar(connection, player_id, until)
    has_ended = _end_recurring_entry(context, event, player_id)
    day = f"{until:%Y-%m-%d}"
    return letters.news(context, event, [entry], "barred", until=day, ended=has_ended)


def _end_recurring_entry(context: CommandContext, event: Event, player_id: int) -> bool:
    """End the recurring entry of a player with enough losses; return whether there was one."""
    connection, since = context.connection, context.now - RECENT
    if not kind_of(event).recurs:
        return False
    if event_lists.count_forfeits(connection, event, player_id, since) < ENDING_LOSSES:
        return False
    if not regulars.drop(connection, event.game, player_id):
        return False
    following = events.open_event(connection, event.kind, event.game, context.now)
    if following is not None:  # the recurring entry has entered it
        event_entries.drop(connection, following.id, player_id)
    return True
