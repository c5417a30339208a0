"""Plies: making a move, and logging its ply; `ply_news` tells everybody."""

from __future__ import annotations

from typing import Any

from pbmserv.engine.adapter import AdaptedGame
from pbmserv.engine.position import LARGEST_BOARD, LARGEST_STATE, Position, octets_of, work_of
from pbmserv.engine.protocol import Aided, Forgiving, races
from pbmserv.engine.record import EARLY_ENDS, NOT_PLAYED, WITHDRAW
from pbmserv.engine.types import Move
from pbmserv.errors import Refused, ServerFault
from pbmserv.service.boards import bot_turns
from pbmserv.service.boards.acceptance import join, refuse_blocked_meeting
from pbmserv.service.boards.board_ends import GOES_ON, end_board
from pbmserv.service.boards.first_draws import draw_box, mark_of_first_mail, refuse_before_draw
from pbmserv.service.boards.mover import Mover
from pbmserv.service.boards.ply_news import LoggedPly, answer_about_ply
from pbmserv.service.core.budget import Work
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer
from pbmserv.service.core.said import Said
from pbmserv.service.core.words_for_others import without_hidden_cells
from pbmserv.service.time import timekeeping
from pbmserv.store.boards import boards, moves
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.tables.boards import BoardStatus

MOST_WORK = 1_700
"""Most work of the free moves of all players at a board (`engine.position.work_of`).

Together with the turns a board may need twice as much, which one mail can still replay
(`budget.ALLOWED`)."""


def play_move(
    context: CommandContext, mover: Mover, move: Move, words: Said, typed: str = ""
) -> Answer:
    """Make a move that the game has read, and tell everybody.

    Out of turn, only the part that uses no turn is made.

    Args:
        typed: the move as its player wrote it; the answer says how it was read if that differs.

    Raises:
        Refused: it is another player's turn, and all of the move uses a turn.
    """
    refuse_before_draw(mover)
    mover = draw_box(context, mover)
    if move.free or mover.is_to_act:
        timed = mover.position.apart and not move.free
        recorded_move = _with_time(context, mover, move) if timed else move
        mark = "" if move.free else mark_of_first_mail(context, mover)
        after = mover.position.move(mover.seat, recorded_move, mark)
        answer = log_ply(context, mover.board, mover.sitter, after, words)
    else:
        answer = _make_free_part(context, mover, move, words)
    plain = "".join(typed.split()).upper().replace(";", ",")
    if typed and plain != "".join(move.text.split()).upper():
        answer = answer.with_words(read_as=move.text)
    return answer


def _make_free_part(context: CommandContext, mover: Mover, move: Move, words: Said) -> Answer:
    """Make the part of a move that uses no turn; the letter offers to queue the rest.

    Raises:
        Refused: all of the move uses a turn.
    """
    board, position = mover.board, mover.position
    game: Any = position.game
    free, rest = None, move.text
    if isinstance(game, Forgiving):
        free, rest = game.meanwhile(mover.view, move)
    if free is None:
        raise not_your_turn(mover, rest)
    answer = log_ply(context, board, mover.sitter, position.move(mover.seat, free), words)
    return answer.with_words(held={"move": rest, "waiting": _names_to_act(mover)})


def not_your_turn(mover: Mover, move: str) -> Refused:
    """Return the refusal of a move for which the player has to wait; it offers a queued move."""
    return Refused(
        "not-your-turn",
        part=move,
        waiting=_names_to_act(mover),
        aids=isinstance(mover.position.game, Aided),
        example=f"queue {move}",
    )


def _names_to_act(mover: Mover) -> str:
    position = mover.position
    seats = sorted(position.game.to_act(position.state))
    return ", ".join(mover.board.names[seat] for seat in seats)


def _with_time(context: CommandContext, mover: Mover, move: Move) -> Move:
    """Return a turn of a race as it is recorded: with its time, if the race is timed."""
    game = mover.position.game
    if not races(game) or not game.timed(mover.position.state):
        return move
    begun = mover.sitter.accepted_at or context.now
    return game.stamped(move, int((context.now - begun).total_seconds()))


def refuse_large_state(after: Position) -> None:
    """Refuse a state of a game that is so large that those of a board could fill the memory.

    Raises:
        ServerFault: names the game, for the operator who finds the kept mail.
    """
    if not isinstance(after.game, AdaptedGame):  # Blackbox is ours, and its states are small
        return
    octets = octets_of(after.state.state)  # `game check` objects to a state that cannot be measured
    most = min(LARGEST_STATE, LARGEST_BOARD // after.number)
    if octets is not None and octets > most:
        key = after.game.info.key
        raise ServerFault(f"a state of {key} has {octets // 1000} kB, and boards keep many")


def log_ply(
    context: CommandContext, board: BoardRow, sitter: Sitter, after: Position, words: Said
) -> Answer:
    """Log the ply that led to *after*, end the board if it is over, and tell everybody."""
    ply = after.ply
    assert ply is not None
    _refuse_full_record(board, sitter, after)
    refuse_large_state(after)
    public = after.step.public
    if words and not ply.free and sitter.seat in public:
        words = without_hidden_cells(context, words, public[sitter.seat], public.get(None, ""))
    if ply.text not in NOT_PLAYED | {WITHDRAW}:
        refuse_blocked_meeting(context, board, sitter)
    context.budget.spend(Work.PLY, work_of(after.game, after.state, ply.text))
    undecided = join(context, board, sitter) if board.status == BoardStatus.PROPOSED else ()
    times = timekeeping.times_at(context, board, after, undecided, () if ply.free else (ply.seat,))
    moves.append(context.connection, board.id, ply, context.mail_id, context.now, times)
    context.effects.positions[board.id] = after
    # A move in a race does not start the plans of others.
    mine = {sitter.seat: sitter.plan} if sitter.plan else {}
    context.current.moved[board.id] = mine if after.apart else dict(board.plans)
    context.effects.plies.append((board.id, ply.number))
    context.current.changes_game = True
    outcome = after.outcome
    if outcome is None and not undecided and board.bots:
        bot_turns.note_turn(context, board, after)
    if board.status == BoardStatus.FINISHED and outcome is None:
        boards.reopen(context.connection, board.id)
    end = end_board(context, board, after, outcome, undecided) if outcome else GOES_ON
    return answer_about_ply(
        context, LoggedPly(board, sitter, after, words, undecided, end, times.clocks)
    )


def _refuse_full_record(board: BoardRow, sitter: Sitter, after: Position) -> None:
    """Refuse a ply for which a board's record has no room, since each look replays the record.

    Each seat has its own share. When markers and seals have used it up, turns have as much again.
    Giving up is always possible.
    """
    ply = after.ply
    assert ply is not None
    share = MOST_WORK // board.seats * (1 if ply.free else 2)
    if ply.text in EARLY_ENDS or after.work <= share:
        return
    if after.work_by(sitter.seat) > share:
        code = "board-full-free" if ply.free else "board-full"
        raise Refused(code, part=str(board.id), seats=board.seats)
