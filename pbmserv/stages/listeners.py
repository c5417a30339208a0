"""What lets clients in: mail ports for the door, pages and numbers for the web."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from pbmserv.config.settings import Settings
from pbmserv.errors import StillWorking
from pbmserv.letters.environment import environment
from pbmserv.net import ports
from pbmserv.net.connection_limits import ConnectionLimits
from pbmserv.net.ports import Bound, Shares
from pbmserv.service.accounts import web_requests
from pbmserv.service.auth.passwords import Lockout, Memo
from pbmserv.service.operators.health import Health, Slots
from pbmserv.smtpd.server import Listener
from pbmserv.stages.base import Base
from pbmserv.stages.door import Door
from pbmserv.store.boards.moves import Positions
from pbmserv.store.delivery import arrivals
from pbmserv.web.application import WebRequests, build
from pbmserv.web.pages import Pages
from pbmserv.web.probes import build_probes
from pbmserv.web.server import WebServer, bounds

FORM_S = 5.0
"""Seconds that a page waits for what it asked for."""
LOOK_S = 0.02


class MailPorts:
    """The SMTP and LMTP ports; in one event loop."""

    def __init__(self, base: Base, door: Door, bound: Bound, divided: Shares) -> None:
        self._limits = {name: ports.limits(name, base.settings, divided) for name in bound.mail}
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
    """The pages, and numbers for Prometheus; in one event loop."""

    def __init__(
        self,
        base: Base,
        web_requests: WebRequests,
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
            pages = Pages(
                address=settings.address,
                games=tuple(game.info for game in base.registry),
                signup=settings.signup,
                base=urlsplit(settings.web_url).path.rstrip("/"),
            )
            site = build(pages, web_requests, environment(), health)
            self._servers.append(WebServer(site, bound.web, limits))
        if bound.metrics is not None:
            probes = build_probes(health, metrics)
            limits = _limits("metrics", settings, ports.PROBES)
            self._servers.append(WebServer(probes, bound.metrics, limits))

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


class WebStage:
    """What the pages ask of the service. *send*: has a form stored; its number."""

    def __init__(self, base: Base, send: Callable[[str, dict[str, Any]], Awaitable[int]]) -> None:
        self._base = base
        self.send = send
        self._store: str | None = None
        windows = Lockout(base.clock)
        services = base.services(Positions(base.registry), Memo(), windows, base.traffic())
        self.web_requests = web_requests.WebRequests(
            services, base.game, base.clock, self._ask, self._hand_in
        )

    async def _ask(self, name: str, values: dict[str, Any]) -> Any:
        """Have a form carried out as mails are, and wait for what comes of it.

        Raises:
            StillWorking: that takes long.
        """
        number = await self.send(name, values)
        return await _result(partial(self._look, number))

    async def _hand_in(self, mail: dict[str, Any], taken: Callable[[], tuple[bool, Any]]) -> Any:
        """Have a mail stored that a page has written, and wait until it was carried out.

        Raises:
            StillWorking: that takes long.
        """
        await self.send("press", mail)
        return await _result(taken)

    def _look(self, number: int) -> tuple[bool, Any]:
        if self._store is None:
            self._store = ""
            if self._base.game.is_sqlite:
                with self._base.mail.reading.connect() as connection:
                    self._store = arrivals.store_of(connection)
        with self._base.game.reading.connect() as connection:
            return arrivals.result_of(connection, self._store, number)


async def _result(look: Callable[[], tuple[bool, Any]]) -> Any:
    """What *look* finds, once it says that it is there."""
    end = monotonic() + FORM_S
    while monotonic() < end:
        done, result = await asyncio.to_thread(look)
        if done:
            return result
        await asyncio.sleep(LOOK_S)
    raise StillWorking("a form is still worked on")
