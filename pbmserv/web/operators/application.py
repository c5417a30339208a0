"""Pages for operators: queues, kept mails, letters, players, boards, games and the audit.

They show and change the same things as the command line, for operators whom `gate` has let
in.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from jinja2 import Environment
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.clock import Clock
from pbmserv.errors import OperatorError
from pbmserv.mail.networks import LOOPBACK, Network
from pbmserv.service.operators import pages as service
from pbmserv.service.operators.deeds import Signature
from pbmserv.service.operators.pages import ACTIONS, OperatorPages
from pbmserv.web.http.local_only import LocalOnly
from pbmserv.web.http.safe_responses import HEADERS, SafeResponses
from pbmserv.web.limits.post_limits import LimitedPosts, PostLimits
from pbmserv.web.operators.gate import Handler, OperatorGate, OperatorPrinter, OperatorRequest
from pbmserv.web.operators.sessions import Sessions

MOST_OUTCOMES = 100
"""Outcomes of changes that are kept for the next page."""
SIGNED = (
    *("/mails", "/letters", "/players", "/boards", "/events", "/games", "/server"),
    *("/sign-in", "/sign-out"),
)
"""Beginnings of the paths of forms that need a session or the token."""

# With "no-referrer" browsers send forms with the origin "null", which `LocalOnly` refuses.
_SAFE = HEADERS | {"Referrer-Policy": "same-origin"}


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
    gate = OperatorGate(
        Sessions(token, clock),
        OperatorPrinter(parts.path, templates),
        is_secure=parts.scheme == "https",
        proxies=proxies,
    )
    site, signed = _Handlers(pages, gate.printer), gate.signed
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
            Middleware(LocalOnly, what="operators' page", origin=origin),
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


class _Handlers:
    """The handlers of the pages."""

    def __init__(self, pages: OperatorPages, printer: OperatorPrinter) -> None:
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
