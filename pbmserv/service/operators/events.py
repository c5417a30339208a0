"""Deeds of operators about events, and games that they may want to look at."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from pbmserv.engine.types import Seat
from pbmserv.errors import OperatorError
from pbmserv.plurals import counted
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game
from pbmserv.service.core.outcome import Notification
from pbmserv.service.events import course, games, letters, new_events, pages, paired_games
from pbmserv.service.events.kinds.kind import Kind
from pbmserv.service.events.kinds.registry import SERVER_KINDS, kind_of
from pbmserv.service.events.tables import DRAW, LOSS, WIN
from pbmserv.service.operators.deeds import Deed, Signature, read_day
from pbmserv.service.operators.games import game_key
from pbmserv.store.accounts import players
from pbmserv.store.boards import boards
from pbmserv.store.events import event_entries, event_games, events
from pbmserv.store.events.events import BEFORE_START, OVER, Event
from pbmserv.store.operators import events as event_rows
from pbmserv.store.tables.boards import RUNNING
from pbmserv.store.tables.events import EntryStatus, EventStatus

RESULTS = {
    "first": (WIN, LOSS),
    "second": (LOSS, WIN),
    "draw": (DRAW, DRAW),
    "lost": (LOSS, LOSS),
}
"""Results that an operator can give: points of the first player and the second one."""

WATCHED = timedelta(days=365)
"""Time in which results are watched."""

FEW_PLIES = 6
"""A game that was given up after at most so many plies is watched."""


def create_event(context: CommandContext, _: Signature, kind: str, game: str, starts: str) -> Deed:
    """Create a season, cup, Swiss or duplicate event that begins on a day.

    Raises:
        OperatorError: there is no such kind or game, the day is wrong, or one is open already.
    """
    words = [word for word, each in SERVER_KINDS.items() if not each.rules.invited]
    if kind not in words:
        raise OperatorError(f"there is no kind {kind}; there are: {', '.join(words)}")
    server_kind = SERVER_KINDS[kind]
    if reason := server_kind.why_unavailable():
        raise OperatorError(reason)
    key = game_key(context, game)
    if reason := server_kind.why_not_for(known_game(context, key)):
        raise OperatorError(f"{key} {reason}")
    before = events.open_event(context.connection, kind, key, context.now)
    if before is not None:
        raise OperatorError(f"event {before.id} takes entries already; postpone that one")
    starts_at, closes_at = _days(context, server_kind, starts)
    event = new_events.create(context, server_kind, key, starts_at)
    closing = f"entries close on {closes_at:%Y-%m-%d}"
    summary = f"Event {event.id} begins on {starts_at:%Y-%m-%d}; {closing}."
    return Deed("create", f"event {event.id}", summary, (), {"kind": kind, "game": key})


def postpone(context: CommandContext, by: Signature, number: int, starts: str) -> Deed:
    """Let an event begin on another day, and tell everybody who has entered.

    Raises:
        OperatorError: there is no such event, it has begun, or the day is wrong.
    """
    event = _lock(context, number)
    if event.status in OVER:
        raise OperatorError(f"event {number} is over")
    if event.status not in BEFORE_START or event.round:
        raise OperatorError(f"event {number} has begun")
    starts_at, closes_at = _days(context, kind_of(event), starts)
    events.change(
        context.connection,
        number,
        status=EventStatus.OPEN,
        starts_at=starts_at,
        closes_at=closes_at,
        due_at=closes_at,
    )
    changed = events.load(context.connection, number)
    assert changed is not None
    if event.status == EventStatus.CLOSED:
        new_events.plan_following(context, changed, changed.starts_at)
    entries = event_entries.of_event(context.connection, number)
    notifications = letters.news(context, changed, entries, "postponed", why=by.why)
    facts = {"before": f"{event.starts_at:%Y-%m-%d}", "after": f"{starts_at:%Y-%m-%d}"}
    readers = counted(len(notifications), "player reads", "players read")
    summary = f"Event {number} begins on {starts_at:%Y-%m-%d}; {readers} that."
    return Deed("postpone", f"event {number}", summary, tuple(notifications), facts)


def cancel(context: CommandContext, by: Signature, number: int) -> Deed:
    """End an event that has not begun, and tell everybody who has entered.

    Raises:
        OperatorError: there is no such event, or it has begun.
    """
    event = _lock(context, number)
    if event.status in OVER:
        raise OperatorError(f"event {number} is over")
    if event.status not in BEFORE_START or event.round:
        raise OperatorError(f"event {number} has begun; its players can be taken out one by one")
    notifications = course.cancel(context, event, why=by.why)
    return Deed("cancel", f"event {number}", f"Event {number} is cancelled.", tuple(notifications))


def remove(context: CommandContext, by: Signature, number: int, userid: str) -> Deed:
    """Take a player out of an event, as if the player had left it.

    Raises:
        OperatorError: there is no such event, it is over, or the player is not in it.
    """
    event = _lock(context, number)
    player = players.account_of(context.connection, userid.lower())
    entry = event_entries.of_player(context.connection, number, player.id) if player else None
    if entry is None or event.status in OVER:
        raise OperatorError(f"{userid} does not play in event {number}, or it is over")
    if entry.status in {EntryStatus.LEFT, EntryStatus.REMOVED}:
        raise OperatorError(f"{entry.userid} is out of event {number} already")
    if entry.group_number is None and entry.team_id is not None:
        raise OperatorError(
            f"{userid} is in the line-up of a team, which can change until event {number} begins; "
            "take the player out then"
        )
    if entry.group_number is None:
        event_entries.drop(context.connection, number, entry.player_id)
        notifications: Sequence[Notification] = ()
    else:
        notifications = games.withdraw(context, event, entry.player_id)
        events.change(context.connection, number, due_at=context.now)
    part = letters.news_part(context, event, "taken-out", why=by.why)
    own = Notification(entry.address, entry.player_id, part)
    summary = f"{entry.userid} is out of event {number}."
    return Deed(
        "remove", f"event {number}", summary, (*notifications, own), {"userid": entry.userid}
    )


def decide(context: CommandContext, by: Signature, number: int, result: str) -> Deed:
    """Give a game of an event a result, also another one; a running board ends.

    Raises:
        OperatorError: the board belongs to no event, the event is over, or there is no such result.
    """
    event_id = events.id_of_board(context.connection, number)
    event = events.lock(context.connection, event_id) if event_id is not None else None
    if event is None:
        raise OperatorError(f"board {number} belongs to no event")
    if event.status in OVER or event_entries.has_places(context.connection, event.id):
        raise OperatorError(f"event {event.id} is over; its table is final")
    game = event_games.of_board(context.connection, number)
    if game is None:
        raise OperatorError(f"nobody wins board {number}; take a player out instead")
    if result not in RESULTS:
        raise OperatorError(f"there is no result {result}; there are: {', '.join(RESULTS)}")
    if game.reason == "removed":
        raise OperatorError(f"board {number} does not count: one of its players is out")
    before = [game.first_points, game.second_points]
    board = boards.lock(context.connection, number)
    if board is not None and board.status in RUNNING:
        losers = [Seat(seat) for seat, each in enumerate(RESULTS[result]) if each == LOSS]
        paired_games.decide(context, event, game, board, losers)
    else:
        event_games.settle(context.connection, event.id, game, RESULTS[result], "decided")
    events.change(context.connection, event.id, due_at=context.now)
    ids = [player_id for player_id in (game.first_id, game.second_id) if player_id is not None]
    entries = event_entries.of_event(context.connection, event.id, player_ids=ids)
    notifications = letters.news(
        context,
        event,
        entries,
        "decided",
        ends_board=True,
        board=number,
        why=by.why,
        result=_in_words(result),
    )
    facts = {"board": number, "before": before, "after": list(RESULTS[result])}
    summary = f"Board {number} of event {event.id}: {_in_words(result)}."
    return Deed("decide", f"event {event.id}", summary, tuple(notifications), facts)


def _in_words(result: str) -> str:
    if result in {"first", "second"}:
        return f"the {result} player has won"
    return "it is a draw" if result == "draw" else "both players have lost"


def _lock(context: CommandContext, number: int) -> Event:
    event = events.lock(context.connection, number)
    if event is None:
        raise OperatorError(f"there is no event {number}; `pbmserv event list` shows them all")
    return event


def _days(context: CommandContext, kind: Kind, starts: str) -> tuple[datetime, datetime]:
    """Return the start of an event and the end of its entries.

    Raises:
        OperatorError: the text is not a day in the next two years.
    """
    starts_at = read_day(starts)
    closes_at = kind.closing(starts_at)
    if not context.now < closes_at < context.now + timedelta(days=730):
        raise OperatorError("entries would close in the past, or in more than two years")
    return starts_at, closes_at


# -- questions ---------------------------------------------------------------------------------


def event_lines(context: CommandContext, most: int) -> list[tuple[str, ...]]:
    """Return the events in lines, as ``pbmserv event list`` prints them."""
    return [
        (
            str(event.event),
            event.name,
            event.status,
            str(event.entered),
            event.starts,
            event.ends,
        )
        for event in pages.overview(context, most)
    ]


def watched(context: CommandContext) -> list[tuple[str, ...]]:
    """Return pairs of players of events and ladders, one of whom gave up early.

    Each is the loser, the winner, how often the loser gave up, how often they met, and the newest
    board.
    """
    since = context.now - WATCHED
    return event_rows.early_resignations(context.connection, since, FEW_PLIES)
