"""The house at the desk: whom it plays, when it is to move, and how its move gets into a letter.

A move of the house may take long to think of, so it is not made in the transaction that makes it
the house's turn. That transaction leaves a row, and keeps back the letter to the one who moved;
`service.thinking` thinks beside the writer and makes the move, and the letter goes out with both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pbmserv.engine.bots import must_agree
from pbmserv.engine.referee import Position
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import HOUSE, Seat
from pbmserv.errors import OptionError, Refused
from pbmserv.service.core.answers import Notification, Part
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.words_for_others import again
from pbmserv.store import bots as rows
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import challenges
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.delivery import outbox
from pbmserv.store.delivery.outbox import NewLetter, QueuedLetter
from pbmserv.store.tables import PlayerState

MOST = 20
"""Running boards that one player may have with each of the house's players."""

_BOARD_LETTERS = frozenset({"board", "result"})
_KEPT_BACK = _BOARD_LETTERS | {"started"}


def is_house(one: Player | Sitter) -> bool:
    """Whether this is one of the house's players and not a person."""
    return one.state == PlayerState.BOT


def invited(
    context: CommandContext,
    game: AnyGame,
    userid: str,
    options: tuple[str, ...],
    userids: Sequence[str],
) -> Player:
    """The house's player of this userid, who is to play a board with these options among *userids*.

    Raises:
        Refused: the house does not play this game.
        OptionError: not with these options.
    """
    if userid not in game.bots:
        key = game.info.key
        levels = ", ".join(game.bots)
        others = [min(game.bots, default="") if one == userid else one for one in userids]
        example = f"{key} challenge {' '.join(others)}" if levels else "list"
        raise Refused(
            "house-plays-not", part=userid, title=game.info.title, levels=levels, example=example
        )
    try:
        must_agree(game, userid, options, len(userids))
    except OptionError as error:
        refusal = error.refusal
        line = (game.info.key, "challenge", *userids, refusal.example)
        example = " ".join(filter(None, line))
        raise OptionError(
            refusal.code, part=refusal.part, example=example, **refusal.values
        ) from error
    return rows.account(context.connection, userid, context.now)


def must_have_room(context: CommandContext, sender: Player, others: Sequence[Player]) -> None:
    """Refuse one board too many with the house."""
    for one in others:
        if (
            is_house(one)
            and challenges.running_between(context.connection, sender.id, one.id) >= MOST
        ):
            example = f"games {sender.userid}"
            raise Refused("many-with-house", part=one.userid, most=MOST, example=example)


def must_listen(board: BoardRow, sitter: Sitter) -> None:
    """Refuse words to a board at which only the house would hear them."""
    others = [one for one in board.sitters if one.player_id != sitter.player_id]
    if others and all(map(is_house, others)):
        raise Refused("house-deaf", part=others[0].userid, example="show")


def to_move(board: BoardRow, position: Position) -> Seat | None:
    """The first seat of the house that may use a turn."""
    machines = [sitter.seat for sitter in board.sitters if is_house(sitter)]
    if not machines:
        return None
    acting = position.game.to_act(position.state)
    return min((seat for seat in machines if seat in acting), default=None)


def take_note(context: CommandContext, board: BoardRow, position: Position, *, runs: bool) -> None:
    """After a ply, or when a board begins: is the house to move?

    Args:
        runs: everybody has agreed to play, and the board is not over.
    """
    if not runs or to_move(board, position) is None:
        return
    if rows.wait(context.connection, board.id, context.now):
        context.bot_turns.append((board.id, not position.apart))


def queue(context: CommandContext, letters: Sequence[NewLetter]) -> None:
    """Queue a mail's letters; those to people who wait for the house wait with them.

    Only the answer to the one who has just moved: it is the letter that the house's move belongs
    in. Where nobody else sees the moves (races), nothing waits.
    """
    waiting = {board_id for board_id, together in context.bot_turns if together}
    at_once: list[NewLetter] = []
    for letter in letters:
        boards = waiting & set(_boards_in(letter)) if letter.recipient else set()
        if boards:
            rows.hold(context.connection, letter, sorted(boards), context.now, context.mail_id)
            waiting -= boards
        else:
            at_once.append(letter)
    outbox.add(context.connection, at_once, context.now, context.mail_id)


def _boards_in(letter: NewLetter) -> Iterator[int]:
    """The boards that a letter shows to one of their players after a turn."""
    if letter.tray:
        return
    if letter.letter in _KEPT_BACK and letter.seat is not None and letter.board_id is not None:
        yield letter.board_id
    for line in letter.words.get("lines", ()) if letter.letter == "report" else ():
        for part in line["parts"]:
            if part["letter"] in _KEPT_BACK and part["seat"] is not None:
                yield part["board"]


@dataclass(frozen=True, slots=True)
class Kept:
    """A letter that waits for the house, and into which its move is to be written."""

    row: QueuedLetter

    def takes(self, told: Notification) -> bool:
        """Whether this news belongs into the letter."""
        part = told.part
        return (
            told.player_id == self.row.player_id
            and part.letter in _BOARD_LETTERS
            and part.seat is not None
            and part.board in set(_boards_in(self.row))
        )

    def with_news(self, news: Part) -> NewLetter:
        """The letter with the house's move in it; its Message-ID is the old one."""
        row = self.row
        if row.letter == "report":
            return replace(row, words=_report_with(row.words, news))
        old = Part(row.letter, again(row.words), row.board_id, row.ply, news.seat)
        new = _merged(old, news)
        return replace(row, letter=new.letter, words=new.words, ply=new.ply)


def _report_with(words: Mapping[str, Any], news: Part) -> dict[str, Any]:
    """A report in which the newest part about the board tells of the house's move."""
    lines = [{**line, "parts": list(line["parts"])} for line in words["lines"]]
    for line in reversed(lines):
        for at in reversed(range(len(line["parts"]))):
            part = line["parts"][at]
            if part["board"] == news.board and part["letter"] in _KEPT_BACK:
                said = again(part["words"])
                old = Part(part["letter"], said, part["board"], part["ply"], news.seat)
                new = _merged(old, news)
                changed = {"letter": new.letter, "words": dict(new.words), "ply": new.ply}
                line["parts"][at] = {**part, **changed}
                return {**words, "lines": lines}
    return {**words, "lines": lines}


def _merged(old: Part, news: Part) -> Part:
    """One part that tells of both: what its reader did, and what the house did then."""
    if old.letter == "started" and news.letter == "board":
        return replace(old, ply=news.ply)  # where the atoms are hidden is all there is to tell
    event = old.words.get("event")
    ply = old.ply or 0
    after = old.words["after"] if event == "run" else ply - 1 if event == "moved" else ply
    words = {**old.words, **news.words, "event": "run", "after": after}
    for kept in ("said", "by", "said_to"):
        words[kept] = old.words.get(kept, "")
    return Part(news.letter, words, news.board, news.ply, news.seat)


def people_of(board: BoardRow) -> list[str]:
    """Userids of those at a board who read what is said there."""
    return [sitter.userid for sitter in board.sitters if not is_house(sitter)]


def named(context: CommandContext, userid: str) -> Player | None:
    """An active player, or one of the house's: somebody whose boards can be looked at."""
    found = players.by_userid(context.connection, userid)
    if found is None and userid in HOUSE:
        return rows.known(context.connection, userid)
    return found
