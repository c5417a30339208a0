"""Commands of players from their private pages: typed requests, which play carries out.

A request is stored among the arrivals and carried out once, with the effects and the letters that a
reply to a letter of that board would have. Its inbox row, whose key is a hash of the request, drops
a second press of the same page.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from pbmserv.commands.grammar.game_names import GameTitles
from pbmserv.commands.grammar.readings import Reading
from pbmserv.commands.reading.mail import refuse_unread
from pbmserv.mail import reading_time
from pbmserv.mail.envelope import Source
from pbmserv.mail.reading_time import ReadingTooLong
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.service.core.actor import Actor
from pbmserv.service.core.job_result import Done, Receipt
from pbmserv.service.core.services import Services
from pbmserv.service.core.submission import Request, Submission
from pbmserv.service.mails.incoming import reading_of
from pbmserv.service.mails.mail_service import MailService
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.core.database import Database
from pbmserv.store.delivery import inbox
from pbmserv.store.delivery.inbox import NewMail
from pbmserv.store.tables.mail import MailState

LINK_ENDED = 0
"""The result of a request whose page's link is no longer good."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A command from a page, as it is stored.

    Attributes:
        player: the player who opened the page, proven by its link.
        epoch: the epoch of the link, by which links are revoked.
        board: number of the board; 0 on a player's own page.
        turn: the turn of the board that the page showed.
        key: random word of the page; a second press of the same page has the same one.
        command: a move, or any command of a reply, in one line.
        words: for the others at the board.
    """

    player: int
    epoch: int
    board: int
    turn: int
    key: str
    command: str
    words: str = ""

    @property
    def link(self) -> ReplyAddress:
        """The reply address that can do the same as the page."""
        purpose = Purpose.BOARD if self.board else Purpose.PLAYER
        return ReplyAddress(purpose, self.player, self.board, self.turn, self.epoch)

    @property
    def text(self) -> str:
        """The command and the words, as a reply would have them."""
        words = "".join(sign for sign in self.words if sign == "\n" or sign.isprintable()).strip()
        command = " ".join(self.command.split())
        return unicodedata.normalize("NFC", f"{command}\n\n{words}" if words else command)

    @property
    def digest(self) -> str:
        """Hex SHA-256 that only the same press of the same page has again."""
        return hashlib.sha256(self.as_json()).hexdigest()

    def as_json(self) -> bytes:
        """Return the request as it is stored."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def of_json(cls, body: bytes) -> PageRequest:
        """Return a stored request."""
        return cls(**json.loads(body))


class PageRequests:
    """Reads page requests and carries them out, in play.

    Args:
        services: shared by all commands.
        database: for reading.
        mails: carries out commands.
    """

    def __init__(self, services: Services, database: Database, mails: MailService) -> None:
        self._domain = services.mail_domain.domain
        self._games = services.registry.titles
        self._database = database
        self._mails = mails

    def read(self, stored: PageRequest) -> Request | None:
        """Read the command of a page; return `None` if the link of the page has ended."""
        with self._database.reading.connect() as connection:
            player = players.active_of(connection, stored.link)
        if player is None:
            return None
        identity = f"<{stored.digest[:32]}.page@{self._domain}>"
        reading = _reading(stored, self._games)
        submission = Submission(reading, stored.text, id=identity)
        return Request(_actor(player, stored.link), submission)

    def carry_out_press(
        self, stored: PageRequest, request: Request, now: datetime, connection: Connection
    ) -> Done:
        """Carry out a request that `read` has read, unless it was carried out before.

        The result for the page is the number of its inbox row, by which the letters that answer it
        are found.

        Raises:
            Outdated: a password was changed after it was checked.
        """
        body, digest = stored.as_json(), stored.digest
        address = request.actor.address
        mail = NewMail(digest, "", address, "", body, MailState.DONE, player_id=stored.player)
        number = inbox.add(connection, mail, now)
        if number is None:
            first = inbox.number_of(connection, digest, "")
            assert first is not None
            return Done(receipt=Receipt(first, "copy", stored.player), page_result=first)
        done = self._mails.carry_out_request(request, number, len(body), now, connection)
        return replace(done, page_result=number)


def _actor(player: Player, link: ReplyAddress) -> Actor:
    source = Source("", player.address.lower())
    return Actor(address=player.address, reply_address=link, source=source)


def _reading(stored: PageRequest, games: GameTitles) -> Reading:
    try:
        with reading_time.limited(reading_time.LONGEST_S):
            return reading_of("", stored.text, games, stored.link.purpose)
    except ReadingTooLong:
        return refuse_unread("too-long")
