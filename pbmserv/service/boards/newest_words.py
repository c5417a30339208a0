"""The newest words of players to each other at a board, for its page."""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.mail.letter_kinds import kind_of
from pbmserv.service.core import contact
from pbmserv.service.core.context import CommandContext
from pbmserv.store.accounts import players
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.delivery import quotable_letters

MOST_SAID = 6
"""Most passages of the players' words on a page, the newest ones."""
MOST_LETTERS = 40
"""Most letters about a board that are searched for words."""


@dataclass(frozen=True, slots=True)
class Saying:
    """Words of a player to the others at a board."""

    userid: str
    words: str


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
    writers = {saying.userid for saying in newest}
    player = players.by_id(context.connection, reader.player_id)
    assert player is not None
    audible = {
        sitter.userid
        for sitter in board.sitters
        if sitter.userid in writers
        and (sitter.userid == reader.userid or contact.reaches(context, sitter.player_id, player))
    }
    return tuple(saying for saying in newest if saying.userid in audible)
