"""The process of play: carries out arrivals, and answers processes that need the game store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from sqlalchemy import Connection

from pbmserv.errors import ServerFault
from pbmserv.mail.dns import Resolver
from pbmserv.monitoring.vitals import Vital
from pbmserv.outbound.outbox_writer import DirectOutboxWriter, OutboxWriter
from pbmserv.service.auth.passwords import Passwords
from pbmserv.service.boards import game_pauses
from pbmserv.service.bots.bot_moves import BotMoves, Moves
from pbmserv.service.delivery import bounces
from pbmserv.service.handlers import HANDLERS
from pbmserv.service.mails.incoming import IncomingMail
from pbmserv.service.mails.mail_service import MailService
from pbmserv.service.mails.password_checks import PasswordChecks
from pbmserv.service.operators.deeds import Operators, Signature
from pbmserv.service.operators.kept_mails import KeptMails
from pbmserv.service.operators.orders import Order
from pbmserv.service.operators.put_off_mails import PutOffMails
from pbmserv.service.pages.page_requests import PageRequests
from pbmserv.service.rounds import Rounds
from pbmserv.service.schedule.announcer import PAUSE_S, Announcer
from pbmserv.service.schedule.integrity import Integrity
from pbmserv.service.schedule.retention import Expiry
from pbmserv.service.schedule.scheduler import Scheduler
from pbmserv.stages.arrival_queue import ArrivalQueue, QueueOfOneStore, QueueOfTwoStores
from pbmserv.stages.base import Base, keep_times_of
from pbmserv.stages.current_work import CurrentWork
from pbmserv.stages.messages import (
    ActForBot,
    CarryOutOrder,
    ClaimLetters,
    KeepReport,
    LookAgain,
    NoteStops,
    ProbeWrite,
    PutOffBot,
    ReleaseLostLetters,
    RenewLetters,
    RetryKeptMail,
    SettleLetters,
    StageState,
)
from pbmserv.stages.play import Play
from pbmserv.stages.process import STOP_S, Process, Setup
from pbmserv.stages.questions import Answers
from pbmserv.stages.rings import Bell, Rings
from pbmserv.stages.run_folders import claimant
from pbmserv.stages.stage_names import process_names
from pbmserv.stages.tasks import MOST_DEATHS, Tasks
from pbmserv.stages.watched_writer import WatchedWriter
from pbmserv.store.boards.game_pauses import Stop
from pbmserv.store.boards.game_pauses import stopped as stopped_games
from pbmserv.store.boards.positions import Positions
from pbmserv.store.core.writer import Writer, open_writer
from pbmserv.store.delivery.letter_claims import ClaimedLetter
from pbmserv.store.operators import health

ASKERS_END_S = 5.0
"""Seconds for which an ending play waits for the processes that ask it: a post settles the letters
that it has just sent, else they would go out again."""


def play_process(setup: Setup) -> Process:
    """Return the process of play."""
    registry = setup.base.registry
    stage = PlayStage(
        setup.base,
        Rings(
            post=_ring_of(setup.folder, process_names("post", registry)),
            bots=_ring_of(setup.folder, process_names("bots", registry)),
            web=_ring_of(setup.folder, ["web"]),
        ),
        current=setup.current,
        stops=setup.stops,
        by=claimant(setup.folder, setup.name),
    )

    def state() -> StageState:
        number, seconds = setup.current.longest()
        doing = f"arrival {number} for {seconds:.1f} s" if number else ""
        return StageState(tuple(stage.vitals()), doing=doing, damage=stage.integrity.damage)

    return Process(
        start=partial(asyncio.to_thread, stage.start),
        stop=partial(asyncio.to_thread, stage.stop),
        state=state,
        answers=answers_of_play(stage),
        woken=stage.play.ring,
        askers_end_s=ASKERS_END_S,
    )


def _ring_of(folder: Path, processes: Iterable[str]) -> Callable[[], None]:
    """Return the function that wakes the processes of these names."""
    bells = [Bell(folder / f"{process}.ring") for process in processes]

    def ring() -> None:
        for bell in bells:
            bell.ring()

    return ring


class PlayStage:
    """Play with its queue, its writer, the clocks of the games and the operators' actions.

    Args:
        base: settings and databases.
        rings: wake other stages.
        passwords: makes and checks hashes; `None`: argon2id as its authors advise.
        current: tells the supervisor which mail is being carried out, and this process with which
            mails its predecessors died: arrivals, and mails of the inbox by their negative numbers.
        stops: the latest processes that hung or died in the rules of games.
        names: resolves domains; `None`: this machine's name servers do.
        by: name under which this process claims mails on PostgreSQL.
        has_own_door: whether the door is part of the same process, and so gives no sign of life.
    """

    def __init__(
        self,
        base: Base,
        rings: Rings,
        passwords: Passwords | None = None,
        current: CurrentWork | None = None,
        names: Resolver | None = None,
        *,
        stops: Sequence[Stop] = (),
        by: str = "play",
        has_own_door: bool = False,
    ) -> None:
        clock = base.clock
        self.game, self.clock = base.game, clock
        self._rings = rings
        self._current = current or CurrentWork()
        self._stops = stops
        self.writer = open_writer(base.game)
        self._watched = WatchedWriter(self.writer, self._current)
        self.positions = Positions(base.registry)
        self.passwords = passwords or Passwords()
        self.services = base.services(self.positions, self.passwords.memo)
        self.quota = base.quota()
        self.mails = MailService(self.services, self.quota, HANDLERS)
        self.checks = PasswordChecks(self.services, self.passwords, base.game, self.writer, clock)
        self.parser = base.parser()
        self.senders = base.senders(names)
        self.arrivals = _arrivals(base, self.writer, by)
        self.play = self._make_play()
        handle_failure = partial(bounces.handle_failure, self.services)
        self.outbox_writer = DirectOutboxWriter(self.writer, clock, handle_failure, base.shares)
        self.bot_moves = BotMoves(self.services, self._watched, clock, self._ring_after_bot)
        self.operators = Operators(self.services, self.writer, clock)
        self.kept_mails = KeptMails(base.game, self.parser.parse, self.retry, self.operators)
        self.put_off_mails = PutOffMails(
            base.game, self._can_play, self.parser.parse, self.retry, self._keep
        )
        keep_times = keep_times_of(base.settings)
        self.expiry = Expiry(base.game, self.writer, clock, keep_times, self.quota)
        self.scheduler = Scheduler(
            self.services,
            base.game,
            self._watched,
            clock,
            rings.post,
            expiry=self.expiry,
            oldest=self.arrivals.oldest,
            door_beat=None if has_own_door else self.arrivals.door_beat,
        )
        self.integrity = Integrity([base.game, base.mail])
        self._putting_off = Rounds(
            self.put_off_mails.run_once, "put-off", 30.0, "mails that wait could not be looked at"
        )
        self._rounds = (
            self.scheduler,
            Rounds(self.arrivals.tidy, "tidying", 10.0, "what is done could not be forgotten"),
            self._putting_off,
            self._announcing(),
            self.integrity,
        )

    def _make_play(self) -> Play:
        """Return the thread that carries out arrivals."""
        requests = PageRequests(self.services, self.game, self.mails)
        tasks = Tasks(self.parser, self.checks, self.mails, self.services, requests, self.senders)
        return Play(
            self.arrivals,
            tasks,
            self.positions,
            self._watched,
            self.clock,
            self._rings,
            self._current,
        )

    def _announcing(self) -> Rounds:
        """Return the thread that sends operators' announcements."""
        announcer = Announcer(self.services, self.game, self.writer, self.clock, self._rings.post)
        trouble = "an announcement could not be sent"
        return Rounds(announcer.run_once, "announcing", PAUSE_S, trouble)

    def _ring_after_bot(self) -> None:
        self._rings.post()
        self._rings.web()

    def start(self) -> None:
        """Begin with the heartbeat, so that no player's clock is charged with an outage."""
        self.scheduler.begin()
        self.note_games()
        self.play.start()
        for rounds in self._rounds:
            rounds.start()

    def note_games(self) -> None:
        """Store which games hung and which are installed, before any mail is carried out."""
        self.note_stops(self._stops)
        now = self.clock.now()
        self.writer.submit(partial(game_pauses.note_installed, self.services, now)).result()

    def note_stops(self, stops: Sequence[Stop]) -> None:
        """Store that processes hung or died in the rules of games."""
        job = partial(game_pauses.note_stops, self.services, stops, self.clock.now())
        if self.writer.submit(job).result().letters:
            self._rings.post()

    def _can_play(self, connection: Connection, game: str) -> bool:
        return game in self.services.registry and game not in stopped_games(connection)

    def stop(self) -> None:
        """Finish the mails under way; the others wait for the next start."""
        for rounds in reversed(self._rounds):
            rounds.stop(STOP_S)
        self.play.stop(STOP_S)
        if self.senders is not None:
            self.senders.close()
        self.checks.close()
        self.writer.close()

    def retry(self, mail_id: int, incoming: IncomingMail) -> bool:
        """Carry a kept mail out again; return whether it was still kept.

        Raises:
            Exception: carrying it out failed; the mail is still kept.
        """
        if self._current.killed_over().get(-mail_id, 0) >= MOST_DEATHS:
            raise ServerFault("the server was stopped repeatedly while it carried this mail out")
        checked = incoming.with_passwords(self.checks.vet(incoming.request).result())
        now = self.clock.now()
        job = partial(self.mails.carry_out_kept_mail, checked, mail_id, now)
        done = self._watched.submit(job, -mail_id).result()
        if done is None:
            return False
        self.positions.remember(done.played)
        self._rings.post()
        return True

    def _keep(self, mail_id: int, fault: str) -> None:
        """Keep a mail that was put off for the operator, because of a fault."""
        self.writer.submit(partial(self.mails.keep_put_off, mail_id, fault)).result()

    def carry_out_order(self, by: Signature, order: Order) -> str:
        """Carry out an order of an operator; return a sentence for the operator.

        Raises:
            OperatorError: it cannot be done, or no reason is given; nothing has changed.
        """
        deed = self.operators.do(by, order)
        self.look_again()
        return deed.summary

    def look_again(self) -> None:
        """Look at waiting mails and letters now: an operator has changed something."""
        self._rings.post()
        self._putting_off.ask()  # a game may go on

    def vitals(self) -> list[Vital]:
        """Return the states of the threads."""
        threads = [part.vital() for part in (self.play, *self._rounds)]
        return [*self.writer.vitals(), *threads]


def _arrivals(base: Base, writer: Writer, by: str) -> ArrivalQueue:
    """Return the queue of mails: of two SQLite files, or of one PostgreSQL.

    Args:
        by: see `PlayStage`.
    """
    if base.game.is_sqlite:
        return QueueOfTwoStores(base.mail, base.game, base.mail_store_name, writer, base.clock)
    return QueueOfOneStore(by, base.game, writer, base.clock, base.shares)


def answers_of_play(stage: PlayStage) -> Answers:
    """Return play's answers to other processes."""

    def carry_out_order(request: CarryOutOrder) -> str:
        return stage.carry_out_order(request.by, request.order)

    def retry(request: RetryKeptMail) -> str:
        return stage.kept_mails.retry(request.number, request.by)

    def look_again(_: LookAgain) -> None:
        stage.look_again()

    def probe_write(_: ProbeWrite) -> None:
        stage.writer.submit(partial(health.probe_game_store, now=stage.clock.now())).result()

    def note_stops(request: NoteStops) -> None:
        stage.note_stops(request.stops)

    return {
        NoteStops: note_stops,
        **_answers_to_post(stage.outbox_writer),
        **_answers_to_bots(stage.bot_moves),
        CarryOutOrder: carry_out_order,
        RetryKeptMail: retry,
        LookAgain: look_again,
        ProbeWrite: probe_write,
    }


def _answers_to_post(writer: OutboxWriter) -> Answers:
    def claim(request: ClaimLetters) -> list[ClaimedLetter]:
        return writer.claim(request.by, request.most)

    def release_lost(request: ReleaseLostLetters) -> None:
        writer.release_lost(request.by, request.in_hand)

    def renew(request: RenewLetters) -> None:
        writer.renew(request.ids)

    def settle(request: SettleLetters) -> None:
        writer.settle(request.results)

    return {
        ClaimLetters: claim,
        ReleaseLostLetters: release_lost,
        RenewLetters: renew,
        SettleLetters: settle,
    }


def _answers_to_bots(moves: Moves) -> Answers:
    def act(request: ActForBot) -> None:
        moves.act(request.board_id, request.thought)

    def put_off(request: PutOffBot) -> None:
        moves.put_off(request.board_id)

    def keep_report(request: KeepReport) -> None:
        moves.keep_report(request.asked, request.words)

    return {ActForBot: act, PutOffBot: put_off, KeepReport: keep_report}
