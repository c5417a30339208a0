"""The parts of each stage and how they are wired.

Each stage is made of a `Base`. What it needs of another stage it gets as an argument: a client that
asks another process, or, in tests with one process, the other stage's own part.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from random import random

from pbmserv.config.settings import Settings
from pbmserv.inbound.auth.verdict import Senders, Trusted
from pbmserv.letters.compose import Composer
from pbmserv.mail.dns import Resolver, SystemResolver
from pbmserv.monitoring.metrics import Vital, Watch
from pbmserv.outbound.dkim import Signer
from pbmserv.outbound.dkim import load as load_key
from pbmserv.outbound.outbox import Outbox, OutboxRows, WrittenRows
from pbmserv.outbound.relay import Relay, open_relay
from pbmserv.outbound.sender import Sender
from pbmserv.service.auth.passwords import Passwords
from pbmserv.service.bots.bot_worker import BotMoves, BotWorker, Moves
from pbmserv.service.core.outcome import NOTHING
from pbmserv.service.delivery import bounces
from pbmserv.service.handlers import HANDLERS
from pbmserv.service.limits.postmaster_shares import PostmasterShares
from pbmserv.service.mails.incoming import IncomingMail, MailReader
from pbmserv.service.mails.mail_service import MailService
from pbmserv.service.mails.password_checks import PasswordChecks
from pbmserv.service.operators.deeds import Operators, Signature
from pbmserv.service.operators.health import RelayState
from pbmserv.service.operators.orders import Order
from pbmserv.service.operators.queues import KeptMails, PutOffMails
from pbmserv.service.pages.forms import Forms
from pbmserv.service.pages.page_requests import PageRequests
from pbmserv.service.schedule.retention import Expiry, Kept
from pbmserv.service.schedule.scheduler import Scheduler
from pbmserv.service.time.rounds import Rounds
from pbmserv.stages.arrivals import Arrivals, OneStore, Removal, TwoStores
from pbmserv.stages.base import Base
from pbmserv.stages.current_work import CurrentWork
from pbmserv.stages.door import Door
from pbmserv.stages.play import Play
from pbmserv.store.boards.moves import Positions
from pbmserv.store.core.writer import UNAVAILABLE, Closed, open_writer
from pbmserv.store.delivery import arrivals

DELIVERIES = {"maildir": 2, "lmtp": 4, "smtp": 16, "smtps": 16}
"""Letters that one post delivers at a time, by the scheme of its relay."""
STOP_S = 10.0
"""Seconds that work in hand has when a stage stops; nothing is lost after that either."""
REMOVE_S = 1.0
"""Seconds between two removals of mails that are carried out."""
BEAT = timedelta(seconds=30)
"""How often the door says that it takes mail in."""

Ring = Callable[[], None]


def _senders(settings: Settings, names: Resolver | None) -> Senders | None:
    """Return the checker of senders; `None` if the settings turn it off."""
    if not settings.sender_checks:
        return None
    trusted = Trusted(settings.authserv_id, settings.arc_sealers, settings.authserv_hops)
    return Senders(names or SystemResolver(), trusted)


class DoorStage:
    """Takes mails in.

    Args:
        base: settings and databases.
        ring: wakes play.
        names: resolves domains; default: this machine's name servers.
    """

    def __init__(self, base: Base, ring: Ring, names: Resolver | None = None) -> None:
        settings = base.settings
        self._base = base
        self.clock = base.clock
        self.writer = open_writer(base.mail)
        self.traffic = base.traffic()
        self.quota = base.quota()
        self.senders = _senders(settings, names)
        self.door = Door(
            base.mail_domain,
            self.writer,
            base.clock,
            self.traffic,
            self.quota,
            ring,
            self.senders,
            settings.mail_servers,
            PostmasterShares(self.quota.most // 2),
        )
        self._beat_at: datetime | None = None
        self._removal = Removal(base.mail, base.game, self.writer) if base.game.is_sqlite else None
        self._measure()
        self._rounds = Rounds(
            self.run_once, "removal", REMOVE_S, "mails that are carried out could not be removed"
        )

    def run_once(self) -> None:
        """Remove settled arrivals, measure the room that texts take, and beat."""
        if self._removal is not None:
            self._removal.run_once()
        self._measure()
        now = self._base.clock.now()
        self.quota.measure(now)
        if self._beat_at is None or now - self._beat_at >= BEAT:
            self.writer.submit(partial(arrivals.beat, now=now)).result()
            self._beat_at = now

    def _measure(self) -> None:
        """Count what waits, in each lane and in all."""
        with self._base.mail.reading.connect() as connection:
            waiting = arrivals.by_lane(connection)
        self.door.shares.replace(waiting)
        self.quota.waits(sum(octets for _, octets in waiting.values()))

    def start(self) -> None:
        """Begin to beat, and to remove settled arrivals."""
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


class PlayStage:
    """Carries out what has arrived, and acts when clocks run out; alone changes games.

    Args:
        base: settings and databases.
        ring_post: wakes post.
        ring_bots: wakes the bots.
        ring_web: wakes pages that wait for a result.
        passwords: makes and checks hashes; default: argon2id as its authors advise.
        current: tells the supervisor which mail is being carried out.
        suspects: how often play has died with an arrival, by its number.
        names: resolves domains; default: this machine's name servers.
        by: name under which this process claims mails on PostgreSQL.
        has_own_door: whether the door is part of the same process, and so gives no beat.
    """

    def __init__(
        self,
        base: Base,
        ring_post: Ring,
        ring_bots: Ring,
        ring_web: Ring,
        passwords: Passwords | None = None,
        current: CurrentWork | None = None,
        suspects: Mapping[int, int] | None = None,
        names: Resolver | None = None,
        *,
        by: str = "play",
        has_own_door: bool = False,
    ) -> None:
        settings, clock = base.settings, base.clock
        self.game, self.clock = base.game, clock
        self._ring_post = ring_post
        self.writer = open_writer(base.game)
        self.positions = Positions(base.registry)
        self.passwords = passwords or Passwords()
        self.services = base.services(self.positions, self.passwords.memo, base.traffic())
        self.quota = base.quota()
        self.mails = MailService(self.services, self.quota, HANDLERS)
        self.checks = PasswordChecks(self.services, self.passwords, base.game, self.writer, clock)
        games = frozenset(game.info.key for game in base.registry)
        self.reader = MailReader(base.mail_domain, games, settings.mail_servers)
        self.arrivals: Arrivals = (
            TwoStores(base.mail, base.game, self.writer, clock)
            if base.game.is_sqlite
            else OneStore(by, base.game, self.writer, clock)
        )
        self.senders = _senders(settings, names)
        self.play = Play(
            self.arrivals,
            self.reader,
            self.checks,
            self.mails,
            self.writer,
            clock,
            Forms(self.services).by_name,
            PageRequests(self.services, base.game, self.mails),
            ring_post=ring_post,
            ring_bots=ring_bots,
            ring_web=ring_web,
            current=current,
            suspects=suspects,
            senders=self.senders,
        )
        self.rows = WrittenRows(self.writer, clock, partial(bounces.refused, self.services))

        def ring_after_bot() -> None:
            ring_post()
            ring_web()

        self.bot_moves = BotMoves(self.services, self.writer, clock, ring_after_bot)
        kept = Kept.of_days(
            mails=settings.mail_days, unused=settings.unused_days, letters=settings.letter_days
        )
        self.expiry = Expiry(base.game, self.writer, clock, kept, self.quota)
        self.scheduler = Scheduler(
            self.services,
            base.game,
            self.writer,
            clock,
            ring_post,
            expiry=self.expiry,
            oldest=self.arrivals.oldest,
            door_beat=None if has_own_door else self.arrivals.door_beat,
        )
        self.operators = Operators(self.services, base.game, self.writer, clock)
        self.kept_mails = KeptMails(base.game, self.reader.read, self.retry, self.operators)
        self.put_off_mails = PutOffMails(base.game, self.reader.read, self.retry, self._keep)
        self._putting_off = Rounds(
            self.put_off_mails.run_once, "put-off", 30.0, "mails that wait could not be looked at"
        )
        self._tidying = Rounds(
            self.arrivals.tidy, "tidying", 10.0, "what is done could not be forgotten"
        )

    def start(self) -> None:
        """Begin; the heartbeat first, so that no move is charged with the time of an outage."""
        self.scheduler.begin()
        self.play.start()
        self.scheduler.start()
        self._tidying.start()
        self._putting_off.start()

    def stop(self) -> None:
        """Finish the mails under way; the others wait for the next start."""
        self._tidying.stop(STOP_S)
        self._putting_off.stop(STOP_S)
        self.scheduler.stop(STOP_S)
        self.play.stop(STOP_S)
        with contextlib.suppress(*UNAVAILABLE, Closed):
            self.arrivals.release()
        if self.senders is not None:
            self.senders.close()
        self.checks.close()
        self.writer.close()

    def retry(self, mail_id: int, incoming: IncomingMail) -> bool:
        """Carry a kept mail out again; return whether it was still kept.

        Raises:
            Exception: carrying it out failed; the mail is still kept.
        """
        checked = incoming.with_passwords(self.checks.vet(incoming.request).result())
        now = self.clock.now()
        job = partial(self.mails.carry_out_kept, checked, mail_id, now)
        done = self.writer.submit(job).result()
        self.positions.remember(done.played)
        self._ring_post()
        return done is not NOTHING

    def _keep(self, mail_id: int, fault: str) -> None:
        self.writer.submit(partial(self.mails.keep_put_off, mail_id, fault)).result()

    def carry_out(self, by: Signature, order: Order) -> str:
        """Carry out an order of an operator; return a sentence for the operator.

        Raises:
            OperatorError: it cannot be done, or no reason is given; nothing has changed.
        """
        done = self.operators.do(by, order)
        self._ring_post()
        return done.said

    def vitals(self) -> list[Vital]:
        """Return the states of the threads."""
        parts = self.scheduler, self.play, self._tidying, self._putting_off
        rounds = [part.vital() for part in parts]
        return [*self.writer.vitals(), *rounds]


class PostStage:
    """Makes letters and sends them.

    Args:
        base: settings and databases.
        rows: changes the outbox.
        relay: where letters go; default: where the settings say.
        watch: tells the supervisor which letter is being made.
        by: name under which this process claims letters; no two live ones have the same.
    """

    def __init__(
        self,
        base: Base,
        rows: OutboxRows,
        relay: Relay | None = None,
        watch: Watch | None = None,
        by: str = "post1",
    ) -> None:
        settings = base.settings
        self._by = by
        self.relay = relay or open_relay(settings.relay)
        keys = [load_key(named) for named in settings.dkim_keys]
        self.signer = Signer(base.mail_domain.domain, keys)
        composer = Composer(
            base.mail_domain, base.registry, Positions(base.registry), settings.web_url
        )
        self.outbox = Outbox(
            by, base.game, rows, composer, self.signer, base.clock, watch or CurrentWork()
        )
        self.sender = Sender(
            self.outbox,
            self.relay,
            base.clock,
            random,
            threads=DELIVERIES[settings.relay.partition(":")[0].lower()],
            poll_s=5.0 if base.game.is_sqlite else 1.0,
            domain_letters=settings.domain_letters,
        )

    def start(self) -> None:
        """Take over what a dead process of the same name had claimed, and begin to send."""
        self.sender.start()

    def stop(self) -> None:
        """Finish the letters in hand."""
        self.sender.stop(STOP_S)
        self.relay.close()

    def relay_state(self) -> RelayState:
        """Return the state of the relay."""
        return RelayState(*self.sender.failures)

    def vitals(self) -> list[Vital]:
        """Return the states of the threads."""
        return self.sender.vitals()


class BotsStage:
    """Thinks for the bots.

    Args:
        base: settings and databases.
        moves: makes the moves.
        watch: tells the supervisor which board the bots think about.
        tick_s: see `BotWorker`.
    """

    def __init__(
        self, base: Base, moves: Moves, watch: Watch | None = None, tick_s: float = 0.0
    ) -> None:
        self.bot_worker = BotWorker(
            Positions(base.registry), base.game, base.clock, moves, watch or CurrentWork(), tick_s
        )

    def start(self) -> None:
        """Start the thread."""
        self.bot_worker.start()

    def stop(self) -> None:
        """Finish the board in hand, and end."""
        self.bot_worker.stop(STOP_S)

    def vitals(self) -> list[Vital]:
        """Return the state of the thread."""
        return [self.bot_worker.vital()]
