"""Notes of players at their boards, which nobody else reads."""

from __future__ import annotations

from pbmserv.commands.table.playing import TakeNote
from pbmserv.errors import Refused
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.store.boards import boards

LONGEST_NOTE = 300
"""Characters of a note."""


def take_note(context: CommandContext, command: TakeNote) -> Answer:
    """``game note board userid password text``; ``-`` deletes the note."""
    board, sitter = context.seat_of(command)
    text = " ".join("".join(sign for sign in command.text if sign.isprintable()).split())
    if len(text) > LONGEST_NOTE:
        raise Refused("note-long", most=LONGEST_NOTE)
    note = None if text in {"", "-"} else text
    boards.keep_note(context.connection, board.id, sitter.seat, note)
    return Answer((Part("noted", {"deleted": note is None}, board.id, board.plies, sitter.seat),))
