"""The composition root: builds the parts of a server and wires them; `doors` lets clients in."""

from __future__ import annotations

from functools import partial
from random import random

from pbmserv.clock import Clock, SystemClock
from pbmserv.config import Settings
from pbmserv.engine.registry import Registry
from pbmserv.inbound.auth.verdict import Senders, Trusted
from pbmserv.letters.compose import Composer
from pbmserv.mail.dns import Resolver, SystemResolver
from pbmserv.mail.reply_address import MailDomain
from pbmserv.monitoring.pulse import Vital
from pbmserv.outbound.dkim import Signer
from pbmserv.outbound.dkim import load as load_key
from pbmserv.outbound.outbox_adapter import DatabaseOutbox
from pbmserv.outbound.relay import Relay, open_relay
from pbmserv.outbound.worker import Sender
from pbmserv.service.accounts.web_requests import WebRequests
from pbmserv.service.auth.lockout import Lockout
from pbmserv.service.auth.password_checks import PasswordChecks
from pbmserv.service.auth.passwords import Passwords
from pbmserv.service.bots.bot_worker import BotWorker
from pbmserv.service.core.context import Services
from pbmserv.service.core.mail_service import MailService
from pbmserv.service.delivery import bounces
from pbmserv.service.limits.rates import Rates, Traffic
from pbmserv.service.limits.shared_counts import Book, Counting
from pbmserv.service.limits.text_quota import Quota
from pbmserv.service.operators.health import RelayState
from pbmserv.service.time.retention import Expiry, Kept
from pbmserv.service.time.scheduler import Scheduler
from pbmserv.stages.door import Door
from pbmserv.stages.opening import keys_of, opened
from pbmserv.store.boards.positions import Lookout, Positions
from pbmserv.store.core.writer import Writer, open_writer

SENDERS = {"maildir": 2, "lmtp": 2, "smtp": 8, "smtps": 8}
"""Threads that send, by relay; each keeps a connection. Over a network most of it is waiting."""

STOP_SENDING = 10.0
"""Seconds that a letter in hand has when the server stops; it is not lost after that either."""


class Server:
    """Every part of one process, wired; see `serve` for the way it is run.

    Args:
        settings: checked.
        clock: tells the time.
        relay: where letters go; default: where the settings say.
        passwords: makes and checks hashes; default: argon2id as its authors advise.
        names: answers questions about domains; default: this machine's name servers.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Clock | None = None,
        relay: Relay | None = None,
        passwords: Passwords | None = None,
        names: Resolver | None = None,
    ) -> None:
        self.settings = settings
        self.clock = clock or SystemClock()
        self.database = opened(settings.database)
        self.writer: Writer = open_writer(self.database)
        try:
            self._wire(settings, relay, passwords, names)
        except BaseException:  # nobody will get this server to close it
            self.writer.close()
            self.database.close()
            raise

    def _wire(
        self,
        settings: Settings,
        relay: Relay | None,
        passwords: Passwords | None,
        names: Resolver | None,
    ) -> None:
        """Make the parts that stand on the database."""
        local, _, domain = settings.address.rpartition("@")
        ring = keys_of(self.database, self.writer, self.clock)
        self.mail_domain = MailDomain(local.lower(), domain.lower(), ring)
        self.registry = Registry.installed()
        self.positions = Positions(self.registry)
        self.relay = relay or open_relay(settings.relay)
        self.signer = Signer(
            self.mail_domain.domain, [load_key(named) for named in settings.dkim_keys]
        )
        looking = Lookout(self.positions, self.registry)
        letters = Composer(self.mail_domain, self.registry, looking, settings.web_url)
        composer = Composer(self.mail_domain, self.registry, self.positions, settings.web_url)
        self.passwords = passwords or Passwords()
        passwords_book = Book("passwords", self.database, self.writer, self.clock)
        mails_book = None  # counted in memory alone, where there is only one process
        if not self.database.is_sqlite:
            mails_book = Book("mails", self.database, self.writer, self.clock)
        self.counting = Counting([one for one in (passwords_book, mails_book) if one is not None])
        self.services = Services(
            self.mail_domain,
            self.registry,
            self.positions,
            self.passwords.memo,
            Lockout(self.clock, passwords_book.windows, passwords_book.exchange),
            _traffic(settings, self.clock, mails_book),
            settings.operators,
            settings.signup,
            settings.web_url,
            settings.away_days,
            letters,
        )
        self.outbox = DatabaseOutbox(
            self.database,
            self.writer,
            composer,
            self.signer,
            self.clock,
            partial(bounces.refused, self.services),
        )
        self.sender = Sender(
            self.outbox,
            self.relay,
            self.clock,
            random,
            threads=SENDERS[settings.relay.partition(":")[0].lower()],
            poll_s=30.0 if self.database.is_sqlite else 1.0,
            domain_letters=settings.domain_letters,
        )
        self.bot_worker = BotWorker(
            self.services, self.database, self.writer, self.clock, self.sender.wake
        )
        self.quota = Quota(
            self.database, settings.inbox_octets, keeps_unused=settings.unused_days > 0
        )
        self.mail_service = MailService(
            self.services,
            PasswordChecks(self.services, self.passwords, self.database),
            self.writer,
            self.clock,
            self.sender.wake,
            self.bot_worker.ask,
            self.quota,
        )
        self.web_requests = WebRequests(self.services, self.database, self.mail_service, self.clock)
        kept = Kept.of_days(
            mails=settings.mail_days, unused=settings.unused_days, letters=settings.letter_days
        )
        self.expiry = Expiry(self.database, self.writer, self.clock, kept, self.quota)
        self.scheduler = Scheduler(
            self.services,
            self.database,
            self.writer,
            self.clock,
            self.sender.wake,
            expiry=self.expiry,
        )
        games = frozenset(game.info.key for game in self.registry)
        trusted = Trusted(settings.authserv_id, settings.arc_sealers, settings.authserv_hops)
        self.senders = Senders(names or SystemResolver(), trusted)
        checks = self.senders if settings.sender_checks else None
        self.door = Door(
            self.mail_domain,
            self.mail_service,
            self.services.traffic,
            games,
            checks,
            settings.mail_servers,
        )

    def close(self) -> None:
        """Finish what is under way and let go of everything."""
        self.scheduler.stop(STOP_SENDING)
        self.bot_worker.stop(STOP_SENDING)
        self.sender.stop(STOP_SENDING)
        self.relay.close()
        self.senders.close()
        self.mail_service.close()
        self.counting.stop(STOP_SENDING)
        self.writer.close()
        self.database.close()

    def vitals(self) -> list[Vital]:
        """How every thread is."""
        rounds = [self.scheduler.vital(), self.bot_worker.vital()]
        return [*self.writer.vitals(), *self.sender.vitals(), *rounds]

    def relay_state(self) -> RelayState:
        """How the relay is."""
        return RelayState(*self.sender.failures)


def _traffic(settings: Settings, clock: Clock, book: Book | None) -> Traffic:
    rates = Rates(
        settings.rate_player,
        settings.rate_address,
        settings.rate_network,
        settings.rate_refusals,
        settings.rate_answers,
        settings.rate_confirmations,
        settings.rate_resets,
    )
    return Traffic(rates, clock, None if book is None else book.windows)
