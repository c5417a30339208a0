"""Waiting boards in letters about several boards: digests, and reminders of more than one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import Any

from pbmserv.service.boards.acceptance import players_for_board
from pbmserv.service.core.budget import ALLOWED, Budget, TooMuch, Work, squares_of
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Part
from pbmserv.service.time import timekeeping
from pbmserv.store.boards import boards, player_boards
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.delivery.outbox import QueuedLetter
from pbmserv.store.tables.boards import RUNNING
from pbmserv.views.shown_boards import show_or_log

MOST_DRAWN = 40
"""Most boards that a letter draws; it names the others by number."""

MOST_LOOKED_AT = 500
"""Newest boards of a player that are searched for waiting ones."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A board that waits for a player.

    Attributes:
        sitter: the player.
        since: when the board began to wait.
    """

    board: BoardRow
    sitter: Sitter
    since: datetime


@dataclass(frozen=True, slots=True)
class Due(Waiting):
    """A waiting board of which a letter reminds its player.

    Attributes:
        lost_at: when the board will be lost; `None`: never.
    """

    lost_at: datetime | None


def waiting_for(context: CommandContext, player_id: int) -> list[Waiting]:
    """Return the running boards that wait for a player, the newest first."""
    waiting = []
    numbers = player_boards.of_player(context.connection, player_id, RUNNING, most=MOST_LOOKED_AT)
    for number in numbers:
        board = boards.load(context.connection, number)
        sitter = board.sitter_of(player_id) if board is not None else None
        if board is None or sitter is None or not board.clocks:
            continue
        since = board.clocks[sitter.seat].since
        if since is not None:
            waiting.append(Waiting(board, sitter, since))
    return waiting


def _entry(
    context: CommandContext,
    waiting: Waiting,
    news: Sequence[QueuedLetter],
    due: Due | None,
    room: Budget,
) -> dict[str, Any]:
    """Return the words of a waiting board, with the turn for which a reply is meant (`None` if its
    game cannot tell).

    Args:
        room: the budget for all boards of the letter.

    Raises:
        TooMuch: there is no room for this board; the letter names it.
    """
    board, sitter = waiting.board, waiting.sitter
    turn = show_or_log(board.id, board.game, partial(_turn, context, waiting, room))
    is_invited = sitter.accepted_at is None and turn is not None
    return {
        "letter": "tray-board",
        "words": {
            "event": "news",
            "undecided": list(board.undecided),
            "asked_by": players_for_board(context, board) if is_invited else [],
            "says": said_in(news),
            "due": due
            and {
                "since": due.since.isoformat(),
                "forfeit_at": due.lost_at and due.lost_at.isoformat(),
                "tz": sitter.tz,
            },
            **timekeeping.bank_words(context, board, board.clocks, sitter.seat),
        },
        "board": board.id,
        "ply": board.plies,
        "seat": sitter.seat,
        "turn": turn,
    }


def _turn(context: CommandContext, waiting: Waiting, room: Budget) -> int:
    """Return the number of the reader's next turn, once there is room for the board.

    The letter replays and draws the board, whether it is in memory here or not.
    """
    room.check()
    board = waiting.board
    position = context.services.positions.newest(context.connection, board, room.replay)
    room.spend(Work.DRAWN)
    room.spend(Work.SQUARES, squares_of(position.game, position.state))
    context.effects.positions[board.id] = position
    return position.game.turn(position.state, waiting.sitter.seat)


def entries(
    context: CommandContext,
    waiting: Sequence[Waiting],
    *,
    news: Mapping[int, Sequence[QueuedLetter]] = MappingProxyType({}),
    due: Mapping[int, Due] = MappingProxyType({}),
) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the boards that one letter draws, the first one always, and the others' numbers.

    Args:
        waiting: in the order shown.
        news: letters about boards, by number.
        due: boards of which the letter reminds, by number.
    """
    room = Budget(math.inf)
    drawn: list[dict[str, Any]] = []
    more: list[int] = []
    for waiting_board in waiting:
        number = waiting_board.board.id
        if len(drawn) == MOST_DRAWN:
            more.append(number)
            continue
        about, reminder = news.get(number, ()), due.get(number)
        try:
            drawn.append(_entry(context, waiting_board, about, reminder, room))
        except TooMuch:
            more.append(number)
        room.limit_to(ALLOWED)
    return drawn, more


def reminders(context: CommandContext, due: Sequence[Due]) -> Part:
    """Return one letter that reminds of several boards, the one that is lost first at the top."""
    never = datetime.max.replace(tzinfo=UTC)
    ordered = sorted(due, key=lambda due_board: (due_board.lost_at or never, due_board.since))
    by_number = {due_board.board.id: due_board for due_board in ordered}
    drawn, more = entries(context, ordered, due=by_number)
    return Part("reminders", {"waiting": drawn, "more": more, "news": []})


def said_in(letters: Sequence[QueuedLetter]) -> list[dict[str, str]]:
    """Return the words of other players, oldest first."""
    return [
        {"by": letter.words["by"], "said": letter.words["said"]}
        for letter in letters
        if letter.words.get("said") and letter.words.get("by")
    ]
