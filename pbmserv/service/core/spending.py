"""What a command costs that can be told from outside: by its length, and by what it is answered."""

from __future__ import annotations

from dataclasses import replace

from pbmserv.commands.table.model import Line, ReplyMove, TrayReply
from pbmserv.engine.protocol import sized
from pbmserv.engine.record import weight
from pbmserv.engine.types import Seat
from pbmserv.letters.foreseen_boards import FORESEEN
from pbmserv.service.core.answers import Answer, Part
from pbmserv.service.core.budget import TooMuch, Work
from pbmserv.service.core.context import Desk
from pbmserv.store.boards import boards

_SQUARES = 64

_FOR_MANY = frozenset({"followed", "broadcast"})
"""Letters to people whom the writer of a mail has not chosen; what follows has less left."""


def on_line(desk: Desk, line: Line) -> None:
    """Count a command that is about to be carried out.

    Raises:
        TooMuch: the mail has spent what it may.
    """
    desk.budget.begin()
    desk.budget.spend(Work.COMMAND)
    asked = line.asked
    text = len(line.echo)
    if isinstance(asked, TrayReply):
        text = max(text, len(asked.text))
    elif isinstance(asked, ReplyMove):
        text = sum(map(len, asked.lines))
    desk.budget.spend(Work.TEXT, weight(text))


def on_refusal(desk: Desk, part: Part) -> Part:
    """The letter about a refused command; without the board it is about where that is too much."""
    try:
        on_answer(desk, Answer((part,)))
    except TooMuch:
        return replace(part, board=None, ply=None, seat=None)
    return part


def on_answer(desk: Desk, answer: Answer) -> None:
    """Count the letters that an answer leads to. A board that is told of again is drawn once.

    Raises:
        TooMuch: the mail has spent what it may, here or where its command did not heed it.
    """
    for part in answer.parts:
        seat = (part.board, part.seat)
        is_drawn = part.board is not None and (
            part.letter in FORESEEN or seat not in desk.budget.drawn
        )
        _draw(desk, part, Work.DRAWN if is_drawn else Work.PART)
        desk.budget.drawn.add(seat)
    for told in answer.told:
        if told.recipient and told.part.letter not in _FOR_MANY:
            _draw(desk, told.part, Work.LETTER)
    desk.budget.check()
    many = sum(told.part.letter in _FOR_MANY for told in answer.told)
    desk.budget.charge(Work.LETTER, many)  # nobody's followers keep them from moving


def _draw(desk: Desk, part: Part, work: Work) -> None:
    budget = desk.budget
    budget.spend(work)
    if part.board is None or part.opens:
        return
    position = desk.played.get(part.board)
    if position is None:  # also its Message-ID says how many turns were used
        board = boards.load(desk.connection, part.board)
        assert board is not None
        position = desk.position(board)
    seat = None if part.seat is None else Seat(part.seat)
    budget.spend(Work.TOLD, len(position.since(seat)))
    game: object = position.game
    if work is not Work.PART and sized(game):
        budget.spend(Work.SQUARES, 1 + game.squares(position.state) // _SQUARES)
