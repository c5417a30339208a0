"""All stages in one process, as tests and benchmarks have them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Select, Table, func, select

from pbmserv.clock import Clock
from pbmserv.config.settings import Settings
from pbmserv.mail.dns import Resolver
from pbmserv.monitoring.vitals import Vital
from pbmserv.outbound.relay import Relay
from pbmserv.service.auth.passwords import Passwords
from pbmserv.stages.base import Base
from pbmserv.stages.bots_process import make_bot_worker
from pbmserv.stages.door_process import DoorStage
from pbmserv.stages.play_process import PlayStage
from pbmserv.stages.post_process import PostStage
from pbmserv.stages.process import STOP_S
from pbmserv.stages.rings import Rings
from pbmserv.stages.web_stage import WebStage

P = ParamSpec("P")
T = TypeVar("T")


class _Side:
    """Operators' orders for the play of the same process."""

    def __init__(self, play: PlayStage) -> None:
        self.do = play.carry_out_order
        self.retry = play.kept_mails.retry


class Server:
    """All stages in one process, which call each other directly.

    Attributes:
        bots_were_rung: whether play has rung the bots, or they may have work from an earlier run.
    """

    bots_were_rung = True

    def __init__(
        self,
        settings: Settings,
        clock: Clock | None = None,
        relay: Relay | None = None,
        passwords: Passwords | None = None,
        names: Resolver | None = None,
        host: str = "one",
    ) -> None:
        """Make all stages, and start none.

        Args:
            host: part of the names under which play and post claim rows; it differs between
                servers that run at the same time.
        """
        with contextlib.ExitStack() as stack:
            self.base = Base(settings, clock)
            stack.callback(self.base.close)
            self.play_stage = PlayStage(
                self.base,
                Rings(post=self._ring_post, bots=self._ring_bots, web=self._ring_web),
                passwords,
                names=names,
                by=f"{host} play",
                has_own_door=True,
            )
            stack.callback(self.play_stage.stop)
            self.door_stage = DoorStage(self.base, self.play_stage.play.ring, names)
            stack.callback(self.door_stage.stop)
            self.post_stage = PostStage(
                self.base, self.play_stage.outbox_writer, f"{host} post1", relay
            )
            stack.callback(self.post_stage.stop)
            self.bot_worker = make_bot_worker(self.base, self.play_stage.bot_moves)
            self.web_stage = WebStage(self.base, self.door_stage.door, _Side(self.play_stage))
            stack.pop_all()
        self.settings = settings
        self.clock = self.base.clock
        self.database = self.base.game
        self.mail_domain = self.base.mail_domain
        self.registry = self.base.registry
        self.writer = self.play_stage.writer
        self.services = self.play_stage.services
        self.positions = self.play_stage.positions
        self.passwords = self.play_stage.passwords
        self.scheduler = self.play_stage.scheduler
        self.expiry = self.play_stage.expiry
        self.quota = self.door_stage.quota
        self.door = self.door_stage.door
        self.parser = self.play_stage.parser
        self.outbox = self.post_stage.outbox
        self.sender = self.post_stage.sender
        self.web_requests = self.web_stage.web_requests

    def close(self) -> None:
        """Finish the work in hand, and close everything."""
        self.door_stage.stop()
        self.play_stage.stop()
        self.bot_worker.stop(STOP_S)
        self.post_stage.stop()
        self.base.close()

    def settle(self) -> None:
        """Carry out all mails that have arrived, if play has no thread of its own."""
        self.play_stage.play.run_until_idle()
        self.door_stage.run_once()

    def read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **named: P.kwargs
    ) -> T:
        """Return what a function of the store reads."""
        with self.database.reading.connect() as connection:
            return query(connection, *args, **named)

    def rows(self, statement: Select[Any]) -> list[Any]:
        """Return the rows that a statement selects."""
        return self.read(lambda connection: list(connection.execute(statement)))

    def column(self, statement: Select[Any]) -> list[Any]:
        """Return the first value of each row that a statement selects."""
        return [row[0] for row in self.rows(statement)]

    def value(self, statement: Select[Any]) -> Any:
        """Return the one value that a statement selects."""
        (value,) = self.column(statement)
        return value

    def count(self, table: Table) -> int:
        """Return the number of rows of a table."""
        return int(self.value(select(func.count()).select_from(table)))

    def waits(self) -> bool:
        """Return whether a mail is not carried out yet, or not in the log."""
        # Play is idle only after the line in the log, so look at it again after the database.
        play, arrivals = self.play_stage.play, self.play_stage.arrivals
        return not play.is_idle() or arrivals.oldest() is not None or not play.is_idle()

    def vitals(self) -> list[Vital]:
        """Return the states of all threads."""
        stages = (self.door_stage, self.play_stage, self.post_stage)
        return [*(vital for stage in stages for vital in stage.vitals()), self.bot_worker.vital()]

    def _ring_post(self) -> None:
        self.post_stage.sender.wake()

    def _ring_web(self) -> None:
        self.web_stage.play.ring()

    def _ring_bots(self) -> None:
        self.bots_were_rung = True
        self.bot_worker.ask()
