"""``show`` and ``showas``: boards as spectators and as their players may see them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from pbmserv.commands.table.command_types import BoardRef
from pbmserv.commands.table.looking import Show, ShowAs
from pbmserv.engine.types import Seat
from pbmserv.errors import Refused
from pbmserv.service.boards.player_boards import NewestBoards, boards_of
from pbmserv.service.core.command_state import Focus
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import board_of, players_of
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.service.core.refusals import not_seated
from pbmserv.service.core.secret_boxes import is_shut, spoils
from pbmserv.service.ratings import rating
from pbmserv.service.time import timekeeping
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.tables.boards import BoardStatus
from pbmserv.views.shown_boards import show_or_log
from pbmserv.views.spoilers import Spoils

SHOWN = 10
"""Most boards in one answer."""


def show(context: CommandContext, command: Show) -> Answer:
    """Answer ``show``: boards as any spectator may see them."""
    if not (command.boards or command.userids):  # the sender's own boards
        return show_as(context, ShowAs(command.game, None))
    parts = []
    for ref in command.boards:
        board = board_of(context, ref.board, command.game)
        parts.append(_shown(board, partial(watched, context, board, ref.number)))
    for player in players_of(context, command.userids):
        listed = boards_of(context, player, command.which, command.game, SHOWN)
        parts += [_shown(board, partial(watched, context, board, None)) for board in listed.boards]
        parts += _more(listed, player, command.which)
    if not parts:
        raise Refused(
            "no-boards",
            part=" ".join(command.userids),
            which=command.which,
            example=f"games {command.userids[0]} all",
        )
    return Answer(tuple(parts))


def show_as(context: CommandContext, command: ShowAs) -> Answer:
    """Answer ``showas``: the speaker's boards as the speaker may see them."""
    if (
        command.credentials is None
        and not (command.boards or command.which)
        and context.answered_board is not None
    ):
        board, sitter = context.seat_at(None, command.game, None)
        return Answer((_shown(board, partial(_own, context, board, sitter.seat)),))
    player = context.speaker(command.credentials)
    if command.boards:
        parts = [_seated(context, player, ref, command.game) for ref in command.boards]
        return Answer(tuple(parts))
    which = command.which or "active"
    listed = boards_of(context, player, which, command.game, SHOWN)
    if not listed.boards:
        raise Refused(
            "no-boards",
            part=player.userid,
            which=which,
            example=f"games {player.userid} all",
        )
    parts = [
        _shown(board, partial(_as_player, context, board, player, None)) for board in listed.boards
    ]
    return Answer((*parts, *_more(listed, player, which)))


def _shown(board: BoardRow, show: Callable[[], Part]) -> Part:
    """Return the part that *show* returns, or one that says that the board cannot be shown now."""
    part = show_or_log(board.id, board.game, show)
    return part or Part("unshown", {"board": board.id})


def watched(context: CommandContext, board: BoardRow, number: int | None) -> Part:
    """Return a board as any spectator may see it, after turn *number* or now."""
    ply, kept = watched_ply(context, board, number)
    words = {"declined": board.status == BoardStatus.DECLINED, "kept": kept}
    return Part("show", words, board.id, ply, None)


def watched_ply(context: CommandContext, board: BoardRow, number: int | None) -> tuple[int, Spoils]:
    """Return the ply that spectators may see, and why a board is shown at its start.

    A box is solved unseen, so that nobody wonders about a running one.

    Args:
        number: a turn; ``None`` for the newest.

    Raises:
        Refused: so many turns have not been made.
    """
    kept = spoils(context, board)
    ply = _ply(context, board, 0 if kept else number, None)
    return ply, kept if board.status == BoardStatus.FINISHED or kept == "event-game-runs" else ""


def _own(context: CommandContext, board: BoardRow, seat: Seat, number: int | None = None) -> Part:
    """Return a board as one of its players may see it, after turn *number* or now."""
    over = board.status == BoardStatus.FINISHED and number is None
    words: dict[str, Any] = {
        "event": "show",
        "undecided": list(board.undecided),
        "ratings": rating.words_of(context, board) if over else [],
    }
    if board.status == BoardStatus.FINISHED and not is_shut(context, board):
        words["opened"] = True
    elif board.status == BoardStatus.ACTIVE and number is None:
        words |= timekeeping.bank_words(context, board, board.clocks, seat)
    ply = _ply(context, board, number, seat)
    return Part("result" if over else "board", words, board.id, ply, seat)


def _as_player(
    context: CommandContext, board: BoardRow, player: Player, number: int | None
) -> Part:
    sitter = board.sitter_of(player.id)
    if sitter is None:
        raise not_seated(board)
    context.current.focus = Focus(board, sitter.seat)
    return _own(context, board, sitter.seat, number)


def _ply(context: CommandContext, board: BoardRow, number: int | None, seat: Seat | None) -> int:
    """Return the ply that ``board#number`` shows. While a race runs, a seat counts its own turns.

    Raises:
        Refused: so many turns have not been made.
    """
    position = context.position(board)
    if number is None:
        return board.plies
    turns_made = position.turns
    # While a race runs, the number of the others' turns is hidden.
    if number > turns_made and not (position.apart and position.outcome is None):
        raise Refused(
            "no-such-turn",
            part=f"#{number}",
            board=board.id,
            made=turns_made,
            example=f"{board.game} show {board.id}#{turns_made}",
        )
    return position.at_turn(number, seat).number


def _seated(context: CommandContext, player: Player, ref: BoardRef, game: str | None) -> Part:
    board = board_of(context, ref.board, game)
    return _shown(board, partial(_as_player, context, board, player, ref.number))


def _more(listed: NewestBoards, player: Player, which: str) -> tuple[Part, ...]:
    """Return the part that says that not all boards of a player are shown."""
    if listed.total <= len(listed.boards):
        return ()
    words = {
        "of": player.userid,
        "which": which,
        "shown": len(listed.boards),
        "total": listed.total,
    }
    return (Part("more", words),)
