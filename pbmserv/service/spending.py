"""What a command costs that can be told from outside: by its length, and by what it is answered."""

from __future__ import annotations

from pbmserv.commands.model import Line, ReplyMove, TrayReply
from pbmserv.engine.record import weight
from pbmserv.render.foresight import FORESEEN
from pbmserv.service.answers import Answer
from pbmserv.service.budget import Work
from pbmserv.service.desk import Desk
from pbmserv.store import boards


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


def on_answer(desk: Desk, answer: Answer) -> None:
    """Count the letters that an answer leads to. A board that is told of again is drawn once.

    Raises:
        TooMuch: the mail has spent what it may, here or where its command did not heed it.
    """
    budget = desk.budget
    for part in (*answer.parts, *(told.part for told in answer.told)):
        if part.board is not None and not part.opens and part.board not in desk.played:
            board = boards.load(desk.connection, part.board)
            assert board is not None
            desk.position(board)  # its letter says how many turns were used
    for part in answer.parts:
        key = (part.board, part.seat)
        is_drawn = part.board is not None and (part.letter in FORESEEN or key not in budget.drawn)
        budget.spend(Work.DRAWN if is_drawn else Work.PART)
        budget.drawn.add(key)
    budget.spend(Work.LETTER, sum(bool(told.recipient) for told in answer.told))
