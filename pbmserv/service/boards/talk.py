"""Collects the messages and the moves so far for a board's page."""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.engine.position import Position, notes_for
from pbmserv.engine.types import SCORE, Seat
from pbmserv.mail.letter_kinds import kind_of
from pbmserv.service.core import contact
from pbmserv.service.core.context import CommandContext
from pbmserv.store.accounts import players
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.delivery import quotable_letters
from pbmserv.views.texts import note_sentences

MOST_SAID = 6
"""Most passages of the players' words on a page, the newest ones."""
MOST_LETTERS = 40
"""Most letters about a board that are searched for words."""
MOST_MOVES = 200
"""Most moves on a page, the newest ones."""


@dataclass(frozen=True, slots=True)
class Saying:
    """Words of a player to the others at a board."""

    userid: str
    words: str


@dataclass(frozen=True, slots=True)
class ListedMove:
    """A move in a list, in a sentence for each of its effects.

    Attributes:
        step: number of plies that the reader knows of, this one included.
        seat: the seat that moved.
    """

    step: int
    seat: Seat
    sentences: tuple[str, ...]


def newest_words(context: CommandContext, board: BoardRow, reader: Sitter) -> tuple[Saying, ...]:
    """Return the newest words at a board, oldest first.

    They come from the letters to the reader, so the guard for words of players has passed them.
    Words of players who do not reach the reader any more are left out.
    """
    letters = quotable_letters.about_board(
        context.connection, reader.player_id, board.id, MOST_LETTERS
    )
    sayings: dict[tuple[int | None, str, str], Saying] = {}
    for letter in letters:
        words = letter.words
        text = words.get("said_to") or words.get("said")
        is_own = words.get("said_to") or kind_of(letter.letter).own_words
        userid = reader.userid if is_own else words.get("by", "")
        if isinstance(text, str) and text.strip() and userid in board.names:
            sayings[letter.mail_id, userid, text] = Saying(userid, text)
    newest = list(sayings.values())[-MOST_SAID:]
    audible = {
        userid
        for userid in {saying.userid for saying in newest}
        if userid == reader.userid or _reaches(context, board, userid, reader)
    }
    return tuple(saying for saying in newest if saying.userid in audible)


def _reaches(context: CommandContext, board: BoardRow, userid: str, reader: Sitter) -> bool:
    player = players.by_id(context.connection, reader.player_id)
    writer = next(sitter for sitter in board.sitters if sitter.userid == userid)
    return player is not None and contact.reaches(context, writer.player_id, player)


def known_to(newest: Position, seat: Seat) -> list[Position]:
    """Return the start of a board and the positions after each ply that a seat knows of.

    Plies that were taken back are left out, and those before a restart. Plies of others from which
    the seat learns nothing are left out, too: their number is private.
    """
    return [newest.at(0), *(step for step in newest.after(0) if step.is_news_for(seat))]


def moves_so_far(
    positions: list[Position], names: tuple[str, ...], seat: Seat
) -> tuple[ListedMove, ...]:
    """Return the newest moves of *positions*, which `known_to` has returned, newest first."""
    moves = []
    for step in range(len(positions) - 1, 0, -1):
        position = positions[step]
        notes = notes_for(position.game, position.step, seat)
        shown_notes = [note for note in notes if note.kind != SCORE]
        sentences = note_sentences(position.game, shown_notes, names, seat)
        if sentences and position.ply is not None:
            moves.append(ListedMove(step, position.ply.seat, tuple(sentences)))
        if len(moves) == MOST_MOVES:
            break
    return tuple(moves)
