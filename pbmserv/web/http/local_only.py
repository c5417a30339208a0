"""Middleware for pages that only this machine, or the server's own proxy, may reach.

Pages of other sites can neither read them by DNS rebinding nor send forms to them.
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from pbmserv.web.http.responses import PRIVATE

_OF_PROXIES = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+))(?::[0-9]{1,5})?", re.IGNORECASE)


class LocalOnly:
    """ASGI middleware that answers only browsers on this machine, and only forms of its own pages.

    Args:
        app: the application.
        site_name: the name of the pages, for error messages.
        origin: origin of the server's own proxy, whose requests alone are answered then; ``""``
            for none.
    """

    def __init__(self, app: ASGIApp, site_name: str, origin: str = "") -> None:
        self._app = app
        self._site_name = site_name
        self._origin = origin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reason = ""
        if scope["type"] == "http":
            reason = refusal_reason(Request(scope), self._site_name, self._origin)
        if reason:
            answer = Response(f"{reason}\n", 403, PRIVATE, "text/plain")
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)


def refusal_reason(request: Request, site_name: str, origin: str) -> str:
    """Return why `LocalOnly` refuses a request; ``""`` if it does not."""
    host = request.headers.get("host", "")
    if origin:
        if host.lower() != urlsplit(origin).netloc.lower():
            return f"The {site_name} answers to another name."
    else:
        if request.client is None or not ip_address(request.client.host).is_loopback:
            return f"The {site_name} can only be used on the machine that it runs on."
        if not _is_here(host):
            return f"The {site_name} answers to localhost and 127.0.0.1 only."
        if any(name in request.headers for name in _OF_PROXIES):
            return f"The {site_name} does not answer proxies."
    if request.method not in {"GET", "HEAD"}:
        # Older browsers send no Sec-Fetch-Site.
        own = origin or f"http://{host}"
        site = request.headers.get("sec-fetch-site", "same-origin")
        if site not in {"same-origin", "none"} or request.headers.get("origin", own) != own:
            return f"The {site_name} takes forms from its own pages only."
    return ""


def _is_here(host: str) -> bool:
    """Return whether a Host header names this machine; the port may be that of a tunnel."""
    match = _HOST.fullmatch(host)
    if match is None:
        return False
    name = (match[1] or match[2]).lower()
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
