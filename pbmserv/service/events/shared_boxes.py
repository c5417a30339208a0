"""The boxes of an event in which all players get the same ones, and the table that compares them.

A box may also be a game with dice or deals, which are the same for all; then each player plays
against the house. Each player has a board of their own for each box, and nothing of a box reaches
anybody before all have finished it (`views.spoilers`). Nobody waits for anybody: boxes of players
who are gone are given up, and the others play on. Boards are made, boxes given up and results sent
in portions, so that a large event does not keep moves waiting.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence

from pbmserv.engine.protocol import races
from pbmserv.engine.record import DUPLICATE
from pbmserv.engine.rng import Rng
from pbmserv.service.boards import plies
from pbmserv.service.boards.option_words import read_options
from pbmserv.service.boards.shared_boards import deal
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game
from pbmserv.service.core.outcome import Notification
from pbmserv.service.core.said import UNSAID
from pbmserv.service.events import letters
from pbmserv.service.events.kinds.kind import Rules
from pbmserv.service.events.kinds.registry import kind_of
from pbmserv.service.events.tables import Contestant, Line, around, compare
from pbmserv.store.accounts import players
from pbmserv.store.boards import boards
from pbmserv.store.events import event_entries
from pbmserv.store.events.event_entries import Entry
from pbmserv.store.events.events import Event
from pbmserv.store.shared_boxes import event_boxes, shared_boxes
from pbmserv.store.shared_boxes.shared_boxes import GIVEN_UP, PLAYED, SOLVED, SharedBoard
from pbmserv.store.tables.boards import RUNNING
from pbmserv.store.tables.events import EntryStatus

GROUP = 1
"""The whole field is one group."""

BOARDS = 30
"""Boards that one step makes, or gives up."""

READERS = 100
"""Players to whom one step sends the result."""

LINES = 100
"""Lines of the table on one page or in one letter."""

NAMED = 12
"""Players whom the letter about the start names; of a larger field it tells the number."""


def begin_next(context: CommandContext, event: Event) -> list[Notification] | None:
    """Make the boards of the next players; return one letter for each, `None` if all have them."""
    connection = context.connection
    boxes = event_boxes.of_event(connection, event.id)
    if not boxes:
        _draw_boxes(context, event)
        return []
    rules, portion = Rules.of(event), max(1, BOARDS // len(boxes))
    waiting = event_boxes.without_board(connection, event.id, portion)
    if not waiting:
        return None
    names = event_boxes.userids(connection, boxes[0].id, NAMED + 1)
    field = names if len(names) <= NAMED else []
    count = event_boxes.count_players(connection, boxes[0].id)
    notifications = []
    for player_id in waiting:
        player = players.by_id(connection, player_id)
        if player is None or not player.active:
            for box in boxes:
                shared_boxes.settle(connection, box.id, player_id, GIVEN_UP, 0)
            continue
        dealt = []
        for box in boxes:
            board = deal(context, box, player, kind_of(event).terms_of(event), rules.house)
            shared_boxes.set_board(connection, box.id, player_id, board.id)
            dealt.append(board)
        notifications.append(letters.box_letter(context, event, player, dealt, field, count))
    return notifications


def _draw_boxes(context: CommandContext, event: Event) -> None:
    """Draw the boxes, and note who gets them."""
    entries = event_entries.of_event(context.connection, event.id, GROUP)
    ids = [entry.player_id for entry in entries if entry.is_here]
    for number in range(1, Rules.of(event).boxes + 1):
        options, seed = _drawn_box(context, event, number)
        box = shared_boxes.add(
            context.connection, event.game, options, event_id=event.id, number=number, seed=seed
        )
        shared_boxes.give(context.connection, box.id, ids)


def _drawn_box(
    context: CommandContext, event: Event, number: int
) -> tuple[tuple[str, ...], bytes | None]:
    """Draw a box; return its options, and the seed of its boards if that decides dice or deals."""
    game, seed = known_game(context, event.game), secrets.token_bytes(32)
    if Rules.of(event).house:
        return (*event.options, DUPLICATE), seed
    assert races(game)
    words, _ = read_options(game, event.options, 1, event.game, event.game)
    return game.describe(game.fixed(game.options(words, 1), Rng(seed, number))), None


def settle_next(_context: CommandContext, _event: Event, _group_number: int | None = None) -> None:
    """Do nothing: the end of a board stores its result (`boards.score_keeping`)."""


def leave(context: CommandContext, event: Event, entry: Entry) -> list[Notification]:
    """Give up the boxes that a player has not finished; the others count."""
    event_entries.change(context.connection, event.id, entry.player_id, status=EntryStatus.LEFT)
    notifications: list[Notification] = []
    for row in event_boxes.results(context.connection, event.id, entry.player_id):
        if row.is_open:
            notifications += _give_up(context, row)
    return notifications


def decide_next(context: CommandContext, event: Event) -> list[Notification] | None:
    """Give up the next boxes that somebody still plays; the letter with the results shows them."""
    rows = event_boxes.unfinished(context.connection, event.id, BOARDS)
    if not rows:
        return None
    notifications: list[Notification] = []
    for row in rows:
        notifications += _give_up(context, row)
    return notifications


def _give_up(context: CommandContext, row: SharedBoard) -> list[Notification]:
    """Let a player give up a box; return the letters, none of which tells that player."""
    board = None if row.board_id is None else boards.lock(context.connection, row.board_id)
    if board is None or board.status not in RUNNING:
        shared_boxes.settle(context.connection, row.box_id, row.player_id, GIVEN_UP, 0)
        return []
    # An operator may have given the seat to another player.
    sitter = board.sitter_of(row.player_id) or board.sitters[0]
    after = context.position(board).withdraw(sitter.seat)
    answer = plies.log_ply(context, board, sitter, after, UNSAID)
    return [letter for letter in answer.letters(sitter) if letter.player_id != row.player_id]


def is_open(context: CommandContext, event: Event) -> bool:
    """Return whether somebody still plays a box."""
    return bool(event_boxes.unfinished(context.connection, event.id, 1))


def tables(
    context: CommandContext, event: Event, _groups: tuple[int, int] | None = None
) -> dict[int, list[Line]]:
    """Return the table by the boxes that all have finished; empty before the start."""
    lines = table(context, event, results(context, event))
    return {GROUP: lines} if lines else {}


def results(context: CommandContext, event: Event) -> list[SharedBoard]:
    """Return the players of the boxes with their results, by box."""
    return event_boxes.results(context.connection, event.id)


def parts(lines: Sequence[Line], first: int) -> dict[int, Sequence[Line]]:
    """Return a part of a long table, by its number; none if there is no such part."""
    part = lines[(first - 1) * LINES : first * LINES]
    return {first: part} if part else {}


def count_parts(players: int) -> int:
    return -(-players // LINES)


def table(context: CommandContext, event: Event, results: Sequence[SharedBoard]) -> list[Line]:
    """Return the table of an event by the results of its players."""
    entries = {
        entry.player_id: entry for entry in event_entries.of_event(context.connection, event.id)
    }
    running: dict[int, int] = {}
    for row in results:
        running[row.player_id] = running.get(row.player_id, 0) + row.is_open
    contestants = [
        Contestant(entry.player_id, 0, entry.rating or 0.0)
        for entry in entries.values()
        if entry.player_id in running
    ]
    return compare(contestants, list(places(results).values()), running)


def places(results: Sequence[SharedBoard]) -> dict[int, dict[int, int]]:
    """Return the place of each player at the boxes that all have finished, by box.

    Players who solved it come first, then those whose last guess was wrong, then those who gave up;
    fewer points are better among them. If nobody solved it, all are equal. Players who have played
    a game to its end come before those who gave up.
    """
    by_box: dict[int, dict[int, tuple[int, int] | None]] = {}
    for row in results:
        result = None if row.rank is None else (row.rank, row.score or 0)
        by_box.setdefault(row.box_id, {})[row.player_id] = result
    places_by_box: dict[int, dict[int, int]] = {}
    for box_id, by_player in by_box.items():
        finished = {player: result for player, result in by_player.items() if result is not None}
        if len(finished) < len(by_player):
            continue
        if all(rank not in {PLAYED, SOLVED} for rank, _ in finished.values()):
            places_by_box[box_id] = dict.fromkeys(finished, 1)
            continue
        first: dict[tuple[int, int], int] = {}
        for place, result in enumerate(sorted(finished.values()), 1):
            first.setdefault(result, place)
        places_by_box[box_id] = {player: first[result] for player, result in finished.items()}
    return places_by_box


def marks(results: Sequence[SharedBoard]) -> dict[int, list[str]]:
    """Return a word for each box of each player: ``plays``, ``finished``, or the place once all
    have finished, for a game with the points by which the player won it."""
    places_by_box = places(results)
    words: dict[int, list[str]] = {}
    for row in results:
        place = places_by_box.get(row.box_id, {}).get(row.player_id)
        word = "plays" if row.is_open else "finished" if place is None else str(place)
        if place is not None and row.rank == PLAYED:
            word += f" ({-(row.score or 0):+d})"
        words.setdefault(row.player_id, []).append(word)
    return words


def tell_next(
    context: CommandContext, event: Event, _groups: Collection[int] = ()
) -> list[Notification] | None:
    """Store the places of the next players and send them the table; `None` if all have it."""
    rows_of_boards = results(context, event)
    lines = table(context, event, rows_of_boards)
    entries = {
        entry.player_id: entry for entry in event_entries.of_event(context.connection, event.id)
    }
    waiting = [line for line in lines if entries[line.player_id].place is None]
    if not waiting:
        return None
    portion = waiting[:READERS]
    first_boards = {row.player_id: row.board_id for row in reversed(rows_of_boards)}
    has_winner = sum(line.place == 1 for line in lines) == 1
    readers = [line.player_id for line in portion]
    assert event.ends_at is not None
    given_up = event_boxes.given_up_since(context.connection, event.id, readers, event.ends_at)
    notifications: list[Notification] = []
    for line in portion:
        entry = entries[line.player_id]
        event_entries.change(context.connection, event.id, entry.player_id, place=line.place)
        notifications += letters.news(
            context,
            event,
            [entry],
            "ended",
            boards=given_up.get(line.player_id, ()),
            rows=letters.table_rows(around(lines, line.player_id), entries),
            group=GROUP,
            place=line.place,
            round=event.round,
            early=False,
            moves=0,
            champion=line.place == 1 and has_winner,
            final="",
            board=first_boards.get(line.player_id),
        )
    return notifications
