"""What a letter shows, and where its reader can go from there.

Boards of the store, each read once for a group of letters, and files; reply addresses, replies
with words in them, ways out.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import quote

from markupsafe import Markup
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from pbmserv.engine.position import Position
from pbmserv.engine.registry import shown_options
from pbmserv.engine.types import Seat
from pbmserv.errors import Misread, MoveError, PlayerError, ServerFault, StoreAway
from pbmserv.letters.environment import template_of
from pbmserv.letters.mime import Attachment
from pbmserv.letters.scene import BoardScene, board_scene
from pbmserv.mail.letter_kinds import kind_of
from pbmserv.mail.reply_address import PAGE_DAYS, MailDomain, Purpose, ReplyAddress
from pbmserv.store import solo
from pbmserv.store.accounts import personal
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.boards.moves import Positions
from pbmserv.store.delivery.outbox import QueuedLetter

T = TypeVar("T")

log = logging.getLogger("pbmserv.games")

_logged: set[tuple[int, str]] = set()
_MOST_LOGGED = 1_000
"""Broken boards, with their faults, that are remembered."""

_FIRST_TURNS = 3
"""So many turns of a player's first board of a game have letters that say how to play."""

_EPOCH = date(1970, 1, 1).toordinal()
_OF_NOBODY = frozenset({Purpose.CONFIRM, Purpose.ADDRESS, Purpose.INVITED})
"""Questions to somebody who is no player, or is not known to be one."""


@dataclass(slots=True)
class Looking:
    """Looks things up for letters that are made one after the other, in one transaction.

    Both letters about a ply show the same position. What one reader may see is never kept: it is
    made of the position anew for each letter.

    Attributes:
        connection: it must see one state of the store all the while.
        positions: replays boards and remembers the newest positions.
    """

    connection: Connection
    positions: Positions
    _rows: dict[int, BoardRow] = field(default_factory=dict)
    _positions: dict[int, Position] = field(default_factory=dict)

    def board(self, board_id: int) -> BoardRow:
        """A board's row.

        Raises:
            ServerFault: there is no such board.
        """
        known = self._rows.get(board_id) or boards.load(self.connection, board_id)
        if known is None:
            raise ServerFault(f"a letter speaks of board {board_id}, which is not there")
        self._rows[board_id] = known
        return known

    def seen(
        self, board_id: int | None, ply: int | None, seat: int | None, player: Player | None
    ) -> Seen | None:
        """A board at a ply (``None`` = the newest), as it is shown to a player or a stranger.

        Raises:
            ServerFault: there is no such board.
        """
        if board_id is None:
            return None
        board, newest = self.board(board_id), self._positions.get(board_id)
        if newest is None:
            newest = self._positions[board_id] = self.positions.newest(self.connection, board)
            self.positions.remember({board_id: newest})
        position = newest if ply in {None, newest.number} else newest.at(ply)
        daily = solo.daily_of_board(self.connection, board_id) if board.seats == 1 else None
        mine, reply, new = None, None, False  # who has lost the seat sees what all may see
        if seat is not None and player is not None and board.sitters[seat].player_id == player.id:
            mine = Seat(seat)
            turn = position.game.turn(position.state, mine)
            reply = ReplyAddress(Purpose.BOARD, player.id, board_id, turn, player.reply_epoch)
            early = turn <= _FIRST_TURNS * (1 if position.apart else board.seats)
            new = early and boards.is_first(self.connection, board, player.id)
        shut = seat is not None and daily is not None and not daily.solved
        return Seen(board, position, mine, daily.number if daily else 0, reply, new, shut)


def unless_broken(board: int, game: str, show: Callable[[], T]) -> T | None:
    """What *show* makes of one board of several; ``None``: its game breaks down over it. That is
    logged (once, however often somebody looks), and keeps nobody from the others.

    What the store says, or the service to the player, is not the game's, and goes on its way.
    """
    try:
        return show()
    except (SQLAlchemyError, StoreAway):
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, PlayerError) and not isinstance(error, MoveError | Misread):
            raise
        fault = board, type(error).__name__
        if fault not in _logged:
            if len(_logged) >= _MOST_LOGGED:
                _logged.clear()
            _logged.add(fault)
            log.exception("a board cannot be shown", extra={"board": board, "game": game})
        return None


@dataclass(frozen=True, slots=True)
class Seen:
    """A board at a ply, through somebody's eyes.

    Attributes:
        seat: the reader's; ``None`` for all who have none.
        daily: the number of its day's box, 0 if it is none.
        reply: what a reply of that seat says; ``None`` without one.
        is_beginner: the reader is new to the game.
        is_shut: it is a day's box that was not solved: what is hidden there stays so, unless the
            letter says that it is ``opened``.
    """

    board: BoardRow
    position: Position
    seat: Seat | None
    daily: int
    reply: ReplyAddress | None = None
    is_beginner: bool = False
    is_shut: bool = False

    def scene(self, words: Mapping[str, Any]) -> BoardScene:
        """What the reader may see, and how their move was read, if that is not plain."""
        shut = self.is_shut and not words.get("opened")
        scene = board_scene(
            self.position.shut if shut else self.position,
            number=self.board.id,
            names=self.board.names,
            options=shown_options(self.position.game, self.board.options, self.board.seats),
            rated=self.board.rated,
            terms=self.board.terms,
            seat=self.seat,
            own_move=words.get("event") == "moved",
            daily=self.daily,
            after=words.get("after"),
            chooser=self.board.chooser,
        )
        if not (words.get("read_as") or words.get("held")):
            return scene
        reading = template_of("letters/pieces/reading.j2")
        how = reading.render(words={"read_as": "", "held": None, **words})
        told = filter(None, map(str.strip, how.splitlines()))
        return replace(scene, events=(*scene.events, *told))


def attachments(
    connection: Connection, row: QueuedLetter, player: Player | None
) -> tuple[Attachment, ...]:
    """What travels with a letter: all that is kept on a player who has asked for it."""
    if row.letter == "saved":
        name = f"{row.words['key']}-{row.words['board']}"
        return tuple(
            Attachment(f"{name}{ending}", "text/plain", text.encode())
            for ending, text in row.words["files"]
        )
    if row.letter != "export" or player is None:
        return ()
    kept = _in_lines(personal.kept_on(connection, player))
    name = f"pbmserv-{player.userid.strip('_-') or 'player'}.json"
    return (Attachment(name, "application/json", f"{kept}\n".encode()),)


def _in_lines(kept: Mapping[str, Any]) -> str:
    """JSON with a line for each thing in a list. With an indent for all the library's encoder is
    ten times slower, and an old account is megabytes."""
    found = []
    for key, things in kept.items():
        said = _json(things)
        if isinstance(things, list) and things:
            said = "[\n  " + ",\n  ".join(map(_json, things)) + "\n]"
        found.append(f"{_json(key)}: {said}")
    return "{\n" + ",\n".join(found) + "\n}"


_json = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode


# -- where a reader can go -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mailto:
    """Makes the links of one letter; templates call it with the text of a reply.

    Attributes:
        address: where the reply goes; it says who speaks and of what.
        subject: of the reply; words of ours, for people to see.
    """

    address: str
    subject: str

    def __call__(self, words: str) -> Markup:
        """``mailto:…`` with address, subject and *words* filled in.

        More words of a move may be appended as they are if they are letters and digits. All else
        is percent-encoded, ``+`` as well: some programs take a bare one for a blank (RFC 6068,
        section 5); a line ends with CR LF.
        """
        link = _start(self.address, self.subject) + _body(words)
        return Markup(link)  # noqa: S704 - percent-encoded, and HTML allows "&" in front of "body="


@lru_cache(maxsize=16)
def _start(address: str, subject: str) -> str:
    local, _, domain = address.rpartition("@")
    # RFC 6068 section 2: "+" and ":" need no encoding here.
    to = f"{local.translate(_CODED).replace('%2B', '+')}@{domain.translate(_CODED)}"
    return f"mailto:{to}?subject={subject.translate(_CODED).replace('%3A', ':')}&body="


@lru_cache(maxsize=256)  # templates have few
def _body(words: str) -> str:
    return words.replace("\n", "\r\n").translate(_CODED)


class _Coded(dict[int, str]):
    """For `str.translate`: as `urllib.parse.quote` with nothing safe, in half its time."""

    def __missing__(self, code: int) -> str:
        return quote(chr(code), safe="")


_CODED = _Coded({code: quote(chr(code), safe="") for code in range(128)})


def reply_of(row: QueuedLetter, player: Player | None) -> ReplyAddress | None:
    """What a reply to a letter says; ``None``: it comes to the plain address and says nothing.

    For a letter to a player that is about nothing special the purpose is PLAYER: the caller, who
    sees the board, may make BOARD of it.
    """
    kind = kind_of(row.letter)
    purpose, about, number = Purpose.PLAYER, 0, 0
    if "answers" in row.words:  # a refusal, or help: the question that was asked is still open
        purpose, about, number = row.words["answers"]
        purpose = Purpose(purpose)
        if not player or purpose in _OF_NOBODY:
            return ReplyAddress(purpose, about=about) if purpose in _OF_NOBODY else None
        if row.letter == "summary" and purpose is Purpose.TRAY:
            purpose, about, number = Purpose.PLAYER, 0, 0  # its numbers name any board
    elif kind.question is not None:
        purpose = kind.question.purpose
        about = row.words[kind.question.about] if kind.question.about else 0
        number = row.words[kind.question.number] if kind.question.number else 0
        if kind.asks_of_itself:
            about = row.id
    elif kind.to_followers and row.board_id is not None:
        purpose, about = Purpose.FOLLOW, row.board_id
    if kind.asks_stranger:
        return ReplyAddress(purpose, about=about)
    if player is None or kind.to_old_address:
        return None
    return ReplyAddress(purpose, player.id, about, number, player.reply_epoch)


def page_of(player: Player, moment: datetime) -> ReplyAddress:
    """What opens a player's own page from *moment* on, for `PAGE_DAYS`."""
    day = moment.date().toordinal() - _EPOCH
    return ReplyAddress(Purpose.PAGE, player.id, 0, day, player.reply_epoch)


def opens_page(told: ReplyAddress, player: Player, now: datetime) -> bool:
    """Whether a link that says this opens the player's page now."""
    age = now.date().toordinal() - _EPOCH - told.number
    is_theirs = told.purpose is Purpose.PAGE and told.player == player.id
    is_good = player.active and told.epoch == player.reply_epoch
    return is_theirs and is_good and age <= PAGE_DAYS


def ways_out(
    mail_domain: MailDomain, web_url: str, row: QueuedLetter, player: Player | None
) -> tuple[str, ...]:
    """Where a reader's mail program can end what brought a letter: a page, and an address.

    A page only under ``https:`` (RFC 8058 section 3.1). Without reminders of one's own only the one
    before a forfeit comes, which nobody can do without; with a digest, single letters are answers.
    """
    what = kind_of(row.letter).subscription
    if what == "invitations":
        word = ReplyAddress(Purpose.UNINVITED, about=row.words["invitation"])
    elif (
        player is None
        or not what
        or (what == "reminders" and not player.remind)
        or (what == "single" and player.digest_minute is not None)
    ):
        return ()
    else:
        word = ReplyAddress(Purpose.UNSUBSCRIBE, player.id, row.id, 0, player.reply_epoch)
    token = mail_domain.ring.token(word)
    by_mail = f"mailto:{mail_domain.local}+{token}@{mail_domain.domain}?subject=unsubscribe"
    if not web_url.startswith("https:"):
        return (by_mail,)
    return (f"{web_url}/unsubscribe/{token}", by_mail)
