"""The composition root: the only place that builds the concrete parts and wires them."""

from __future__ import annotations

import asyncio
import atexit
import gc
import signal
import socket
import sys
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from random import random
from typing import TextIO
from urllib.parse import urlsplit

from pbmserv import listening, log, starting
from pbmserv.capability import House
from pbmserv.clock import Clock, SystemClock
from pbmserv.config import Loaded, Settings, public_url
from pbmserv.dns import Resolver, SystemResolver
from pbmserv.engine.registry import Registry
from pbmserv.errors import ConfigError
from pbmserv.greeting import greeting
from pbmserv.opening import keys_of, opened
from pbmserv.receive.crowd import Crowd
from pbmserv.receive.intake import Intake
from pbmserv.receive.sender.checking import Senders, Trusted
from pbmserv.receive.smtp import Listener
from pbmserv.receive.tls import Certificate
from pbmserv.reloading import Reload
from pbmserv.render.environment import environment
from pbmserv.send.composing import Composer
from pbmserv.send.queue import DatabaseOutbox
from pbmserv.send.relay import Relay, open_relay
from pbmserv.send.signing import Signer
from pbmserv.send.signing import load as load_key
from pbmserv.send.worker import Sender
from pbmserv.service import bounces
from pbmserv.service.counting import Book, Counting
from pbmserv.service.custody import Custody
from pbmserv.service.desk import Post, Rooms
from pbmserv.service.keeper import Keeper
from pbmserv.service.lockout import Lockout
from pbmserv.service.office import Office
from pbmserv.service.operating import Operators
from pbmserv.service.passwords import Passwords
from pbmserv.service.rates import Rates, Traffic
from pbmserv.service.thinking import Thinker
from pbmserv.service.vetting import Vetting
from pbmserv.service.visitors import Visitors
from pbmserv.store.place import must_be_there, open_to_others
from pbmserv.store.positions import Positions
from pbmserv.store.writer import Writer, open_writer
from pbmserv.web.application import Pages, build
from pbmserv.web.server import WebServer

SENDERS = {"maildir": 2, "lmtp": 2, "smtp": 8, "smtps": 8}
"""Threads that send, by relay; each keeps a connection. Over a network most of it is waiting."""

STOP_SENDING = 10.0
"""Seconds that a letter in hand has when the server stops; it is not lost after that either."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The sockets of a server, bound before anything is served."""

    smtp: socket.socket | None
    smtps: socket.socket | None
    lmtp: socket.socket | None
    web: socket.socket | None
    certificate: Certificate | None


def bind(settings: Settings) -> Bound:
    """Bind every listener.

    Raises:
        ConfigError: an address is taken, or not this machine's; the certificate is of no use.
    """
    certificate = None
    if settings.tls_cert is not None:
        certificate = Certificate(settings.tls_cert, settings.tls_key or settings.tls_cert)
    bound: list[socket.socket | None] = []
    try:
        for name, listen in (
            ("PBMSERV_SMTP", settings.smtp),
            ("PBMSERV_SMTPS", settings.smtps),
            ("PBMSERV_LMTP", settings.lmtp),
            ("PBMSERV_WEB", settings.web),
        ):
            bound.append(listening.bind(listen, name) if listen else None)
    except ConfigError:
        for one in bound:
            if one is not None:
                one.close()
        raise
    smtp, smtps, lmtp, web = bound
    return Bound(smtp, smtps, lmtp, web, certificate)


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
        local, _, domain = settings.address.rpartition("@")
        ring = keys_of(self.database, self.writer, self.clock)
        self.house = House(local.lower(), domain.lower(), ring)
        self.registry = Registry.installed()
        self.positions = Positions(self.registry)
        self.relay = relay or open_relay(settings.relay)
        self.signer = Signer(self.house.domain, [load_key(named) for named in settings.dkim_keys])
        composer = Composer(self.house, self.registry, self.positions, settings.web_url)
        self.passwords = passwords or Passwords()
        passwords_book = Book("passwords", self.database, self.writer, self.clock)
        mails_book = None  # counted in memory alone, where there is only one process
        if not self.database.is_sqlite:
            mails_book = Book("mails", self.database, self.writer, self.clock)
        self.counting = Counting([one for one in (passwords_book, mails_book) if one is not None])
        self.rooms = Rooms(
            self.house,
            self.registry,
            self.positions,
            self.passwords.memo,
            Lockout(self.clock, passwords_book.windows, passwords_book.exchange),
            _traffic(settings, self.clock, mails_book),
            settings.operators,
            settings.signup,
            settings.web_url,
            settings.away_days,
        )
        self.outbox = DatabaseOutbox(
            self.database,
            self.writer,
            composer,
            self.signer,
            self.clock,
            partial(bounces.refused, self.rooms),
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
        self.thinker = Thinker(self.rooms, self.database, self.writer, self.clock, self.sender.wake)
        self.office = Office(
            self.rooms,
            Vetting(self.rooms, self.passwords, self.database),
            self.writer,
            self.clock,
            self.sender.wake,
            self.thinker.ask,
        )
        self.visitors = Visitors(self.rooms, self.database, self.writer, self.office, self.clock)
        self.keeper = Keeper(
            self.rooms,
            self.database,
            self.writer,
            self.clock,
            self.sender.wake,
            mails_kept=timedelta(days=settings.mail_days),
        )
        games = frozenset(game.info.key for game in self.registry)
        trusted = Trusted(settings.authserv_id, settings.arc_sealers, settings.authserv_hops)
        self.senders = Senders(names or SystemResolver(), trusted)
        checks = self.senders if settings.sender_checks else None
        self.intake = Intake(
            self.house,
            self.office,
            self.rooms.traffic,
            games,
            checks,
            settings.mail_servers,
        )

    def close(self) -> None:
        """Finish what is under way and let go of everything."""
        self.keeper.stop(STOP_SENDING)
        self.thinker.stop(STOP_SENDING)
        self.sender.stop(STOP_SENDING)
        self.relay.close()
        self.senders.close()
        self.office.close()
        self.counting.stop(STOP_SENDING)
        self.writer.close()
        self.database.close()


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


def serve(loaded: Loaded) -> int:
    """Run a server until SIGTERM or SIGINT; the process's exit code.

    SIGHUP makes it read keys and certificates again; before it is ready, and when it is about to
    end, there is nothing to read.
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    log.configure("INFO")
    for name in loaded.unread:
        print(f"pbmserv: {name} is no setting and is not used", file=sys.stderr)  # noqa: T201
    bound = bind(loaded.settings)
    with starting.places(loaded):
        for warning in open_to_others(loaded.settings.data_dir, loaded.settings.database):
            print(f"pbmserv: {warning}", file=sys.stderr)  # noqa: T201
        server = Server(_with_ports(loaded.settings, bound))
        _collect_rarely()
        try:
            asyncio.run(_run(server, bound, sys.stdout))
        finally:
            # The event loop has left the default behind, which would end us here.
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            server.close()
    return 0


def _collect_rarely() -> None:
    """Look for cyclic garbage less often: mails leave hardly any, and the remembered positions
    are many objects to look through in vain (8 % of the time that a move takes)."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def _with_ports(settings: Settings, bound: Bound) -> Settings:
    """The settings with the ports that were really bound."""
    smtp = listening.port_of(bound.smtp, settings.smtp)
    smtps = listening.port_of(bound.smtps, settings.smtps)
    web = listening.port_of(bound.web, settings.web)
    web_url = settings.web_url
    if web is not None and not web_url:
        web_url = public_url(web)
    return replace(settings, smtp=smtp, smtps=smtps, web=web, web_url=web_url)


def operator(loaded: Loaded) -> Custody:
    """What ``pbmserv inbox`` works with; the server may be running at the same time."""
    server = _beside(loaded)

    def retry(number: int, post: Post) -> bool:
        return asyncio.run(server.office.retry(number, post))

    return Custody(server.database, server.intake.read, retry, _operators(server))


def operators(loaded: Loaded) -> Operators:
    """What ``pbmserv user``, ``board``, ``game`` and ``rating`` work with; as `operator`."""
    return _operators(_beside(loaded))


def _beside(loaded: Loaded) -> Server:
    """The parts of a server for one command of an operator.

    Raises:
        OperatorError: there is no database.
    """
    log.configure("WARNING")
    must_be_there(loaded.settings.database, loaded.sources)
    server = Server(loaded.settings)
    atexit.register(server.close)
    return server


def _operators(server: Server) -> Operators:
    return Operators(server.rooms, server.database, server.writer, server.clock)


async def _run(server: Server, bound: Bound, out: TextIO) -> None:
    asked_to_stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    reload = Reload(
        server.database,
        server.house.ring,
        server.signer,
        server.settings.dkim_keys,
        bound.certificate,
    )
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, asked_to_stop.set)
    loop.add_signal_handler(signal.SIGHUP, reload.ask)
    reloading = asyncio.create_task(reload.run(), name="reloading")
    doors = Doors(server, bound)
    await doors.open()
    out.write(greeting(server.settings))
    out.write("ready\n")
    out.flush()
    await asked_to_stop.wait()
    await doors.close()
    reloading.cancel()


class Doors:
    """Everything of a server that listens or sends; lives in one event loop."""

    def __init__(self, server: Server, bound: Bound) -> None:
        self._server = server
        crowd = Crowd(server.settings.mail_servers)
        self._listeners = [
            (
                Listener(
                    server.house,
                    server.intake,
                    crowd=crowd,
                    lmtp=sock is bound.lmtp,
                    certificate=bound.certificate,
                    tls_at_once=sock is bound.smtps,
                ),
                sock,
            )
            for sock in (bound.smtp, bound.smtps, bound.lmtp)
            if sock is not None
        ]
        self._web = _web(server, bound.web) if bound.web is not None else None

    async def open(self) -> None:
        """Begin to serve, to send and to look at clocks."""
        # First of all, so that a move which waited for us is not charged with our outage.
        await asyncio.to_thread(self._server.keeper.beat)
        # What others have counted, and a process before us: no door is open that they closed.
        await asyncio.to_thread(self._server.counting.run_once)
        for listener, sock in self._listeners:
            await listener.start(sock)
        if self._web is not None:
            await self._web.start()
        if self._server.database.is_sqlite:  # several hosts share only a PostgreSQL
            await asyncio.to_thread(self._server.outbox.reclaim)
        self._server.sender.start()
        self._server.keeper.start()
        self._server.counting.start()
        self._server.thinker.start()

    async def close(self) -> None:
        """Let mails and pages under way finish, and take no more."""
        for listener, _ in self._listeners:
            await listener.stop()
        if self._web is not None:
            await self._web.stop()


def _web(server: Server, bound: socket.socket) -> WebServer:
    pages = Pages(
        address=server.settings.address,
        games=tuple(game.info for game in server.registry),
        signup=server.settings.signup,
        base=urlsplit(server.settings.web_url).path.rstrip("/"),
    )
    return WebServer(build(pages, server.visitors, environment()), bound)
