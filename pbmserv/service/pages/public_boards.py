"""Boards as everybody may see them on pages, with public names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pbmserv.errors import Refused
from pbmserv.service.boards import game_lists, showing
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.secret_boxes import spoils
from pbmserv.store.boards import boards, histories
from pbmserv.store.boards.histories import EndedGame
from pbmserv.store.tables.boards import BoardStatus
from pbmserv.views.board_forms import drawings
from pbmserv.views.names import public_board, public_names
from pbmserv.views.public_facts import FinishedBoard, PublicBoardPage
from pbmserv.views.shown_boards import page_scene


def board_page(context: CommandContext, number: int, turn: int | None) -> PublicBoardPage | None:
    """Return a board after *turn* turns or now; `None` if there is no such board or turn."""
    connection = context.connection
    board = boards.load(connection, number)
    if board is None:
        return None
    try:
        ply, kept = showing.watched_ply(context, board, turn)
    except Refused:  # so many turns have not been made
        return None
    is_declined = board.status == BoardStatus.DECLINED
    newest, board = context.position(board), public_board(board)
    position = newest.at(ply)
    scene = page_scene(connection, board, position, None)
    is_over = newest.outcome is not None
    if is_over:  # while a race runs, spectators count no turns
        scene = replace(scene, moves=position.turns)
    turns = newest.turns_of(None)
    if kept or is_declined or scene.undrawn:
        return PublicBoardPage(scene, kept, is_declined, 0 if kept else turns)
    pictures = drawings(position, newest if is_over else None, board.seats)
    ended = histories.ended_at(connection, board.id) if is_over else None
    return PublicBoardPage(scene, kept, is_declined, turns, pictures, ended)


def stamp(context: CommandContext, number: int) -> tuple[Any, ...] | None:
    """Return a value that changes with a board's page; `None` if there is no such board."""
    board = boards.load(context.connection, number)
    if board is None:
        return None
    kept = spoils(context, board)
    # Until all players of the event have finished it, its page shows only its start. If a move
    # changed the stamp, the time that the next answer takes would reveal the move.
    plies = 0 if kept == "event-game-runs" else board.plies
    return board.status, plies, public_board(board).names, kept


def finished_boards(
    context: CommandContext, games: Sequence[EndedGame], form: str
) -> list[FinishedBoard]:
    """Return finished boards with public names, and the moments of their ends in this form."""
    names = public_names(context.connection, {name for game in games for name in game.names})
    titles = context.services.registry.titles
    finished = []
    for game in games:
        shown_names = names.at_board(game.names)
        finished.append(
            FinishedBoard(
                board=game.board,
                game=game.game,
                title=titles[game.game],
                players=[shown_names[name] for name in game.names],
                winners=[shown_names[name] for name in game_lists.winners(game.names, game.places)],
                drawn=game_lists.is_drawn(game.places),
                reason=game.reason,
                moves=game.turns,
                ended=format(game.ended_at, form),
            )
        )
    return finished


def is_open(context: CommandContext, number: int) -> bool:
    """Return whether everybody may see all of a finished board."""
    board = boards.load(context.connection, number)
    return board is not None and not spoils(context, board)
