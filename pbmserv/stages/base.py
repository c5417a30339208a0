"""The databases, keys and games that every stage needs, opened before the processes fork."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pbmserv.clock import Clock, SystemClock
from pbmserv.commands.table.catalogue import BY_NAME
from pbmserv.config.settings import Settings
from pbmserv.engine.registry import Registry
from pbmserv.errors import ConfigError, ServerFault
from pbmserv.inbound.auth.senders import Senders
from pbmserv.inbound.auth.verdict import Trusted
from pbmserv.letters.compose import Composer
from pbmserv.mail.dns import Resolver, SystemResolver
from pbmserv.mail.mail_domain import MailDomain
from pbmserv.service.auth.passwords import Memo
from pbmserv.service.core.services import Services
from pbmserv.service.limits.rates import Rates, Traffic
from pbmserv.service.limits.text_quota import Quota
from pbmserv.service.mails.incoming import MailParser
from pbmserv.service.schedule.retention import KeepTimes
from pbmserv.stages.reply_keys import keys_of
from pbmserv.stages.stores import open_stores
from pbmserv.store.boards.positions import Positions
from pbmserv.store.core.database import Database
from pbmserv.store.delivery import mail_stores
from pbmserv.store.delivery.shares import SHARES, UNDIVIDED, ask_by_share
from pbmserv.web.operators.token import read_token


class Base:
    """The databases, keys, games and clock of a process.

    Args:
        settings: checked settings.
        clock: tells the time; default: the system's.
        may_upgrade: whether an older database is upgraded to this version's schema. Else it is
            refused: a command must not change it beside a server that still runs.

    Raises:
        ServerFault: a database cannot be used.

    Attributes:
        started_at: when the server started; its processes inherit this.
        shares: shares of the queues that are claimed one by one.
        mail_store_name: the name under which settled arrivals are recorded: the UUID of the mail
            store if that is a file of its own, else ``""``.
    """

    def __init__(
        self, settings: Settings, clock: Clock | None = None, *, may_upgrade: bool = True
    ) -> None:
        self.settings = settings
        self.shares = range(SHARES) if settings.distributed else UNDIVIDED
        self.clock = clock or SystemClock()
        self.started_at = self.clock.now()
        self.game, self.mail = open_stores(settings.database, may_upgrade=may_upgrade)
        if settings.distributed:
            ask_by_share(self.game)
        try:
            self.mail_store_name = ""
            if self.game.is_sqlite:
                with self.mail.reading.connect() as connection:
                    self.mail_store_name = mail_stores.uuid_of(connection)
            local, _, domain = settings.address.rpartition("@")
            ring = keys_of(self.game, self.clock)
            self.mail_domain = MailDomain(local.lower(), domain.lower(), ring)
            self.registry = Registry.installed()
            for game in self.registry:
                if game.info.key in BY_NAME:
                    raise ServerFault(f'a game cannot be called "{game.info.key}", as a command is')
        except BaseException:
            self.close()
            raise

    def traffic(self) -> Traffic:
        """Return the counters that limit mails, for one process."""
        settings = self.settings
        rates = Rates(
            player=settings.rate_player,
            address=settings.rate_address,
            network=settings.rate_network,
            refusals=settings.rate_refusals,
            answers=settings.rate_answers,
            confirmations=settings.rate_confirmations,
            resets=settings.rate_resets,
        )
        return Traffic(rates, self.clock)

    def quota(self) -> Quota:
        """Return the room for the texts of mails."""
        return quota_of(self.game, self.settings)

    def senders(self, names: Resolver | None) -> Senders | None:
        """Return the checker of senders; `None` if the settings turn it off.

        Args:
            names: resolves domains; `None`: this machine's name servers do.
        """
        settings = self.settings
        if not settings.sender_checks:
            return None
        trusted = Trusted(settings.authserv_id, settings.arc_sealers, settings.authserv_hops)
        return Senders(names or SystemResolver(), trusted)

    def parser(self) -> MailParser:
        """Return the reader of mails."""
        return MailParser(self.mail_domain, self.registry.titles, self.settings.mail_servers)

    def services_beside_play(self) -> Services:
        """Return the shared objects of a process that is not play, and checks no passwords."""
        return self.services(Positions(self.registry), Memo())

    def services(self, positions: Positions, memo: Memo) -> Services:
        """Return the objects that all commands of a process share."""
        settings = self.settings
        composer = Composer(self.mail_domain, self.registry, positions, settings.web_url)
        return Services(
            mail_domain=self.mail_domain,
            registry=self.registry,
            positions=positions,
            memo=memo,
            traffic=self.traffic(),
            operators=settings.operators,
            signup=settings.signup,
            away_days=settings.away_days,
            invitations=settings.invitations,
            letters=composer,
            secrets=partial(_operators_secrets, settings.operator_token),
        )

    def name_connections(self, name: str) -> None:
        """Set the name of new connections to PostgreSQL, by which its own tools list them."""
        self.game.application = self.mail.application = name

    def disconnect(self) -> None:
        """Close all connections before a fork; each process opens its own."""
        for database in {self.game, self.mail}:
            database.disconnect()

    def close(self) -> None:
        """Close the databases."""
        for database in {self.game, self.mail}:
            database.close()


def quota_of(game_store: Database, settings: Settings) -> Quota:
    """Return the room for the texts of mails that the settings give."""
    return Quota(game_store, settings.inbox_octets, keeps_unused=settings.unused_days > 0)


def keep_times_of(settings: Settings) -> KeepTimes:
    """Return the times for which the settings keep texts."""
    return KeepTimes.of_days(mails=settings.mail_days, unused=settings.unused_days)


def _operators_secrets(path: Path | None) -> Sequence[str]:
    """Return the token of the operators' pages, in a tuple that is empty if there is none."""
    if path is None:
        return ()
    try:
        return (read_token(path),)
    except ConfigError:  # without a valid token the pages are closed
        return ()
