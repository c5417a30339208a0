"""The boxes of an event in which all players get the same ones, and the table that compares them.

Each box is one board, a race of the whole field, so nothing of it reaches anybody before all have
finished it. Nobody waits for anybody: who is gone gives up, and the others play on.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pbmserv.engine.types import Seat
from pbmserv.service.boards import plies
from pbmserv.service.boards.proposals import Proposal, make_board, read_options
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game
from pbmserv.service.core.outcome import Notification
from pbmserv.service.core.said import UNSAID
from pbmserv.service.events import letters
from pbmserv.service.events.kinds.kind import Rules
from pbmserv.service.events.kinds.registry import kind_of
from pbmserv.service.events.tables import Contestant, Line, compare
from pbmserv.store import events
from pbmserv.store.accounts import players
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.events import Entry, Event, Pairing
from pbmserv.store.tables.boards import RUNNING
from pbmserv.store.tables.events import EntryStatus

GROUP = 1
"""The whole field is one group."""


def begin(
    context: CommandContext, event: Event, section: int, group: Sequence[int]
) -> list[Notification]:
    """Make a board for each box, and return one letter for each player."""
    people = [players.by_id(context.connection, player_id) for player_id in group]
    sitting = tuple(player for player in people if player is not None)
    game = known_game(context, event.game)
    options, rated = read_options(game, event.options, len(sitting), event.game, event.game)
    for entry in events.entries_of(context.connection, event.id, section):
        events.change_entry(context.connection, event.id, entry.player_id, seed=None)
    for seat, player in enumerate(sitting):
        events.change_entry(context.connection, event.id, player.id, seed=seat)
    proposal = Proposal(game, options, rated, kind_of(event).terms, sitting, event_id=event.id)
    ids = {player.id for player in sitting}
    race_boards = [make_board(context, proposal, ids) for _ in range(Rules.of(event).boxes)]
    rows = [
        Pairing(event.round, section, number, sitting[0].id, None, board.id, None, None, "")
        for number, board in enumerate(race_boards, 1)
    ]
    events.add_pairings(context.connection, event.id, rows)
    names = {player.id: player.userid for player in sitting}
    return letters.start_letters(context, event, section, names, race_boards)


def settle_ended(context: CommandContext, event: Event) -> list[Notification]:
    """Note which boxes are over; that needs no letter."""
    for box in events.ended_games(context.connection, event.id):
        board = boards.load(context.connection, box.board_id or 0)
        assert board is not None
        reason = board.outcome["reason"] if board.outcome is not None else "removed"
        events.settle(context.connection, event.id, box, (None, None), reason[:12])
    return []


def leave(context: CommandContext, event: Event, entry: Entry) -> list[Notification]:
    """Give up the boxes that a player has not finished; the others count."""
    events.change_entry(context.connection, event.id, entry.player_id, status=EntryStatus.LEFT)
    notifications: list[Notification] = []
    for board in boxes_of(context, event):
        sitter = board.sitter_of(entry.player_id)
        if sitter is not None:
            notifications += _give_up(context, board.id, [sitter.seat])
    return notifications


def decide_open(context: CommandContext, event: Event) -> list[Notification]:
    """End the boxes that somebody still plays. Each player gets one letter about each."""
    notifications: list[Notification] = []
    for board in boxes_of(context, event):
        notifications += _give_up(context, board.id, [sitter.seat for sitter in board.sitters])
    settle_ended(context, event)
    return notifications


def _give_up(context: CommandContext, board_id: int, seats: Collection[Seat]) -> list[Notification]:
    """Let seats give up that still play; return the letters about the last one."""
    notifications: list[Notification] = []
    for seat in seats:
        board = boards.lock(context.connection, board_id)
        if board is None or board.status not in RUNNING or not _plays(board, seat):
            continue
        sitter = board.sitters[seat]
        after = context.position(board).withdraw(seat)
        answer = plies.log_ply(context, board, sitter, after, UNSAID)
        own = [Notification.sitter(sitter, part) for part in answer.parts]
        notifications = [*own, *answer.notifications]
    return notifications


def boxes_of(context: CommandContext, event: Event) -> list[BoardRow]:
    """Return the boards of an event, in the order of its boxes."""
    rows = events.pairings_of(context.connection, event.id)
    loaded = [boards.load(context.connection, row.board_id) for row in rows if row.board_id]
    return [board for board in loaded if board is not None]


def tables(
    context: CommandContext, event: Event, _groups: tuple[int, int] | None = None
) -> dict[int, list[Line]]:
    """Return the table by the boxes that all have finished; empty before the start."""
    boxes = boxes_of(context, event)
    if not boxes:
        return {}
    seated = _seated(context, event)
    lines = compare(
        [Contestant(entry.player_id, 0, entry.rating or 0.0) for entry in seated],
        [
            {entry.player_id: board.outcome["places"][entry.seed or 0] for entry in seated}
            for board in boxes
            if board.outcome is not None
        ],
        {
            entry.player_id: sum(_plays(board, Seat(entry.seed or 0)) for board in boxes)
            for entry in seated
        },
    )
    return {GROUP: lines}


def marks_of(boxes: Sequence[BoardRow], seat: int) -> list[str]:
    """Return a word for each box about a player: ``plays``, ``finished``, or the place once all
    have finished; ``-`` for a board that operators took away."""
    words = []
    for board in boxes:
        if board.outcome is not None:
            words.append(str(board.outcome["places"][seat]))
        elif board.status in RUNNING:
            words.append("plays" if _plays(board, Seat(seat)) else "finished")
        else:
            words.append("-")
    return words


def _seated(context: CommandContext, event: Event) -> list[Entry]:
    """Return the players who have a seat, which is their seed."""
    entries = events.entries_of(context.connection, event.id, GROUP)
    return [entry for entry in entries if entry.seed is not None]


def _plays(board: BoardRow, seat: Seat) -> bool:
    """Return whether a seat has not finished its box."""
    return board.status in RUNNING and board.clocks[seat].since is not None
