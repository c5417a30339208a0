"""The parts of each stage, wired; which process has which of them is `supervisor`'s business.

`Base` is what every stage stands on. Each stage is made of it alone: what it needs of another it
asks for by `link`, or, where all are in one process (tests, an operator's command), directly.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from random import random
from time import monotonic
from typing import Any

from pbmserv.clock import Clock, SystemClock
from pbmserv.config.settings import Settings
from pbmserv.engine.registry import Registry
from pbmserv.errors import StillWorking, StoreAway
from pbmserv.inbound.auth.verdict import Senders, Trusted
from pbmserv.letters.compose import Composer
from pbmserv.mail.dns import Resolver, SystemResolver
from pbmserv.mail.reply_address import MailDomain
from pbmserv.monitoring.pulse import Vital
from pbmserv.outbound.dkim import Signer
from pbmserv.outbound.dkim import load as load_key
from pbmserv.outbound.outbox_adapter import DatabaseOutbox, OutboxRows, WrittenRows
from pbmserv.outbound.relay import Relay, open_relay
from pbmserv.outbound.worker import Sender
from pbmserv.service.accounts.web_requests import Forms, WebRequests
from pbmserv.service.auth.password_checks import PasswordChecks
from pbmserv.service.auth.passwords import Lockout, Memo, Passwords
from pbmserv.service.bots.bot_worker import BotMoves, BotWorker, Moves
from pbmserv.service.core.context import IncomingMail, Services
from pbmserv.service.core.mail_service import MailService
from pbmserv.service.core.results import NOTHING
from pbmserv.service.delivery import bounces
from pbmserv.service.delivery.mail_reader import MailReader
from pbmserv.service.limits.rates import Rates, Traffic
from pbmserv.service.limits.shared_counts import Book, Counting
from pbmserv.service.operators.health import RelayState
from pbmserv.service.time.retention import Expiry, Kept, Quota
from pbmserv.service.time.rounds import Rounds
from pbmserv.service.time.scheduler import Scheduler
from pbmserv.stages.arrivals import Arrivals, OneStore, Removal, TwoStores
from pbmserv.stages.current_mail import Claims, CurrentMail
from pbmserv.stages.door import Door
from pbmserv.stages.opening import keys_of, opened
from pbmserv.stages.play import Play
from pbmserv.store.boards.positions import Lookout, Positions
from pbmserv.store.core.writer import UNAVAILABLE, Closed, open_writer
from pbmserv.store.delivery import arrivals

SENDERS = {"maildir": 2, "lmtp": 2, "smtp": 8, "smtps": 8}
"""Threads that send, by relay; each keeps a connection. Over a network most of it is waiting."""
STOP_S = 10.0
"""Seconds that work in hand has when a stage stops; nothing is lost after that either."""
REMOVE_S = 1.0
"""Seconds between two removals of mails that are carried out."""
FORM_S = 5.0
"""Seconds that a page waits for what it asked for."""
LOOK_S = 0.02

Ring = Callable[[], None]


class Base:
    """What every stage stands on: databases, keys, games, the time.

    Args:
        settings: checked.
        clock: tells the time.
    """

    def __init__(self, settings: Settings, clock: Clock | None = None) -> None:
        self.settings = settings
        self.clock = clock or SystemClock()
        self.game, self.mail = opened(settings.database)
        try:
            local, _, domain = settings.address.rpartition("@")
            ring = keys_of(self.game, self.clock)
            self.mail_domain = MailDomain(local.lower(), domain.lower(), ring)
            self.registry = Registry.installed()
        except BaseException:  # nobody will get this to close it
            self.close()
            raise

    def traffic(self, book: Book | None = None) -> Traffic:
        """What counts mails; *book*: shared with other processes."""
        one = self.settings
        rates = Rates(
            one.rate_player,
            one.rate_address,
            one.rate_network,
            one.rate_refusals,
            one.rate_answers,
            one.rate_confirmations,
            one.rate_resets,
        )
        return Traffic(rates, self.clock, None if book is None else book.windows)

    def quota(self) -> Quota:
        """What the texts of mails may take."""
        one = self.settings
        return Quota(self.game, one.inbox_octets, keeps_unused=one.unused_days > 0)

    def services(
        self, positions: Positions, memo: Memo, lockout: Lockout, traffic: Traffic
    ) -> Services:
        """What every command's context shares."""
        one = self.settings
        looking = Composer(
            self.mail_domain, self.registry, Lookout(positions, self.registry), one.web_url
        )
        return Services(
            self.mail_domain,
            self.registry,
            positions,
            memo,
            lockout,
            traffic,
            one.operators,
            one.signup,
            one.web_url,
            one.away_days,
            looking,
        )

    def close(self) -> None:
        """Close the databases."""
        self.game.close()
        if self.mail is not self.game:
            self.mail.close()


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
        book = None  # counted in memory alone, where there is only one door
        if not base.game.is_sqlite:
            book = Book("mails", base.game, self.writer, base.clock)
        self.counting = Counting([book] if book else [])
        self.traffic = base.traffic(book)
        self.quota = base.quota()
        trusted = Trusted(settings.authserv_id, settings.arc_sealers, settings.authserv_hops)
        self.senders = Senders(names or SystemResolver(), trusted)
        self.door = Door(
            base.mail_domain,
            self.writer,
            base.clock,
            self.traffic,
            self.quota,
            ring,
            self.senders if settings.sender_checks else None,
            settings.mail_servers,
        )
        self._removal = Removal(base.mail, base.game, self.writer) if base.game.is_sqlite else None
        with base.mail.reading.connect() as connection:
            self.quota.waits(arrivals.octets(connection))
        self._rounds = Rounds(
            self.run_once, "removal", REMOVE_S, "mails that are carried out could not be removed"
        )

    def run_once(self) -> None:
        """Remove what play has settled, and measure what texts take."""
        if self._removal is not None:
            self._removal.run_once()
        with self._base.mail.reading.connect() as connection:
            self.quota.waits(arrivals.octets(connection))
        self.quota.measure(self._base.clock.now())

    def start(self) -> None:
        """Begin to remove what is done, and to count with others."""
        self.counting.run_once()
        self.counting.start()
        self._rounds.start()

    def stop(self) -> None:
        """End; what is stored stays."""
        self._rounds.stop(STOP_S)
        self.senders.close()
        self.counting.stop(STOP_S)
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
        claims: what a play before this one had claimed, and where this one's claims are noted.
    """

    def __init__(
        self,
        base: Base,
        ring_post: Ring,
        ring_bots: Ring,
        passwords: Passwords | None = None,
        current: CurrentMail | None = None,
        suspects: Mapping[int, int] | None = None,
        claims: Claims | None = None,
    ) -> None:
        settings, clock = base.settings, base.clock
        self._base = base
        self.writer = open_writer(base.game)
        self.positions = Positions(base.registry)
        self.passwords = passwords or Passwords()
        self._book = Book("passwords", base.game, self.writer, clock)
        self.counting = Counting([self._book])
        lockout = Lockout(clock, self._book.windows, self._book.exchange)
        self.services = base.services(self.positions, self.passwords.memo, lockout, base.traffic())
        self.quota = base.quota()
        self.mails = MailService(self.services, self.quota)
        self.checks = PasswordChecks(self.services, self.passwords, base.game)
        games = frozenset(game.info.key for game in base.registry)
        self.reader = MailReader(base.mail_domain, games, settings.mail_servers)
        self.arrivals: Arrivals = (
            TwoStores(base.mail, base.game, self.writer, clock)
            if base.game.is_sqlite
            else OneStore(base.game, self.writer, clock, claims)
        )
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
        )
        self.rows = WrittenRows(self.writer, partial(bounces.refused, self.services))
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
        )
        self._tidying = Rounds(
            self.arrivals.tidy, "tidying", 10.0, "what is done could not be forgotten"
        )

    def answers(self) -> Mapping[str, Callable[..., Any]]:
        """What post and bots may ask of it."""
        rows = self.rows
        return {
            "claim": rows.claim,
            "keep": rows.keep,
            "renew": rows.renew,
            "settle": rows.settle,
            "reclaim": rows.reclaim,
            "act": self.bot_moves.act,
            "put_off": self.bot_moves.put_off,
        }

    def start(self) -> None:
        """Begin. The heartbeat first of all, so that a move which waited for us is not charged
        with our outage; then what others have counted, and a process before us."""
        self.scheduler.beat()
        self.counting.run_once()
        self.counting.start()
        self.play.start()
        self.scheduler.start()
        self._tidying.start()

    def stop(self) -> None:
        """Finish what is in hand; what waits is carried out at the next start."""
        self._tidying.stop(STOP_S)
        self.scheduler.stop(STOP_S)
        self.play.stop(STOP_S)
        with contextlib.suppress(*UNAVAILABLE, Closed):
            self.arrivals.let_go()
        self.checks.close()
        self.counting.stop(STOP_S)
        self.writer.close()

    def retry(self, mail_id: int, incoming: IncomingMail) -> bool:
        """Carry a kept mail out once more; False when it is no longer kept.

        Raises:
            Exception: whatever failed; the mail is still kept.
        """
        looked = self.checks.vet(incoming).result()
        now = self._base.clock.now()
        job = partial(self.mails.carry_out_kept, looked, mail_id, now)
        done = self.writer.submit(job).result()
        done.remember(self.positions)
        return done is not NOTHING

    def vitals(self) -> list[Vital]:
        """How its threads are."""
        rounds = [self.scheduler.vital(), self.play.vital(), self._tidying.vital()]
        return [*self.writer.vitals(), *rounds]


class PostStage:
    """Makes letters and sends them.

    Args:
        rows: what changes the outbox.
        relay: where letters go; default: where the settings say.
        claims: what a post before this one had claimed, and where this one's claims are noted.
    """

    def __init__(
        self,
        base: Base,
        rows: OutboxRows,
        relay: Relay | None = None,
        claims: Claims | None = None,
    ) -> None:
        settings = base.settings
        self._base = base
        self._claims = claims or Claims()
        self.relay = relay or open_relay(settings.relay)
        keys = [load_key(named) for named in settings.dkim_keys]
        self.signer = Signer(base.mail_domain.domain, keys)
        composer = Composer(
            base.mail_domain, base.registry, Positions(base.registry), settings.web_url
        )
        self.outbox = DatabaseOutbox(base.game, rows, composer, self.signer, base.clock)
        self.sender = Sender(
            self.outbox,
            self.relay,
            base.clock,
            random,
            threads=SENDERS[settings.relay.partition(":")[0].lower()],
            poll_s=5.0 if base.game.is_sqlite else 1.0,
            domain_letters=settings.domain_letters,
            held=self._claims,
        )

    def start(self, *, alone: bool) -> None:
        """Begin to send. *alone*: no other machine does, so that what is held is known."""
        if alone:
            with contextlib.suppress(StoreAway):  # play died over it, and does it at its own start
                self.outbox.reclaim()
        else:
            with contextlib.suppress(*UNAVAILABLE):  # else they wait for the end of their leases
                self.outbox.give_back(self._claims.left())
        self._claims.begin()
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
    """Thinks for the bots. *moves*: makes what was thought of."""

    def __init__(self, base: Base, moves: Moves) -> None:
        self.bot_worker = BotWorker(Positions(base.registry), base.game, base.clock, moves)

    def start(self) -> None:
        """Begin to think."""
        self.bot_worker.start()

    def stop(self) -> None:
        """Finish the thought in hand."""
        self.bot_worker.stop(STOP_S)

    def vitals(self) -> list[Vital]:
        """How its thread is."""
        return [self.bot_worker.vital()]


class WebStage:
    """What the pages ask of the service. *send*: has a form stored; its number."""

    def __init__(self, base: Base, send: Callable[[str, dict[str, Any]], Awaitable[int]]) -> None:
        self._base = base
        self.send = send
        self._store: str | None = None
        windows = Lockout(base.clock)
        services = base.services(Positions(base.registry), Memo(), windows, base.traffic())
        self.web_requests = WebRequests(services, base.game, base.clock, self._ask)

    async def _ask(self, name: str, values: dict[str, Any]) -> Any:
        """Have a form carried out as mails are, and wait for what comes of it.

        Raises:
            StillWorking: that takes long.
        """
        number = await self.send(name, values)
        end = monotonic() + FORM_S
        while monotonic() < end:
            done, result = await asyncio.to_thread(self._look, number)
            if done:
                return result
            await asyncio.sleep(LOOK_S)
        raise StillWorking(f"form {number}")

    def _look(self, number: int) -> tuple[bool, Any]:
        if self._store is None:
            self._store = ""
            if self._base.game.is_sqlite:
                with self._base.mail.reading.connect() as connection:
                    self._store = arrivals.store_of(connection)
        with self._base.game.reading.connect() as connection:
            return arrivals.result_of(connection, self._store, number)


class Server:
    """Every stage in one process, each asking the others directly."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock | None = None,
        relay: Relay | None = None,
        passwords: Passwords | None = None,
        names: Resolver | None = None,
    ) -> None:
        with contextlib.ExitStack() as stack:
            self.base = Base(settings, clock)
            stack.callback(self.base.close)
            self.play_stage = PlayStage(self.base, self._ring_post, self._ring_bots, passwords)
            stack.callback(self.play_stage.stop)
            self.door_stage = DoorStage(self.base, self.play_stage.play.ring, names)
            stack.callback(self.door_stage.stop)
            self.post_stage = PostStage(self.base, self.play_stage.rows, relay)
            stack.callback(self.post_stage.stop)
            self.bots_stage = BotsStage(self.base, self.play_stage.bot_moves)
            self.web_stage = WebStage(self.base, self.door_stage.door.form)
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
        self.reader = self.play_stage.reader
        self.outbox = self.post_stage.outbox
        self.sender = self.post_stage.sender
        self.bot_worker = self.bots_stage.bot_worker
        self.web_requests = self.web_stage.web_requests

    def close(self) -> None:
        """Finish what is under way and let go of everything."""
        self.door_stage.stop()
        self.play_stage.stop()
        self.bots_stage.stop()
        self.post_stage.stop()
        self.base.close()

    def settle(self) -> None:
        """Carry out all that has arrived, here and now; where play does not run by itself."""
        self.play_stage.play.run_until_idle()
        self.door_stage.run_once()

    def waits(self) -> bool:
        """Whether anything that has arrived is not carried out."""
        return self.play_stage.arrivals.oldest() is not None

    def vitals(self) -> list[Vital]:
        """How every thread is."""
        stages = (self.door_stage, self.play_stage, self.post_stage, self.bots_stage)
        return [vital for stage in stages for vital in stage.vitals()]

    def _ring_post(self) -> None:
        self.post_stage.sender.wake()

    def _ring_bots(self) -> None:
        self.bots_stage.bot_worker.ask()
