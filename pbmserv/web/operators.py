"""Pages for operators: queues, kept mails, letters, players, boards, games and the audit.

They show and change the same things as the command line, for operators who have shown the
operators' token. Each form carries a key of its session, which a page of another site cannot know.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
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
from pbmserv.mail.networks import LOOPBACK, Network
from pbmserv.service.operators import pages as service
from pbmserv.service.operators.deeds import Signature
from pbmserv.service.operators.pages import ACTIONS, OperatorPages
from pbmserv.web.answers import LASTING, PRIVATE, html, tagged
from pbmserv.web.client_network import network_of
from pbmserv.web.mailbox import OnlyHere
from pbmserv.web.operator_sessions import (
    MOST_WAITING,
    PAUSE_S,
    SESSION,
    Attempts,
    Session,
    Sessions,
)
from pbmserv.web.post_limits import LimitedPosts, PostLimits
from pbmserv.web.request_bodies import read_form
from pbmserv.web.safe_responses import HEADERS, SafeResponses

LONGEST_FORM = 8_000
"""Octets of the form to sign in."""
LONGEST_DEED = 80_000
"""Octets of the form of an operator who is signed in; an announcement needs the most."""
LONGEST_NAME = 80
"""Characters of an operator's name."""
MOST_OUTCOMES = 100
"""Outcomes of changes that are kept for the next page."""
COOKIE = "pbmserv-operator"
SIGNED = (
    *("/mails", "/letters", "/players", "/boards", "/events", "/games", "/server"),
    *("/sign-in", "/sign-out"),
)
"""Beginnings of the paths of forms that need a session or the token."""

# With "no-referrer" browsers send forms with the origin "null", which `OnlyHere` refuses.
_SAFE = HEADERS | {"Referrer-Policy": "same-origin"}
_TEMPLATES = "web/operators"

log = logging.getLogger("pbmserv.web")


def build_operators(
    pages: OperatorPages,
    token: Path,
    url: str,
    clock: Clock,
    templates: Environment,
    proxies: Collection[Network] = LOOPBACK,
) -> Starlette:
    """Return the application of the operators' own listener.

    Args:
        token: the file of the operators' token: see `read_token`.
        url: the URL at which operators reach the pages through a proxy; ``""`` if they reach them
            on this machine alone.
        proxies: networks of our own proxies.
    """
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}" if url else ""
    proxies = proxies if url else ()
    gate = _Gate(
        Sessions(token, clock),
        _Printer(parts.path, templates),
        is_secure=parts.scheme == "https",
        proxies=proxies,
    )
    site, signed = _Site(pages, gate.printer), gate.signed
    both = ["GET", "POST"]
    application = Starlette(
        routes=[
            Route("/style.css", gate.printer.style),
            Route("/icon.svg", gate.printer.icon),
            Route("/sign-in", gate.sign_in, methods=both),
            Route("/sign-out", signed(gate.sign_out), methods=["POST"]),
            Route("/", signed(site.queues)),
            Route("/mails", signed(site.mails)),
            Route("/mails/{number}", signed(site.mail), methods=both),
            Route("/letters", signed(site.letters), methods=both),
            Route("/letters/{number}", signed(site.letter), methods=both),
            Route("/players", signed(site.players)),
            Route("/players/{userid}", signed(site.player), methods=both),
            Route("/correspondence", signed(site.correspondence)),
            Route("/boards", signed(site.boards)),
            Route("/boards/{number}", signed(site.board), methods=both),
            Route("/events", signed(site.events), methods=both),
            Route("/games", signed(site.games), methods=both),
            Route("/games/{game}", signed(site.game), methods=both),
            Route("/server", signed(site.server), methods=both),
            Route("/audit", signed(site.audit)),
        ],
        middleware=[
            Middleware(SafeResponses, fault=gate.printer.fault, headers=_SAFE),
            Middleware(OnlyHere, what="operators' page", origin=origin),
            Middleware(
                LimitedPosts,
                limits=PostLimits(SIGNED, proxies),
                refuse=gate.printer.too_many_forms,
            ),
        ],
        exception_handlers={HTTPException: gate.refused},
    )
    application.router.redirect_slashes = False
    return application


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


class _Printer:
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
        template = self._templates.get_template(f"{_TEMPLATES}-{name}.html.j2")
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


class _Gate:
    """Lets operators in who show the token.

    Args:
        is_secure: operators reach the pages by HTTPS.
        proxies: networks of our own proxies.
    """

    def __init__(
        self,
        sessions: Sessions,
        printer: _Printer,
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


class _Site:
    """The handlers of the pages."""

    def __init__(self, pages: OperatorPages, printer: _Printer) -> None:
        self._pages = pages
        self._printer = printer
        self._outcomes: dict[str, str] = {}

    async def queues(self, request: OperatorRequest) -> Response:
        return self._page("queues", request, queue=await self._pages.queue())

    async def mails(self, request: OperatorRequest) -> Response:
        """Show the kept mails."""
        mails, count = await self._pages.mails()
        return self._page("mails", request, mails=mails, more=max(0, count - len(mails)))

    async def mail(self, request: OperatorRequest) -> Response:
        number = request.number()

        async def page(request: OperatorRequest) -> Response:
            text, is_kept, entries = await self._pages.mail(number)
            values = {"text": text, "is_kept": is_kept, "entries": entries}
            return self._page("mail", request, number=number, **values)

        return await self._changed(page, request, number=str(number), numbers=str(number))

    async def letters(self, request: OperatorRequest) -> Response:
        """Show letters; a POST sends all failed ones again."""

        async def page(request: OperatorRequest) -> Response:
            state, to = request.query("state"), request.query("to")
            letters = await self._pages.letters(state, to)
            return self._page(
                "letters", request, letters=letters, state=state, to=to, states=service.LETTERS
            )

        return await self._changed(page, request, failed="yes")

    async def letter(self, request: OperatorRequest) -> Response:
        number = request.number()

        async def page(request: OperatorRequest) -> Response:
            row, text, is_open, entries = await self._pages.letter(number)
            values = {"text": text, "is_open": is_open, "entries": entries}
            return self._page("letter", request, row=row, **values)

        return await self._changed(page, request, named=str(number), letter=str(number), failed="")

    async def players(self, request: OperatorRequest) -> Response:
        state, like = request.query("state"), request.query("like")
        players = await self._pages.players(state, like)
        values = {"state": state, "like": like, "states": service.PLAYERS}
        return self._page("players", request, players=players, **values)

    async def player(self, request: OperatorRequest) -> Response:
        userid = request.word("userid").lower()

        async def page(request: OperatorRequest) -> Response:
            facts, entries = await self._pages.player(userid)
            state = dict(facts)["state"]
            return self._page(
                "player", request, userid=userid, state=state, facts_of=facts, entries=entries
            )

        return await self._changed(page, request, userid=userid)

    async def correspondence(self, request: OperatorRequest) -> Response:
        """Show what a player or address sent, what was answered, and where each letter is."""
        name = request.query("name").strip()
        refusal = ""
        values: dict[str, Any] = {"correspondence": None, "waiting": ()}
        try:
            if name:
                correspondence, waiting = await self._pages.correspondence(name)
                values = {"correspondence": correspondence, "waiting": waiting}
        except OperatorError as error:
            refusal = str(error)
        return self._page("correspondence", request, whose=name, refusal=refusal, **values)

    async def boards(self, request: OperatorRequest) -> Response:
        names = ("player", "status", "game")
        values = {name: request.query(name).strip().lower() for name in names}
        refusal, boards = "", tuple[Any, ...]()
        try:
            boards = tuple(await self._pages.boards(**values))
        except OperatorError as error:
            refusal = str(error)
        lists: dict[str, Any] = {"boards": boards, "states": service.BOARDS, "refusal": refusal}
        return self._page("boards", request, **lists, **values)

    async def board(self, request: OperatorRequest) -> Response:
        number = request.number()

        async def page(request: OperatorRequest) -> Response:
            facts, entries = await self._pages.board(number)
            by_name = dict(facts)
            values: dict[str, Any] = {name: by_name[name] for name in ("status", "rated")}
            values["players"] = by_name["players"].split(", ")
            return self._page(
                "board", request, number=number, facts_of=facts, entries=entries, **values
            )

        return await self._changed(page, request, board=str(number))

    async def events(self, request: OperatorRequest) -> Response:
        """Show the events, what is watched in them, and the ladders; a POST changes one."""

        async def page(request: OperatorRequest) -> Response:
            events, watched = await self._pages.events()
            ladders = await self._pages.ladders()
            return self._page("events", request, events=events, watched=watched, ladders=ladders)

        return await self._changed(page, request)

    async def games(self, request: OperatorRequest) -> Response:
        """Show the games; a POST computes all ratings again."""

        async def page(request: OperatorRequest) -> Response:
            return self._page("games", request, games=await self._pages.games())

        return await self._changed(page, request)

    async def game(self, request: OperatorRequest) -> Response:
        """Show a game and its ratings."""
        key = request.word("game").lower()

        async def page(request: OperatorRequest) -> Response:
            facts, rated, entries = await self._pages.game(key)
            values = {"game": key, "facts_of": facts, "rated": rated, "entries": entries}
            is_open, is_stopped = ("state", "open") in facts, "stopped" in dict(facts)
            return self._page("game", request, is_open=is_open, is_stopped=is_stopped, **values)

        return await self._changed(page, request, game=key)

    async def server(self, request: OperatorRequest) -> Response:
        """Show the forms that concern the whole server."""

        async def page(request: OperatorRequest) -> Response:
            return self._page(
                "server",
                request,
                blocks=await self._pages.blocked_senders(),
                announcements=await self._pages.announcements(),
                keys=await self._pages.keys(),
            )

        return await self._changed(page, request)

    async def audit(self, request: OperatorRequest) -> Response:
        """Show the actions of operators."""
        target = request.query("target")
        entries = await self._pages.audit(target)
        return self._page("audit", request, target=target, entries=entries)

    async def _changed(self, page: Handler, request: OperatorRequest, **subject: str) -> Response:
        """Show a page; a POST first carries out its form, and leads back to the page.

        If the change is refused, the page is shown with the reason.

        Args:
            subject: values that the page fixes, which its forms cannot change.
        """
        if request.http.method != "POST":
            return await page(request)
        command = request.fields.get("do", "")
        if command not in ACTIONS:
            return self._printer.notice(400, "forged", request.session)
        fields = dict(request.fields) | subject
        by = Signature(request.session.by, request.fields.get("why", ""))
        try:
            outcome = await self._pages.do(command, fields, by)
        except OperatorError as error:
            answer = await page(replace(request, trouble=str(error)))
            answer.status_code = 422
            return answer
        mark = secrets.token_urlsafe(9)
        self._outcomes[mark] = outcome
        while len(self._outcomes) > MOST_OUTCOMES:
            del self._outcomes[next(iter(self._outcomes))]
        return self._printer.redirect(f"{quote(request.http.scope['path'])}?done={mark}")

    def _page(self, name: str, request: OperatorRequest, **values: Any) -> Response:
        shared: dict[str, Any] = {
            "session": request.session,
            "here": self._printer.base + quote(request.http.scope["path"]),
            "filled": request.fields,
            "trouble": request.trouble,
            "done": self._outcomes.get(request.query("done"), ""),
        }
        return self._printer.page(name, shared | values)
