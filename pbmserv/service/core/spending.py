"""What a command costs that can be told from outside: by its length, and by what it is answered."""

from __future__ import annotations

from dataclasses import replace

from pbmserv.commands.table.model import Line, ReplyMove, TrayReply
from pbmserv.engine.protocol import sized
from pbmserv.engine.record import weight
from pbmserv.engine.types import Seat
from pbmserv.mail.letter_kinds import kind_of
from pbmserv.service.core.answers import Answer, Part
from pbmserv.service.core.budget import TooMuch, Work
from pbmserv.service.core.context import CommandContext
from pbmserv.store.boards import boards

_SQUARES = 64


def on_line(context: CommandContext, line: Line) -> None:
    """Count a command that is about to be carried out.

    Raises:
        TooMuch: the mail has spent what it may.
    """
    context.budget.begin()
    context.budget.spend(Work.COMMAND)
    asked = line.asked
    text = len(line.echo)
    if isinstance(asked, TrayReply):
        text = max(text, len(asked.text))
    elif isinstance(asked, ReplyMove):
        text = sum(map(len, asked.lines))
    context.budget.spend(Work.TEXT, weight(text))


def on_refusal(context: CommandContext, part: Part) -> Part:
    """The letter about a refused command; without the board it is about where that is too much."""
    try:
        on_answer(context, Answer((part,)))
    except TooMuch:
        return replace(part, board=None, ply=None, seat=None)
    return part


def on_answer(context: CommandContext, answer: Answer) -> None:
    """Count the letters that an answer leads to. A board that is told of again is drawn once.

    Raises:
        TooMuch: the mail has spent what it may, here or where its command did not heed it.
    """
    for part in answer.parts:
        seat = (part.board, part.seat)
        is_drawn = part.board is not None and (
            kind_of(part.letter).beyond_record or seat not in context.budget.drawn
        )
        _draw(context, part, Work.DRAWN if is_drawn else Work.PART)
        context.budget.drawn.add(seat)
    for told in answer.told:
        if told.recipient and not kind_of(told.part.letter).for_many:
            _draw(context, told.part, Work.LETTER)
    context.budget.check()
    many = sum(kind_of(told.part.letter).for_many for told in answer.told)
    context.budget.charge(Work.LETTER, many)  # nobody's followers keep them from moving


def _draw(context: CommandContext, part: Part, work: Work) -> None:
    budget = context.budget
    budget.spend(work)
    if part.board is None or part.opens:
        return
    position = context.played.get(part.board)
    if position is None:  # also its Message-ID says how many turns were used
        board = boards.load(context.connection, part.board)
        assert board is not None
        position = context.position(board)
    seat = None if part.seat is None else Seat(part.seat)
    budget.spend(Work.TOLD, len(position.since(seat)))
    game: object = position.game
    if work is not Work.PART and sized(game):
        budget.spend(Work.SQUARES, 1 + game.squares(position.state) // _SQUARES)
