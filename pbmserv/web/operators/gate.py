"""Lets operators in after they have shown their token.

Each form carries a key of its session, which a page of another site cannot know.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping

from limits import parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from pbmserv.errors import OperatorError, StillWorking
from pbmserv.mail.networks import Network
from pbmserv.web.http.client_network import network_of
from pbmserv.web.http.request_bodies import read_form
from pbmserv.web.operators.printer import OperatorPrinter
from pbmserv.web.operators.requests import Handler, OperatorRequest, printable
from pbmserv.web.operators.sessions import LIFETIME, Session, Sessions

LONGEST_FORM = 8_000
"""Octets of the form to sign in."""
LONGEST_DEED = 80_000
"""Octets of the form of an operator who is signed in; an announcement needs the most."""
LONGEST_NAME = 80
"""Characters of an operator's name."""
MOST_WRONG = parse("10/minute")
"""Wrong tokens from one network; after that no token is looked at, be it right or wrong."""
COOKIE = "pbmserv-operator"

log = logging.getLogger("pbmserv.web")


class OperatorGate:
    """Lets operators in after they have shown the token.

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
        self._printer = printer
        self._sessions = sessions
        self._is_secure = is_secure
        self._cookie = f"__Secure-{COOKIE}" if is_secure else COOKIE
        self._proxies = proxies
        self._wrong_tokens = MovingWindowRateLimiter(MemoryStorage())

    def with_session(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """Return a handler for requests with a session; a POST also needs the session's key."""

        async def handle(request: Request) -> Response:
            session = self._session(request)
            if session is None:
                return self._printer.redirect("/sign-in")
            fields: Mapping[str, str] = {}
            if request.method == "POST":
                fields = await _printable_form(request)
                if not _is_same(fields.get("key", ""), session.key):
                    return self._printer.notice(403, "forged")
            try:
                return await handler(OperatorRequest(request, session, fields))
            except OperatorError as error:  # there is no such mail, letter, player, board or game
                return self._printer.notice(404, "missing", session, str(error))
            except StillWorking:
                return self._printer.notice(202, "working", session)

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
        facts = {"network": network, "page": "operators"}
        if not self._wrong_tokens.test(MOST_WRONG, network):
            log.warning("operator token not checked: too many were wrong", extra=facts)
            answer = self._form(429, "later", by)
            answer.headers["Retry-After"] = str(MOST_WRONG.get_expiry())
            return answer
        if not self._sessions.is_right(fields.get("token", "").strip()):
            self._wrong_tokens.hit(MOST_WRONG, network)
            log.warning("wrong operator token", extra=facts)
            return self._form(403, "token", by)
        log.info("an operator has signed in", extra=facts | {"who": by})
        answer = self._printer.redirect("/")
        self._set_cookie(answer, self._sessions.begin(by), int(LIFETIME.total_seconds()))
        return answer

    async def sign_out(self, request: OperatorRequest) -> Response:
        """End the session."""
        self._sessions.end(request.session)
        answer = self._printer.redirect("/sign-in")
        self._set_cookie(answer, "", 0)
        return answer

    async def refused(self, request: Request, error: Exception) -> Response:
        """Return 404 or 405."""
        assert isinstance(error, HTTPException)
        return self._printer.notice(error.status_code, "missing", self._session(request))

    def _session(self, request: Request) -> Session | None:
        return self._sessions.read(request.cookies.get(self._cookie, ""))

    def _set_cookie(self, answer: Response, value: str, age: int) -> None:
        answer.set_cookie(
            self._cookie,
            value,
            max_age=age,
            path=f"{self._printer.base}/",
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
        return self._printer.page(
            "sign-in", {"session": None, "trouble": trouble, "by": by}, status
        )


async def _printable_form(request: Request) -> dict[str, str]:
    """Return the fields of an operator's form; only the field ``text`` may have several lines."""
    form = await read_form(request, LONGEST_DEED)
    return {
        name: "\n".join(map(printable, value.splitlines())) if name == "text" else printable(value)
        for name, value in form.items()
    }


def _is_same(sent: str, secret: str) -> bool:
    """Compare a text with a secret, in constant time."""
    return hmac.compare_digest(sent.encode("utf-8", "replace"), secret.encode())
