"""The course of an event: each step is one job of the scheduler, in one transaction.

A step may be taken long after it is due, since the server may have been down. If the server crashes
before the commit, the step is taken again. The groups of an event start and end one by one, so that
a large event does not keep moves waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification
from pbmserv.service.events import letters, new_events, paired_games, team_events
from pbmserv.service.events.games import games_of
from pbmserv.service.events.groups import Entrant
from pbmserv.service.events.kinds.kind import Rules
from pbmserv.service.events.kinds.registry import kind_of
from pbmserv.service.events.pairing import have_all_met
from pbmserv.store.accounts import persons
from pbmserv.store.boards import closed_games
from pbmserv.store.events import event_draws, event_entries, event_games, events
from pbmserv.store.events.event_draws import Drawn
from pbmserv.store.events.event_entries import Entry
from pbmserv.store.events.events import Event
from pbmserv.store.tables.events import EntryStatus, EventStatus

LONGEST_PAUSE = timedelta(days=1)
"""Longest time between two steps of a running event. A player who signs off makes no step due."""

LATE_START = timedelta(days=1)
"""A start that is late by more than this moves all later dates, too."""

MOST_REMOVED = 4
"""Players without an account whom one step takes out of an event, each with all open games."""

PLACES_RETRY = timedelta(minutes=1)
"""Time after which a season that waits for places of the one before is handled again."""

POSTPONEMENT = timedelta(days=28)
"""Time by which an event with too few players is put off."""


def handle_due_event(context: CommandContext, event_id: int) -> Sequence[Notification] | None:
    """Take the next step of an event; return the letters, `None` if another process has it or its
    game is missing."""
    event = events.claim(context.connection, event_id, context.now)
    if event is None:
        return None
    if event.game not in context.services.registry:
        events.change(context.connection, event.id, due_at=context.now + LONGEST_PAUSE)
        return None  # games that are over keep it due, so `[]` would bring it back at once
    if event.round and event.status in {EventStatus.OPEN, EventStatus.RUNNING}:
        notifications = games_of(event).settle_next(context, event)
        if notifications is None:
            notifications = _remove_next_gone(context, event)
        if notifications is not None:
            _set_due(context, event, context.now)
            return notifications
    makes_boards = event.status != EventStatus.RUNNING
    if makes_boards and closed_games.is_closed(context.connection, event.game):
        events.change(context.connection, event.id, due_at=context.now + LONGEST_PAUSE)
        return []
    return _STEPS[event.status](context, event)


# -- before the start ----------------------------------------------------------------------------


def begin_now(context: CommandContext, event: Event) -> None:
    """Close the entries of an event that is full, and start it."""
    events.change(
        context.connection,
        event.id,
        closes_at=context.now,
        starts_at=context.now,
        due_at=context.now,
    )


def _step_open(context: CommandContext, event: Event) -> Sequence[Notification]:
    """Begin full groups, if they need not wait for the others; close the entries when it is
    time."""
    kind = kind_of(event)
    waiting = _waiting(context, event)
    notifications: list[Notification] = []
    if kind.begins_full_groups:
        size = Rules.of(event).size
        while len(waiting) >= size:
            notifications += _begin_next_group(context, event, waiting[:size])
            waiting = waiting[size:]
    if context.now < event.closes_at:
        _set_due(context, event, event.closes_at)
        return notifications
    if kind.begins_full_groups:
        return [*notifications, *_begin_last_group(context, event, waiting)]
    if kind.team_size > 1:
        waiting, notifications = team_events.complete_lineups(context, event)
    if len(waiting) < Rules.of(event).least * kind.team_size:
        return [*notifications, *_wait_or_cancel(context, event, waiting)]
    new_events.plan_following(context, event, event.starts_at)
    events.change(context.connection, event.id, status=EventStatus.CLOSED, due_at=event.starts_at)
    return notifications


def _waiting(context: CommandContext, event: Event) -> list[Entry]:
    """Return the players who are in no group yet, in the order of their entries.

    Of two names of one person, the first counts.
    """
    entries = [
        entry
        for entry in event_entries.of_event(context.connection, event.id)
        if entry.is_here and entry.group_number is None
    ]
    return persons.each_once(context.connection, entries)


def _wait_or_cancel(
    context: CommandContext, event: Event, waiting: Sequence[Entry]
) -> list[Notification]:
    """Put off an event that has too few players, or cancel it if nobody waits for more."""
    if event.is_own or not kind_of(event).waits_for_players:
        return cancel(context, event)
    closes, starts = event.closes_at + POSTPONEMENT, event.starts_at + POSTPONEMENT
    while closes <= context.now:  # the server was down
        closes, starts = closes + POSTPONEMENT, starts + POSTPONEMENT
    events.change(context.connection, event.id, due_at=closes, closes_at=closes, starts_at=starts)
    event = replace(event, closes_at=closes, starts_at=starts)
    least = Rules.of(event).least
    entered = len(waiting) // kind_of(event).team_size
    return letters.news(context, event, waiting, "waits", least=least, entered=entered)


def cancel(
    context: CommandContext, event: Event, *, by: str = "", why: str = ""
) -> list[Notification]:
    """End an event that has not started.

    Args:
        by: userid of the player who cancels it; ``""`` if the server or an operator does.
        why: the reason of an operator. Without either, too few players have entered.
    """
    _end(context, event, EventStatus.CANCELLED)
    entries = event_entries.of_event(context.connection, event.id)
    entered = [entry for entry in entries if entry.status == EntryStatus.ENTERED]
    least = Rules.of(event).least
    return letters.news(context, event, entered, "cancelled", by=by, why=why, least=least)


def _end(context: CommandContext, event: Event, status: EventStatus) -> None:
    """End an event, so that no step of it is due any more."""
    events.change(context.connection, event.id, status=status, due_at=None, finished_at=context.now)


def _step_closed(context: CommandContext, event: Event) -> Sequence[Notification]:
    """Draw the groups when the event starts."""
    if context.now < event.starts_at:
        _set_due(context, event, event.starts_at)
        return []
    if _awaits_places(context, event):
        _set_due(context, event, context.now + PLACES_RETRY)
        return []
    waiting = _waiting(context, event)
    if len(waiting) < 2:
        return cancel(context, event)
    begins_at = event.starts_at
    if context.now - begins_at > LATE_START:  # the server was down: nobody loses days of play
        begins_at = context.now
        new_events.plan_following(context, event, begins_at)
    kind = kind_of(event)
    groups = kind.draw(context.connection, event, [entry.player_id for entry in waiting])
    _store_groups(context, event, groups)
    events.change(
        context.connection,
        event.id,
        status=EventStatus.STARTING,
        round=1,
        starts_at=begins_at,
        ends_at=begins_at + kind.length_of_round(event),
        due_at=context.now,
    )
    return []


def _awaits_places(context: CommandContext, event: Event) -> bool:
    """Return whether the draw must wait for the places of the season before.

    If the server was down on its last day, that season may still be under way.
    """
    if not kind_of(event).recurs:
        return False
    before = events.of_number(context.connection, event.kind, event.game, event.number - 1)
    if before is None or before.status not in events.UNDER_WAY:
        return False
    return before.ends_at is not None and before.ends_at <= context.now


def _store_groups(
    context: CommandContext, event: Event, groups: Sequence[Sequence[Entrant]], first: int = 1
) -> None:
    """Store the groups that were drawn, which have the numbers from *first* on."""
    drawn = [
        Drawn(entrant.player_id, group_number, seed, entrant.rating)
        for group_number, group in enumerate(groups, first)
        for seed, entrant in enumerate(group)
    ]
    event_draws.draw(context.connection, event.id, drawn)


# -- events that begin group by group ------------------------------------------------------------


def _begin_next_group(
    context: CommandContext, event: Event, entries: Sequence[Entry]
) -> list[Notification]:
    """Begin the next group, whose players have the order in which they entered."""
    ratings = event_draws.ratings_of(context.connection, event.game, event.id)
    group_number = max(event_games.groups(context.connection, event.id, 1), default=0) + 1
    group = [Entrant(entry.player_id, ratings[entry.player_id].ordinal) for entry in entries]
    _store_groups(context, event, [group], group_number)
    ends_at = event.closes_at + kind_of(event).length_of_round(event)
    events.change(context.connection, event.id, round=1, ends_at=ends_at)
    begun = replace(event, round=1, ends_at=ends_at)
    ids = [entry.player_id for entry in entries]
    return paired_games.begin(context, begun, group_number, ids)


def _begin_last_group(
    context: CommandContext, event: Event, waiting: Sequence[Entry]
) -> list[Notification]:
    """Begin the last group if it is large enough; if not, its players enter the next event."""
    notifications: list[Notification] = []
    begun = event_games.groups(context.connection, event.id, 1)
    if len(waiting) >= Rules.of(event).least:
        notifications += _begin_next_group(context, event, waiting)
    elif waiting and not begun:
        return _wait_or_cancel(context, event, waiting)
    elif waiting:
        following = events.open_event(context.connection, event.kind, event.game, context.now)
        following = following or new_events.create_next(context, kind_of(event), event.game)
        for entry in waiting:
            event_entries.drop(context.connection, event.id, entry.player_id)
        ids = [entry.player_id for entry in waiting]
        event_entries.enter(context.connection, following.id, ids, context.now)
        events.change(context.connection, following.id, due_at=context.now)  # it may be full
        notifications += letters.news(context, following, waiting, "next-cup", entered=len(waiting))
    elif not begun:
        return cancel(context, event)
    events.change(
        context.connection,
        event.id,
        status=EventStatus.RUNNING,
        due_at=context.now + LONGEST_PAUSE,
    )
    return notifications


# -- while it runs -------------------------------------------------------------------------------


def _step_starting(context: CommandContext, event: Event) -> Sequence[Notification]:
    """Make the next boards of this round that are missing; after the last ones, play."""
    notifications = games_of(event).begin_next(context, event)
    if notifications is not None:
        _set_due(context, event, context.now)
        return notifications
    assert event.ends_at is not None
    due_at = min(event.ends_at, context.now + LONGEST_PAUSE)
    events.change(context.connection, event.id, status=EventStatus.RUNNING, due_at=due_at)
    return []


def _remove_next_gone(context: CommandContext, event: Event) -> list[Notification] | None:
    """Take out the next players who signed off, were barred by an operator, or were deleted; `None`
    if there are none."""
    entries = event_entries.gone(context.connection, event.id, MOST_REMOVED)
    if not entries:
        return None
    notifications: list[Notification] = []
    for entry in entries:
        notifications += games_of(event).leave(context, event, entry)
    return notifications


def _step_running(context: CommandContext, event: Event) -> Sequence[Notification]:
    """End the round when all its games are over, or on its last day."""
    assert event.ends_at is not None
    games = games_of(event)
    if context.now >= event.ends_at:
        decided = games.decide_next(context, event)
        if decided is not None:
            _set_due(context, event, context.now)
            return decided
    elif games.is_open(context, event):
        _set_due(context, event, min(event.ends_at, context.now + LONGEST_PAUSE))
        return []
    return _end_round(context, event)


def _end_round(context: CommandContext, event: Event) -> list[Notification]:
    """Begin the next round with players who are still there, or end the event."""
    kind = kind_of(event)
    groups = event_games.groups(context.connection, event.id, event.round)
    groups &= event_entries.groups_here(context.connection, event.id)
    if not kind.has_next_round(event, groups):
        return _finish(context, event, groups)
    if not kind.keeps_groups:
        _draw_next_round(context, event, groups)
    elif _all_have_met(context, event, groups):
        return _finish(context, event, groups)
    _begin_round(context, event)
    return []


def _all_have_met(context: CommandContext, event: Event, groups: Collection[int]) -> bool:
    """Return whether in each group all players left have met, so that none can play on."""
    for group_number in groups:
        entries = event_entries.of_event(context.connection, event.id, group_number)
        staying = [entry.player_id for entry in entries if entry.is_here]
        earlier = event_games.of_event(
            context.connection, event.id, groups=(group_number, group_number)
        )
        if not have_all_met(staying, earlier):
            return False
    return True


def _draw_next_round(context: CommandContext, event: Event, groups: Collection[int]) -> None:
    """Store the groups of the next round.

    Args:
        groups: the groups of the present round that have players left.
    """
    tables = games_of(event).tables(context, event, (min(groups), max(groups)))
    entries = event_entries.of_event(context.connection, event.id)
    staying = {entry.player_id for entry in entries if entry.is_here}
    lines = {
        group_number: left
        for group_number in sorted(groups)
        if (left := [line for line in tables[group_number] if line.player_id in staying])
    }
    newest = max(event_games.groups(context.connection, event.id))
    _store_groups(context, event, kind_of(event).next_groups(event, lines), newest + 1)


def _begin_round(context: CommandContext, event: Event) -> None:
    events.change(
        context.connection,
        event.id,
        status=EventStatus.STARTING,
        round=event.round + 1,
        ends_at=context.now + kind_of(event).length_of_round(event),
        due_at=context.now,
    )


# -- the end -------------------------------------------------------------------------------------


def _finish(context: CommandContext, event: Event, groups: Collection[int]) -> list[Notification]:
    """Store the places of the next players and tell them the result; end the event when all have
    read it.

    Places are stored with the letters, so a player with a place has got the result.

    Args:
        groups: the groups of the last round that have players left.
    """
    notifications = games_of(event).tell_next(context, event, groups)
    if notifications is None:
        _end(context, event, EventStatus.FINISHED)
        return []
    _set_due(context, event, context.now)
    return notifications


def _set_due(context: CommandContext, event: Event, moment: datetime) -> None:
    events.change(context.connection, event.id, due_at=moment)


_STEPS: Mapping[EventStatus, Callable[[CommandContext, Event], Sequence[Notification]]] = {
    EventStatus.OPEN: _step_open,
    EventStatus.CLOSED: _step_closed,
    EventStatus.STARTING: _step_starting,
    EventStatus.RUNNING: _step_running,
}
