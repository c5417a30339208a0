"""Pages for operators: what waits, kept mails, letters, players, boards, games and the audit.

They show what the command line shows, and change what it changes, for whoever has shown the
operators' token. Each form carries a word of its session, which a page of another site cannot know.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
from collections.abc import Awaitable, Callable, Collection, Mapping
from math import ceil
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote, urlsplit

from jinja2 import Environment
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.clock import Clock
from pbmserv.errors import ConfigError, OperatorError, StillWorking
from pbmserv.mail.envelope import LOOPBACK, Network
from pbmserv.service.operators import pages as service
from pbmserv.service.operators.deeds import Signature
from pbmserv.service.operators.pages import ACTIONS, OperatorPages
from pbmserv.web.client_network import network_of
from pbmserv.web.mailbox import OnlyHere
from pbmserv.web.operator_sessions import (
    MOST_TRYING,
    PAUSE_S,
    SESSION,
    Asked,
    Session,
    Sessions,
    Turns,
    plain,
)
from pbmserv.web.pages import LASTING, PRIVATE, html, read_form, tagged
from pbmserv.web.post_limits import LimitedPosts, PostLimits
from pbmserv.web.safe_responses import HEADERS, SafeResponses

LONGEST_FORM = 8_000
"""Octets."""
LONGEST_NAME = 80
MOST_SAID = 100
"""Sentences on what was done that are kept for the page that comes next."""
COOKIE = "pbmserv-operator"
SIGNED = ("/mails", "/letters", "/players", "/boards", "/games", "/sign-in", "/sign-out")
"""Beginnings of the paths of forms that need a session or the token."""

# With "no-referrer" a browser says of each form that it comes from nowhere.
_SAFE = HEADERS | {"Referrer-Policy": "same-origin"}
_HERE = "web/operators"

log = logging.getLogger("pbmserv.web")


def build_operators(
    pages: OperatorPages,
    token: Path,
    url: str,
    clock: Clock,
    templates: Environment,
    proxies: Collection[Network] = LOOPBACK,
) -> Starlette:
    """The application of a listener of its own.

    Args:
        token: see `read_token`.
        url: how operators reach the pages through a proxy; "" = on this machine alone.
        proxies: networks of our own proxies.
    """
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}" if url else ""
    site = _Site(pages, Sessions(token, clock), parts.path, templates)
    site.is_secure = parts.scheme == "https"
    site.proxies = proxies if url else ()
    both = ["GET", "POST"]
    application = Starlette(
        routes=[
            Route("/style.css", site.style),
            Route("/icon.svg", site.icon),
            Route("/sign-in", site.sign_in, methods=both),
            Route("/sign-out", site.signed(site.sign_out), methods=["POST"]),
            Route("/", site.signed(site.queues)),
            Route("/mails", site.signed(site.mails)),
            Route("/mails/{number}", site.signed(site.mail), methods=both),
            Route("/letters", site.signed(site.letters), methods=both),
            Route("/letters/{number}", site.signed(site.letter), methods=both),
            Route("/players", site.signed(site.players)),
            Route("/players/{userid}", site.signed(site.player), methods=both),
            Route("/boards", site.signed(site.boards)),
            Route("/boards/{number}", site.signed(site.board), methods=both),
            Route("/games", site.signed(site.games), methods=both),
            Route("/games/{game}", site.signed(site.game), methods=both),
            Route("/audit", site.signed(site.audit)),
        ],
        middleware=[
            Middleware(SafeResponses, fault=site.fault, headers=_SAFE),
            Middleware(OnlyHere, what="operators' page", origin=origin),
            Middleware(
                LimitedPosts,
                limits=PostLimits(SIGNED, site.proxies),
                refuse=site.too_many_forms,
            ),
        ],
        exception_handlers={HTTPException: site.refused},
    )
    application.router.redirect_slashes = False
    return application


Handler: TypeAlias = Callable[[Asked], Awaitable[Response]]


class _Site:
    """The handlers, and what they share."""

    is_secure = False
    proxies: Collection[Network] = ()

    def __init__(
        self, pages: OperatorPages, sessions: Sessions, base: str, templates: Environment
    ) -> None:
        self._pages = pages
        self._sessions = sessions
        self._base = base
        self._templates = templates
        self._turns = Turns()
        self._said: dict[str, str] = {}
        style = "".join(
            templates.get_template(f"web/{name}.css").render()
            for name in ("style", "mailbox", "operators")
        )
        self._style = style
        version = hashlib.sha256(style.encode()).hexdigest()[:12]
        self._shared = {"base": base, "style": f"{base}/style.css?v={version}"}
        self._icon = templates.get_template("web/icon.svg").render()

    # -- who is there ----------------------------------------------------------------------

    def signed(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """A handler for those who have shown the token; of a POST only with its session's word."""

        async def handle(request: Request) -> Response:
            session = self._sessions.read(request.cookies.get(self._cookie, ""))
            if session is None:
                return self._to("/sign-in")
            fields: Mapping[str, str] = {}
            if request.method == "POST":
                found = await read_form(request, LONGEST_FORM)
                fields = {name: plain(text) for name, text in found.items()}
                key = fields.get("key", "")
                if not hmac.compare_digest(key.encode("utf-8", "replace"), session.key.encode()):
                    return self._told(403, "forged")
            asked = Asked(request, session, fields)
            try:
                return await handler(asked)
            except OperatorError as error:  # what the page is about is not there
                return self._told(404, "missing", session=session, said=str(error))
            except StillWorking:
                return self._told(202, "working", session=session)

        return handle

    @property
    def _cookie(self) -> str:
        return f"__Secure-{COOKIE}" if self.is_secure else COOKIE

    async def sign_in(self, request: Request) -> Response:
        """The form for the token; a POST shows it."""
        if request.method != "POST":
            return self._asking(200)
        fields = await read_form(request, LONGEST_FORM)
        by = plain(fields.get("by", "")).strip()
        if not by or len(by) > LONGEST_NAME:
            return self._asking(422, "name", by)
        network = network_of(request, self.proxies) or "unknown"
        token = fields.get("token", "").strip()
        found = await self._turns.look(network, lambda: self._sessions.is_right(token))
        facts = {"network": network, "page": "operators"}
        if not found:
            log.warning("wrong operator token", extra=facts)
            status, trouble = (429, "later") if found is None else (403, "token")
            answer = self._asking(status, trouble, by)
            if found is None:
                answer.headers["Retry-After"] = str(ceil(MOST_TRYING * PAUSE_S))
            return answer
        log.info("an operator has signed in", extra=facts | {"who": by})
        answer = self._to("/")
        self._set_cookie(answer, self._sessions.begin(by), int(SESSION.total_seconds()))
        return answer

    async def sign_out(self, asked: Asked) -> Response:
        """End the session."""
        self._sessions.end(asked.session)
        answer = self._to("/sign-in")
        self._set_cookie(answer, "", 0)
        return answer

    def _set_cookie(self, answer: Response, value: str, age: int) -> None:
        answer.set_cookie(
            self._cookie,
            value,
            max_age=age,
            path=f"{self._base}/",
            secure=self.is_secure,
            httponly=True,
            samesite="strict",
        )

    # -- what there is ---------------------------------------------------------------------

    async def queues(self, asked: Asked) -> Response:
        """What waits."""
        return self._page("queues", asked, queue=await self._pages.queue())

    async def mails(self, asked: Asked) -> Response:
        """Kept mails."""
        mails, count = await self._pages.mails()
        return self._page("mails", asked, mails=mails, more=max(0, count - len(mails)))

    async def mail(self, asked: Asked) -> Response:
        """One mail."""
        number = asked.number()

        async def page(asked: Asked) -> Response:
            text, is_kept, entries = await self._pages.mail(number)
            shown = {"text": text, "is_kept": is_kept, "entries": entries}
            return self._page("mail", asked, number=number, **shown)

        return await self._done_or(page, asked, number=str(number))

    async def letters(self, asked: Asked) -> Response:
        """Letters; a POST sends all that have failed."""

        async def page(asked: Asked) -> Response:
            state, to = asked.query("state"), asked.query("to")
            found = await self._pages.letters(state, to)
            return self._page(
                "letters", asked, letters=found, state=state, to=to, states=service.LETTERS
            )

        return await self._done_or(page, asked, failed="yes")

    async def letter(self, asked: Asked) -> Response:
        """One letter."""
        number = asked.number()

        async def page(asked: Asked) -> Response:
            row, text, is_open, entries = await self._pages.letter(number)
            shown = {"text": text, "is_open": is_open, "entries": entries}
            return self._page("letter", asked, row=row, **shown)

        return await self._done_or(page, asked, named=str(number), letter=str(number), failed="")

    async def players(self, asked: Asked) -> Response:
        """Players."""
        state, like = asked.query("state"), asked.query("like")
        found = await self._pages.players(state, like)
        values = {"state": state, "like": like, "states": service.PLAYERS}
        return self._page("players", asked, players=found, **values)

    async def player(self, asked: Asked) -> Response:
        """One player."""
        userid = asked.word("userid").lower()

        async def page(asked: Asked) -> Response:
            facts, entries = await self._pages.player(userid)
            state = dict(facts)["state"]
            return self._page(
                "player", asked, userid=userid, state=state, facts_of=facts, entries=entries
            )

        return await self._done_or(page, asked, userid=userid)

    async def boards(self, asked: Asked) -> Response:
        """Boards."""
        names = ("player", "status", "game")
        values = {name: asked.query(name).strip().lower() for name in names}
        trouble, found = "", tuple[Any, ...]()
        try:
            found = tuple(await self._pages.boards(**values))
        except OperatorError as error:
            trouble = str(error)
        shown: dict[str, Any] = {"boards": found, "states": service.BOARDS, "nobody": trouble}
        return self._page("boards", asked, **shown, **values)

    async def board(self, asked: Asked) -> Response:
        """One board."""
        number = asked.number()

        async def page(asked: Asked) -> Response:
            facts, entries = await self._pages.board(number)
            known = dict(facts)
            players = known["players"].split(", ")
            values = {"status": known["status"], "rated": known["rated"], "players": players}
            return self._page(
                "board", asked, number=number, facts_of=facts, entries=entries, **values
            )

        return await self._done_or(page, asked, board=str(number))

    async def games(self, asked: Asked) -> Response:
        """Games; a POST computes all ratings anew."""

        async def page(asked: Asked) -> Response:
            return self._page("games", asked, games=await self._pages.games())

        return await self._done_or(page, asked)

    async def game(self, asked: Asked) -> Response:
        """One game and its ratings."""
        key = asked.word("game").lower()

        async def page(asked: Asked) -> Response:
            facts, rated, entries = await self._pages.game(key)
            values = {"game": key, "facts_of": facts, "rated": rated, "entries": entries}
            return self._page("game", asked, is_open=dict(facts)["state"] == "open", **values)

        return await self._done_or(page, asked, game=key)

    async def audit(self, asked: Asked) -> Response:
        """What operators have done."""
        target = asked.query("target")
        found = await self._pages.audit(target)
        return self._page("audit", asked, target=target, entries=found)

    # -- changes ---------------------------------------------------------------------------

    async def _done_or(self, page: Handler, asked: Asked, **about: str) -> Response:
        """The page; of a POST what it asks for is done first, and the page says why if it is not.

        Args:
            about: what the page is about, which its forms cannot change.
        """
        if asked.request.method != "POST":
            return await page(asked)
        command = asked.fields.get("do", "")
        if command not in ACTIONS:
            return self._told(400, "forged", session=asked.session)
        fields = dict(asked.fields) | about
        by = Signature(asked.session.by, asked.fields.get("why", ""))
        try:
            said = await self._pages.do(command, fields, by)
        except OperatorError as error:
            refused = Asked(asked.request, asked.session, asked.fields, str(error))
            answer = await page(refused)
            answer.status_code = 422
            return answer
        mark = secrets.token_urlsafe(9)
        self._said[mark] = said
        while len(self._said) > MOST_SAID:
            del self._said[next(iter(self._said))]
        return self._to(f"{quote(asked.request.scope['path'])}?done={mark}")

    # -- answers ---------------------------------------------------------------------------

    async def style(self, request: Request) -> Response:
        return tagged(request, self._style, "text/css; charset=utf-8", LASTING)

    async def icon(self, request: Request) -> Response:
        return tagged(request, self._icon, "image/svg+xml", LASTING)

    async def refused(self, request: Request, error: Exception) -> Response:
        """404 and 405."""
        status = error.status_code if isinstance(error, HTTPException) else 500
        session = self._sessions.read(request.cookies.get(self._cookie, ""))
        return self._told(status, "missing", session=session)

    def fault(self, error: BaseException) -> Response:
        """500, or 503 where the token's file is of no use: the log says why, the page does not."""
        if isinstance(error, ConfigError):
            log.error("operators' pages let nobody in", extra={"why": str(error)})
            return self._told(503, "closed")
        log.error("a page of the operators failed", exc_info=error)
        return self._told(500, "fault")

    def too_many_forms(self, seconds: int) -> Response:
        """429: their network has sent too many forms."""
        return self._told(429, "too-many", said=str(seconds))

    def _told(
        self, status: int, why: str, session: Session | None = None, said: str = ""
    ) -> Response:
        """A page that says why there is none."""
        values: dict[str, Any] = {"session": session, "why": why, "said": said}
        text = self._templates.get_template(f"{_HERE}-told.html.j2").render(self._shared | values)
        return html(text, status, PRIVATE)

    def _asking(self, status: int, trouble: str = "", by: str = "") -> Response:
        """The form for the token. *trouble*: what is wrong with what was sent."""
        values = {"session": None, "trouble": trouble, "by": by}
        text = self._templates.get_template(f"{_HERE}-sign-in.html.j2").render(
            self._shared | values
        )
        return html(text, status, PRIVATE)

    def _page(self, name: str, asked: Asked, **values: Any) -> Response:
        """A page: ``web/operators-NAME.html.j2``."""
        shared: dict[str, Any] = {
            "session": asked.session,
            "here": self._base + quote(asked.request.scope["path"]),
            "filled": asked.fields,
            "trouble": asked.trouble,
            "done": self._said.get(asked.query("done"), ""),
        }
        template = self._templates.get_template(f"{_HERE}-{name}.html.j2")
        return html(template.render(self._shared | shared | values), 200, PRIVATE)

    def _to(self, path: str) -> Response:
        return Response(status_code=303, headers={**PRIVATE, "Location": self._base + path})
