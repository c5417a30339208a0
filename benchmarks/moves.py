"""A database with many running boards, and an endless supply of real moves on them."""

from __future__ import annotations

import random
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter, sleep

from benchmarks.smtp import Mail
from pbmserv.engine.clocks import SeatClock
from pbmserv.engine.record import Ply
from pbmserv.engine.types import Seat
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.geometry import trace_all
from pbmserv.games.blackbox.options import CLASSIC
from pbmserv.mail.reply_address import KeyRing, MailDomain, Purpose, ReplyAddress
from pbmserv.store.accounts import players
from pbmserv.store.boards import boards, moves
from pbmserv.store.clocks import Times
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database

LOCAL, DOMAIN = "pbmserv", "games.example"
SIZE = 1_000
"""Octets of a mail."""
PLAYERS = 2_000
"""So many that of nobody more mails wait than may, also where only the door runs."""

_QUOTED = "> | 3 |   |   | ? |   |   |   |   | 10      your opponent's box, move by move\r\n"


@dataclass(slots=True)
class Board:
    """A running board.

    Attributes:
        id: in the database.
        players: row ids by seat; player n's address is `_address(n)`.
        probes: the ports that each of them fires into, in this order. None of them comes out of
            a later one, so all of them are legal.
        turn: number of the turn that is next.
    """

    id: int
    players: tuple[int, int]
    probes: tuple[str, ...]
    turn: int = 3

    @property
    def seat(self) -> int:
        """Whose turn it is."""
        return (self.turn - 3) % 2

    @property
    def left(self) -> int:
        """Turns that can still be made."""
        return 2 * len(self.probes) - (self.turn - 3)


class Games:
    """All boards of one server."""

    def __init__(self, house: MailDomain, running: list[Board]) -> None:
        self._house = house
        self.running = running
        self._number = 0

    def shares(self, sessions: int, mails: int) -> list[list[Mail]]:
        """Moves for each session, *mails* in all; the sessions play on different boards.

        So every mail of a session is its board's next legal turn, whatever the others do.
        """
        return [
            [
                self.move(board)
                for board in self._in_turn(self.running[session::sessions], mails // sessions)
            ]
            for session in range(sessions)
        ]

    def move(self, board: Board) -> Mail:
        """The next turn on a board, as the player's reply to the board letter."""
        self._number += 1
        player, opponent = board.players[board.seat], board.players[1 - board.seat]
        recipient = self._house.address_of(
            ReplyAddress(Purpose.BOARD, player, board.id, board.turn, 0)
        )
        sender = _address(player)
        text = (
            f"From: Player {player} <{sender}>\r\n"
            f"To: {recipient}\r\n"
            f"Subject: Re: Blackbox {board.id}: p{player} - p{opponent}\r\n"
            "Date: Wed, 03 Dec 2025 10:21:00 +0100\r\n"
            f"Message-ID: <{self._number}.{secrets.token_hex(8)}@players.example>\r\n"
            f"In-Reply-To: <{board.id}.{board.turn}.0.{'0' * 16}@{DOMAIN}>\r\n"
            f"References: <{board.id}.0.0.{'0' * 16}@{DOMAIN}>\r\n"
            "MIME-Version: 1.0\r\n"
            "Content-Type: text/plain; charset=UTF-8; format=flowed\r\n"
            "Content-Transfer-Encoding: 8bit\r\n"
            "User-Agent: Mozilla Thunderbird\r\n"
            "\r\n"
            f"{board.probes[(board.turn - 3) // 2]}\r\n"
            "\r\n"
            f"On 12/3/25 10:20, {LOCAL} wrote:\r\n"
        )
        while len(text) + len(_QUOTED) <= SIZE:
            text += _QUOTED
        board.turn += 1
        return Mail(sender, recipient, text.encode() + b".\r\n")

    def question(self, player: int, command: str) -> Mail:
        """Return a mail with a command that is no move, to the player's own reply address: an
        answer to an unproven sender would not say which mail it answers."""
        recipient = self._house.address_of(ReplyAddress(Purpose.PLAYER, player))
        sender = _address(player)
        text = (
            f"From: {sender}\r\nTo: {recipient}\r\nSubject: {command}\r\n"
            f"Message-ID: <q{secrets.token_hex(8)}@players.example>\r\n\r\n{command}\r\n"
        )
        return Mail(sender, recipient, text.encode() + b".\r\n")

    def pick(self) -> Board:
        """A board with many turns left, for moves made one by one."""
        return max(self.running, key=lambda board: board.left)

    def opponent(self, board: Board) -> str:
        """The address of the player whose turn it is not."""
        return _address(board.players[1 - board.seat])

    @staticmethod
    def _in_turn(running: list[Board], mails: int) -> Iterator[Board]:
        made = 0
        while made < mails:
            before = made
            for board in running:
                if board.left > 0 and made < mails:
                    yield board
                    made += 1
            if made == before:
                raise RuntimeError("too few boards were prepared for so many moves")


def prepare(database_file: Path, count: int, most: int = PLAYERS) -> Games:
    """A new database in which *count* boards of *most* players wait for their first probe."""
    return prepare_at(f"sqlite:///{database_file}", count, most)


def prepare_at(url: str, count: int, most: int = PLAYERS) -> Games:
    """The same, of either kind."""
    database = Database(url)
    schema.prepare(database, ("game",) if database.is_sqlite else schema.ALL)
    ring = KeyRing({1: secrets.token_bytes(32)})
    chance = random.Random(8)
    now = datetime.now(UTC)
    begun = Times((SeatClock(now), SeatClock()), now + timedelta(days=7))
    running: list[Board] = []
    with database.writing.begin() as connection:
        players.add_signing_key(connection, 1, ring.keys[1], now)
        ids = []
        for number in range(1, most + 1):
            player = players.create(connection, f"p{number}", "no hash", _address(number), now)
            assert player is not None
            assert player.id == number
            ids.append(player.id)
        for _ in range(count):
            pair = chance.sample(ids, 2)
            atoms = chance.sample(CLASSIC.board.cells, CLASSIC.least)
            board_id = boards.create(
                connection,
                game=GAME.info.key,
                rules_version=GAME.info.rules_version,
                options=(),
                seed=secrets.token_bytes(16),
                thread=secrets.token_hex(8),
                rated=False,
                sitting=pair,
                accepted=pair,
                now=now,
                waiting=(Seat(0), Seat(1)),
            )
            for ply in _hidings(atoms):
                moves.append(connection, board_id, ply, None, now, begun)
            running.append(Board(board_id, (pair[0], pair[1]), _probes(atoms)))
    database.close()
    return Games(MailDomain(LOCAL, DOMAIN, ring), running)


def plies(database_file: Path) -> int:
    """How many moves all boards have together."""
    return _count(database_file, "SELECT count(*) FROM plies")


def letters(database_file: Path) -> int:
    """How many letters there are, whatever became of them."""
    return _count(database_file, "SELECT count(*) FROM outbox")


def arrived(database_file: Path) -> int:
    """How many mails the door has stored and nobody has carried out."""
    mail = database_file.with_name(f"{database_file.stem}-mail{database_file.suffix}")
    return _count(mail, "SELECT count(*) FROM arrivals")


def carried_out(database_file: Path, sender: str) -> int:
    """How many mails of an envelope sender were carried out."""
    with closing(sqlite3.connect(database_file)) as connection:
        asked = "SELECT count(*) FROM inbox WHERE sender = ?"
        return int(connection.execute(asked, (sender,)).fetchone()[0])


def waiting(database_file: Path) -> int:
    """How many letters have not been sent."""
    return _count(database_file, "SELECT count(*) FROM outbox WHERE state = 'queued'")


def await_letters(
    taken: Callable[[], int],
    count: int,
    database_file: Path,
    *,
    pause_s: float = 0.01,
    patience_s: float = 300,
) -> None:
    """Until the relay has so many letters, and none waits in the outbox.

    Args:
        taken: says how many the relay has.
        pause_s: seconds between two looks.
        patience_s: seconds after which nobody would wait any longer.

    Raises:
        RuntimeError: these are over.
    """
    patience = perf_counter() + patience_s
    while taken() < count or waiting(database_file):
        if perf_counter() > patience:
            raise RuntimeError("the letters do not go out")
        sleep(pause_s)


def kept(database_file: Path) -> int:
    """How many mails, letters and rows of letters are kept whole."""
    return _count(
        database_file,
        "SELECT (SELECT count(*) FROM letter_bytes)"
        " + (SELECT count(*) FROM outbox WHERE message_id <> '')"
        " + (SELECT count(*) FROM inbox WHERE length(raw) > 0)",
    )


def _count(database_file: Path, statement: str) -> int:
    with closing(sqlite3.connect(database_file)) as connection:
        found: int = connection.execute(statement).fetchone()[0]
        return found


def _hidings(atoms: list[int]) -> list[Ply]:
    """Both players hide the same atoms, so that the same probes are legal in both boxes."""
    text = ",".join(CLASSIC.board.name(cell) for cell in atoms)
    return [Ply(seat + 1, Seat(seat), text, free=False) for seat in range(2)]


def _probes(atoms: list[int]) -> tuple[str, ...]:
    """Ports to fire into, one after the other, no ray coming out of one that is to follow."""
    used: set[int] = set()
    probes = []
    for port, found in enumerate(trace_all(CLASSIC.board, atoms)):
        if port not in used:
            probes.append(CLASSIC.board.ports[port])
            used |= {port, found}
    return tuple(probes)


def _address(player: int) -> str:
    return f"p{player}@players.example"
