"""A house for the simulated year that is the whole service on a real database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from one_process import Server
from running import MovableClock
from speedups import cheap_hasher
from sqlalchemy import Connection, bindparam, event, func, select, update
from year_rules import Human
from year_world import BEGINNING, Event

from pbmserv.config.settings import load
from pbmserv.engine.clocks import Terms
from pbmserv.engine.types import Seat
from pbmserv.outbound.relay import OutgoingLetter, Relay
from pbmserv.service.auth.passwords import Passwords
from pbmserv.service.boards import acceptance, plies
from pbmserv.service.boards.mover import mover_at
from pbmserv.service.core.actor import NOBODY
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outbox_rows import outbox_row
from pbmserv.service.schedule.retention import Expiry, KeepTimes
from pbmserv.service.schedule.scheduler import Scheduler
from pbmserv.service.time import timekeeping
from pbmserv.service.time.localtime import next_local
from pbmserv.store import clocks
from pbmserv.store.accounts import absences as absence_rows
from pbmserv.store.accounts import players
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow, NewBoard, Sitter
from pbmserv.store.core.database import Database
from pbmserv.store.delivery import outbox
from pbmserv.store.tables.accounts import players as players_table
from pbmserv.store.tables.boards import boards as boards_table
from pbmserv.store.tables.downtime import heartbeats
from pbmserv.store.tables.mail import outbox as outbox_table

T = TypeVar("T")

_NEXT_DUE = select(
    select(func.min(boards_table.c.due_at)).scalar_subquery(),
    select(func.min(players_table.c.digest_due)).scalar_subquery(),
)
_NEW = select(outbox_table).where(outbox_table.c.id > bindparam("seen")).order_by(outbox_table.c.id)

OPTIONS = ("-size=2x2", "-atoms=1")


class NoRelay(Relay):
    """Nothing is sent: the senders are never started."""

    def deliver(self, letter: OutgoingLetter) -> None:
        raise AssertionError("nobody sends")

    def close(self) -> None:
        pass


class PlainWriter:
    """Carries out each job at once, in a transaction of its own."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def submit(self, job: Callable[[Connection], T]) -> Future[T]:
        future: Future[T] = Future()
        with self._database.writing.begin() as connection:
            future.set_result(job(connection))
        return future

    def close(self) -> None:
        pass


class ServiceHouse:
    """Players and boards in a database, a keeper that is run by hand."""

    def __init__(self, folder: Path, people: list[Human], rng: Random) -> None:
        self.rng = rng
        self.clock = MovableClock()
        self.clock.moment = BEGINNING
        loaded = load(
            {
                "PBMSERV_DATA_DIR": str(folder),
                "PBMSERV_DATABASE": f"sqlite:///{folder}/year.sqlite3",
                "PBMSERV_ADDRESS": "pbmserv@games.example",
                "PBMSERV_WEB": "",
            },
            None,
        )
        cheap = Passwords(cheap_hasher())
        self.server = Server(loaded.settings, self.clock, NoRelay(), cheap)
        database = self.server.database
        # A year of commits: whether the disk has them is another test's question. At each checkout,
        # since the server has opened connections already, and one that is disposed of while it is
        # in use is closed by nobody.
        event.listen(
            database.writing, "checkout", lambda c, *_: c.execute("PRAGMA synchronous=OFF")
        )
        self.writer = PlainWriter(database)
        self.services = self.server.services
        self.scheduler = Scheduler(
            self.services,
            database,
            self.writer,
            self.clock,
            lambda: None,
            expiry=Expiry(
                database,
                self.writer,
                self.clock,
                KeepTimes.of_days(mails=14, unused=0),
                self.server.quota,
            ),
        )
        self.ids: dict[int, int] = {}
        self._numbers: dict[str, int] = {}
        self._seen = 0
        self._do(lambda c: [self._join(c, human) for human in people])
        self.scheduler.note_up()

    def close(self) -> None:
        self.server.close()

    # -- what players do -----------------------------------------------------------------------

    def create(self, board: int, sitting: list[Human], terms, is_proposed: bool) -> None:
        game = self.server.registry.newest("blackbox")
        ids = [self.ids[human.number] for human in sitting]

        def job(connection: Connection) -> int:
            return boards.create(
                connection,
                NewBoard(
                    game="blackbox",
                    rules_version=game.info.rules_version,
                    options=game.describe(game.options(OPTIONS, 2)),
                    seed=self.rng.randbytes(32),
                    thread="year",
                    rated=False,
                    sitting=ids,
                    accepted=ids[:1] if is_proposed else ids,
                    terms=Terms(*terms),
                    waiting=frozenset({Seat(0), Seat(1)}),
                ),
                self.clock.now(),
            )

        assert self._do(job) == board

    def accept(self, board: int, seat: int) -> None:
        def job(context: CommandContext, row: BoardRow, sitter: Sitter) -> None:
            undecided = acceptance.join(context, row, sitter)
            timekeeping.set_after_acceptance(context, row, undecided)

        self._at_board(board, seat, job)

    def act(self, board: int, seat: int) -> bool:
        def job(context: CommandContext, row: BoardRow, sitter: Sitter) -> bool:
            mover = mover_at(context, row, sitter)
            game, view = mover.position.game, mover.view
            move = game.parse(view, self.rng.choice(list(game.legal(view) or ())))
            answer = plies.play_move(context, mover, move, "")
            letters = [outbox_row(context, notification) for notification in answer.notifications]
            if waiting := [letter for letter in letters if letter.for_digest]:
                outbox.add(context.connection, waiting, context.now)
            return context.effects.positions[row.id].outcome is not None

        return self._at_board(board, seat, job)

    def leave(self, human: Human, ends: datetime) -> None:
        number, now = self.ids[human.number], self.clock.now()
        self._do(lambda c: absence_rows.add(c, number, now, ends))

    def back(self, human: Human) -> None:
        number, now = self.ids[human.number], self.clock.now()

        def job(connection: Connection) -> None:
            absence = absence_rows.of_player(connection, number)[-1]
            absence_rows.end(connection, absence, now)
            clocks.look_again(connection, number, now)

        self._do(job)

    # -- time ----------------------------------------------------------------------------------

    def move_clock(self, now: datetime, *, up: bool) -> None:
        self._up = up
        if not up:
            self._beat()  # the last one of every half minute until now
        self.clock.moment = now

    def _beat(self) -> None:
        now = self.clock.now()
        self._do(lambda c: c.execute(update(heartbeats).values(beat_at=now)))

    def next_due(self) -> datetime | None:
        with self.server.database.reading.connect() as connection:
            moments = connection.execute(_NEXT_DUE).one()
        return min((at for at in moments if at is not None), default=None)

    def look(self) -> list[Event]:
        if self._up:
            self._beat()
        self.scheduler.run_once()
        due = self.next_due()
        assert due is None or due > self.clock.now(), "nothing that is due is left"
        with self.server.database.reading.connect() as connection:
            rows = connection.execute(_NEW, {"seen": self._seen}).all()
        self._seen = rows[-1].id if rows else self._seen
        events: list[Event] = []
        counted: Counter[tuple[int, int, str]] = Counter()
        for row in rows:
            if row.letter != "board":  # news of two moves may wait for one digest
                counted[row.player_id, row.board_id or 0, row.letter] += 1
            if row.letter in {"tray", "reminders"}:
                due = [item for item in row.words["waiting"] if item["words"]["due"]]
                events += [Event("remind", item["board"], item["seat"]) for item in due]
                assert row.letter == "tray" or len(due) == len(row.words["waiting"]) > 1
            if row.letter == "tray":
                events.append(Event("tray", 0, self._numbers[row.recipient]))
            elif row.letter == "reminder":
                counted[row.player_id, 0, "reminders"] += 1  # several at once are one letter
                events.append(Event("remind", row.board_id, row.seat))
            elif row.letter == "unanswered" and row.seat == 0:
                late = tuple(int(userid[1:]) for userid in row.words["late"])
                events.append(Event("withdrawn", row.board_id, 0, late))
            elif row.letter == "result" and _is_loser(row, self._numbers[row.recipient]):
                events.append(Event("forfeit", row.board_id, row.seat))
        assert all(count == 1 for count in counted.values()), "nothing comes twice"
        return events

    # -- inside --------------------------------------------------------------------------------

    def _join(self, connection: Connection, human: Human) -> None:
        userid = f"p{human.number}"
        address = f"{userid}@players.example"
        player = players.create(connection, userid, "hash", address, self.clock.now())
        assert player is not None
        values = {"tz": human.zone.key, "remind": human.remind}
        if human.digest is not None:
            due = next_local(self.clock.now(), human.zone, human.digest)
            values |= {"digest_minute": human.digest, "digest_due": due}
        players.change(connection, player.id, values)
        self.ids[human.number] = player.id
        self._numbers[address] = human.number

    def _at_board(self, number: int, seat: int, job):
        def whole(connection: Connection):
            context = CommandContext(self.services, connection, NOBODY, self.clock.now())
            row = boards.lock(connection, number)
            assert row is not None
            return job(context, row, row.sitters[seat]), context.effects.positions

        result, played = self._do(whole)
        for board, position in played.items():
            self.server.positions.remember({board: position})
        return result

    def _do(self, job):
        return self.writer.submit(job).result()


def _is_loser(row: Any, number: int) -> bool:
    """Return whether a result says that its reader took too long."""
    why = row.words.get("forfeit")
    return why is not None and why["by"] == f"p{number}"
