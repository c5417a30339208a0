"""Charges answers and letters to the budget of a mail or press."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pbmserv.mail.letter_kinds import kind_of
from pbmserv.service.core.budget import TooMuch, Work, squares_of
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.store.boards import boards


def affordable_refusal(context: CommandContext, part: Part) -> Part:
    """Return the letter about a refused command, without its board if that is too much work."""
    try:
        charge(context, (part,), ())
    except TooMuch:
        return replace(part, board=None, ply=None, seat=None)
    return part


def charge(
    context: CommandContext, parts: Sequence[Part], notifications: Sequence[Notification]
) -> None:
    """Charge an answer and the letters to others. A board with several parts is drawn once.

    Raises:
        TooMuch: the budget is used up, even if the command has ignored that.
    """
    budget = context.budget
    charged = [(part, _work_of(context, part)) for part in parts]
    letters_to_many = 0
    for notification in notifications:
        if kind_of(notification.part.letter).for_many:
            letters_to_many += 1
        elif notification.recipient:
            charged.append((notification.part, Work.LETTER))
    for part, work in charged:
        _charge_part(context, part, work)
    budget.check()
    budget.charge(Work.LETTER, letters_to_many)  # letters to followers refuse no move


def _work_of(context: CommandContext, part: Part) -> Work:
    """Return the kind of work for a part of the answer, and note the board that it draws."""
    drawn, drawing = context.budget.drawn, (part.board, part.seat)
    is_new = kind_of(part.letter).beyond_record or drawing not in drawn
    drawn.add(drawing)
    return Work.DRAWN if part.board is not None and is_new else Work.PART


def _charge_part(context: CommandContext, part: Part, work: Work) -> None:
    budget = context.budget
    budget.spend(work)
    if part.board is None or part.opens:
        return
    position = context.effects.positions.get(part.board)
    if position is None:  # its Message-ID says how many turns were used, too
        board = boards.load(context.connection, part.board)
        assert board is not None
        position = context.position(board)
    budget.spend(Work.PLY_IN_LETTER, len(position.since(part.seat)))
    if work is not Work.PART:
        budget.spend(Work.SQUARES, squares_of(position.game, position.state))
