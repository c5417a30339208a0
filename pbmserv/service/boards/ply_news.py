"""News about a ply, for each player and follower of its board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pbmserv.engine.clocks import SeatClock
from pbmserv.engine.position import Position
from pbmserv.engine.record import Ply
from pbmserv.engine.table import OFFER
from pbmserv.engine.types import Seat
from pbmserv.service.boards.followers import news_to_followers
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.said import Said
from pbmserv.service.time import timekeeping
from pbmserv.store.boards.boards import BoardRow, Sitter


@dataclass(frozen=True, slots=True)
class LoggedPly:
    """A ply in the record of a board.

    Attributes:
        board: the board before the ply.
        sitter: the player who made it.
        after: the position after it.
        words: of that player, for the others.
        undecided: userids of players who have not accepted yet, and get only the words.
        end: words about the end of the board.
        clocks: by seat, the clocks after the ply.
    """

    board: BoardRow
    sitter: Sitter
    after: Position
    words: Said
    undecided: Sequence[str]
    end: Mapping[str, Any]
    clocks: Sequence[SeatClock]

    @property
    def ply(self) -> Ply:
        """The ply itself."""
        assert self.after.ply is not None
        return self.after.ply

    @property
    def is_last(self) -> bool:
        """Whether the board is over."""
        return self.after.outcome is not None

    @property
    def words_for_all(self) -> Mapping[str, Any]:
        """Words in the letters to all players."""
        return {"undecided": list(self.undecided), **self.end}


def answer_about_ply(context: CommandContext, logged: LoggedPly) -> Answer:
    """Return the answer to the player who made a ply, and the letters to the others."""
    notifications = []
    for other in logged.board.sitters:
        if other.player_id == logged.sitter.player_id:
            continue
        part = _part_for_other(context, logged, other)
        if part is not None:
            notifications.append(Notification.sitter(other, part))
    if logged.board.followed:
        notifications += _news_to_followers(context, logged)
    return Answer((_own_part(context, logged),), tuple(notifications))


def _own_part(context: CommandContext, logged: LoggedPly) -> Part:
    board, seat = logged.board, logged.sitter.seat
    words = {
        "event": "moved",
        "said_to": logged.words if board.seats - len(board.bots) > 1 else "",
        **logged.words_for_all,
        **_bank_words(context, logged, seat),
    }
    return _part_about_board(logged, words, seat)


def _part_for_other(context: CommandContext, logged: LoggedPly, other: Sitter) -> Part | None:
    """Return what another player is told; `None` for a ply without words that is no news.

    A free move is no news, unless it is an offer, but the words with it are. Before a player has
    accepted, no ply is news.
    """
    after, by, seat = logged.after, logged.sitter.userid, other.seat
    is_news = logged.is_last or (
        after.is_news_for(seat) and (not logged.ply.free or _is_offer(after))
    )
    if is_news and other.userid not in logged.undecided:
        words = {
            "event": "news",
            "by": by,
            "said": logged.words,
            **logged.words_for_all,
            **_bank_words(context, logged, seat),
        }
        return _part_about_board(logged, words, seat)
    if logged.words:
        chat = {"by": by, "said": logged.words, "undecided": list(logged.undecided)}
        return Part("chat", chat, logged.board.id, after.number, seat)
    return None


def _part_about_board(logged: LoggedPly, words: Mapping[str, Any], seat: Seat) -> Part:
    letter = "result" if logged.is_last else "board"
    return Part(letter, words, logged.board.id, logged.after.number, seat)


def _bank_words(context: CommandContext, logged: LoggedPly, seat: Seat) -> Mapping[str, Any]:
    """Return words about a seat's clock; none when the board is over."""
    if logged.is_last:
        return {}
    return timekeeping.bank_words(context, logged.board, logged.clocks, seat)


def _news_to_followers(context: CommandContext, logged: LoggedPly) -> tuple[Notification, ...]:
    after = logged.after
    is_unseen = logged.ply.free or not after.is_news_for(None)
    return news_to_followers(
        context, logged.board, after.number, free=is_unseen, ended=logged.is_last
    )


def _is_offer(after: Position) -> bool:
    """Return whether a ply asks the other player something, or answers."""
    return any(note.kind == OFFER for note in after.step.notes)
