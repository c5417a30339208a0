"""A database with many running boards, and mails with legal moves on them."""

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
from pbmserv.games.blackbox.options import CLASSIC
from pbmserv.games.blackbox.rays import trace_all
from pbmserv.mail.key_ring import KeyRing
from pbmserv.mail.mail_domain import MailDomain
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.store.accounts import players, signing_keys
from pbmserv.store.boards import boards, moves
from pbmserv.store.boards.boards import NewBoard
from pbmserv.store.clocks import Times
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database

LOCAL, DOMAIN = "pbmserv", "games.example"
SIZE = 1_000
"""Octets of a mail."""
PLAYERS = 2_000
"""Enough players that nobody exceeds the number of waiting mails, even if only the door runs."""
PATIENCE_S = 300

_QUOTED = "> | 3 |   |   | ? |   |   |   |   | 10      your opponent's box, move by move\r\n"


@dataclass(slots=True)
class Board:
    """A running board.

    Attributes:
        id: row ID.
        players: row IDs by seat; the address of player n is `_address(n)`.
        probes: ports into which each player fires, in this order. No ray comes out of a later
            one, so all are legal.
        turn: number of the next turn.
    """

    id: int
    players: tuple[int, int]
    probes: tuple[str, ...]
    turn: int = 3

    @property
    def seat(self) -> int:
        """Seat whose turn it is."""
        return (self.turn - 3) % 2

    @property
    def left(self) -> int:
        """Number of turns that are left."""
        return 2 * len(self.probes) - (self.turn - 3)


class Games:
    """The boards of one server."""

    def __init__(self, domain: MailDomain, running: list[Board]) -> None:
        self._domain = domain
        self.running = running
        self._number = 0

    def shares(self, sessions: int, mails: int) -> list[list[Mail]]:
        """Return the moves of each session, *mails* in all.

        The sessions play on different boards, so each mail is the next legal turn of its board.
        """
        return [
            [
                self.move(board)
                for board in self._in_turn(self.running[session::sessions], mails // sessions)
            ]
            for session in range(sessions)
        ]

    def move(self, board: Board) -> Mail:
        """Return the next turn of a board, as the player's reply to the board letter."""
        self._number += 1
        player, opponent = board.players[board.seat], board.players[1 - board.seat]
        recipient = self.reply_address(board, board.seat, board.turn)
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

    def reply_address(self, board: Board, seat: int, turn: int) -> str:
        """Return the address to which a player answers the letter about a turn."""
        return self._domain.address_of(
            ReplyAddress(Purpose.BOARD, board.players[seat], board.id, turn, 0)
        )

    def player_address(self, board: Board, seat: int) -> str:
        """Return the mail address of the player at a seat."""
        return _address(board.players[seat])

    def pick(self) -> Board:
        """Return the board with the most turns left."""
        return max(self.running, key=lambda board: board.left)

    @staticmethod
    def _in_turn(running: list[Board], mails: int) -> Iterator[Board]:
        move_count = 0
        while move_count < mails:
            before = move_count
            for board in running:
                if board.left > 0 and move_count < mails:
                    yield board
                    move_count += 1
            if move_count == before:
                raise RuntimeError("too few boards were prepared for so many moves")


def prepare(database_file: Path, count: int, most: int = PLAYERS) -> Games:
    """Create a database in which *count* boards of *most* players wait for their first probe."""
    return prepare_at(f"sqlite:///{database_file}", count, most)


def prepare_at(url: str, count: int, most: int = PLAYERS) -> Games:
    """Do the same as `prepare` in SQLite or PostgreSQL."""
    database = Database(url)
    schema.prepare(database, ("game",) if database.is_sqlite else schema.ALL)
    ring = KeyRing({1: secrets.token_bytes(32)})
    chance = random.Random(8)
    now = datetime.now(UTC)
    begun = Times((SeatClock(now), SeatClock()), now + timedelta(days=7))
    running: list[Board] = []
    with database.writing.begin() as connection:
        signing_keys.add(connection, 1, ring.keys[1], now)
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
                NewBoard(
                    game=GAME.info.key,
                    rules_version=GAME.info.rules_version,
                    options=(),
                    seed=secrets.token_bytes(16),
                    thread=secrets.token_hex(8),
                    rated=False,
                    sitting=pair,
                    accepted=pair,
                    waiting=(Seat(0), Seat(1)),
                ),
                now,
            )
            for ply in _hidings(atoms):
                moves.append(connection, board_id, ply, None, now, begun)
            running.append(Board(board_id, (pair[0], pair[1]), _probes(atoms)))
    database.close()
    return Games(MailDomain(LOCAL, DOMAIN, ring), running)


def plies(database_file: Path) -> int:
    """Return the number of moves of all boards."""
    return _count(database_file, "SELECT count(*) FROM plies")


def letters(database_file: Path) -> int:
    """Return the number of letters in every state."""
    return _count(database_file, "SELECT count(*) FROM outbox")


def arrived(database_file: Path) -> int:
    """Return the number of mails that are stored and not yet carried out."""
    mail = database_file.with_name(f"{database_file.stem}-mail{database_file.suffix}")
    return _count(mail, "SELECT count(*) FROM arrivals")


def carried_out(database_file: Path, sender: str) -> int:
    """Return the number of mails of an envelope sender that were carried out."""
    with closing(sqlite3.connect(database_file)) as connection:
        statement = "SELECT count(*) FROM inbox WHERE sender = ?"
        return int(connection.execute(statement, (sender,)).fetchone()[0])


def waiting(database_file: Path) -> int:
    """Return the number of letters that are not sent."""
    return _count(database_file, "SELECT count(*) FROM outbox WHERE state = 'queued'")


def await_letters(
    accepted: Callable[[], int],
    count: int,
    database_file: Path,
    *,
    pause_s: float = 0.01,
) -> None:
    """Wait until the relay has *count* letters and none waits in the outbox.

    Args:
        accepted: returns the number of letters at the relay.
        pause_s: seconds between two looks.

    Raises:
        RuntimeError: that takes longer than `PATIENCE_S`.
    """
    patience = perf_counter() + PATIENCE_S
    while accepted() < count or waiting(database_file):
        if perf_counter() > patience:
            raise RuntimeError("the letters do not go out")
        sleep(pause_s)


def kept(database_file: Path) -> int:
    """Return the number of mails and letters of which texts are kept."""
    return _count(
        database_file,
        "SELECT (SELECT count(*) FROM outbox WHERE message_id <> '')"
        " + (SELECT count(*) FROM inbox WHERE length(raw) > 0)",
    )


def _count(database_file: Path, statement: str) -> int:
    with closing(sqlite3.connect(database_file)) as connection:
        count: int = connection.execute(statement).fetchone()[0]
        return count


def _hidings(atoms: list[int]) -> list[Ply]:
    """Return plies that hide the same atoms in both boxes, so the same probes are legal in both."""
    text = ",".join(CLASSIC.board.name(cell) for cell in atoms)
    return [Ply(seat + 1, Seat(seat), text, free=False) for seat in range(2)]


def _probes(atoms: list[int]) -> tuple[str, ...]:
    """Return ports to fire into, such that no ray comes out of a port that follows."""
    used: set[int] = set()
    probes = []
    for port, end in enumerate(trace_all(CLASSIC.board, atoms)):
        if port not in used:
            probes.append(CLASSIC.board.ports[port])
            used |= {port, end}
    return tuple(probes)


def _address(player: int) -> str:
    return f"p{player}@players.example"
