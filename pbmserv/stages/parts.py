"""The parts of each stage, wired; which process has which of them is `supervisor`'s business.

Each stage is made of a `Base` alone: what it needs of another it asks for by `link`, or, where all
are in one process (tests), directly.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from random import random
from typing import Any

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
from pbmserv.service.accounts.web_requests import Forms
from pbmserv.service.auth.password_checks import PasswordChecks
from pbmserv.service.auth.passwords import Passwords
from pbmserv.service.bots.bot_worker import BotMoves, BotWorker, Moves
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.mail_service import MailService
from pbmserv.service.core.results import NOTHING
from pbmserv.service.delivery import bounces
from pbmserv.service.delivery.incoming import IncomingMail, MailReader
from pbmserv.service.limits.postmaster_shares import PostmasterShares
from pbmserv.service.operators.deeds import Deed, Operators, Signature
from pbmserv.service.operators.health import RelayState
from pbmserv.service.operators.queues import KeptMails, PutOffMails
from pbmserv.service.time.retention import Expiry, Kept
from pbmserv.service.time.scheduler import Rounds, Scheduler
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
    """Return what checks senders; ``None`` if the settings turn that off."""
    if not settings.sender_checks:
        return None
    trusted = Trusted(settings.authserv_id, settings.arc_sealers, settings.authserv_hops)
    return Senders(names or SystemResolver(), trusted)


class DoorStage:
    """Takes mails in.

    Args:
        ring: wakes play.
        names: answers questions about domains; default: this machine's name servers.
    """

    def __init__(self, base: Base, ring: Ring, names: Resolver | None = None) -> None:
        settings = base.settings
        self._base = base
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
        """Remove what play has settled, and measure what texts take."""
        if self._removal is not None:
            self._removal.run_once()
        self._measure()
        now = self._base.clock.now()
        self.quota.measure(now)
        if self._beat_at is None or now - self._beat_at >= BEAT:
            beat = partial(arrivals.beat, now=now)
            self.writer.submit_between(beat, is_synced=False).result()
            self._beat_at = now

    def _measure(self) -> None:
        """What waits, in each lane and in all."""
        with self._base.mail.reading.connect() as connection:
            waiting = arrivals.by_lane(connection)
        self.door.shares.found(waiting)
        self.quota.waits(sum([octets for _, octets in waiting.values()]))

    def start(self) -> None:
        """Begin to say that it lives, and to remove what is done."""
        self.run_once()
        self._rounds.start()

    def stop(self) -> None:
        """End; what is stored stays."""
        self._rounds.stop(STOP_S)
        if self.senders is not None:
            self.senders.close()
        self.writer.close()

    def vitals(self) -> list[Vital]:
        """How its threads are."""
        return [*self.writer.vitals(), self._rounds.vital()]


class PlayStage:
    """Carries out what has arrived, and looks at clocks; the only one that changes a game.

    Args:
        ring_post, ring_bots: wake them.
        passwords: makes and checks hashes; default: argon2id as its authors advise.
        current: tells the supervisor which mail is being carried out.
        suspects: arrivals with which play has died, and how often.
        by: name under which this process claims mails on PostgreSQL.
        names: answers questions about domains; default: this machine's name servers.
        has_own_door: whether the door lives and dies with play, in one process.
    """

    def __init__(
        self,
        base: Base,
        ring_post: Ring,
        ring_bots: Ring,
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
        self.mails = MailService(self.services, self.quota)
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
            ring_post=ring_post,
            ring_bots=ring_bots,
            current=current,
            suspects=suspects,
            keeps_order=base.game.is_sqlite,
            senders=self.senders,
        )
        self.rows = WrittenRows(self.writer, clock, partial(bounces.refused, self.services))
        self.bot_moves = BotMoves(self.services, self.writer, clock, ring_post)
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

    def answers(self) -> Mapping[str, Callable[..., Any]]:
        """What post, bots and operators' commands may ask of it."""
        rows = self.rows
        return {
            "claim": rows.claim,
            "keep": rows.keep,
            "renew": rows.renew,
            "settle": rows.settle,
            "act": self.bot_moves.act,
            "put_off": self.bot_moves.put_off,
            "keep_report": self.bot_moves.keep_report,
            "operate": self._operate,
            "retry_kept": self.kept_mails.retry,
        }

    def start(self) -> None:
        """Begin; the heartbeat first, so that no move is charged with the time of an outage."""
        self.scheduler.begin()
        self.play.start()
        self.scheduler.start()
        self._tidying.start()
        self._putting_off.start()

    def stop(self) -> None:
        """Finish what is in hand; what waits is carried out at the next start."""
        self._tidying.stop(STOP_S)
        self._putting_off.stop(STOP_S)
        self.scheduler.stop(STOP_S)
        self.play.stop(STOP_S)
        with contextlib.suppress(*UNAVAILABLE, Closed):
            self.arrivals.let_go()
        if self.senders is not None:
            self.senders.close()
        self.checks.close()
        self.writer.close()

    def retry(self, mail_id: int, incoming: IncomingMail) -> bool:
        """Carry a kept mail out once more; False when it is no longer kept.

        Raises:
            Exception: whatever failed; the mail is still kept.
        """
        looked = self.checks.vet(incoming).result()
        now = self.clock.now()
        job = partial(self.mails.carry_out_kept, looked, mail_id, now)
        done = self.writer.submit(job).result()
        self.positions.remember(done.played)
        self._ring_post()
        return done is not NOTHING

    def _keep(self, mail_id: int, fault: str) -> None:
        self.writer.submit(partial(self.mails.keep_put_off, mail_id, fault)).result()

    def _operate(self, by: Signature, deed: Callable[[CommandContext, Signature], Deed]) -> Deed:
        """As `Operators.do`, and what it tells people goes out at once."""
        done = self.operators.do(by, deed)
        self._ring_post()
        return done

    def vitals(self) -> list[Vital]:
        """How its threads are."""
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
        """How the relay is."""
        return RelayState(*self.sender.failures)

    def vitals(self) -> list[Vital]:
        """How its threads are."""
        return self.sender.vitals()


class BotsStage:
    """Thinks for the bots.

    Args:
        moves: makes what was thought of.
        watch: tells the supervisor which board is being thought about.
        tick_s: as `BotWorker` has it.
    """

    def __init__(
        self, base: Base, moves: Moves, watch: Watch | None = None, tick_s: float = 0.0
    ) -> None:
        self.bot_worker = BotWorker(
            Positions(base.registry), base.game, base.clock, moves, watch or CurrentWork(), tick_s
        )

    def start(self) -> None:
        """Begin to think."""
        self.bot_worker.start()

    def stop(self) -> None:
        """Finish the thought in hand."""
        self.bot_worker.stop(STOP_S)

    def vitals(self) -> list[Vital]:
        """How its thread is."""
        return [self.bot_worker.vital()]
