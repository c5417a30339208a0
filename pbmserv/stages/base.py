"""What every stage stands on."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from pbmserv.clock import Clock, SystemClock
from pbmserv.commands.table.catalogue import BY_NAME
from pbmserv.config.settings import Settings
from pbmserv.config.values import blank_passwords
from pbmserv.engine.registry import Registry
from pbmserv.errors import ConfigError, ServerFault
from pbmserv.letters.compose import Composer
from pbmserv.mail.reply_address import KeyRing, MailDomain
from pbmserv.service.auth.passwords import Memo
from pbmserv.service.core.context import Services
from pbmserv.service.limits.rates import Rates, Traffic
from pbmserv.service.time.retention import Quota
from pbmserv.store.accounts import players
from pbmserv.store.boards.moves import Lookout, Positions
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database, mail_url, told


class Base:
    """What every stage stands on: databases, keys, games, the time.

    Args:
        settings: checked.
        clock: tells the time.
        may_upgrade: an older database is brought to this version's schema, else refused: a command
            that only looks changes nothing, least of all beside a server that still runs.
    """

    def __init__(
        self, settings: Settings, clock: Clock | None = None, *, may_upgrade: bool = True
    ) -> None:
        self.settings = settings
        self.clock = clock or SystemClock()
        self.game, self.mail = opened(settings.database, may_upgrade=may_upgrade)
        try:
            local, _, domain = settings.address.rpartition("@")
            ring = keys_of(self.game, self.clock)
            self.mail_domain = MailDomain(local.lower(), domain.lower(), ring)
            self.registry = Registry.installed()
            for game in self.registry:
                if game.info.key in BY_NAME:
                    raise ServerFault(f'a game cannot be called "{game.info.key}", as a command is')
        except BaseException:  # nobody will get this to close it
            self.close()
            raise

    def traffic(self) -> Traffic:
        """Return the counters that limit mails, for one process."""
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
        return Traffic(rates, self.clock)

    def quota(self) -> Quota:
        """What the texts of mails may take."""
        one = self.settings
        return Quota(self.game, one.inbox_octets, keeps_unused=one.unused_days > 0)

    def services(self, positions: Positions, memo: Memo, traffic: Traffic) -> Services:
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
            traffic,
            one.operators,
            one.signup,
            one.web_url,
            one.away_days,
            one.invitations,
            looking,
            partial(_operators_secrets, one.operator_token),
        )

    def read_keys(self) -> None:
        """Read the keys of reply addresses again."""
        self.mail_domain.ring.keys = keys_of(self.game, self.clock).keys

    def let_go(self) -> None:
        """Close all connections, since no other process may go on with them; each opens its own."""
        self.game.let_go()
        if self.mail is not self.game:
            self.mail.let_go()

    def close(self) -> None:
        """Close the databases."""
        self.game.close()
        if self.mail is not self.game:
            self.mail.close()


def _operators_secrets(path: Path | None) -> Sequence[str]:
    """Return the token of the operators' pages, which may have been replaced since the start."""
    if path is None:
        return ()
    from pbmserv.web.operator_sessions import read_token  # brings the web library along

    try:
        return (read_token(path),)
    except ConfigError:  # without a token that is right nobody can use the pages
        return ()


def opened(url: str, *, may_upgrade: bool = True) -> tuple[Database, Database]:
    """The game store and the mail store, at this version's schema; on PostgreSQL they are one.

    Raises:
        ServerFault: one cannot be used; says why, for the operator.
    """
    game = _opened(url, "game", may_upgrade=may_upgrade)
    if not game.is_sqlite:
        return game, game
    try:
        return game, _opened(mail_url(url), "mail", may_upgrade=may_upgrade)
    except BaseException:
        game.close()
        raise


def _opened(url: str, store: str, *, may_upgrade: bool) -> Database:
    try:
        database = Database(url)
        try:
            if may_upgrade or (store == "mail" and _is_new(database)):
                schema.prepare(database, (store,) if database.is_sqlite else schema.ALL)
            else:
                schema.require(database)
        except BaseException:
            database.close()
            raise
    except (DBAPIError, OSError) as error:
        raise ServerFault(f"{blank_passwords(url)} cannot be used: {told(error)}") from None
    return database


def _is_new(database: Database) -> bool:
    """Whether there is nothing in it that anybody could miss."""
    with database.reading.connect() as connection:
        return schema.current(connection) is None


def keys_of(database: Database, clock: Clock) -> KeyRing:
    """The keys that sign reply addresses; the first start makes one."""
    with database.reading.connect() as connection:
        keys = players.signing_keys(connection)
    if not keys:
        with database.writing.begin() as connection:
            keys = players.signing_keys(connection)
            if not keys:
                players.add_signing_key(connection, 1, secrets.token_bytes(32), clock.now())
                keys = players.signing_keys(connection)
    return KeyRing(keys)
