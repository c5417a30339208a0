"""A server without its doors, with players and boards as heavy as a stranger could make them."""

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
from pbmserv.outbound.outbox import Sent
from pbmserv.outbound.relay import OutgoingLetter, Relay
from pbmserv.service.auth.passwords import Passwords
from pbmserv.store.accounts import players
from pbmserv.store.boards import boards
from pbmserv.store.tables import boards as board_rows
from pbmserv.store.tables.boards import plies as ply_rows
from tests.one_process import Server

PASSWORD = "wonder-land"
PLAYERS = ("alice", "bob", *(f"racer{n}" for n in range(7)))
_RATES = ("PLAYER", "ADDRESS", "NETWORK", "REFUSALS", "ANSWERS", "CONFIRMATIONS", "RESETS")


class _NoRelay(Relay):
    """Nothing is delivered here."""

    def deliver(self, letter: OutgoingLetter) -> None:
        raise AssertionError(f"letter {letter.id} is taken from the outbox itself")

    def close(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Cost:
    """What one mail took, in seconds of processor time.

    Attributes:
        taken: from its octets to its 250.
        letters: to make all letters that it led to.
        reply: what was said at the door.
        made: how many letters.
        octets: of these letters.
    """

    taken: float
    letters: float
    reply: str
    made: int
    octets: int

    @property
    def whole(self) -> float:
        """Both together."""
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
        """Players whose password is `PASSWORD`."""
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
        """A running board with these plies (seat, canonical text, free), however many they are."""
        sitting = [self.ids[userid] for userid in userids]
        game = self.server.registry.newest("blackbox")
        seats = len(userids)
        with self._unsynced() as connection:
            number = boards.create(
                connection,
                game="blackbox",
                rules_version=game.info.rules_version,
                options=game.describe(game.options(options, seats)),
                seed=bytes(16),
                thread=secrets.token_hex(8),
                rated=False,
                sitting=sitting,
                accepted=sitting,
                now=self.now,
                waiting=tuple(map(Seat, range(seats))),
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
        """All boards that are made meanwhile are made in one transaction."""
        with self._unsynced() as self._open:
            yield
        self._open = None

    @contextmanager
    def _unsynced(self) -> Iterator[Connection]:
        """A transaction that does not wait for the disk: boards are many, and no part of a mail."""
        if self._open is not None:
            yield self._open
            return
        with self.server.database.writing.connect() as connection:
            driver: Any = connection.connection.dbapi_connection
            driver.execute("PRAGMA synchronous=OFF")
            with connection.begin():
                yield connection

    def address_of(self, userid: str, board: int, turn: int) -> str:
        """Where an answer to a board's letter goes."""
        return self.server.mail_domain.address_of(
            ReplyAddress(Purpose.BOARD, self.ids[userid], board, turn, 0)
        )

    def player_address(self, userid: str) -> str:
        """Where an answer to a letter about no one board goes."""
        return self.server.mail_domain.address_of(
            ReplyAddress(Purpose.PLAYER, self.ids[userid], 0, 0, 0)
        )

    def post(self, sender: str, raw: bytes, to: str = "") -> Cost:
        """Hand a mail in, nothing remembered of any board, and make its letters."""
        self.restart()
        envelope = Envelope(sender, to or self.server.mail_domain.address, raw)
        begun = process_time()
        reply = self.loop.run_until_complete(self.server.door.arrives(envelope, is_counted=False))
        self.server.settle()
        taken = process_time() - begun
        begun = process_time()
        made = self.letters()
        return Cost(taken, process_time() - begun, reply, len(made), sum(len(x.raw) for x in made))

    def letters(self) -> list[OutgoingLetter]:
        """The letters that wait, made as the sender makes them."""
        made: list[OutgoingLetter] = []
        while claimed := self.server.outbox.claim(1000):
            made += self.server.outbox.make(claimed)
            self.server.outbox.settle([Sent(one.id) for one in claimed])
        return made

    def tidy(self) -> None:
        """End all boards for one, of which a player may have only so many."""
        with self._unsynced() as connection:
            alone = update(board_rows).where(board_rows.c.seats == 1)
            connection.execute(alone.values(status="declined"))

    def restart(self) -> None:
        """Have no position of any board in memory."""
        self.server.close()
        self.server = _server(self.settings)


def address(userid: str) -> str:
    """A player's mail address."""
    return f"{userid}@players.example"


def mail(subject: str, body: str, *, parts: bool = False) -> bytes:
    """A mail from alice; *parts*: its body begins with a Content-Type of its own."""
    text = (
        f"From: {address('alice')}\nTo: {LOCAL}@{DOMAIN}\nSubject: {subject}\n"
        f"Message-ID: <{secrets.token_hex(8)}@players.example>\n"
    )
    folded = "\n".join(map(_folded, body.split("\n")))
    return f"{text}{'' if parts else chr(10)}{folded}\n".replace("\n", "\r\n").encode()


def _folded(line: str) -> str:
    """A line as mail lets it pass; one that goes on is indented."""
    return re.sub("(.{800,900}[, ])", "\\1\n ", line) if len(line) > 990 else line


@contextmanager
def world(folder: Path) -> Iterator[World]:
    """A server on SQLite in *folder*, with cheap argon2 and no limits of rate."""
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
    found = World(loaded.settings, _server(loaded.settings), asyncio.new_event_loop())
    found.sign_up(*PLAYERS)
    try:
        yield found
    finally:
        found.server.close()
        found.loop.run_until_complete(found.loop.shutdown_default_executor())
        found.loop.close()


def _server(settings: Settings) -> Server:
    hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    return Server(settings, None, _NoRelay(), Passwords(hasher))
