"""What letters take from the store: boards and players, each read once for a group, and files."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from pbmserv.engine.position import Position
from pbmserv.engine.registry import shown_options
from pbmserv.engine.types import Seat, value
from pbmserv.errors import Misread, MoveError, PlayerError, ServerFault, StoreAway
from pbmserv.letters.mime import Attachment
from pbmserv.letters.scene import BoardScene, board_scene
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.store import solo
from pbmserv.store.accounts import personal
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.boards.moves import Positions
from pbmserv.store.delivery.outbox import QueuedLetter

T = TypeVar("T")

log = logging.getLogger("pbmserv.games")

_logged: set[tuple[int, str]] = set()
_MOST_LOGGED = 1_000
"""Broken boards, with their faults, that are remembered."""

_FIRST_TURNS = 3
"""So many turns of a player's first board of a game have letters that say how to play."""


@dataclass(slots=True)
class Looking:
    """Looks things up for letters that are made one after the other, in one transaction.

    Both letters about a ply show the same position. What one reader may see is never kept: it is
    made of the position anew for each letter.

    Attributes:
        connection: it must see one state of the store all the while.
        positions: replays boards and remembers the newest positions.
    """

    connection: Connection
    positions: Positions
    _rows: dict[int, BoardRow] = field(default_factory=dict)
    _positions: dict[int, Position] = field(default_factory=dict)

    def board(self, board_id: int) -> BoardRow:
        """A board's row.

        Raises:
            ServerFault: there is no such board.
        """
        known = self._rows.get(board_id) or boards.load(self.connection, board_id)
        if known is None:
            raise ServerFault(f"a letter speaks of board {board_id}, which is not there")
        self._rows[board_id] = known
        return known

    def seen(
        self, board_id: int | None, ply: int | None, seat: int | None, player: Player | None
    ) -> Seen | None:
        """A board at a ply (``None`` = the newest), as it is shown to a player or a stranger.

        Raises:
            ServerFault: there is no such board.
        """
        if board_id is None:
            return None
        board, newest = self.board(board_id), self._positions.get(board_id)
        if newest is None:
            newest = self._positions[board_id] = self.positions.newest(self.connection, board)
            self.positions.remember(board_id, newest)
        position = newest if ply is None else newest.at(ply)
        daily = solo.daily_of_board(self.connection, board_id) if board.seats == 1 else None
        mine, reply, new = None, None, False  # who has lost the seat sees what all may see
        if seat is not None and player is not None and board.sitters[seat].player_id == player.id:
            mine = Seat(seat)
            turn = position.game.turn(position.state, mine)
            reply = ReplyAddress(Purpose.BOARD, player.id, board_id, turn, player.reply_epoch)
            early = turn <= _FIRST_TURNS * (1 if position.apart else board.seats)
            new = early and boards.is_first(self.connection, board, player.id)
        return Seen(board, position, mine, daily.number if daily else 0, reply, new)


def unless_broken(board: int, game: str, show: Callable[[], T]) -> T | None:
    """What *show* makes of one board of several; ``None``: its game breaks down over it. That is
    logged (once, however often somebody looks), and keeps nobody from the others.

    What the store says, or the service to the player, is not the game's, and goes on its way.
    """
    try:
        return show()
    except (SQLAlchemyError, StoreAway):
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, PlayerError) and not isinstance(error, MoveError | Misread):
            raise
        fault = board, type(error).__name__
        if fault not in _logged:
            if len(_logged) >= _MOST_LOGGED:
                _logged.clear()
            _logged.add(fault)
            log.exception("a board cannot be shown", extra={"board": board, "game": game})
        return None


@value(frozen=True, slots=True)
class Seen:
    """A board at a ply, through somebody's eyes.

    Attributes:
        seat: the reader's; ``None`` for all who have none.
        daily: the number of its day's box, 0 if it is none.
        reply: what a reply of that seat says; ``None`` without one.
        is_beginner: the reader is new to the game.
    """

    board: BoardRow
    position: Position
    seat: Seat | None
    daily: int
    reply: ReplyAddress | None = None
    is_beginner: bool = False

    def scene(self, words: Mapping[str, Any]) -> BoardScene:
        """What the reader may see."""
        return board_scene(
            self.position,
            number=self.board.id,
            names=self.board.names,
            options=shown_options(self.position.game, self.board.options, self.board.seats),
            rated=self.board.rated,
            terms=self.board.terms,
            seat=self.seat,
            own_move=words.get("event") == "moved",
            daily=self.daily,
            after=words.get("after"),
        )


def attachments(
    connection: Connection, row: QueuedLetter, player: Player | None
) -> tuple[Attachment, ...]:
    """What travels with a letter: all that is kept on a player who has asked for it."""
    if row.letter == "saved":
        name = f"{row.words['key']}-{row.words['board']}"
        return tuple(
            Attachment(f"{name}{ending}", "text/plain", text.encode())
            for ending, text in row.words["files"]
        )
    if row.letter != "export" or player is None:
        return ()
    kept = _in_lines(personal.kept_on(connection, player))
    name = f"pbmserv-{player.userid.strip('_-') or 'player'}.json"
    return (Attachment(name, "application/json", f"{kept}\n".encode()),)


def _in_lines(kept: Mapping[str, Any]) -> str:
    """JSON with a line for each thing in a list. With an indent for all the library's encoder is
    ten times slower, and an old account is megabytes."""
    found = []
    for key, things in kept.items():
        said = _json(things)
        if isinstance(things, list) and things:
            said = "[\n  " + ",\n  ".join(map(_json, things)) + "\n]"
        found.append(f"{_json(key)}: {said}")
    return "{\n" + ",\n".join(found) + "\n}"


_json = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
