"""A server in this process, with players and boards as heavy as a stranger can make them."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from time import process_time
from typing import Any

from argon2 import PasswordHasher
from sqlalchemy import Connection, insert, update

from benchmarks.moves import DOMAIN, LOCAL
from pbmserv.config.settings import Settings, load
from pbmserv.engine.record import Ply
from pbmserv.engine.types import Seat
from pbmserv.mail.envelope import Envelope
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.outbound.relay import OutgoingLetter, Relay
from pbmserv.outbound.results import Sent
from pbmserv.service.auth.passwords import Passwords
from pbmserv.store.accounts import players
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import NewBoard
from pbmserv.store.tables.boards import boards as board_rows
from pbmserv.store.tables.boards import plies as ply_rows
from tests.one_process import Server

PASSWORD = "wonder-land"
PLAYERS = ("alice", "bob", *(f"racer{n}" for n in range(7)))
_RATES = ("PLAYER", "ADDRESS", "NETWORK", "REFUSALS", "ANSWERS", "CONFIRMATIONS", "RESETS")


class _NoRelay(Relay):
    """A relay that gets no letters."""

    def deliver(self, letter: OutgoingLetter) -> None:
        raise AssertionError(f"letter {letter.id} is read from the outbox")

    def close(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Cost:
    """Processor time of one mail, in seconds.

    Attributes:
        taken: until the mail is carried out.
        letters: to make all of its letters.
        reply: the door's SMTP reply.
        letter_count: number of letters.
        octets: total size of the letters.
    """

    taken: float
    letters: float
    reply: str
    letter_count: int
    octets: int

    @property
    def whole(self) -> float:
        """Seconds for the mail and its letters."""
        return self.taken + self.letters


@dataclass
class World:
    """A server and its players."""

    settings: Settings
    server: Server
    loop: asyncio.AbstractEventLoop
    ids: dict[str, int] = field(default_factory=dict)
    _open: Connection | None = None

    def sign_up(self, *userids: str) -> None:
        """Create players with the password `PASSWORD`."""
        hashed = self.server.passwords.hash(PASSWORD)
        with self._unsynced() as connection:
            for userid in userids:
                player = players.create(connection, userid, hashed, address(userid), self.now)
                assert player is not None
                self.ids[userid] = player.id

    @property
    def now(self) -> datetime:
        return self.server.clock.now()

    def board(
        self, options: Sequence[str], userids: Sequence[str], plies: Sequence[tuple[int, str, bool]]
    ) -> int:
        """Create a running board with any number of plies (seat, canonical text, free)."""
        sitting = [self.ids[userid] for userid in userids]
        game = self.server.registry.newest("blackbox")
        seats = len(userids)
        with self._unsynced() as connection:
            number = boards.create(
                connection,
                NewBoard(
                    game="blackbox",
                    rules_version=game.info.rules_version,
                    options=game.describe(game.options(options, seats)),
                    seed=bytes(16),
                    thread=secrets.token_hex(8),
                    rated=False,
                    sitting=sitting,
                    accepted=sitting,
                    waiting=tuple(map(Seat, range(seats))),
                ),
                self.now,
            )
            if plies:
                rows = [Ply(at, Seat(seat), text, free) for at, (seat, text, free)
                        in enumerate(plies, 1)]  # fmt: skip
                connection.execute(
                    insert(ply_rows),
                    [
                        {
                            "board_id": number, "number": ply.number, "seat": ply.seat,
                            "text": ply.text, "free": ply.free, "created_at": self.now,
                        }
                        for ply in rows
                    ],
                )  # fmt: skip
                connection.execute(
                    update(board_rows).where(board_rows.c.id == number).values(plies=len(rows))
                )
        return number

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Create all boards within the block in one transaction."""
        with self._unsynced() as self._open:
            yield
        self._open = None

    @contextmanager
    def _unsynced(self) -> Iterator[Connection]:
        """Begin a transaction that does not wait for the disk; boards are not measured."""
        if self._open is not None:
            yield self._open
            return
        with self.server.database.writing.connect() as connection:
            driver: Any = connection.connection.dbapi_connection
            driver.execute("PRAGMA synchronous=OFF")
            with connection.begin():
                yield connection

    def address_of(self, userid: str, board: int, turn: int) -> str:
        """Return the reply address of a board letter."""
        return self.server.mail_domain.address_of(
            ReplyAddress(Purpose.BOARD, self.ids[userid], board, turn, 0)
        )

    def player_address(self, userid: str) -> str:
        """Return the reply address of a letter about no single board."""
        return self.server.mail_domain.address_of(
            ReplyAddress(Purpose.PLAYER, self.ids[userid], 0, 0, 0)
        )

    def post(self, sender: str, raw: bytes, to: str = "") -> Cost:
        """Carry a mail out with empty caches, make its letters, and return the cost."""
        self.restart()
        envelope = Envelope(sender, to or self.server.mail_domain.address, raw)
        begun = process_time()
        reply = self.loop.run_until_complete(self.server.door.receive(envelope))
        self.server.settle()
        taken = process_time() - begun
        begun = process_time()
        letters = self.letters()
        return Cost(
            taken, process_time() - begun, reply, len(letters), sum(len(x.raw) for x in letters)
        )

    def letters(self) -> list[OutgoingLetter]:
        """Make all letters that wait, as post does, and return them."""
        letters: list[OutgoingLetter] = []
        while claimed := self.server.outbox.claim(1000):
            letters += self.server.outbox.make(claimed)
            self.server.outbox.settle([Sent(letter.id) for letter in claimed])
        return letters

    def tidy(self) -> None:
        """End all solo boards, of which a player may have a limited number."""
        with self._unsynced() as connection:
            alone = update(board_rows).where(board_rows.c.seats == 1)
            connection.execute(alone.values(status="declined"))

    def restart(self) -> None:
        """Restart the server, so that no position is in memory."""
        self.server.close()
        self.server = _server(self.settings)


def address(userid: str) -> str:
    """Return the mail address of a player."""
    return f"{userid}@players.example"


def mail(subject: str, body: str, *, parts: bool = False) -> bytes:
    """Return a mail from alice; with *parts* the body begins with its own Content-Type."""
    text = (
        f"From: {address('alice')}\nTo: {LOCAL}@{DOMAIN}\nSubject: {subject}\n"
        f"Message-ID: <{secrets.token_hex(8)}@players.example>\n"
    )
    folded = "\n".join(map(_folded, body.split("\n")))
    return f"{text}{'' if parts else chr(10)}{folded}\n".replace("\n", "\r\n").encode()


def _folded(line: str) -> str:
    """Fold a line that is too long for mail; continuations are indented."""
    return re.sub("(.{800,900}[, ])", "\\1\n ", line) if len(line) > 990 else line


@contextmanager
def world(folder: Path) -> Iterator[World]:
    """Run a server on SQLite in *folder*, with cheap argon2 and without rate limits."""
    loaded = load(
        {
            "PBMSERV_DATA_DIR": str(folder),
            "PBMSERV_DATABASE": f"sqlite:///{folder}/heavy.sqlite3",
            "PBMSERV_ADDRESS": f"{LOCAL}@{DOMAIN}",
            "PBMSERV_WEB_URL": f"http://{DOMAIN}",
            "PBMSERV_SIGNUP": "open",
            "PBMSERV_SENDER_CHECKS": "off",
            **{f"PBMSERV_RATE_{name}": "" for name in _RATES},
        },
        None,
    )
    heavy = World(loaded.settings, _server(loaded.settings), asyncio.new_event_loop())
    heavy.sign_up(*PLAYERS)
    try:
        yield heavy
    finally:
        heavy.server.close()
        heavy.loop.run_until_complete(heavy.loop.shutdown_default_executor())
        heavy.loop.close()


def _server(settings: Settings) -> Server:
    hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    return Server(settings, None, _NoRelay(), Passwords(hasher))
