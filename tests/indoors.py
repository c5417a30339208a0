"""A server without sockets and relay: a test hands in mails and gets the letters that they cause.

Everything in between is real and runs in the test's own thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any
from weakref import WeakSet

from asgi_client import FORM, Answer, fetch, site_of
from dns_zone import Zone
from headers import written
from migrated import migrated, trusted_copies
from one_process import Server
from running import NO_RATES, Correspondence, Letter, MovableClock, add_player, read_settings
from speedups import cheap_hasher
from sqlalchemy import update
from starlette.applications import Starlette

from pbmserv.mail.dns import Resolver
from pbmserv.mail.envelope import Envelope
from pbmserv.outbound.outbox import Outbox
from pbmserv.outbound.relay import OutgoingLetter, Relay
from pbmserv.outbound.results import Sent
from pbmserv.service.auth.passwords import Passwords
from pbmserv.service.core.context import CommandContext
from pbmserv.service.operators import deeds
from pbmserv.service.operators.deeds import Operators
from pbmserv.service.pages.page_requests import PageRequest
from pbmserv.store.core.database import Database
from pbmserv.store.delivery.letter_claims import ClaimedLetter
from pbmserv.store.tables.downtime import heartbeats

PASSWORD = "wonder-land"


class NoRelay(Relay):
    """A relay that is never used."""

    def deliver(self, letter: OutgoingLetter) -> None:
        raise AssertionError("letters are taken from the outbox itself")

    def close(self) -> None:
        pass


class Posted(Letter):
    """A letter, the position it shows, and the letters inside it.

    It is made when a test reads it, because to make letters is most of the work and many are never
    read. If the test still has it, `Indoors` makes it before the server's state changes, so that it
    shows the state in which it was sent.

    Attributes:
        inside: kinds of the letters in a summary or a digest.
    """

    def __init__(self, queued: ClaimedLetter, outbox: Outbox) -> None:
        self.id = queued.id
        self.recipient = queued.recipient
        self.kind = queued.letter
        self.board, self.ply, self.seat = queued.board_id, queued.ply, queued.seat
        self.inside = tuple(_inside(queued.words))
        self.queued, self._outbox = queued, outbox

    # A comparison by `raw`, as of other letters, would make both.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @cached_property
    def raw(self) -> bytes:
        (letter,) = self._outbox.make([self.queued])
        return letter.raw

    @property
    def is_made(self) -> bool:
        return "raw" in self.__dict__

    @property
    def has_html(self) -> bool:
        return self.message.get_body(("html",)) is not None


class SettlingDoor:
    """The door for pages; it has play carry out each form at once, and bots move."""

    def __init__(self, house: Indoors) -> None:
        self._house, self._server = house, house.server

    async def store_form(self, body: bytes) -> int:
        self._house.make_in_time()
        number = await self._server.door.store_form(body)
        self._server.settle()
        return number

    async def store_press(self, request: PageRequest) -> int:
        self._house.make_in_time()
        number = await self._server.door.store_press(request)
        self._server.settle()
        self._house.let_bots_move()  # the page would wait for them
        return number


@dataclass
class Indoors:
    """A server, and the mail that goes in and out.

    Attributes:
        mails: number of mails written so far; it is part of each Message-ID.
        reads_late: whether letters are made only when a test reads them, even if they then show a
            later state.
        tidy_after: mails after which the door removes settled arrivals. That takes a third of the
            time of a mail; a door with a thread does it every second.
    """

    server: Server
    loop: asyncio.AbstractEventLoop
    mails: int = 0
    reads_late: bool = False
    tidy_after: int = 10
    _taken: int = 0
    _posted: WeakSet[Posted] = field(default_factory=WeakSet)

    def send(
        self,
        sender: str,
        subject: str = "",
        body: str = "",
        to: str = "",
        *,
        peer: str = "",
        **headers: str,
    ) -> list[Posted]:
        """Hand in a mail, and return the letters that it causes.

        Args:
            sender: of the envelope, and in From unless the headers have another one.
            peer: network address of the client.
        """
        self.send_unread(sender, subject, body, to, peer=peer, **headers)
        return self.letters()

    def send_unread(
        self,
        sender: str,
        subject: str = "",
        body: str = "",
        to: str = "",
        *,
        peer: str = "",
        **headers: str,
    ) -> None:
        """Hand in a mail, and leave its letters in the outbox: making them is half the work."""
        self.mails += 1
        named = {
            "From": sender,
            "To": to or self.server.mail_domain.address,
            "Subject": subject,
            "Message-ID": f"<{self.mails}@players.example>",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        recipient = to or self.server.mail_domain.address
        self._hand_over(Envelope(sender, recipient, written(named, body), peer))

    def begin(self, sender: str, subject: str, body: str = "") -> list[Posted]:
        """Ask for a board without a password, and say yes to the question that comes back."""
        (question,) = self.send(sender, subject, body)
        assert question.kind == "begin-asked"
        return self.reply(question, "yes")

    def send_raw(self, sender: str, raw: bytes, to: str = "") -> list[Posted]:
        """Hand in these octets as they are."""
        self._hand_over(Envelope(sender, to or self.server.mail_domain.address, raw))
        return self.letters()

    def _hand_over(self, envelope: Envelope) -> None:
        answer = self.hand_in(envelope)
        assert answer.startswith("250"), answer

    def hand_in(self, envelope: Envelope) -> str:
        """Hand in an envelope, carry it out, and return the SMTP reply."""
        self.make_in_time()
        reply = self.loop.run_until_complete(self.server.door.receive(envelope))
        self.server.play_stage.play.run_until_idle()
        self._taken += 1
        if self._taken % self.tidy_after == 0:
            self.server.door_stage.run_once()
        return reply

    def reply(self, letter: Letter, body: str, subject: str = "") -> list[Posted]:
        """Answer a letter as a mail program does."""
        self.reply_unread(letter, body, subject)
        return self.letters()

    def reply_unread(self, letter: Posted, body: str, subject: str = "") -> None:
        """Answer a letter, and leave the letters that this causes in the outbox."""
        self.send_unread(
            str(letter.message["To"]),
            subject or f"Re: {letter.subject}",
            body,
            letter.reply_to,
            In_Reply_To=str(letter.message["Message-ID"]),
        )

    def letters(self, to: str = "") -> list[Posted]:
        """Take the letters in the outbox for sent, and return them, oldest first.

        Args:
            to: an address; letters to others are left out.
        """
        self.make_in_time()
        self.let_bots_move()
        claimed = self.server.outbox.claim(1000)
        if claimed:
            self.server.outbox.settle([Sent(letter.id) for letter in claimed])
        letters = [Posted(letter, self.server.outbox) for letter in claimed]
        self._posted.update(letters)
        letters.sort(key=lambda letter: letter.id)
        return [letter for letter in letters if to in {"", letter.recipient}]

    def let_bots_move(self) -> None:
        """Let the bots do their work, if there may be some: to look takes a tenth of a mail."""
        if self.server.bots_were_rung:
            self.server.bots_were_rung = False
            self.server.bot_worker.run_once()

    def make_letters(self) -> None:
        """Make the letters that the test still has; they show the present state.

        A test that changes the database itself calls it first.
        """
        letters = [letter for letter in self._posted if not letter.is_made]
        self._posted.clear()
        if letters:
            letters.sort(key=lambda letter: letter.id)
            outgoing_letters = self.server.outbox.make([letter.queued for letter in letters])
            for letter, outgoing in zip(letters, outgoing_letters, strict=True):
                letter.raw = outgoing.raw

    def make_in_time(self) -> None:
        """Make the letters that the test still has, because the server's state is to change."""
        if not self.reads_late:
            self.make_letters()

    def drop_letters(self) -> None:
        """Take the letters in the outbox for sent, without making them."""
        claimed = self.server.outbox.claim(1000)
        self.server.outbox.settle([Sent(letter.id) for letter in claimed])

    def live(self, **by: float) -> list[Posted]:
        """Move the clock of a running server, and return the letters that are due."""
        self.move_clock(**by)
        self.server.scheduler.run_once()
        return self.letters()

    def move_clock(self, **by: float) -> None:
        """Move the clock, and do nothing that is due."""
        self.make_in_time()
        self.server.bots_were_rung = True  # they look once in a while
        clock = self.server.clock
        assert isinstance(clock, MovableClock)
        later = clock.moment + timedelta(**by)
        # The heartbeat first: a clock far ahead of it means an outage.
        self.server.writer.submit(
            lambda c: c.execute(update(heartbeats).values(beat_at=later))
        ).result()
        clock.moment = later

    def sign_up(self, *userids: str) -> None:
        """Create players with confirmed addresses (`address_of`)."""
        for userid in userids:
            add_player(self.server, userid, PASSWORD, address_of(userid))

    def open_up(self, board: int, *userids: str) -> None:
        """Fire in turn for the players of a Blackbox board until its opening is over."""
        for port in "123":
            for userid in userids:
                line = f"blackbox move {board} {userid} {PASSWORD} {port}"
                self.send(address_of(userid), line)

    @property
    def operators(self) -> Operators:
        """The operators' side of this server."""
        self.make_in_time()
        server = self.server
        server.bots_were_rung = True
        return Operators(server.services, server.writer, server.clock)

    def look(self, question: Callable[[CommandContext], Any]) -> Any:
        """Answer a question of the operators."""
        self.make_in_time()
        server = self.server
        return deeds.look(server.services, server.database, server.clock, question)


class HandedIn(Correspondence):
    """A `Correspondence` with a server without sockets.

    Its letters are made when a test reads them, so a letter that is read after the next mail may
    show a later state.
    """

    def __init__(self, indoors: Indoors) -> None:
        self.server = indoors.server
        self._indoors = indoors
        self._unread: list[Posted] = []
        indoors.reads_late = True
        self.server.scheduler.begin()

    def pages(self, method: str, path: str, body: str) -> Answer:
        """Ask the pages, for a `Tab`."""
        kind = {"content_type": FORM} if body else {}
        asked = fetch(self._site, path, method, body.encode(), **kind)
        return self._indoors.loop.run_until_complete(asked)

    @cached_property
    def _site(self) -> Starlette:
        return site_of(self.server)

    def send_raw(self, sender: str, to: str, raw: bytes) -> str:
        return self._indoors.hand_in(Envelope(sender, to, raw))

    def letters(self, address: str = "") -> list[Letter]:
        self.take_in(self._indoors.letters())
        letters = [letter for letter in self._unread if address in {"", letter.recipient}]
        self._unread = [letter for letter in self._unread if letter not in letters]
        return list(letters)

    def drop_letters(self) -> None:
        """Take the letters in the outbox for sent, without making them."""
        self._indoors.drop_letters()

    def settle(self) -> None:
        """Do nothing: each mail is carried out when it is handed in."""

    def live(self, **by: float) -> None:
        self._indoors.move_clock(**by)
        self.server.door_stage.run_once()
        self.server.scheduler.run_once()
        self.take_in(self._indoors.letters())

    def take_in(self, letters: list[Posted]) -> None:
        """Add letters that were sent to those that no test has read."""
        self._unread += letters


def _inside(words: Mapping[str, Any]) -> Iterator[str]:
    """Yield the kinds of the letters in a summary or a digest."""
    for line in words.get("lines", ()):
        yield from (part["letter"] for part in line["parts"])
    for name in ("waiting", "news"):
        yield from (part["letter"] for part in words.get(name, ()) if isinstance(part, Mapping))


def address_of(userid: str) -> str:
    return f"{userid}@players.example"


@contextmanager
def indoors(
    folder: Path, database_url: str = "", *, names: Resolver | None = None, **settings: str
) -> Iterator[Indoors]:
    """Start a server with its files in *folder*; signing up needs no confirmation.

    Args:
        database_url: default: SQLite in the folder.
        names: the DNS of the server.
    """
    chosen = {
        "PBMSERV_ADDRESS": "pbmserv@games.example",
        "PBMSERV_WEB_URL": "http://games.example",
        "PBMSERV_SIGNUP": "open",
        **NO_RATES,
        **{f"PBMSERV_{name.upper()}": value for name, value in settings.items()},
    }
    database_url = database_url or migrated(folder / "pbmserv.sqlite3", has_key=True)
    with trusted_copies():
        server = Server(
            read_settings(folder, database_url, chosen),
            MovableClock(),
            NoRelay(),
            Passwords(cheap_hasher()),
            names or Zone(),
        )
    loop = asyncio.new_event_loop()

    house = Indoors(server, loop)
    server.web_stage.play.door = SettlingDoor(house)
    try:
        yield house
        house.make_in_time()
        assert_boards_of_players_fit(server.database)
    finally:
        server.close()
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


BOARDS_OF_PLAYERS = """
SELECT player_id, boards.id, game, boards.seats, status, proven, count(accepted_at) > 0 AS accepted
FROM boards JOIN seats ON seats.board_id = boards.id
GROUP BY player_id, boards.id, game, boards.seats, status, proven ORDER BY 1, 2
"""


def assert_boards_of_players_fit(database: Database) -> None:
    """Fail if the copies in `player_boards` differ from the boards."""
    with database.reading.connect() as connection:
        driver: Any = connection.connection.driver_connection  # quicker for every server
        boards = driver.execute(BOARDS_OF_PLAYERS).fetchall()
        copies = driver.execute("SELECT * FROM player_boards ORDER BY 1, 2").fetchall()
    assert copies == boards
