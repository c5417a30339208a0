"""What lets clients in: the ports, bound before anything is served, and what serves mail, pages and
numbers there. Mail and pages share the file descriptors that this process may have.
"""

from __future__ import annotations

import resource
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Protocol
from urllib.parse import urlsplit

from pbmserv.config.settings import Settings
from pbmserv.errors import ConfigError, ServerFault
from pbmserv.letters.environment import environment
from pbmserv.net import listening
from pbmserv.net.connection_limits import Bounds, ConnectionLimits
from pbmserv.net.listening import ACCEPTED_AT_ONCE
from pbmserv.service.auth.passwords import Memo
from pbmserv.service.operators.health import Health, Slots
from pbmserv.service.operators.pages import Side
from pbmserv.service.pages import web_requests
from pbmserv.service.pages.page_requests import PageRequest
from pbmserv.smtpd.server import Listener
from pbmserv.smtpd.session import SESSION_TIMEOUT, SESSION_TIMEOUT_FULL
from pbmserv.smtpd.tls import Certificate
from pbmserv.stages import operators
from pbmserv.stages.base import Base
from pbmserv.stages.door import Door
from pbmserv.stages.page_results import PageResults
from pbmserv.store.boards.moves import Positions
from pbmserv.web.application import build
from pbmserv.web.mailbox import build_mailbox
from pbmserv.web.operator_sessions import read_token
from pbmserv.web.operators import build_operators
from pbmserv.web.pages import Pages
from pbmserv.web.probes import build_probes
from pbmserv.web.server import WebServer, bounds


@dataclass(frozen=True, slots=True)
class Bound:
    """The sockets of a server, bound before anything is served."""

    smtp: socket.socket | None
    smtps: socket.socket | None
    lmtp: socket.socket | None
    web: socket.socket | None
    metrics: socket.socket | None
    mailbox: socket.socket | None
    operators: socket.socket | None
    certificate: Certificate | None

    @property
    def mail(self) -> Mapping[str, socket.socket]:
        """The mail ports that there are, by what is spoken there."""
        ports = {"smtp": self.smtp, "smtps": self.smtps, "lmtp": self.lmtp}
        return {name: port for name, port in ports.items() if port is not None}

    @property
    def pages(self) -> list[socket.socket]:
        """The ports of the pages' process that there are."""
        ports = (self.web, self.metrics, self.mailbox, self.operators)
        return [port for port in ports if port is not None]

    def keep_only(self, stage: str) -> None:
        """In a forked process: let go of what another stage listens at, so that an address is free
        as soon as that has closed it."""
        for port in self.mail.values() if stage != "door" else ():
            port.close()
        for port in self.pages if stage != "web" else ():
            port.close()

    def close(self) -> None:
        """Give every address back."""
        for one in (*self.mail.values(), *self.pages):
            one.close()


def bind(settings: Settings) -> Bound:
    """Bind every listener.

    Raises:
        ConfigError: an address is taken, or not this machine's; the certificate or the operators'
            token is of no use.
    """
    certificate = None
    if settings.tls_cert is not None:
        certificate = Certificate(settings.tls_cert, settings.tls_key or settings.tls_cert)
    if settings.operator_pages is not None and settings.operator_token is not None:
        read_token(settings.operator_token)
    bound: list[socket.socket | None] = []
    try:
        for name, listen in (
            ("PBMSERV_SMTP", settings.smtp),
            ("PBMSERV_SMTPS", settings.smtps),
            ("PBMSERV_LMTP", settings.lmtp),
            ("PBMSERV_WEB", settings.web),
            ("PBMSERV_METRICS", settings.metrics),
            ("PBMSERV_MAILBOX", settings.mailbox),
            ("PBMSERV_OPERATOR_PAGES", settings.operator_pages),
        ):
            bound.append(listening.bind(listen, name) if listen else None)
        _must_be_here("PBMSERV_MAILBOX", bound[-2], "127.0.0.1:8027")
        if not settings.operator_url:
            _must_be_here("PBMSERV_OPERATOR_PAGES", bound[-1], "127.0.0.1:8028")
    except ConfigError:
        for one in bound:
            if one is not None:
                one.close()
        raise
    smtp, smtps, lmtp, web, metrics, mailbox, desk = bound
    return Bound(smtp, smtps, lmtp, web, metrics, mailbox, desk, certificate)


def _must_be_here(name: str, port: socket.socket | None, example: str) -> None:
    """Refuse to show what is for this machine to others, whatever a name resolves to.

    Raises:
        ConfigError: they could connect.
    """
    if port is not None and not ip_address(port.getsockname()[0]).is_loopback:
        raise ConfigError(f"{name}: other machines could connect; write {example}")


def shares(settings: Settings, bound: Bound) -> Shares:
    """What each port may have open, of as many files as the system grants.

    Raises:
        ConfigError: they are too few for any service.
    """
    ports = len(bound.mail), int(bound.web is not None)
    limit = raise_limit(wanted(settings.sessions, *ports))
    return share_out(limit, settings.sessions, *ports)


def limits(listener: str, settings: Settings, divided: Shares) -> ConnectionLimits:
    """The sessions of one mail port."""
    most = divided.sessions
    from_network = min(settings.sessions_network, most)
    bounds = Bounds(most, from_network, most, SESSION_TIMEOUT, SESSION_TIMEOUT_FULL)
    return ConnectionLimits(listener, bounds, settings.mail_servers)


# -- file descriptors --------------------------------------------------------------------------


RESERVED = 256
"""For everything but clients: the database (two dozen connections, each with its log), relays and
Maildirs, name servers (64 questions at a time), listening sockets, the log, imports."""
WEB = 200
"""Connections of strangers to the pages."""
WEB_OWN = 100
"""Connections of proxies of our own."""
FEWEST = 10
"""Fewer sessions at a mail port, or connections to the pages, are no service."""


@dataclass(frozen=True, slots=True)
class Shares:
    """What each listener may have open.

    Attributes:
        sessions: of strangers at each mail port, and as many of our own mail servers.
        web: of strangers at the pages.
        web_own: of our own proxies at the pages.
        warning: one sentence where that is less than the settings ask for, else ``""``.
    """

    sessions: int
    web: int
    web_own: int
    warning: str = ""


PROBES = Shares(0, 10, 10)
"""What the listeners for /metrics, the mailbox and operators may have open, part of `RESERVED`."""


def raise_limit(wanted: int) -> int:
    """Ask the system for so many descriptors; how many there may be then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    endless = resource.RLIM_INFINITY
    if soft == endless:
        return wanted
    if soft < wanted:
        more = wanted if hard == endless else min(wanted, hard)
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (more, hard))
        except (ValueError, OSError):  # macOS has a lower one of its own
            return soft
        return more
    return soft


def wanted(sessions: int, mail_ports: int, web_ports: int) -> int:
    """Descriptors that everything needs at once."""
    mail = mail_ports * (2 * sessions + ACCEPTED_AT_ONCE)
    return RESERVED + mail + web_ports * (WEB + WEB_OWN + ACCEPTED_AT_ONCE)


def share_out(limit: int, sessions: int, mail_ports: int, web_ports: int) -> Shares:
    """Divide *limit* descriptors; where they are too few mail and pages shrink alike.

    Raises:
        ConfigError: so few that nobody could be served.
    """
    needed = wanted(sessions, mail_ports, web_ports)
    if limit >= needed:
        return Shares(sessions, WEB, WEB_OWN)
    always = RESERVED + ACCEPTED_AT_ONCE * (mail_ports + web_ports)
    part = (limit - always) / (needed - always)
    found = int(sessions * part), int(WEB * part), int(WEB_OWN * part)
    few = f"this process may open {limit} files (RLIMIT_NOFILE), but its ports need {needed}"
    if min(found) < min(FEWEST, sessions):
        raise ConfigError(
            f'PBMSERV_SESSIONS = "{sessions}": {few}; raise the limit, such as ulimit -n {needed}'
        )
    told = f"{few}: each mail port takes {found[0]} sessions, the pages {found[1]} connections"
    return Shares(*found, told)


class MailPorts:
    """The SMTP and LMTP ports; in one event loop."""

    def __init__(self, base: Base, door: Door, bound: Bound, divided: Shares) -> None:
        self._limits = {name: limits(name, base.settings, divided) for name in bound.mail}
        self._listeners = [
            (
                Listener(
                    base.mail_domain,
                    door,
                    limits=self._limits[name],
                    lmtp=name == "lmtp",
                    certificate=bound.certificate,
                    tls_at_once=name == "smtps",
                ),
                sock,
            )
            for name, sock in bound.mail.items()
        ]

    async def open(self) -> None:
        """Begin to accept sessions."""
        for listener, sock in self._listeners:
            await listener.start(sock)

    async def close(self) -> None:
        """Let mails under way finish, and take no more."""
        for listener, _ in self._listeners:
            await listener.stop()

    def slots(self) -> dict[str, Slots]:
        """Sessions by listener."""
        return slots_of(self._limits)


class WebPorts:
    """The pages, numbers for Prometheus, the local mailbox and operators; in one event loop."""

    def __init__(
        self,
        base: Base,
        stage: WebStage,
        health: Health,
        metrics: Callable[[], Awaitable[bytes]],
        bound: Bound,
        divided: Shares,
    ) -> None:
        settings = base.settings
        self._limits: dict[str, ConnectionLimits] = {}
        self._servers: list[WebServer] = []
        if bound.web is not None:
            self._limits["web"] = limits = _limits("web", settings, divided)
            url = urlsplit(settings.web_url)
            pages = Pages(
                address=settings.address,
                games=tuple(game.info for game in base.registry),
                signup=settings.signup,
                base=url.path.rstrip("/"),
                origin=f"{url.scheme}://{url.netloc}",
                contact=settings.security_contact,
                bots=base.registry.bots,
                can_hide=bool(stage.web_requests.hot_seats.game),
                proxies=settings.web_proxies,
            )
            site = build(pages, stage.web_requests, environment(), health)
            self._servers.append(WebServer(site, bound.web, limits))
        if bound.metrics is not None:
            probes = build_probes(health, metrics)
            limits = _limits("metrics", settings, PROBES)
            self._servers.append(WebServer(probes, bound.metrics, limits))
        if bound.mailbox is not None and settings.smtp is not None:
            relay, smtp = settings.relay, settings.smtp
            mailbox = build_mailbox(relay, smtp, base.mail_domain, environment())
            limits = _limits("mailbox", settings, PROBES)
            self._servers.append(WebServer(mailbox, bound.mailbox, limits))
        if bound.operators is not None and settings.operator_token is not None:
            token, where = settings.operator_token, settings.operator_url
            proxies = settings.web_proxies
            templates = environment()
            site = build_operators(stage.operators, token, where, base.clock, templates, proxies)
            limits = _limits("operators", settings, PROBES)
            self._servers.append(WebServer(site, bound.operators, limits))

    async def open(self) -> None:
        """Begin to serve."""
        for server in self._servers:
            await server.start()

    async def close(self) -> None:
        """Let answers under way finish."""
        for server in self._servers:
            await server.stop()

    def slots(self) -> dict[str, Slots]:
        """Connections by listener."""
        return slots_of(self._limits)


def slots_of(limits: dict[str, ConnectionLimits]) -> dict[str, Slots]:
    """Places of strangers by listener, and of our own servers (``smtp-own``)."""
    strangers = {name: Slots(*one.inside) for name, one in limits.items()}
    own = {f"{name}-own": Slots(*one.own_inside) for name, one in limits.items()}
    return strangers | own


def _limits(name: str, settings: Settings, divided: Shares) -> ConnectionLimits:
    return ConnectionLimits(name, bounds(divided.web, divided.web_own), settings.web_proxies)


class PagesDoor(Protocol):
    """The door as pages need it."""

    async def form(self, kind: str, values: Mapping[str, Any]) -> int:
        """See `Door.form`."""
        ...

    async def press(self, request: PageRequest) -> int:
        """See `Door.press`."""
        ...


class PlayOfPages:
    """Play, as pages reach it: the door stores forms and commands, and play rings for results.

    Attributes:
        door: stores forms and commands.
        results: waits for their results.
    """

    def __init__(self, door: PagesDoor, results: PageResults) -> None:
        self.door = door
        self.results = results
        self.until = results.until

    async def carry_out(self, request: PageRequest) -> int:
        """See `board_presses.Play.carry_out`."""
        number = await self.results.result(await self.door.press(request))
        if number is None:
            raise ServerFault("a command from a page could not be carried out")
        return int(number)

    async def ask(self, kind: str, values: Mapping[str, Any]) -> Any:
        """Have a form carried out, and return its result.

        Raises:
            StillWorking: it is stored, and takes long.
        """
        return await self.results.result(await self.door.form(kind, values))


class WebStage:
    """The service behind the pages.

    Args:
        base: settings and databases.
        door: stores forms and commands of pages.
        side: carries out the changes of operators' pages.

    Attributes:
        play: carries out forms and commands.
        web_requests: the pages of players and the public.
        operators: the pages of operators.
    """

    def __init__(self, base: Base, door: PagesDoor, side: Side) -> None:
        self.play = PlayOfPages(door, PageResults(base))
        services = base.services(Positions(base.registry), Memo(), base.traffic())
        self.web_requests = web_requests.WebRequests(
            services, base.game, base.clock, self.play.ask, self.play, door.form
        )
        self.operators = operators.pages(base, services, side)
