"""Boards from the store, as their readers may see them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from pbmserv.engine.position import Position
from pbmserv.engine.registry import shown_options
from pbmserv.engine.types import Seat
from pbmserv.errors import GameAway, Misread, MoveError, PlayerError, ServerFault, StoreAway
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.boards.positions import Positions
from pbmserv.store.tables.boards import BoardStatus
from pbmserv.views.board import BoardScene, board_scene
from pbmserv.views.environment import template_of
from pbmserv.views.spoilers import shared_board

T = TypeVar("T")

log = logging.getLogger("pbmserv.games")

_FIRST_TURNS = 3
"""Turns of a player's first board of a game whose letters explain how to play."""


@dataclass(slots=True)
class ShownBoards:
    """The boards that a group of letters shows, from one transaction.

    Both letters about a ply show the same position. The view of one reader is never kept.

    Attributes:
        connection: a transaction that sees one state of the store.
        positions: replays boards. Nothing is added to them, since the transaction
            may never be committed.
        replayed: the newest positions of the boards that were shown.
    """

    connection: Connection
    positions: Positions
    replayed: dict[int, Position] = field(default_factory=dict)
    _rows: dict[int, BoardRow] = field(default_factory=dict)

    def board(self, board_id: int) -> BoardRow:
        """Return a board's row.

        Raises:
            ServerFault: there is no such board.
        """
        board = self._rows.get(board_id) or boards.load(self.connection, board_id)
        if board is None:
            raise ServerFault(f"a letter speaks of board {board_id}, which is not there")
        self._rows[board_id] = board
        return board

    def shown(
        self, board_id: int | None, ply: int | None, seat: int | None, player: Player | None
    ) -> ShownBoard | None:
        """Return a board at a ply (``None`` for the newest) as a player or a stranger sees it.

        Raises:
            ServerFault: there is no such board.
        """
        if board_id is None:
            return None
        board = self.board(board_id)
        newest = self._newest(board)
        position = newest if ply in {None, newest.number} else newest.at(ply)
        shared = shared_board(self.connection, board)
        is_shut = seat is not None and shared is not None and not shared.solved
        daily = shared.daily_number if shared else 0
        if seat is None or player is None or board.sitters[seat].player_id != player.id:
            # A player who lost the seat is a spectator.
            return ShownBoard(board, position, None, daily, is_shut=is_shut)
        own = Seat(seat)
        turn = position.game.turn(position.state, own)
        reply = ReplyAddress(Purpose.BOARD, player.id, board_id, turn, player.reply_epoch)
        is_early = turn <= _FIRST_TURNS * (1 if position.apart else board.seats)
        is_beginner = is_early and boards.is_first(self.connection, board, player.id)
        return ShownBoard(board, position, own, daily, reply, is_beginner, is_shut)

    def _newest(self, board: BoardRow) -> Position:
        """Return the newest position of a board, replayed at most once."""
        position = self.replayed.get(board.id)
        if position is None:
            position = self.positions.newest(self.connection, board)
            self.replayed[board.id] = position
        return position


@dataclass(frozen=True, slots=True)
class ShownBoard:
    """A board at a ply, for one reader.

    Attributes:
        seat: the reader's seat; ``None`` for a spectator.
        daily: number of this box of the day; 0 for other boards.
        reply: the reply address of the seat; ``None`` without a seat.
        is_beginner: whether the reader is new to the game.
        is_shut: whether this is a shared box that was not solved. Its hidden facts stay hidden
            unless the letter says that it is ``opened``.
    """

    board: BoardRow
    position: Position
    seat: Seat | None
    daily: int
    reply: ReplyAddress | None = None
    is_beginner: bool = False
    is_shut: bool = False

    def scene(self, words: Mapping[str, Any]) -> BoardScene:
        """Return the scene for a letter with these words.

        If the reader's move was not read as it was written, an event says how it was read.
        """
        is_shut = self.is_shut and not words.get("opened")
        scene = board_scene(
            self.position.shut if is_shut else self.position,
            number=self.board.id,
            names=self.board.names,
            options=shown_options(self.position.game, self.board.options, self.board.seats),
            rated=self.board.rated,
            terms=self.board.terms,
            seat=self.seat,
            own_move=words.get("event") == "moved",
            daily=self.daily,
            after=words.get("after"),
            chooser=self.board.chooser,
        )
        if self.board.status == BoardStatus.DECLINED:
            return replace(scene, your_turn=False, waiting=())
        # The letter may be made after the last answer, and tells of the time before it.
        if self.position.draws and (self.board.undecided or words.get("undecided")):
            return replace(scene, undrawn=True, your_turn=False, waiting=())
        if not (words.get("read_as") or words.get("held")):
            return scene
        template = template_of("letters/pieces/reading.j2")
        lines = template.render(words={"read_as": "", "held": None, **words}).splitlines()
        return replace(scene, events=(*scene.events, *filter(None, map(str.strip, lines))))


def page_scene(
    connection: Connection, board: BoardRow, position: Position, seat: Seat | None
) -> BoardScene:
    """Return the scene for the page of a seat, or of spectators (``None``)."""
    shared = shared_board(connection, board)
    shown = ShownBoard(board, position, seat, shared.daily_number if shared else 0)
    has_moved = position.ply is not None and seat in {None, position.ply.seat}
    return shown.scene({"event": "moved" if has_moved else ""})


def show_or_log(board: int, game: str, show: Callable[[], T]) -> T | None:
    """Return the result of *show*, or ``None`` if the board's game raises an error.

    One broken board must not hide the others; the log has its error.
    Errors of the store and refusals of the service are not the game's, and are raised.
    """
    try:
        return show()
    except (SQLAlchemyError, StoreAway):
        raise
    except GameAway:  # it is in the log, and in `pbmserv status`
        return None
    except (Exception, SystemExit) as error:
        if isinstance(error, PlayerError) and not isinstance(error, MoveError | Misread):
            raise
        log.exception("a board cannot be shown", extra={"board": board, "game": game})
        return None
