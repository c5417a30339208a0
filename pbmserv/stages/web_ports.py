"""The ports of the web process: public pages, metrics, the local mailbox, operators' pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from pbmserv.config.settings import Settings
from pbmserv.net.connection_limits import ConnectionLimits
from pbmserv.service.operators.health import Health, Slots
from pbmserv.stages.base import Base
from pbmserv.stages.ports import Bound, slots_of
from pbmserv.stages.web_stage import WebStage
from pbmserv.views.environment import environment
from pbmserv.web.application import build_site
from pbmserv.web.http.server import WebServer, bounds
from pbmserv.web.limits.allowance import Allowance
from pbmserv.web.mailbox.application import build_mailbox
from pbmserv.web.operators.application import build_operators
from pbmserv.web.probes import build_probes
from pbmserv.web.rendering.site_facts import SiteFacts

WEB = 200
"""Connections of strangers to the pages."""
WEB_OWN = 100
"""Connections of our own proxies to the pages."""
PROBES = 10
"""Connections of strangers, and as many of our proxies, to metrics, the mailbox and operators'
pages each."""


class WebPorts:
    """The open web ports, in one event loop."""

    def __init__(
        self,
        base: Base,
        stage: WebStage,
        health: Health,
        metrics: Callable[[], Awaitable[bytes]],
        bound: Bound,
    ) -> None:
        settings = base.settings
        self._limits: dict[str, ConnectionLimits] = {}
        self._servers: list[WebServer] = []
        sockets = bound.sockets
        if port := sockets.get("web"):
            self._limits["web"] = limits = _limits("web", settings, WEB, WEB_OWN)
            url = urlsplit(settings.web_url)
            pages = SiteFacts(
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
            site = build_site(
                pages,
                stage.web_requests,
                environment(),
                health,
                base.registry,
                Allowance(settings.web_proxies),
            )
            self._servers.append(WebServer(site, port, limits))
        if port := sockets.get("metrics"):
            probes = build_probes(health, metrics)
            limits = _limits("metrics", settings)
            self._servers.append(WebServer(probes, port, limits))
        if (port := sockets.get("mailbox")) and settings.smtp is not None:
            relay, smtp = settings.relay, settings.smtp
            mailbox = build_mailbox(relay, smtp, base.mail_domain, environment())
            limits = _limits("mailbox", settings)
            self._servers.append(WebServer(mailbox, port, limits))
        if (port := sockets.get("operator_pages")) and settings.operator_token is not None:
            site = build_operators(
                stage.operators,
                settings.operator_token,
                settings.operator_url,
                base.clock,
                environment(),
                settings.web_proxies,
            )
            limits = _limits("operators", settings)
            self._servers.append(WebServer(site, port, limits))

    async def open(self) -> None:
        """Begin to serve."""
        for server in self._servers:
            await server.start()

    async def close(self) -> None:
        """Finish the answers under way."""
        for server in self._servers:
            await server.stop()

    def slots(self) -> dict[str, Slots]:
        """Return the numbers of connections by port."""
        return slots_of(self._limits)


def _limits(
    port: str, settings: Settings, strangers: int = PROBES, own: int = PROBES
) -> ConnectionLimits:
    return ConnectionLimits(port, bounds(strangers, own), settings.web_proxies)
