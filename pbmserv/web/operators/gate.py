"""Lets operators in who have shown their token, and renders their pages.

Each form carries a key of its session, which a page of another site cannot know.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any, TypeAlias

from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from pbmserv.errors import ConfigError, OperatorError, StillWorking
from pbmserv.mail.networks import Network
from pbmserv.web.http.client_network import network_of
from pbmserv.web.http.request_bodies import read_form
from pbmserv.web.http.responses import LASTING, PRIVATE, html, tagged
from pbmserv.web.operators.sessions import (
    MOST_WAITING,
    PAUSE_S,
    SESSION,
    Attempts,
    Session,
    Sessions,
)

LONGEST_FORM = 8_000
"""Octets of the form to sign in."""
LONGEST_DEED = 80_000
"""Octets of the form of an operator who is signed in; an announcement needs the most."""
LONGEST_NAME = 80
"""Characters of an operator's name."""
COOKIE = "pbmserv-operator"

log = logging.getLogger("pbmserv.web")


@dataclass(frozen=True, slots=True)
class OperatorRequest:
    """A request of an operator who is signed in.

    Attributes:
        fields: fields of the form; empty for a GET.
        trouble: the reason why the change that the form asks for was refused; ``""`` for none.
    """

    http: Request
    session: Session
    fields: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""

    def word(self, name: str) -> str:
        """Return a part of the path."""
        return printable(self.http.path_params[name])

    def query(self, name: str) -> str:
        """Return a parameter of the query; ``""`` if it is missing."""
        return printable(self.http.query_params.get(name, ""))

    def number(self) -> int:
        """Return the number in the path.

        Raises:
            HTTPException: the text is not a number (404).
        """
        text = self.word("number")
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            raise HTTPException(404)
        return int(text)


Handler: TypeAlias = Callable[[OperatorRequest], Awaitable[Response]]


def printable(text: str) -> str:
    """Return a text with blanks for characters that no database stores and no page shows."""
    return "".join(char if char.isprintable() else " " for char in text)


class OperatorPrinter:
    """Makes the answers of these pages.

    Args:
        base: the path of the pages behind a proxy, without a slash at its end.
    """

    def __init__(self, base: str, templates: Environment) -> None:
        self.base = base
        self._templates = templates
        self._style = "".join(
            templates.get_template(f"web/{name}.css").render()
            for name in ("style", "mailbox", "operators")
        )
        version = hashlib.sha256(self._style.encode()).hexdigest()[:12]
        self._shared = {"base": base, "style": f"{base}/style.css?v={version}"}
        self._icon = templates.get_template("web/icon.svg").render()

    async def style(self, request: Request) -> Response:
        return tagged(request, self._style, "text/css; charset=utf-8", LASTING)

    async def icon(self, request: Request) -> Response:
        return tagged(request, self._icon, "image/svg+xml", LASTING)

    def page(self, name: str, values: Mapping[str, Any], status: int = 200) -> Response:
        """Render ``web/operators-NAME.html.j2``."""
        template = self._templates.get_template(f"web/operators-{name}.html.j2")
        return html(template.render({**self._shared, **values}), status, PRIVATE)

    def notice(
        self, status: int, reason: str, session: Session | None = None, detail: str = ""
    ) -> Response:
        """Render the page that says why a request was not answered.

        Args:
            reason: a key of the texts in the template.
            detail: what the text needs beside: a sentence, or a number.
        """
        return self.page("notice", {"session": session, "why": reason, "detail": detail}, status)

    def redirect(self, path: str) -> Response:
        """Lead to another page of the operators."""
        return Response(status_code=303, headers={**PRIVATE, "Location": self.base + path})

    def fault(self, error: BaseException) -> Response:
        """Return 500, or 503 if the token's file is unusable; the log says why, not the page."""
        if isinstance(error, ConfigError):
            log.error("operators' pages let nobody in", extra={"why": str(error)})
            return self.notice(503, "closed")
        log.error("a page of the operators failed", exc_info=error)
        return self.notice(500, "fault")

    def too_many_forms(self, seconds: int) -> Response:
        """Return 429: the reader's network has sent too many forms."""
        return self.notice(429, "too-many", detail=str(seconds))


class OperatorGate:
    """Lets operators in who show the token.

    Args:
        is_secure: operators reach the pages by HTTPS.
        proxies: networks of our own proxies.
    """

    def __init__(
        self,
        sessions: Sessions,
        printer: OperatorPrinter,
        *,
        is_secure: bool,
        proxies: Collection[Network],
    ) -> None:
        self.printer = printer
        self._sessions = sessions
        self._is_secure = is_secure
        self._cookie = f"__Secure-{COOKIE}" if is_secure else COOKIE
        self._proxies = proxies
        self._attempts = Attempts()

    def signed(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """Return a handler for requests with a session; a POST also needs the session's key."""

        async def handle(request: Request) -> Response:
            session = self._session(request)
            if session is None:
                return self.printer.redirect("/sign-in")
            fields: Mapping[str, str] = {}
            if request.method == "POST":
                form = await read_form(request, LONGEST_DEED)
                fields = {
                    name: "\n".join(map(printable, text.splitlines()))
                    if name == "text"
                    else printable(text)
                    for name, text in form.items()
                }
                key = fields.get("key", "")
                if not hmac.compare_digest(key.encode("utf-8", "replace"), session.key.encode()):
                    return self.printer.notice(403, "forged")
            try:
                return await handler(OperatorRequest(request, session, fields))
            except OperatorError as error:  # there is no such mail, letter, player, board or game
                return self.printer.notice(404, "missing", session, str(error))
            except StillWorking:
                return self.printer.notice(202, "working", session)

        return handle

    async def sign_in(self, request: Request) -> Response:
        """Show the form for the token; a POST begins a session."""
        if request.method != "POST":
            return self._form(200)
        fields = await read_form(request, LONGEST_FORM)
        by = printable(fields.get("by", "")).strip()
        if not by or len(by) > LONGEST_NAME:
            return self._form(422, "name", by)
        network = network_of(request, self._proxies) or "unknown"
        token = fields.get("token", "").strip()
        is_right = await self._attempts.check(network, lambda: self._sessions.is_right(token))
        facts = {"network": network, "page": "operators"}
        if is_right is None:
            log.warning("wrong operator token", extra=facts)
            answer = self._form(429, "later", by)
            answer.headers["Retry-After"] = str(ceil(MOST_WAITING * PAUSE_S))
            return answer
        if not is_right:
            log.warning("wrong operator token", extra=facts)
            return self._form(403, "token", by)
        log.info("an operator has signed in", extra=facts | {"who": by})
        answer = self.printer.redirect("/")
        self._set_cookie(answer, self._sessions.begin(by), int(SESSION.total_seconds()))
        return answer

    async def sign_out(self, request: OperatorRequest) -> Response:
        """End the session."""
        self._sessions.end(request.session)
        answer = self.printer.redirect("/sign-in")
        self._set_cookie(answer, "", 0)
        return answer

    async def refused(self, request: Request, error: Exception) -> Response:
        """Return 404 or 405."""
        assert isinstance(error, HTTPException)
        return self.printer.notice(error.status_code, "missing", self._session(request))

    def _session(self, request: Request) -> Session | None:
        return self._sessions.read(request.cookies.get(self._cookie, ""))

    def _set_cookie(self, answer: Response, value: str, age: int) -> None:
        answer.set_cookie(
            self._cookie,
            value,
            max_age=age,
            path=f"{self.printer.base}/",
            secure=self._is_secure,
            httponly=True,
            samesite="strict",
        )

    def _form(self, status: int, trouble: str = "", by: str = "") -> Response:
        """Render the form for the token.

        Args:
            trouble: a word for the reason why the last one was refused; ``""`` for none.
            by: the operator's name, as it was typed.
        """
        return self.printer.page("sign-in", {"session": None, "trouble": trouble, "by": by}, status)
