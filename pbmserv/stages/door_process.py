"""The process of the door: takes mails in at its ports, and forms from the process of the pages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from pbmserv.file_locks import exclusive_work
from pbmserv.files import sqlite_file
from pbmserv.mail.dns import Resolver
from pbmserv.monitoring.upkeep import CertificateWatch
from pbmserv.monitoring.vitals import Vital
from pbmserv.service.limits.postmaster_shares import PostmasterShares
from pbmserv.service.limits.rates import Over, TooMany
from pbmserv.service.rounds import Rounds
from pbmserv.stages.base import Base
from pbmserv.stages.door import Door
from pbmserv.stages.mail_ports import MailPorts
from pbmserv.stages.messages import ProbeWrite, StageState, StoreForm, StorePress
from pbmserv.stages.process import STOP_S, Process, Setup
from pbmserv.stages.questions import Answers
from pbmserv.stages.rings import Bell
from pbmserv.store import blocked_senders
from pbmserv.store.core.writer import open_writer
from pbmserv.store.delivery import arrivals, mail_stores, settled_arrivals
from pbmserv.store.operators import health

ROUND_S = 1.0
"""Seconds between two rounds of housekeeping."""
BEAT = timedelta(seconds=30)
"""Time between two signs of life of the door."""


def door_process(setup: Setup) -> Process:
    """Return the process of the door."""
    base, bound = setup.base, setup.bound
    stage = DoorStage(base, Bell(setup.folder / "play.ring").ring)
    ports = MailPorts(base, stage.door, bound)

    def state() -> StageState:
        return StageState(
            tuple(stage.vitals()),
            ports.slots(),
            texts=(stage.quota.taken, stage.quota.most),
            certificate_ends=stage.certificate.ends,
        )

    async def start() -> None:
        stage.start()
        await ports.open()

    async def stop() -> None:
        await ports.close()
        await asyncio.to_thread(stage.stop)

    return Process(
        start=start,
        stop=stop,
        state=state,
        answers=_answers(stage, asyncio.get_running_loop()),
        certificate=bound.certificate,
    )


class DoorStage:
    """The door with its writer, its limits and its housekeeping.

    Args:
        base: settings and databases.
        ring: wakes play.
        names: resolves domains; `None`: this machine's name servers do.
    """

    def __init__(self, base: Base, ring: Callable[[], None], names: Resolver | None = None) -> None:
        self._base = base
        self.clock = base.clock
        self.writer = open_writer(base.mail)
        self.traffic = base.traffic()
        self.quota = base.quota()
        self.senders = base.senders(names)
        self.door = Door(
            base.mail_domain,
            self.writer,
            base.clock,
            self.traffic,
            self.quota,
            ring,
            self.senders,
            base.settings.mail_servers,
            PostmasterShares(self.quota.most // 2, base.clock),
        )
        self.certificate = CertificateWatch(base.settings.tls_cert, base.clock.now)
        self._beat_at: datetime | None = None
        self._count_waiting()
        self._rounds = Rounds(
            self.run_once, "housekeeping", ROUND_S, "the housekeeping of the door failed"
        )

    def run_once(self) -> None:
        """Remove settled arrivals, measure the room for texts, read the blocked senders, look at
        the certificate, and give a sign of life."""
        self._remove_settled()
        self._count_waiting()
        now = self._base.clock.now()
        self.quota.measure(now)
        with self._base.game.reading.connect() as connection:
            self.door.blocked.replace(blocked_senders.current(connection, now))
        self.certificate.look()
        if self._beat_at is None or now - self._beat_at >= BEAT:
            self.writer.submit(partial(mail_stores.beat, now=now)).result()
            self._beat_at = now

    def _remove_settled(self) -> None:
        """Remove settled arrivals from the door's own file; on PostgreSQL play does so.

        While a backup is made none is removed: its copy of the game store may be older than their
        settlement, so its copy of the mail store must still have them.
        """
        path = sqlite_file(self._base.mail.url)
        if path is None:
            return
        with exclusive_work(path, arrivals.REMOVAL) as is_free:
            if not is_free:
                return
            with self._base.mail.reading.connect() as mail:
                stored = arrivals.numbers(mail)
            if not stored:
                return
            with self._base.game.reading.connect() as game:
                settled = settled_arrivals.numbers_since(
                    game, self._base.mail_store_name, stored[0]
                )
            removable = [number for number in stored if number in settled]
            if removable:
                self.writer.submit(partial(arrivals.remove, ids=removable)).result()

    def _count_waiting(self) -> None:
        """Tell the door how many mails and octets wait in each lane, and in all."""
        with self._base.mail.reading.connect() as connection:
            waiting = arrivals.by_lane(connection)
        self.door.lane_loads.replace(waiting)
        self.quota.set_waiting(sum(octets for _, octets in waiting.values()))

    def start(self) -> None:
        """Do the housekeeping once, then regularly in a thread."""
        self.run_once()
        self._rounds.start()

    def stop(self) -> None:
        """End the threads."""
        self._rounds.stop(STOP_S)
        if self.senders is not None:
            self.senders.close()
        self.writer.close()

    def vitals(self) -> list[Vital]:
        """Return the states of the threads."""
        return [*self.writer.vitals(), self._rounds.vital()]


def _answers(stage: DoorStage, loop: asyncio.AbstractEventLoop) -> Answers:
    """Return the door's answers to other processes; *loop* is the event loop of the door."""
    door = stage.door

    def store_form(request: StoreForm) -> int:
        storing = door.store_form(request.body)
        return asyncio.run_coroutine_threadsafe(storing, loop).result()

    def store_press(request: StorePress) -> int | Over:
        storing = door.store_press(request.press)
        try:
            return asyncio.run_coroutine_threadsafe(storing, loop).result()
        except TooMany as error:
            return error.over

    def probe_write(_: ProbeWrite) -> None:
        stage.writer.submit(partial(health.probe_mail_store, now=stage.clock.now())).result()

    return {StoreForm: store_form, StorePress: store_press, ProbeWrite: probe_write}
