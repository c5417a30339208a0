"""Facts of events for letters, pages and programs: the list, and the tables of one event.

They hold results of games that are over, and never anything about a running board but its number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pbmserv.engine.time_spans import zone
from pbmserv.service.core.context import CommandContext
from pbmserv.service.events import letters, paired_games, shared_boxes, team_events
from pbmserv.service.events.games import games_of
from pbmserv.service.events.groups import group_sizes
from pbmserv.service.events.kinds.kind import Kind, Rules
from pbmserv.service.events.kinds.registry import kind_of
from pbmserv.service.events.tables import Line, around
from pbmserv.service.time.localtime import local_date
from pbmserv.store.accounts.players import Player
from pbmserv.store.events import event_draws, event_entries, event_games, event_lists
from pbmserv.store.events.event_entries import Entry
from pbmserv.store.events.event_games import Pairing
from pbmserv.store.events.events import Event
from pbmserv.store.tables.events import EntryStatus, EventStatus
from pbmserv.views.names import PublicName, PublicNames
from pbmserv.views.public_facts import (
    EventGame,
    EventGroup,
    EventLine,
    EventPage,
    EventRow,
    TeamResult,
    shape_from,
)

MOST = 100
"""Events in a list."""

GROUPS = 12
"""Groups on one page or in one letter."""

NAMED = 200
"""Entered players who are named before the draw."""

TABLES = 8
"""Tables in one digest."""

MOST_OF_TEAM = 20
"""Events on the page of a team."""

MONDAY = 0

_ORDER = (
    EventStatus.OPEN,
    EventStatus.CLOSED,
    EventStatus.STARTING,
    EventStatus.RUNNING,
    EventStatus.FINISHED,
)


def overview(context: CommandContext, most: int = MOST) -> list[EventLine]:
    """Return the events in lines: those that take entries first, then those that run."""
    listed = [
        event
        for event in event_lists.listed(context.connection, _ORDER, most)
        if event.game in context.services.registry
    ]
    counts = event_entries.count(context.connection, [event.id for event in listed])
    return [_line(context, event, counts.get(event.id, 0)) for event in listed]


def _line(context: CommandContext, event: Event, players: int) -> EventLine:
    """Return an event in a line.

    Args:
        players: the number of players who have entered.
    """
    rules = Rules.of(event)
    return shape_from(
        EventLine,
        letters.facts(context, event),
        status=str(event.status),
        finished=f"{event.finished_at:%Y-%m-%d}" if event.finished_at else "",
        round=event.round,
        entered=players // kind_of(event).team_size,
        most=rules.most,
        invited=rules.invited,
    )


def of_team(context: CommandContext, team_id: int) -> list[TeamResult]:
    """Return the newest events of a team, with its place in each that is over."""
    return [
        TeamResult(event.id, letters.facts(context, event).name, str(event.status), place)
        for event, place in event_lists.of_team(context.connection, team_id, MOST_OF_TEAM)
        if event.game in context.services.registry
    ]


def page(context: CommandContext, event: Event, first: int = 1, *, public: bool) -> EventPage:
    """Return what everybody may know of an event.

    Args:
        first: the first of the groups whose tables are returned, at most `GROUPS`; of a duplicate
            event, the part of its table (`shared_boxes.LINES`).
        public: whether everybody may read the page, so that it hides names.
    """
    kind, rules = kind_of(event), Rules.of(event)
    terms = kind.terms_of(event)
    entries = {
        entry.player_id: entry for entry in event_entries.of_event(context.connection, event.id)
    }
    hidden = (entry.userid for entry in entries.values() if public and not entry.public)
    names = PublicNames(frozenset(hidden))
    sizes = group_sizes(entries.values())
    if kind.shares_boxes:
        tables = _of_boxes(context, event, first)
        group_count = shared_boxes.count_parts(len(tables.marks))
    else:
        tables = _of_games(context, event, first)
        group_count = max(sizes, default=0)
    waiting = [entry for entry in entries.values() if entry.group_number is None and entry.is_here]
    ratings = event_draws.ratings_of(context.connection, event.game, event.id)
    rated_games = {player_id: rating.games for player_id, rating in ratings.items()}
    return shape_from(
        EventPage,
        _line(context, event, sizes.total() + len(waiting)),
        rounds=kind.rounds,
        options=list(event.options),
        least=rules.least,
        size=rules.size,
        boxes=list(range(1, rules.boxes + 1)) if tables.marks else [],
        house=rules.house,
        own=event.is_own,
        move_days=terms.forfeit,
        total_days=terms.total or 0,
        waiting=[names.of(entry.userid) for entry in waiting[:NAMED]],
        first=first,
        group_count=group_count,
        groups=[
            _group(kind, number, sizes[number], entries, tables, rated_games, names)
            for number in sorted(tables.lines)
        ],
    )


@dataclass(frozen=True, slots=True)
class _Tables:
    """The tables on a page of an event.

    Attributes:
        lines: the lines of each table by the number of its group, or of its part.
        marks: see `shared_boxes.marks`; empty unless all play the same boxes.
        games: the games of these groups.
        teams: the teams of these groups by the number of the group; empty unless teams play.
    """

    lines: Mapping[int, Sequence[Line]]
    marks: Mapping[int, list[str]] = field(default_factory=dict)
    games: Sequence[Pairing] = ()
    teams: Mapping[int, team_events.Group] = field(default_factory=dict)


def _of_boxes(context: CommandContext, event: Event, part: int) -> _Tables:
    results = shared_boxes.results(context, event)
    lines = shared_boxes.parts(shared_boxes.table(context, event, results), part)
    return _Tables(lines, shared_boxes.marks(results))


def _of_games(context: CommandContext, event: Event, first: int) -> _Tables:
    groups = (first, first + GROUPS - 1)
    return _Tables(
        games_of(event).tables(context, event, groups),
        games=event_games.of_event(context.connection, event.id, groups=groups),
        teams=team_events.groups_of(context, event, groups) if kind_of(event).team_size > 1 else {},
    )


def _group(
    kind: Kind,
    group_number: int,
    size: int,
    entries: Mapping[int, Entry],
    tables: _Tables,
    rated_games: Mapping[int, int],
    names: PublicNames,
) -> EventGroup:
    """Return what everybody may know of a group, or of a part of the one table.

    Args:
        size: number of players in the group.
        rated_games: number of rated games of each player.
        names: makes the names of the players; several nameless ones get numbers.
    """
    lines = tables.lines[group_number]
    removed = [
        entry.userid
        for entry in entries.values()
        if entry.group_number == group_number and entry.status == EntryStatus.REMOVED
    ]
    in_group = names.at_board([*(entries[line.player_id].userid for line in lines), *removed])

    def name_of(player_id: int) -> PublicName:
        userid = entries[player_id].userid
        return in_group.get(userid) or names.of(userid)

    teams = tables.teams.get(group_number)
    return EventGroup(
        number=group_number,
        rows=[
            shape_from(
                EventRow,
                line,
                userid=name_of(line.player_id),
                left=entries[line.player_id].status != EntryStatus.ENTERED,
                moves=kind.movement(
                    group_number, line.place, size, rated_games.get(line.player_id, 0)
                ),
                boxes=tables.marks.get(line.player_id, []),
            )
            for line in lines
        ],
        games=[
            shape_from(
                EventGame,
                game,
                first=name_of(game.first_id),
                second=name_of(game.second_id) if game.second_id else "",
                board=game.board_id,
            )
            for game in tables.games
            if game.group_number == group_number
        ],
        removed=[in_group[userid] for userid in removed],
        teams=team_events.team_rows(teams) if teams else [],
        matches=team_events.team_matches(teams, name_of) if teams else [],
    )


def weekly_tables(context: CommandContext, player: Player) -> list[dict[str, Any]]:
    """Return the tables for a player's digest: on a Monday, those of groups that play.

    A table without a result, or without a game that runs, is no news. Long tables are cut to their
    top and the lines around the player.
    """
    if local_date(context.now, zone(player.tz)).weekday() != MONDAY:
        return []
    tables = []
    # A monthly cup takes entries while its first groups play.
    statuses = (EventStatus.OPEN, EventStatus.RUNNING)
    for event in event_lists.of_player(context.connection, player.id, statuses):
        entry = event_entries.of_player(context.connection, event.id, player.id)
        if event.game not in context.services.registry or not kind_of(event).has_weekly_table:
            continue
        if entry is None or entry.group_number is None or entry.muted:
            continue
        table = _weekly_table(context, event, entry.group_number, player.id)
        if table:
            facts = asdict(letters.facts(context, event))
            tables.append({**facts, "group": entry.group_number, **table})
    return tables[:TABLES]


def _weekly_table(
    context: CommandContext, event: Event, group_number: int, player_id: int
) -> dict[str, Any]:
    """Return the lines of a group's table, of teams or of players; empty if they are no news."""
    if kind_of(event).team_size > 1:
        group = team_events.groups_of(context, event, (group_number, group_number)).get(
            group_number
        )
        teams = team_events.team_rows(group) if group else []
        is_news = any(row.open for row in teams) and any(row.board_points for row in teams)
        return {"teams": [asdict(row) for row in teams]} if is_news else {}
    lines = paired_games.tables(context, event, (group_number, group_number)).get(group_number, [])
    if not (any(line.open for line in lines) and any(line.points for line in lines)):
        return {}
    entries = event_entries.of_event(context.connection, event.id, group_number)
    by_player = {entry.player_id: entry for entry in entries}
    return {"rows": letters.table_rows(around(lines, player_id), by_player)}
