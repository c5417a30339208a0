"""Creates events: for their first players, for those who hold one, and after others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game
from pbmserv.service.events.kinds.final import FINAL, final_starts
from pbmserv.service.events.kinds.kind import Kind, Rules, next_monday
from pbmserv.service.events.kinds.registry import SERVER_KINDS, kind_of
from pbmserv.store.events import event_entries, events, regulars
from pbmserv.store.events.events import Event
from pbmserv.store.tables.events import EventStatus


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices of a player who holds an event; an event of the server has no owner and name."""

    owner_id: int | None
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
    choices: Choices | None = None,
) -> Event:
    """Create an event; its first step is due when entries close.

    If another process has just created the same event of the server, return that one, locked.

    Args:
        number: `None` for the next number of its kind and game.
        choices: those of the player who holds the event; `None` for an event of the server.
    """
    connection = context.connection
    if choices is None:
        known = known_game(context, game)
        options = kind.board_options(known, (), game)
        choices = Choices(None, "", options, kind.rules_for(known))
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
            owner_id=choices.owner_id,
            name=choices.name,
            options=choices.options,
            rules=choices.rules.as_json(),
        )
        if event_id is not None:
            break
        other = events.of_number(connection, kind.word, game, chosen)
        is_of_server = choices.owner_id is None
        if other is not None and (number is not None or (is_of_server and not other.is_own)):
            return events.lock(connection, other.id) or other
    event = events.load(connection, event_id)
    assert event is not None
    if kind.recurs:
        regulars.enter_all(connection, event_id, game, event.closes_at, context.now)
    return event


def plan_following(context: CommandContext, event: Event, starts_at: datetime) -> None:
    """Create the event that follows one which starts at a moment.

    If there is one already, since this event was postponed or starts late, let it not start too
    early.
    """
    kind = kind_of(event)
    following_start = kind.following_start(starts_at)
    if following_start is None:
        return
    number = event.number + 1
    following = events.of_number(context.connection, event.kind, event.game, number)
    if following is None:
        create(context, kind, event.game, following_start)
    elif following.status == EventStatus.OPEN and following.starts_at < following_start:
        later = next_monday(following_start)
        closes_at = kind.closing(later)
        events.change(
            context.connection,
            following.id,
            starts_at=later,
            closes_at=closes_at,
            due_at=closes_at,
        )


def enter_final(context: CommandContext, game: str, year: int, player_id: int) -> str:
    """Enter a player for the final of a year's cups; return the day of its start, ``""`` if it has
    begun."""
    final = events.of_number(context.connection, FINAL, game, year)
    if final is not None and final.status != EventStatus.OPEN:
        return ""
    if final is None:
        final = create(context, SERVER_KINDS[FINAL], game, final_starts(year), number=year)
    event_entries.enter(context.connection, final.id, [player_id], context.now)
    return f"{final.starts_at:%Y-%m-%d}"
