"""The course of an event: each step is one job of the scheduler, in one transaction.

A step is taken when it is due, however late that is, and a crash before its commit repeats it. The
groups of an event start one by one, so that a large event does not keep moves waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from pbmserv.engine.ratings import is_provisional
from pbmserv.service.boards.proposals import Proposal, make_board, read_options
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game
from pbmserv.service.core.outcome import Notification
from pbmserv.service.events import duplicates, letters, pairing, results, team_events
from pbmserv.service.events.groups import Entrant, group_sizes, in_order, movement, sizes
from pbmserv.service.events.kinds import (
    CLOSING,
    FIRST_SEASON,
    ROUND,
    RULES,
    SEASON,
    SWISS_ROUNDS,
    TEAM,
    WAIT,
    Rules,
    final_starts,
    is_monthly,
    next_monday,
    next_month,
    terms_of,
    year_of,
)
from pbmserv.service.events.tables import WIN, Contestant, Line, standings
from pbmserv.service.events.teams import BOARDS
from pbmserv.store import events
from pbmserv.store.accounts import persons, players
from pbmserv.store.boards import closed_games
from pbmserv.store.events import Entry, Event, Pairing
from pbmserv.store.tables.events import EntryStatus, EventStatus

LOOK = timedelta(days=1)
"""Longest time between two steps of a running event: its players may have signed off."""

LATE = timedelta(days=1)
"""Delay of a start by which all later dates move, too."""


def handle_due_event(context: CommandContext, event_id: int) -> Sequence[Notification] | None:
    """Take the next step of an event; return the letters, `None` if another process has it."""
    event = events.claim(context.connection, event_id, context.now)
    if event is None:
        return None
    if event.game not in context.services.registry:
        events.change(context.connection, event.id, due_at=context.now + LOOK)
        return []
    notifications: list[Notification] = []
    if event.round and event.status in {EventStatus.OPEN, EventStatus.RUNNING}:
        notifications += results.settle_ended(context, event)
        notifications += _remove_gone_players(context, event)
    makes_boards = event.status != EventStatus.RUNNING
    if makes_boards and closed_games.is_closed(context.connection, event.game):
        events.change(context.connection, event.id, due_at=context.now + LOOK)
        return notifications
    return [*notifications, *_STEPS[event.status](context, event)]


# -- before the start ----------------------------------------------------------------------------


def new_event(context: CommandContext, kind: str, game: str) -> Event:
    """Create the server's next event of a kind and game, for the first player who enters it."""
    now = context.now
    if kind == "league":
        starts = next_monday(now + FIRST_SEASON)
        return create(context, kind, game, closes_at=starts - CLOSING, starts_at=starts)
    starts = next_month(now)
    return create(context, kind, game, closes_at=starts, starts_at=starts)


def create(context: CommandContext, kind: str, game: str, **values: object) -> Event:
    """Create an event with the usual options of its game; its first step is due when entries close.

    Args:
        values: further columns; `closes_at` and `starts_at` are among them.
    """
    columns = {"rules": RULES[kind].as_json(), **values}
    if "options" not in columns:
        columns["options"] = list(_usual_options(context, kind, game))
    event_id = events.create(
        context.connection,
        context.now,
        kind=kind,
        game=game,
        due_at=columns["closes_at"],
        **columns,
    )
    event = events.load(context.connection, event_id)
    assert event is not None
    if kind == "league":
        events.enter_regulars(context.connection, event_id, game, context.now)
    return event


def _usual_options(context: CommandContext, kind: str, game: str) -> tuple[str, ...]:
    if kind == "duplicate":
        return duplicates.options_of(known_game(context, game), (), game)
    options, _ = read_options(known_game(context, game), (), 2, game, game)
    return options


def _step_open(context: CommandContext, event: Event) -> Sequence[Notification]:
    """Begin full groups of a monthly cup; close the entries when it is time."""
    waiting = _waiting(context, event)
    if is_monthly(event):
        notifications: list[Notification] = []
        size = Rules.of(event).size
        while len(waiting) >= size:
            notifications += _begin_group_of_cup(context, event, waiting[:size])
            waiting = waiting[size:]
        if context.now < event.closes_at:
            _set_due(context, event, event.closes_at)
            return notifications
        return [*notifications, *_close_cup(context, event, waiting)]
    if context.now < event.closes_at:
        _set_due(context, event, event.closes_at)
        return []
    if event.kind == TEAM:
        return _close_teams(context, event)
    if len(waiting) < Rules.of(event).least:
        return _wait_or_cancel(context, event, waiting)
    if event.kind == "league":
        following = event.starts_at + SEASON
        create(context, "league", event.game, closes_at=following - CLOSING, starts_at=following)
    events.change(context.connection, event.id, status=EventStatus.CLOSED, due_at=event.starts_at)
    return []


def _close_teams(context: CommandContext, event: Event) -> Sequence[Notification]:
    """Fix the line-ups when entries close, and begin if there are enough teams."""
    entries, notifications = team_events.complete_lineups(context, event)
    if len(entries) < Rules.of(event).least * BOARDS:
        return [*notifications, *_wait_or_cancel(context, event, entries)]
    events.change(context.connection, event.id, status=EventStatus.CLOSED, due_at=event.starts_at)
    return notifications


def _waiting(context: CommandContext, event: Event) -> list[Entry]:
    """Return the players who are in no group yet, in the order of their entries.

    Of two names of one person, the first counts.
    """
    entries = [
        entry
        for entry in events.entries_of(context.connection, event.id)
        if entry.is_here and entry.section is None
    ]
    return persons.each_once(context.connection, entries)


def _wait_or_cancel(
    context: CommandContext, event: Event, waiting: Sequence[Entry]
) -> list[Notification]:
    """Put off an event that has too few players; a player's own event is cancelled."""
    if event.owner_id is not None or event.kind == "final":
        return cancel(context, event)
    closes, starts = event.closes_at + WAIT, event.starts_at + WAIT
    while closes <= context.now:  # the server was down
        closes, starts = closes + WAIT, starts + WAIT
    events.change(context.connection, event.id, due_at=closes, closes_at=closes, starts_at=starts)
    event = replace(event, closes_at=closes, starts_at=starts)
    least = Rules.of(event).least
    entered = len(waiting) // (BOARDS if event.kind == TEAM else 1)
    return letters.news(context, event, waiting, "waits", least=least, entered=entered)


def cancel(context: CommandContext, event: Event) -> list[Notification]:
    """End an event that has not started."""
    _end(context, event, EventStatus.CANCELLED)
    entries = events.entries_of(context.connection, event.id)
    entered = [entry for entry in entries if entry.status == EntryStatus.ENTERED]
    return letters.news(context, event, entered, "cancelled", least=Rules.of(event).least)


def _end(context: CommandContext, event: Event, status: EventStatus) -> None:
    """End an event, so that no step of it is due any more."""
    events.change(context.connection, event.id, status=status, due_at=None, finished_at=context.now)


def _step_closed(context: CommandContext, event: Event) -> Sequence[Notification]:
    """Draw the groups when the event starts."""
    if context.now < event.starts_at:
        _set_due(context, event, event.starts_at)
        return []
    waiting = _waiting(context, event)
    if len(waiting) < 2:
        return cancel(context, event)
    begins_at = event.starts_at
    if context.now - begins_at > LATE:  # the server was down: nobody loses days of play
        begins_at = context.now
        _move_next_season(context, event)
    rows = _drawn(context, event, waiting)
    events.draw(context.connection, event.id, rows)
    events.change(
        context.connection,
        event.id,
        status=EventStatus.STARTING,
        round=1,
        starts_at=begins_at,
        ends_at=begins_at + ROUND[event.kind],
        due_at=context.now,
    )
    return []


def _drawn(
    context: CommandContext, event: Event, waiting: Sequence[Entry]
) -> list[Mapping[str, object]]:
    """Return the groups of the first round as rows of `events.draw`."""
    if event.kind == TEAM:
        entries = events.entries_of(context.connection, event.id)
        return [*team_events.draw(context, event, entries)]
    ratings = events.ordinals(context.connection, event.game, event.id)
    last_places = {}
    if event.kind == "league":
        last_places = events.last_places(context.connection, "league", event.game, event.number)
    entrants = []
    for entry in waiting:
        rating, games = ratings[entry.player_id]
        place = None if is_provisional(games) else last_places.get(entry.player_id)
        entrants.append(Entrant(entry.player_id, rating, place))
    ordered = in_order(entrants, event.number)
    counts = sizes(len(ordered), Rules.of(event).size)
    rows: list[Mapping[str, object]] = []
    start = 0
    for section, size in enumerate(counts, 1):
        group = ordered[start : start + size]
        if event.kind == "cup":  # groups of equal strength
            group = ordered[section - 1 :: len(counts)]
        start += size
        rows += [
            _draw_row(entrant.player_id, section, seed, entrant.rating)
            for seed, entrant in enumerate(group)
        ]
    return rows


def _move_next_season(context: CommandContext, event: Event) -> None:
    """Start a league's next season no earlier than `SEASON` from now."""
    following = events.open_event(context.connection, event.kind, event.game, context.now)
    if event.kind != "league" or following is None:
        return
    starts = next_monday(context.now + SEASON)
    events.change(
        context.connection,
        following.id,
        starts_at=starts,
        closes_at=starts - CLOSING,
        due_at=starts - CLOSING,
    )


def _draw_row(player_id: int, section: int, seed: int, rating: float) -> Mapping[str, object]:
    return {
        "of_player": player_id,
        "new_section": section,
        "new_seed": seed,
        "new_rating": rating,
    }


# -- cups that begin group by group --------------------------------------------------------------


def _begin_group_of_cup(
    context: CommandContext, event: Event, group: Sequence[Entry]
) -> list[Notification]:
    """Begin the next group of a monthly cup."""
    ratings = events.ordinals(context.connection, event.game, event.id)
    section = max(events.sections_with_games(context.connection, event.id, 1), default=0) + 1
    rows = [
        _draw_row(entry.player_id, section, seed, ratings[entry.player_id][0])
        for seed, entry in enumerate(group)
    ]
    events.draw(context.connection, event.id, rows)
    ends_at = event.closes_at + ROUND["cup"]
    events.change(context.connection, event.id, round=1, ends_at=ends_at)
    begun = replace(event, round=1, ends_at=ends_at)
    return _begin_section(context, begun, section, [entry.player_id for entry in group])


def _close_cup(
    context: CommandContext, event: Event, waiting: Sequence[Entry]
) -> list[Notification]:
    """End the entries of a monthly cup: three or four make a group, fewer go to the next cup."""
    notifications: list[Notification] = []
    begun = events.sections_with_games(context.connection, event.id, 1)
    if len(waiting) >= Rules.of(event).least:
        notifications += _begin_group_of_cup(context, event, waiting)
    elif waiting and not begun:
        return _wait_or_cancel(context, event, waiting)
    elif waiting:
        following = events.open_event(context.connection, "cup", event.game, context.now)
        following = following or new_event(context, "cup", event.game)
        for entry in waiting:
            events.drop_entry(context.connection, event.id, entry.player_id)
        ids = [entry.player_id for entry in waiting]
        events.enter(context.connection, following.id, ids, context.now)
        notifications += letters.news(context, following, waiting, "next-cup", entered=len(waiting))
    elif not begun:
        return cancel(context, event)
    events.change(
        context.connection,
        event.id,
        status=EventStatus.RUNNING,
        due_at=context.now + LOOK,
    )
    return notifications


# -- while it runs -------------------------------------------------------------------------------


def _step_starting(context: CommandContext, event: Event) -> Sequence[Notification]:
    """Begin the next group whose boards of this round are missing; after the last one, play.

    The groups of a cup have new numbers in each round, those of a Swiss stay.
    """
    connection = context.connection
    rounds = event.round if event.kind == "swiss" else None
    begun = events.sections_with_games(connection, event.id, rounds)
    for section in range(1, events.count_groups(connection, event.id) + 1):
        if section in begun:
            continue
        group = [
            entry.player_id
            for entry in events.entries_of(connection, event.id, section)
            if entry.is_here
        ]
        if len(group) > 1:
            events.change(connection, event.id, due_at=context.now)
            return _begin_section(context, event, section, group)
    assert event.ends_at is not None
    due_at = min(event.ends_at, context.now + LOOK)
    events.change(connection, event.id, status=EventStatus.RUNNING, due_at=due_at)
    return []


def _begin_section(
    context: CommandContext, event: Event, section: int, group: Sequence[int]
) -> list[Notification]:
    """Make the boards of a group for the present round; return one letter for each player."""
    if event.kind == "duplicate":
        return duplicates.begin(context, event, section, group)
    game = known_game(context, event.game)
    options, rated = read_options(game, event.options, 2, event.game, event.game)
    people = {}
    for player_id in group:
        player = players.by_id(context.connection, player_id)
        assert player is not None
        people[player_id] = player
    earlier = events.pairings_of(context.connection, event.id, groups=(section, section))
    games: Sequence[tuple[int, int, int | None]]
    if event.kind == TEAM:
        games = team_events.pairs(context, event, section)
    else:
        pairs: Sequence[tuple[int, int | None]] = (
            pairing.dutch(group, earlier, event.round, SWISS_ROUNDS)
            if event.kind == "swiss"
            else pairing.berger(group)
        )
        games = [(number, *pair) for number, pair in enumerate(pairs, 1)]
    rows, boards, bye = [], [], None
    for number, first, second in games:
        if second is None:
            bye = first if event.kind != TEAM else None
            rows.append(Pairing(event.round, section, number, first, None, None, WIN, None, "bye"))
            continue
        proposal = Proposal(
            game,
            options,
            rated,
            terms_of(event),
            (people[first], people[second]),
            event_id=event.id,
        )
        board = make_board(context, proposal, {first, second})
        boards.append(board)
        rows.append(Pairing(event.round, section, number, first, second, board.id, None, None, ""))
    events.add_pairings(context.connection, event.id, rows)
    names = {player_id: player.userid for player_id, player in people.items()}
    of_teams = team_events.team_names(context, event, section)
    return letters.start_letters(context, event, section, names, boards, bye, of_teams)


def _remove_gone_players(context: CommandContext, event: Event) -> list[Notification]:
    """Take out the players who signed off, were barred by an operator, or were deleted."""
    notifications: list[Notification] = []
    for entry in events.entries_of(context.connection, event.id):
        is_gone = entry.status == EntryStatus.ENTERED and not entry.is_here
        if is_gone and entry.section is not None:
            notifications += results.leave(context, event, entry)
    return notifications


def _step_running(context: CommandContext, event: Event) -> Sequence[Notification]:
    """End the round when all its games are over, or on its last day."""
    assert event.ends_at is not None
    notifications: list[Notification] = []
    if context.now >= event.ends_at:
        notifications += results.decide_open_games(context, event)
    games = events.pairings_of(context.connection, event.id, event.round)
    if any(game.is_open for game in games):
        _set_due(context, event, min(event.ends_at, context.now + LOOK))
        return notifications
    return [*notifications, *_end_round(context, event)]


def _end_round(context: CommandContext, event: Event) -> list[Notification]:
    """Begin the next round, or end the event."""
    tables = tables_of(context, event)
    if event.kind == "swiss" and event.round < SWISS_ROUNDS:
        _begin_round(context, event)
        return []
    if event.kind == "cup":
        played = {
            game.section for game in events.pairings_of(context.connection, event.id, event.round)
        }
        winners = [tables[section][0] for section in sorted(played) if tables.get(section)]
        if len(winners) > 1:
            ordered = sorted(winners, key=lambda line: (-line.rating, line.player_id))
            first = max(tables) + 1
            counts = sizes(len(ordered), Rules.of(event).size)
            rows = [
                _draw_row(line.player_id, first + place % len(counts), place, line.rating)
                for place, line in enumerate(ordered)
            ]
            _store_places(context, event, tables)
            events.draw(context.connection, event.id, rows)
            _begin_round(context, event)
            return []
    return _finish(context, event, tables)


def _begin_round(context: CommandContext, event: Event) -> None:
    events.change(
        context.connection,
        event.id,
        status=EventStatus.STARTING,
        round=event.round + 1,
        ends_at=context.now + ROUND[event.kind],
        due_at=context.now,
    )


def tables_of(
    context: CommandContext, event: Event, groups: tuple[int, int] | None = None
) -> dict[int, list[Line]]:
    """Return the table of each group, or of some groups, by its number."""
    if event.kind == "duplicate":
        return duplicates.table(context, event)
    games: dict[int, list[Pairing]] = {}
    members: dict[int, dict[int, None]] = {}
    for game in events.pairings_of(context.connection, event.id, groups=groups):
        games.setdefault(game.section, []).append(game)
        pair = (game.first_id, game.second_id)
        members.setdefault(game.section, {}).update(
            (player_id, None) for player_id in pair if player_id is not None
        )
    entries = {entry.player_id: entry for entry in events.entries_of(context.connection, event.id)}
    tables = {}
    for section, ids in members.items():
        group = [entries[player_id] for player_id in ids if player_id in entries]
        tables[section] = _table(event, group, games[section])
    return tables


def table_of_group(context: CommandContext, event: Event, section: int) -> list[tuple[Line, Entry]]:
    """Return the table of a group that plays now, without a look at the others."""
    group = events.entries_of(context.connection, event.id, section)
    games = events.pairings_of(context.connection, event.id, groups=(section, section))
    entries = {entry.player_id: entry for entry in group}
    return [(line, entries[line.player_id]) for line in _table(event, group, games)]


def _table(event: Event, group: Sequence[Entry], games: Sequence[Pairing]) -> list[Line]:
    contestants = [
        Contestant(entry.player_id, entry.forfeits, entry.rating or 0.0)
        for entry in group
        if entry.status != EntryStatus.REMOVED
    ]
    return standings(contestants, games, swiss=event.kind == "swiss")


def _store_places(
    context: CommandContext, event: Event, tables: Mapping[int, Sequence[Line]]
) -> None:
    for lines in tables.values():
        for line in lines:
            events.change_entry(context.connection, event.id, line.player_id, place=line.place)


def _finish(
    context: CommandContext, event: Event, tables: Mapping[int, Sequence[Line]]
) -> list[Notification]:
    """Store the places, end the event, and tell each player the result."""
    _store_places(context, event, tables)
    _end(context, event, EventStatus.FINISHED)
    if event.kind == TEAM:
        return team_events.finish(context, event)
    entries = {entry.player_id: entry for entry in events.entries_of(context.connection, event.id)}
    counts = group_sizes(entries.values())
    ratings = events.ordinals(context.connection, event.game, event.id)
    final = _enter_final(context, event, tables) if is_monthly(event) else ""
    notifications: list[Notification] = []
    for section, lines in tables.items():
        rows = [row_of(line, entries[line.player_id].userid) for line in lines]
        has_winner = sum(line.place == 1 for line in lines) == 1
        for line in lines:
            entry = entries[line.player_id]
            if entry.section != section:
                continue  # the player reached a later round
            is_moved = event.kind == "league" and not is_provisional(ratings[line.player_id][1])
            moves = movement(section, line.place, counts[section])
            notifications += letters.news(
                context,
                event,
                [entry],
                "ended",
                rows=rows,
                section=section,
                place=line.place,
                moves=moves if is_moved else 0,
                champion=line.place == 1 and has_winner and section == _last_section(event, tables),
                final=final,
            )
    return notifications


def _enter_final(context: CommandContext, cup: Event, tables: Mapping[int, Sequence[Line]]) -> str:
    """Enter the winner of a monthly cup for the final of the year; return the day of its start.

    Return ``""`` if the final has begun, or the cup has no winner.
    """
    winners = tables[_last_section(cup, tables)][:1]
    year = year_of(cup)
    starts_at = final_starts(year)
    final = events.of_number(context.connection, "final", cup.game, year)
    if not winners or (final is not None and final.status != EventStatus.OPEN):
        return ""
    if final is None:
        final = create(
            context, "final", cup.game, number=year, closes_at=starts_at, starts_at=starts_at
        )
    events.enter(context.connection, final.id, [winners[0].player_id], context.now)
    return f"{starts_at:%Y-%m-%d}"


def _last_section(event: Event, tables: Mapping[int, Sequence[Line]]) -> int:
    """Return the group whose winner wins: the top group of a league, the last one of a cup."""
    return max(tables) if event.kind == "cup" else min(tables)


def row_of(line: Line, userid: str) -> Mapping[str, object]:
    return {
        "place": line.place,
        "userid": userid,
        "points": line.points,
        "won": line.won,
        "drawn": line.drawn,
        "lost": line.lost,
    }


def _step_nothing(context: CommandContext, event: Event) -> Sequence[Notification]:
    events.change(context.connection, event.id, due_at=None)
    return []


def _set_due(context: CommandContext, event: Event, moment: datetime) -> None:
    events.change(context.connection, event.id, due_at=moment)


_STEPS: Mapping[EventStatus, Callable[[CommandContext, Event], Sequence[Notification]]] = {
    EventStatus.OPEN: _step_open,
    EventStatus.CLOSED: _step_closed,
    EventStatus.STARTING: _step_starting,
    EventStatus.RUNNING: _step_running,
    EventStatus.FINISHED: _step_nothing,
    EventStatus.CANCELLED: _step_nothing,
}
