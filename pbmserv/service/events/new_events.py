"""Creates events: for their first players, for those who hold one, and after others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game
from pbmserv.service.events.kinds.kind import Kind, Qualification, Rules, next_monday
from pbmserv.service.events.kinds.registry import SERVERS, kind_of
from pbmserv.store.events import event_entries, events, regulars
from pbmserv.store.events.events import Event
from pbmserv.store.tables.events import EventStatus


@dataclass(frozen=True, slots=True)
class Held:
    """The choices of a player who holds an event."""

    owner_id: int
    name: str
    options: Sequence[str]
    rules: Rules


def create_next(context: CommandContext, kind: Kind, game: str) -> Event:
    """Create the server's next event of a kind and game, for the first player who enters it."""
    return create(context, kind, game, kind.first_start(context.now))


def create(
    context: CommandContext,
    kind: Kind,
    game: str,
    starts_at: datetime,
    *,
    number: int | None = None,
    held: Held | None = None,
) -> Event:
    """Create an event; its first step is due when entries close.

    If another process has just created the same event of the server, return that one, locked.

    Args:
        number: `None` for the next number of its kind and game.
        held: what a player has chosen who holds the event; `None` for the server's.
    """
    connection = context.connection
    rules = (held.rules if held else kind.rules_for(known_game(context, game))).as_json()
    options = held.options if held else kind.board_options(known_game(context, game), (), game)
    while True:
        chosen = number or events.next_number(connection, kind.word, game)
        event_id = events.create(
            connection,
            context.now,
            kind=kind.word,
            game=game,
            number=chosen,
            closes_at=kind.closing(starts_at),
            starts_at=starts_at,
            owner_id=held.owner_id if held else None,
            name=held.name if held else "",
            options=options,
            rules=rules,
        )
        if event_id is not None:
            break
        other = events.of_number(connection, kind.word, game, chosen)
        if other is not None and (number is not None or (held is None and not other.is_own)):
            return events.lock(connection, other.id) or other
    event = events.load(connection, event_id)
    assert event is not None
    if kind.recurs:
        regulars.enter_all(connection, event_id, game, context.now)
    return event


def plan_following(context: CommandContext, event: Event) -> None:
    """Create the event that follows one that is about to start.

    If it is there already, since the first one was postponed, it does not start too early.
    """
    kind = kind_of(event)
    following_start = kind.following_start(event.starts_at)
    if following_start is None or event.is_own:
        return
    number = event.number + 1
    following = events.of_number(context.connection, event.kind, event.game, number)
    if following is None:
        create(context, kind, event.game, following_start)
    elif following.status == EventStatus.OPEN and following.starts_at < following_start:
        _move(context, following, next_monday(following_start))


def _move(context: CommandContext, event: Event, starts_at: datetime) -> None:
    """Let an event that takes entries start on another day."""
    closes_at = kind_of(event).closing(starts_at)
    events.change(
        context.connection, event.id, starts_at=starts_at, closes_at=closes_at, due_at=closes_at
    )


def move_following(context: CommandContext, event: Event) -> None:
    """Start the event that follows a late one no earlier than if this one had been planned so."""
    kind = kind_of(event)
    following_start = kind.following_start(context.now)
    following = events.open_event(context.connection, event.kind, event.game, context.now)
    if following_start is None or following is None:
        return
    _move(context, following, next_monday(following_start))


def enter_qualified(
    context: CommandContext, event: Event, qualification: Qualification, player_id: int
) -> str:
    """Enter a player of an event for the one that it qualifies for; return the day of its start,
    ``""`` if that one has begun."""
    kind = SERVERS[qualification.kind]
    number, starts_at = qualification.number, qualification.starts_at
    following = events.of_number(context.connection, kind.word, event.game, number)
    if following is not None and following.status != EventStatus.OPEN:
        return ""
    if following is None:
        following = create(context, kind, event.game, starts_at, number=number)
    event_entries.enter(context.connection, following.id, [player_id], context.now)
    return f"{starts_at:%Y-%m-%d}"
