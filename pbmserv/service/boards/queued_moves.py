"""``queue``: plans of players for later turns; `plan_runs` plays them."""

from __future__ import annotations

from pbmserv.commands.table.playing import Queue
from pbmserv.engine.plans import checked_plan, print_plan, read_plan
from pbmserv.engine.record import WITHDRAW
from pbmserv.errors import MoveError, Refused
from pbmserv.service.boards import far_labels
from pbmserv.service.boards.first_draws import refuse_before_draw
from pbmserv.service.boards.mover import running_mover
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.store.boards import moves

FORGET = frozenset({"-", "--", "none", "off"})


def queue(context: CommandContext, command: Queue) -> Answer:
    """``game queue board userid password plan``; ``-`` drops the plan.

    On the player's turn the plan begins at once.
    """
    mover = running_mover(context, command)
    board, sitter, position = mover.board, mover.sitter, mover.position
    text = command.text.strip()
    if text.lower() in FORGET:
        moves.keep_plan(context.connection, board.id, sitter.seat, None)
        words = {"queued": "", "forgotten": sitter.plan or ""}
        return Answer((Part("queued", words, board.id, board.plies, sitter.seat),))
    if text.lower() == WITHDRAW:
        raise Refused("queue-resign", part=text, example=WITHDRAW)
    refuse_before_draw(mover)
    if position.is_out(sitter.seat):
        raise Refused("queue-out", part=text, board=board.id)
    try:
        written = read_plan(text)
        plan = print_plan(checked_plan(position.game, mover.view, written))
    except MoveError as error:
        one_move = not any(sign in text for sign in ";(:")
        example = error.refusal.example if one_move else ""
        raise error.offering(example and f"queue {example}") from error
    far_labels.refuse_far_cells(context, mover, written, plan)
    moves.keep_plan(context.connection, board.id, sitter.seat, plan)
    if mover.is_to_act:
        others = {} if position.apart else board.plans
        context.current.moved[board.id] = {**others, sitter.seat: plan}
    words = {"queued": plan, "forgotten": ""}
    return Answer((Part("queued", words, board.id, board.plies, sitter.seat),))
