"""Letters about events, and the words that they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.delivery.waiting_boards import Waiting, entries
from pbmserv.service.events.kinds import name_of
from pbmserv.store import events
from pbmserv.store.accounts import players
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.events import Entry, Event
from pbmserv.store.tables.accounts import PlayerState


def facts(context: CommandContext, event: Event) -> dict[str, Any]:
    """Return the words that name an event."""
    title = known_game(context, event.game).info.title
    return {
        "event": event.id,
        "kind": event.kind,
        "game": event.game,
        "title": title,
        "name": name_of(event, title),
        "starts": f"{event.starts_at:%Y-%m-%d}",
        "closes": f"{event.closes_at:%Y-%m-%d}",
        "ends": f"{event.ends_at:%Y-%m-%d}" if event.ends_at else "",
    }


def news(
    context: CommandContext, event: Event, entries: Iterable[Entry], what: str, **words: Any
) -> list[Notification]:
    """Return a letter about an event to each of some players who want letters about it.

    Args:
        what: the news: see ``letters/event-news.j2``.
        words: further words of the letter.
    """
    part = Part("event-news", {**facts(context, event), "what": what, **words})
    return [
        Notification(entry.address, entry.player_id, part)
        for entry in entries
        if entry.state == PlayerState.ACTIVE and not entry.muted
    ]


def begins(
    context: CommandContext,
    event: Event,
    section: int,
    sitting: Mapping[int, str],
    boards: Sequence[BoardRow],
    bye: int | None = None,
) -> list[Notification]:
    """Return one letter for each player of a group, with all of the player's boards.

    Players who want no letters about the event get this one, since it brings their boards.

    Args:
        sitting: userids of the group by player id, in the order of the draw.
        bye: the player who has no game in this round.
    """
    letters = []
    groups = events.count_groups(context.connection, event.id)
    for player_id in sitting:
        player = players.by_id(context.connection, player_id)
        if player is None or not player.active:
            continue
        own = [board for board in boards if board.sitter_of(player_id) is not None]
        waiting, games = [], []
        for board in own:
            sitter = board.sitter_of(player_id)
            assert sitter is not None
            opponent = next(name for name in board.names if name != sitter.userid)
            games.append({"board": board.id, "opponent": opponent, "first": sitter.seat == 0})
            since = board.clocks[sitter.seat].since if board.clocks else None
            if since is not None:
                waiting.append(Waiting(board, sitter, since))
        drawn, more = entries(context, waiting, lambda _: (), {})
        words = {
            **facts(context, event),
            "section": section,
            "grouped": groups > 1 or event.kind in {"league", "cup"},
            "round": event.round,
            "players": list(sitting.values()),
            "games": games,
            "bye": bye == player_id,
            "waiting": drawn,
            "more": more,
            "news": [],
        }
        letters.append(Notification(player.address, player_id, Part("event-begins", words)))
    return letters
