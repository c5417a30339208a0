"""Everything of a server that listens, sends or looks at clocks: opened and closed together."""

from __future__ import annotations

import asyncio
from functools import partial
from urllib.parse import urlsplit

from starlette.applications import Starlette

from pbmserv.letters.environment import environment
from pbmserv.net import descriptors, ports
from pbmserv.net.connection_limits import ConnectionLimits
from pbmserv.net.descriptors import Shares
from pbmserv.net.ports import Bound
from pbmserv.service.operators.health import Health, Parts, Slots, metrics
from pbmserv.smtpd.server import Listener
from pbmserv.stages.app import Server
from pbmserv.web.application import Pages, build
from pbmserv.web.probes import build_probes
from pbmserv.web.server import WebServer, bounds


class Doors:
    """Everything of a server that listens or sends; lives in one event loop."""

    def __init__(self, server: Server, bound: Bound) -> None:
        self._server = server
        shares = ports.shares(server.settings, bound)
        self._limits = {name: ports.limits(name, server.settings, shares) for name in bound.mail}
        self._listeners = [
            (
                Listener(
                    server.mail_domain,
                    server.door,
                    limits=self._limits[name],
                    lmtp=name == "lmtp",
                    certificate=bound.certificate,
                    tls_at_once=name == "smtps",
                ),
                sock,
            )
            for name, sock in bound.mail.items()
        ]
        parts = Parts(
            server.vitals,
            self.slots,
            server.relay_state,
            lambda: (server.quota.taken, server.quota.most),
            server.settings.data_dir,
        )
        health = Health(parts, server.database, server.writer, server.clock)
        self._pages: list[WebServer] = []
        if bound.web is not None:
            self._limits["web"] = limits = _limits("web", server, shares)
            self._pages.append(WebServer(_site(server, health), bound.web, limits))
        if bound.metrics is not None:
            probes = build_probes(health, partial(metrics, health))
            self._pages.append(
                WebServer(probes, bound.metrics, _limits("metrics", server, descriptors.PROBES))
            )

    async def open(self) -> None:
        """Begin to serve, to send and to look at clocks."""
        # First of all, so that a move which waited for us is not charged with our outage.
        await asyncio.to_thread(self._server.scheduler.beat)
        # What others have counted, and a process before us: no door is open that they closed.
        await asyncio.to_thread(self._server.counting.run_once)
        for listener, sock in self._listeners:
            await listener.start(sock)
        for pages in self._pages:
            await pages.start()
        if self._server.database.is_sqlite:  # several hosts share only a PostgreSQL
            await asyncio.to_thread(self._server.outbox.reclaim)
        self._server.sender.start()
        self._server.scheduler.start()
        self._server.counting.start()
        self._server.bot_worker.start()

    async def close(self) -> None:
        """Let mails and pages under way finish, and take no more."""
        for listener, _ in self._listeners:
            await listener.stop()
        for pages in self._pages:
            await pages.stop()

    def slots(self) -> dict[str, Slots]:
        """Places of strangers by listener, and of our own servers (``smtp-own``)."""
        strangers = {name: Slots(*limits.inside) for name, limits in self._limits.items()}
        own = {f"{name}-own": Slots(*limits.own_inside) for name, limits in self._limits.items()}
        return strangers | own


def _limits(name: str, server: Server, divided: Shares) -> ConnectionLimits:
    return ConnectionLimits(name, bounds(divided.web, divided.web_own), server.settings.web_proxies)


def _site(server: Server, health: Health) -> Starlette:
    pages = Pages(
        address=server.settings.address,
        games=tuple(game.info for game in server.registry),
        signup=server.settings.signup,
        base=urlsplit(server.settings.web_url).path.rstrip("/"),
    )
    return build(pages, server.web_requests, environment(), health)
