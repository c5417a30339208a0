"""Games of events between two players: boards, results, players who leave, and places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pbmserv.engine.record import FORFEIT
from pbmserv.engine.types import LAPSED, Outcome, Seat
from pbmserv.service.boards import plies
from pbmserv.service.boards.lateness import late_seats
from pbmserv.service.boards.new_boards import Proposal, make_board
from pbmserv.service.boards.option_words import read_options
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game
from pbmserv.service.core.outcome import Notification
from pbmserv.service.core.said import UNSAID
from pbmserv.service.events import letters, new_events, team_events
from pbmserv.service.events.bars import bar_late_player
from pbmserv.service.events.kinds.registry import kind_of
from pbmserv.service.events.tables import DRAW, LOSS, WIN, Contestant, Line
from pbmserv.store.accounts import players
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.events import event_entries, event_games
from pbmserv.store.events.event_entries import Entry
from pbmserv.store.events.event_games import Pairing
from pbmserv.store.events.events import Event
from pbmserv.store.ratings import of_player
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.store.tables.boards import RUNNING, BoardStatus
from pbmserv.store.tables.events import EntryStatus

NOT_COUNTED = (None, None)


# -- boards and tables ---------------------------------------------------------------------------


def begin_next(context: CommandContext, event: Event) -> list[Notification] | None:
    """Make the boards of the next group for the present round; `None` if all groups have theirs.

    Groups that are new in each round have new numbers, too.
    """
    connection = context.connection
    round_number = event.round if kind_of(event).keeps_groups else None
    begun = event_games.groups(connection, event.id, round_number)
    for group_number in range(1, event_entries.count_groups(connection, event.id) + 1):
        if group_number in begun:
            continue
        group = [
            entry.player_id
            for entry in event_entries.of_event(connection, event.id, group_number)
            if entry.is_here
        ]
        if len(group) > 1:
            return begin(context, event, group_number, group)
    return None


def begin(
    context: CommandContext, event: Event, group_number: int, group: Sequence[int]
) -> list[Notification]:
    """Make the boards of a group for the present round; return one letter for each player."""
    kind = kind_of(event)
    game = known_game(context, event.game)
    options, rated = read_options(game, event.options, 2, event.game, event.game)
    people = {}
    for player_id in group:
        player = players.by_id(context.connection, player_id)
        assert player is not None
        people[player_id] = player
    rows, started = [], []
    pairs = _pairs(context, event, group_number, group)
    for number, first, second in pairs:
        if second is None:
            rows.append(
                Pairing(event.round, group_number, number, first, None, None, WIN, None, "bye")
            )
            continue
        seated = (people[first], people[second])
        proposal = Proposal(game, options, rated, kind.terms, seated, event_id=event.id)
        board = make_board(context, proposal, {first, second})
        started.append(board)
        rows.append(
            Pairing(event.round, group_number, number, first, second, board.id, None, None, "")
        )
    event_games.add(context.connection, event.id, rows)
    names = {player_id: player.userid for player_id, player in people.items()}
    of_teams = team_events.team_names(context, event, group_number)
    return letters.start_letters(context, event, group_number, names, started, of_teams)


def _pairs(
    context: CommandContext, event: Event, group_number: int, group: Sequence[int]
) -> Sequence[tuple[int, int, int | None]]:
    """Return the games of a group in the present round: the number and the two players, the second
    one `None` for a bye."""
    kind = kind_of(event)
    if kind.team_size > 1:
        return team_events.pairs(context, event, group_number)
    earlier = event_games.of_event(
        context.connection, event.id, groups=(group_number, group_number)
    )
    return [
        (number, *pair) for number, pair in enumerate(kind.pairs(group, earlier, event.round), 1)
    ]


def is_open(context: CommandContext, event: Event) -> bool:
    """Return whether games of the present round have no result."""
    return bool(event_games.open_games(context.connection, event.id, event.round))


def tables(
    context: CommandContext, event: Event, groups: tuple[int, int] | None = None
) -> dict[int, list[Line]]:
    """Return the table of each group, or of some groups, by its number."""
    games: dict[int, list[Pairing]] = {}
    members: dict[int, dict[int, None]] = {}
    for game in event_games.of_event(context.connection, event.id, groups=groups):
        games.setdefault(game.group_number, []).append(game)
        pair = (game.first_id, game.second_id)
        members.setdefault(game.group_number, {}).update(
            (player_id, None) for player_id in pair if player_id is not None
        )
    ids = (
        None if groups is None else {player_id for group in members.values() for player_id in group}
    )
    rows = event_entries.of_event(context.connection, event.id, player_ids=ids)
    entries = {entry.player_id: entry for entry in rows}
    lines = {}
    for group_number, players_of_group in members.items():
        group = [entries[player_id] for player_id in players_of_group if player_id in entries]
        lines[group_number] = _table(event, group, games[group_number])
    return lines


def _table(event: Event, group: Sequence[Entry], games: Sequence[Pairing]) -> list[Line]:
    contestants = [
        Contestant(entry.player_id, entry.forfeits, entry.rating or 0.0)
        for entry in group
        if entry.status != EntryStatus.REMOVED
    ]
    return kind_of(event).table(contestants, games)


# -- results, and players who leave --------------------------------------------------------------


def settle_next(
    context: CommandContext, event: Event, group_number: int | None = None
) -> list[Notification] | None:
    """Store the results of the games of a group that have ended; return the letters about players
    who are out, `None` if no game has ended.

    A player is in one group, so one letter tells of all losses on time that are noticed at once.
    """
    games = event_games.ended_games(context.connection, event.id, group_number)
    if not games:
        return None
    notifications: list[Notification] = []
    late_games = _settle_punctual(context, event, games)
    # Players who were late at one board are judged alike: the removal of one takes games away from
    # the other.
    early = {
        player: FORFEIT if game.outcome.reason == LAPSED else game.outcome.reason
        for game in late_games
        for player in game.late
        if _is_early(context, event, player)
    }
    for player, reason in early.items():
        notifications += _remove(context, event, player, reason)
    for game in late_games:
        if not _is_settled(context, game.pairing):  # it is, if a player of this game is out
            _settle(context, event, game)
    losses_on_time = Counter(
        player
        for game in late_games
        if game.outcome.reason in {FORFEIT, LAPSED}
        for player in game.late
    )
    for player, losses in losses_on_time.items():
        notifications += bar_late_player(context, event, player, losses)
    return notifications


@dataclass(frozen=True, slots=True)
class _EndedGame:
    """A game that has ended.

    Attributes:
        late_seats: seats that lost on time, or that a player without an account resigned.
        late: the ids of their players, except those in whose place somebody else played.
    """

    pairing: Pairing
    outcome: Outcome
    late_seats: Sequence[Seat]
    late: Sequence[int]


def _settle_punctual(
    context: CommandContext, event: Event, games: Sequence[Pairing]
) -> list[_EndedGame]:
    """Store the results of games in which no player of the event was late; return the others."""
    late_games = []
    for pairing in games:
        board = boards.load(context.connection, pairing.board_id or 0)
        assert board is not None
        if board.status == BoardStatus.DECLINED or board.outcome is None:
            event_games.settle(context.connection, event.id, pairing, NOT_COUNTED, "removed")
            continue
        outcome = Outcome(
            tuple(board.outcome["places"]), board.outcome["reason"], board.outcome["seat"]
        )
        late_seats = _late_seats(context, board, outcome)
        late = [
            _players_of(pairing)[seat]
            for seat in late_seats
            if board.sitters[seat].player_id == _players_of(pairing)[seat]
        ]
        game = _EndedGame(pairing, outcome, late_seats, late)
        if game.late:
            late_games.append(game)
        else:
            _settle(context, event, game)
    return late_games


def _settle(context: CommandContext, event: Event, game: _EndedGame) -> None:
    points = _points(game.outcome, game.late_seats)
    reason = game.outcome.reason[:12]
    event_games.settle(context.connection, event.id, game.pairing, points, reason)


def leave(context: CommandContext, event: Event, entry: Entry) -> list[Notification]:
    """Take out of a running event a player who wants to leave or has no account any more.

    Before half of the player's games are over, none of them counts. After that, only the open ones
    are lost.
    """
    if _is_early(context, event, entry.player_id):
        return _remove(context, event, entry.player_id, "left")
    event_entries.change(context.connection, event.id, entry.player_id, status=EntryStatus.LEFT)
    notifications: list[Notification] = []
    for game in _games_of(context, event, entry.player_id):
        board = _lock_running_board(context, game) if game.is_open else None
        if board is None:
            continue
        sitter = board.sitters[_seat_of(game, entry.player_id)]
        after = context.position(board).withdraw(sitter.seat)
        answer = plies.log_ply(context, board, sitter, after, UNSAID)
        notifications += answer.notifications
    return notifications


def decide_next(context: CommandContext, event: Event) -> list[Notification] | None:
    """End the games of the next group that still run: players who are waited for lose.

    If both are waited for, nobody gets a point.
    """
    games = event_games.open_games(context.connection, event.id, event.round)
    if not games:
        return None
    notifications: list[Notification] = []
    for game in games:
        board = _lock_running_board(context, game)
        if board is None:
            continue
        late = [Seat(n) for n, clock in enumerate(board.clocks) if clock.since is not None]
        notifications += decide(context, event, game, board, late)
    return notifications


def decide(
    context: CommandContext, event: Event, game: Pairing, board: BoardRow, losers: Sequence[Seat]
) -> list[Notification]:
    """End a running game of an event, and store its result there.

    A board without losers is a draw of the event. The board's own result rates the players only if
    one of them loses.
    """
    event_games.settle(context.connection, event.id, game, _points_without(losers), "decided")
    if not losers:
        boards.set_status(context.connection, board.id, BoardStatus.DECLINED)
        ids = [sitter.player_id for sitter in board.sitters]
        entries = event_entries.of_event(context.connection, event.id, player_ids=ids)
        return letters.news(context, event, entries, "annulled", ends_board=True, board=board.id)
    sitter = board.sitters[losers[0]]
    position = context.position(board)
    after = position.lapse(sitter.seat) if len(losers) > 1 else position.forfeit(sitter.seat)
    answer = plies.log_ply(context, board, sitter, after, UNSAID)
    return list(answer.letters(sitter))


def _points_without(losers: Sequence[Seat]) -> tuple[int, int]:
    if not losers:
        return DRAW, DRAW
    first, second = (LOSS if seat in losers else WIN for seat in (0, 1))
    return first, second


def _points(outcome: Outcome, late: Sequence[Seat]) -> tuple[int, int]:
    """Return the points for an outcome; if both players lost on time, neither gets a point."""
    if outcome.reason in {FORFEIT, LAPSED} and len(late) == 2:
        return LOSS, LOSS
    first, second = outcome.places
    if first == second:
        return DRAW, DRAW
    return (WIN, LOSS) if first < second else (LOSS, WIN)


def _late_seats(context: CommandContext, board: BoardRow, outcome: Outcome) -> list[Seat]:
    """Return the seats that lost on time, or that a player without an account resigned."""
    if outcome.reason == LAPSED:
        return [Seat(0), Seat(1)]
    if outcome.seat is None:
        return []
    if outcome.reason == FORFEIT:
        return late_seats(context, board, Seat(outcome.seat))
    is_gone = board.sitters[outcome.seat].state != PlayerState.ACTIVE
    return [Seat(outcome.seat)] if outcome.reason == "resigned" and is_gone else []


def _players_of(game: Pairing) -> tuple[int, int]:
    """Return the players of a game, by seat.

    An operator may have given a seat of the board to another player, who plays in their place.
    """
    assert game.second_id is not None
    return game.first_id, game.second_id


def _seat_of(game: Pairing, player_id: int) -> Seat:
    return Seat(int(game.first_id != player_id))


def _games_of(context: CommandContext, event: Event, player_id: int) -> list[Pairing]:
    """Return a player's games in the present group."""
    games = event_games.of_player(context.connection, event.id, player_id)
    return [game for game in games if kind_of(event).keeps_groups or game.round == event.round]


def _lock_running_board(context: CommandContext, game: Pairing) -> BoardRow | None:
    """Return the board of a game, locked; `None` for a bye or if the board is over."""
    board = boards.lock(context.connection, game.board_id) if game.board_id else None
    return board if board is not None and board.status in RUNNING else None


def _is_settled(context: CommandContext, game: Pairing) -> bool:
    newest = event_games.of_board(context.connection, game.board_id or 0)
    assert newest is not None
    return not newest.is_open


def _is_early(context: CommandContext, event: Event, player_id: int) -> bool:
    """Return whether a player who is out loses all games in the table: fewer than half are over."""
    if not kind_of(event).strikes_early_leavers:
        return False
    games = [game for game in _games_of(context, event, player_id) if game.reason != "removed"]
    return not games or 2 * sum(game.counts for game in games) < len(games)


def _remove(context: CommandContext, event: Event, player_id: int, why: str) -> list[Notification]:
    """Take a player out: no game of the player counts in the table, and open ones end."""
    entry = event_entries.of_player(context.connection, event.id, player_id)
    if entry is None or entry.status != EntryStatus.ENTERED:
        return []
    event_entries.change(context.connection, event.id, player_id, status=EntryStatus.REMOVED)
    notifications = []
    for game in _games_of(context, event, player_id):
        event_games.settle(context.connection, event.id, game, NOT_COUNTED, "removed")
        board = _lock_running_board(context, game)
        if board is None:
            continue
        boards.set_status(context.connection, board.id, BoardStatus.DECLINED)
        opponent = _players_of(game)[1 - _seat_of(game, player_id)]
        other = event_entries.of_player(context.connection, event.id, opponent)
        if other is not None:
            notifications += letters.news(
                context,
                event,
                [other],
                "opponent-out",
                ends_board=True,
                player=entry.userid,
                board=board.id,
                why=why,
            )
    return [*notifications, *letters.news(context, event, [entry], "out", ends_board=True, why=why)]


# -- the end -------------------------------------------------------------------------------------


def tell_next(
    context: CommandContext, event: Event, groups: Collection[int]
) -> list[Notification] | None:
    """Store the places of a group and tell its players the result; `None` if all have got it.

    The winner's group is the first one, so that players who leave meanwhile change no winner.
    """
    connection = context.connection
    groups = groups or event_games.groups(connection, event.id)
    if not groups:
        return None
    winning = kind_of(event).winning_group(groups)
    is_first = not event_entries.has_places(connection, event.id)
    waiting = event_entries.groups_without_places(connection, event.id)
    for group_number in sorted(waiting, key=lambda number: (number != winning, number)):
        if kind_of(event).team_size > 1:
            notifications = team_events.tell_group(context, event, group_number)
        else:
            has_winner = is_first and group_number == winning
            notifications = _tell_group(context, event, group_number, has_winner=has_winner)
        if notifications is not None:
            return notifications
    return None


def _tell_group(
    context: CommandContext, event: Event, group_number: int, *, has_winner: bool
) -> list[Notification] | None:
    """Store the places of a group and tell its players the result; `None` if none waits for it.

    Players who reached a later round are told the place in the group of that one.

    Args:
        has_winner: the first player of the group has won the event. The best player who has not
            left enters the final of the year, if the event is one of its cups.
    """
    connection, kind = context.connection, kind_of(event)
    lines = tables(context, event, (group_number, group_number)).get(group_number, [])
    ids = [line.player_id for line in lines]
    rows_of_entries = event_entries.of_event(connection, event.id, player_ids=ids)
    entries = {entry.player_id: entry for entry in rows_of_entries}
    waiting = [
        line
        for line in lines
        if (entry := entries[line.player_id]).group_number == group_number and entry.place is None
    ]
    if not waiting:
        return None
    best_here = next((line.player_id for line in lines if entries[line.player_id].is_here), None)
    final, year = "", kind.year_of_final(event)
    if has_winner and year is not None and best_here is not None:
        final = new_events.enter_final(context, event.game, year, best_here)
    size = len(event_entries.of_event(connection, event.id, group_number))
    rows = letters.table_rows(lines, entries)
    notifications: list[Notification] = []
    for line in waiting:
        event_entries.change(connection, event.id, line.player_id, place=line.place)
        rated = of_player(connection, event.game, line.player_id)
        rated_games = 0 if rated is None else rated.standing.games
        notifications += letters.news(
            context,
            event,
            [entries[line.player_id]],
            "ended",
            rows=rows,
            group=group_number,
            place=line.place,
            round=event.round,
            early=event.round < kind.rounds,
            moves=kind.movement(group_number, line.place, size, rated_games),
            champion=line.place == 1 and has_winner,
            final=final if line.player_id == best_here else "",
        )
    return notifications
