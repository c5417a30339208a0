"""Letters about events, and the words that they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.delivery import waiting_boards
from pbmserv.service.delivery.waiting_boards import Waiting
from pbmserv.service.events.kinds.kind import Rules
from pbmserv.service.events.kinds.registry import kind_of
from pbmserv.service.events.tables import Line
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.events import event_entries
from pbmserv.store.events.event_entries import Entry
from pbmserv.store.events.events import Event
from pbmserv.store.shared_boxes.event_boxes import SeatAt
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.views.names import ALL_NAMES
from pbmserv.views.public_facts import TableRow, shape_from


@dataclass(frozen=True, slots=True)
class EventFacts:
    """The name and the days of an event, as letters and pages have them; see `EventPage`."""

    event: int
    kind: str
    game: str
    title: str
    name: str
    starts: str
    closes: str
    ends: str
    house: str


def facts(context: CommandContext, event: Event) -> EventFacts:
    title = context.services.registry.titles[event.game]
    return EventFacts(
        event=event.id,
        kind=event.kind,
        game=event.game,
        title=title,
        name=_name_of(event, title),
        starts=f"{event.starts_at:%Y-%m-%d}",
        closes=f"{event.closes_at:%Y-%m-%d}",
        ends=f"{event.ends_at:%Y-%m-%d}" if event.ends_at else "",
        house=Rules.of(event).house,
    )


def _name_of(event: Event, title: str) -> str:
    """Return the name of an event; one whose holder has deleted the account has lost its own."""
    if event.name:
        return f'"{event.name}"'
    if event.is_own:
        return f"Players' event {event.id} of {title}"
    return kind_of(event).name(event, title)


def table_rows(lines: Iterable[Line], entries: Mapping[int, Entry]) -> list[dict[str, Any]]:
    """Return the words of lines of a table.

    Args:
        entries: those of the players by id.
    """
    return [
        asdict(shape_from(TableRow, line, userid=ALL_NAMES.of(entries[line.player_id].userid)))
        for line in lines
    ]


def entry_part(context: CommandContext, event: Event, topic: str, **words: Any) -> Part:
    """Return the answer to a player about an entry or an event of the player's own.

    Args:
        topic: what the letter tells: see ``letters/event-entry.j2``.
        words: further words of the letter.
    """
    return _part("event-entry", context, event, topic, words)


def invitation_part(context: CommandContext, event: Event, *, by: str) -> Part:
    """Return the invitation to an event, by the userid of its holder."""
    return _part("event-invited", context, event, "invited", {"by": by})


def news_part(context: CommandContext, event: Event, topic: str, **words: Any) -> Part:
    """Return news of an event.

    Args:
        topic: what the letter tells: see ``letters/event-news.j2``.
        words: further words of the letter.
    """
    return _part("event-news", context, event, topic, words)


def _part(
    letter: str, context: CommandContext, event: Event, topic: str, words: Mapping[str, Any]
) -> Part:
    return Part(letter, {**asdict(facts(context, event)), "what": topic, **words})


def news(
    context: CommandContext,
    event: Event,
    entries: Iterable[Entry],
    topic: str,
    *,
    boards: Sequence[SeatAt] = (),
    ends_board: bool = False,
    **words: Any,
) -> list[Notification]:
    """Return a letter about an event to each of some players who want letters about it.

    Args:
        topic: what the letter tells: see ``letters/event-news.j2``.
        boards: finished boards of these players, which the letter shows.
        ends_board: whether boards of the readers have ended, and no other letter says so. Then
            players who want no letters about the event get this one, too.
        words: further words of the letter.
    """
    part = news_part(context, event, topic, **words)
    if boards:
        shown = [
            {
                "letter": "show",
                "words": {"event": "", "opened": True},
                "board": place.board,
                "ply": place.ply,
                "seat": place.seat,
            }
            for place in boards
        ]
        part = Part("event-ends", {**part.words, "waiting": [], "more": [], "news": shown})
    return [
        Notification(entry.address, entry.player_id, part)
        for entry in entries
        if entry.state == PlayerState.ACTIVE and (ends_board or not entry.muted)
    ]


def start_letters(
    context: CommandContext,
    event: Event,
    group_number: int,
    userids: Mapping[int, str],
    boards: Sequence[BoardRow],
    teams: Mapping[str, str],
) -> list[Notification]:
    """Return the letters about the start of a group: one for each player, with all boards.

    Players who want no letters about the event get this one, since it brings their boards.

    Args:
        userids: the players of the group by player id, in the order of the draw. Those without a
            board have a bye.
        teams: the name of the team by userid; empty unless teams play.
    """
    kind = kind_of(event)
    is_grouped = kind.names_groups or event_entries.count_groups(context.connection, event.id) > 1
    notifications = []
    for player_id in userids:
        player = players.by_id(context.connection, player_id)
        if player is None or not player.active:
            continue
        waiting, games = [], []
        for board in boards:
            sitter = board.sitter_of(player_id)
            if sitter is None:
                continue
            games.append(_game_words(board, sitter, teams))
            since = board.clocks[sitter.seat].since if board.clocks else None
            if since is not None:
                waiting.append(Waiting(board, sitter, since))
        words = {
            "group": group_number,
            "grouped": is_grouped,
            "move_days": kind.terms.forfeit,
            "total_days": kind.terms.total or 0,
        }
        notifications.append(_start_letter(context, event, player, games, waiting, words))
    return notifications


def _game_words(board: BoardRow, sitter: Sitter, teams: Mapping[str, str]) -> Mapping[str, object]:
    """Return the words about a new game for one of its players."""
    opponent = next(name for name in board.names if name != sitter.userid)
    return {
        "board": board.id,
        "opponent": opponent,
        "first": sitter.seat == 0,
        "team": teams.get(opponent, ""),
    }


def box_letter(
    context: CommandContext,
    event: Event,
    player: Player,
    boards: Sequence[BoardRow],
    field: Sequence[str],
    count: int,
) -> Notification:
    """Return the letter that brings a player the boxes of an event.

    Args:
        field: the names of all players, empty if they are many.
        count: the number of all players.
    """
    begins = {board.id: _player_begins(context, board) for board in boards}
    games = [{"board": board.id, "first": begins[board.id]} for board in boards]
    waiting = [
        Waiting(board, board.sitters[0], context.now) for board in boards if begins[board.id]
    ]
    words = {"grouped": False, "players": list(field), "count": count}
    return _start_letter(context, event, player, games, waiting, words)


def _player_begins(context: CommandContext, board: BoardRow) -> bool:
    """Return whether the player, and not the house, makes the first move of a shared box."""
    position = context.position(board)
    return board.sitters[0].seat in position.game.to_act(position.state)


def _start_letter(
    context: CommandContext,
    event: Event,
    player: Player,
    games: Sequence[Mapping[str, object]],
    waiting: Sequence[Waiting],
    words: Mapping[str, object],
) -> Notification:
    """Return the letter that brings a player new boards of an event.

    Args:
        games: words about each board; none for a bye.
        waiting: the boards that wait for the player.
        words: further words of the letter.
    """
    shown, more = waiting_boards.entries(context, waiting)
    all_words = {
        **asdict(facts(context, event)),
        "round": event.round,
        "games": games,
        "bye": not games,
        "waiting": shown,
        "more": more,
        "news": [],
        **words,
    }
    return Notification(player.address, player.id, Part("event-begins", all_words))
