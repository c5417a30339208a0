"""The web pages as a Starlette application: front page, help, and what opens from letters."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any, Protocol

from jinja2 import Environment
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from pbmserv.engine.types import BOT_USERIDS
from pbmserv.errors import StillWorking
from pbmserv.mail.reply_address import VISIT_MINUTES
from pbmserv.service.boards.board_page import BoardPage, Look
from pbmserv.service.core.budget import TooMuch
from pbmserv.service.limits.rates import TooMany
from pbmserv.service.pages.board_presses import Press, Pressed
from pbmserv.service.pages.personal_page import MOST_DRAWN, Change, PersonalPage
from pbmserv.web.allowance import Allowance, Exhausted
from pbmserv.web.help import HelpPages
from pbmserv.web.hot_seat import HotSeatRequests, hot_seat_routes
from pbmserv.web.pages import (
    LASTING,
    PRIVATE,
    SHARED,
    Pages,
    Printer,
    html,
    read_form,
    seconds_until,
    tagged,
)
from pbmserv.web.post_limits import LimitedPosts, PostLimits
from pbmserv.web.probes import Health, health_routes
from pbmserv.web.public import PublicRequests, is_number, public_routes, step_of
from pbmserv.web.safe_responses import SafeResponses, fault_of, mounted

LONGEST_TOKEN = 200
"""Characters. Our tokens are shorter; a longer one is not looked up."""
LONGEST_FORM = 64_000
"""Octets of a form: more words than a player sends to an opponent."""
LONGEST_WISH = 8_000
"""Octets of a form of a player's own page."""
DONE = frozenset({"prefs", "away", "back", "address", "export", "signoff", "delete"})
"""What the forms of the page ask for."""
WITH_TOKEN = ("/b/", "/confirm/", "/hide/", "/mine/", "/unsubscribe/")
"""Beginnings of the paths of forms that need a token."""

MOST_KEPT = 500
"""Pages of boards that are kept until somebody moves, of some 15 kB each."""
_KEY = "\0key\0"
"""Stands for a page's key; no scene can have it."""
_VISIT = "\0token\0"
"""Likewise for the token of a visit: what is kept holds none."""
_CUT = "\0cut\0"
"""Stands around what changes with a draft."""

log = logging.getLogger("pbmserv.web")


class Confirmation(Protocol):
    """An address that a player wants letters at."""

    @property
    def userid(self) -> str:
        """Whose."""
        ...

    @property
    def address(self) -> str:
        """The mail address to be confirmed."""
        ...

    @property
    def done(self) -> bool:
        """It is confirmed."""
        ...


class Subscription(Protocol):
    """What the link in a letter's List-Unsubscribe ends."""

    @property
    def what(self) -> str:
        """The kind, for the page's words."""
        ...

    @property
    def userid(self) -> str:
        """Whose."""
        ...

    @property
    def board(self) -> int:
        """The board that is followed, else 0."""
        ...

    @property
    def game(self) -> str:
        """The game whose daily box comes, else ``""``."""
        ...


class Boards(Protocol):
    """What the pages of boards ask of the service."""

    async def page(self, token: str, look: Look) -> BoardPage | None:
        """The page as its player sees it; ``None`` = the link is not good."""
        ...

    async def look(self, token: str) -> BoardPage | None:
        """The same for a program: see `BoardPages.look`."""
        ...


class Presses(Protocol):
    """Commands from the pages of boards."""

    async def press(self, token: str, press: Press) -> Pressed | None:
        """See `BoardPresses.press`."""
        ...


class PersonalRequests(Protocol):
    """The part of the service that these pages use."""

    async def page(self, token: str) -> PersonalPage | None:
        """The page as its player sees it; ``None`` = the link is not good."""
        ...

    async def ask_link(self, who: str) -> None:
        """Have a link mailed to a player, if there is one."""
        ...

    async def press(self, token: str, fields: Mapping[str, str]) -> Change | None:
        """Carry out what was sent: see `PersonalPages.press`."""
        ...


class WebRequests(Protocol):
    """What the pages ask of the service."""

    @property
    def public(self) -> PublicRequests:
        """For the pages that everybody may read."""
        ...

    @property
    def boards(self) -> Boards:
        """For the pages of boards."""
        ...

    @property
    def presses(self) -> Presses:
        """Commands from the pages of boards."""
        ...

    @property
    def hot_seats(self) -> HotSeatRequests:
        """For boxes that are filled by hand."""
        ...

    @property
    def personal(self) -> PersonalRequests:
        """For players' own pages."""
        ...

    def visit(self, token: str) -> str | None:
        """A new visit's token for that of a link or a visit; ``None`` = it opens nothing."""
        ...

    def is_link(self, token: str) -> bool:
        """Whether a token is of a letter's link to a page."""
        ...

    def has_ended(self, token: str) -> bool:
        """Whether a token is of a visit that is over."""
        ...

    async def describe(self, token: str) -> Confirmation | None:
        """What *token* would confirm, changing nothing; ``None`` = unknown or expired."""
        ...

    async def confirm(self, token: str) -> Confirmation | None:
        """Confirm it; doing so twice is no error. ``None`` = unknown or expired."""
        ...

    async def subscription(self, token: str) -> Subscription | None:
        """What *token* would end, changing nothing; ``None`` = unknown or expired."""
        ...

    async def unsubscribe(self, token: str) -> Subscription | None:
        """End it; doing so twice is no error. ``None`` = unknown or expired."""
        ...


def build(
    pages: Pages,
    web_requests: WebRequests,
    templates: Environment,
    health: Health,
    allowance: Allowance | None = None,
) -> Starlette:
    """Return the application.

    Args:
        pages: facts for the front page.
        web_requests: the service's side.
        templates: an environment that escapes ``*.html.j2`` and finds ``web/…``.
        health: says whether the server is well.
        allowance: of anonymous readers; ``None`` = a new one.
    """
    printer, allowance = Printer(pages, templates), allowance or Allowance(pages.proxies)
    site, own = _Site(printer, web_requests), _Personal(printer, web_requests)
    application = Starlette(
        routes=[  # looked through from the first one on
            Route("/b/{token}", site.board, methods=["GET", "POST"]),
            Route("/", site.front),
            Route("/help", site.help),
            Route("/help/{topic}", site.help),
            *health_routes(health, numbers=False),
            Route("/style.css", site.style),
            Route("/icon.svg", site.icon),
            Route("/confirm/{token}", site.confirmation, methods=["GET", "POST"]),
            *public_routes(printer, web_requests.public, allowance),
            *hot_seat_routes(printer, web_requests.hot_seats, allowance),
            Route("/mine", own.link, methods=["GET", "POST"]),
            Route("/mine/{token}", own.page, methods=["GET", "POST"]),
            Route("/unsubscribe/{token}", site.subscription, methods=["GET", "POST"]),
            Route("/api", site.to_api),
            mounted("/api", lambda: _api(printer, web_requests, allowance)),
        ],
        middleware=[
            Middleware(SafeResponses, fault=site.fault),
            Middleware(
                LimitedPosts,
                limits=PostLimits(WITH_TOKEN, pages.proxies),
                refuse=site.too_many_forms,
                but_below="/api/",
            ),
        ],
        exception_handlers={
            HTTPException: site.refused,
            StillWorking: site.working,
            TooMany: site.too_many,
            Exhausted: site.too_busy,
            TooMuch: site.too_large,
        },
    )
    application.router.redirect_slashes = False  # it would echo the Host header
    return application


def _api(printer: Printer, web_requests: WebRequests, allowance: Allowance) -> ASGIApp:
    from pbmserv.web.api import build_api

    return build_api(printer, web_requests, allowance, printer.pages.proxies)


class _Site:
    """The handlers, and what they share."""

    def __init__(self, printer: Printer, web_requests: WebRequests) -> None:
        self._service = web_requests
        self._printer = printer
        self._text, self._failure = printer.text, printer.failure
        self._front = self._text("front")
        self._kept: dict[tuple[int, int], tuple[BoardPage, list[bytes]]] = {}
        self._help = HelpPages(printer.pages.games, printer.templates, printer.shared)

    async def front(self, request: Request) -> Response:
        return tagged(request, self._front, headers=SHARED)

    async def help(self, request: Request) -> Response:
        """The table of contents, or one page of it."""
        page = self._help.page(request.path_params.get("topic", "").lower())
        if page is None:
            return self._failure(404, "missing")
        return tagged(request, page, headers=SHARED)

    async def style(self, request: Request) -> Response:
        return tagged(request, self._printer.style, "text/css; charset=utf-8", LASTING)

    async def icon(self, request: Request) -> Response:
        return tagged(request, self._printer.icon, "image/svg+xml", LASTING)

    async def confirmation(self, request: Request) -> Response:
        """GET shows a button and changes nothing, for mail programs and virus scanners
        open links by themselves; POST is the button."""
        token: str = request.path_params["token"]
        step = self._service.confirm if request.method == "POST" else self._service.describe
        found = await step(token) if len(token) <= LONGEST_TOKEN else None
        if found is None:
            return self._failure(404, "expired")
        name = "confirmed" if found.done else "confirm"
        return html(self._text(name, confirmation=found), headers=PRIVATE)

    async def subscription(self, request: Request) -> Response:
        """As `confirmation`; the POST comes from a mail program, too (RFC 8058 section 3.2), which
        reads no page. What its form says is not looked at: the link says it all."""
        token: str = request.path_params["token"]
        posted = request.method == "POST"
        step = self._service.unsubscribe if posted else self._service.subscription
        found = await step(token) if len(token) <= LONGEST_TOKEN else None
        if found is None:
            return self._failure(404, "no-way-out")
        name = "unsubscribed" if posted else "unsubscribe"
        return html(self._text(name, words=found), headers=PRIVATE)

    async def board(self, request: Request) -> Response:
        """The page of a board; a POST plays, and leads back to it.

        A move is put together by GETs of the same page, which change nothing.
        """
        token: str = request.path_params["token"]
        if len(token) > LONGEST_TOKEN:
            return self._failure(404, "no-board")
        if self._service.has_ended(token):
            return await _visit_over(self._printer, request)
        boards, asked = self._service.boards, request.query_params
        if request.method != "POST":
            if self._service.is_link(token):
                return self._to_visit(token, request.url.query)
            look = Look(
                draft=asked.get("move", ""),
                tap=asked.get("tap", ""),
                check=asked.get("check", ""),
                words=asked.get("words", ""),
                tool=asked.get("tool", ""),
                take=asked.get("take", ""),
                step=step_of(asked),
            )
            found = await boards.page(token, look)
            if found is None:
                return self._failure(404, "no-board")
            if found.step is not None:
                return html(self._text("board-step", page=found), headers=PRIVATE)
            return html(self._board(found, by_letter="answered" in asked), headers=PRIVATE)
        form = await read_form(request, LONGEST_FORM)
        turn = form.get("turn", "")
        if not is_number(turn):
            return self._failure(400, "no-form")
        press = Press(int(turn), form.get("key", ""), form.get("move", ""), form.get("words", ""))
        done = await self._service.presses.press(token, press)
        if done is None:
            return self._failure(404, "no-board")
        if done.refused is not None:
            return html(self._board(done.refused, refused=True), 422, PRIVATE)
        return self._to_visit(token, "answered" if done.by_letter else "")

    def _to_visit(self, token: str, query: str) -> Response:
        """Lead to the page under the address of a visit that begins now."""
        return _to_visit(f"{self._printer.base}/b/", self._service.visit(token) or token, query)

    def _board(self, page: BoardPage, *, by_letter: bool = False, refused: bool = False) -> bytes:
        said = {"by_letter": by_letter, "refused": refused, "bots": BOT_USERIDS}
        is_put = any(getattr(page, name) for name in _EMPTY) or by_letter or refused
        kept = self._kept.get((page.player_id, page.scene.number))
        if kept is None or not _is_same(kept[0], page):
            plain = replace(page, **_PLAIN, scene=page.stands)
            text = self._text("board", page=plain, cut=_CUT, **said | _UNSAID)
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            parts = text.encode().split(_CUT.encode())
            kept = self._kept[page.player_id, page.scene.number] = page, parts
        pieces = list(kept[1])
        if is_put or page.scene is not page.stands:  # until something happens, the rest stays
            news, move = (
                self._printer.text(name, page=page, **said) for name in ("board-news", "board-move")
            )
            pieces[1], pieces[3] = news.encode(), move.encode()
        html_octets = b"".join(pieces).replace(_KEY.encode(), page.key.encode())
        return html_octets.replace(_VISIT.encode(), page.token.encode())

    async def to_api(self, _request: Request) -> Response:
        """The address with a slash at its end, below which the others lie."""
        return Response(
            status_code=308, headers={**SHARED, "Location": f"{self._printer.base}/api/"}
        )

    async def refused(self, _request: Request, error: Exception) -> Response:
        """404 and 405, as a page without details."""
        status = error.status_code if isinstance(error, HTTPException) else 500
        headers = error.headers if isinstance(error, HTTPException) else None
        return self._failure(status, "missing" if status == 404 else "method", headers)

    async def working(self, _request: Request, _error: Exception) -> Response:
        """202: it is stored and will be done."""
        return self._failure(202, "working")

    async def too_many(self, _request: Request, error: Exception) -> Response:
        """429: their player has sent as much as the server takes."""
        again = seconds_until(error.over.again) if isinstance(error, TooMany) else 0
        return self._failure(429, "too-many", {"Retry-After": str(again)})

    async def too_busy(self, _request: Request, error: Exception) -> Response:
        """Return 429 if the reader's network has used its share up, 503 if all readers have."""
        assert isinstance(error, Exhausted)
        text = self._text("too-busy", is_own=error.is_own, seconds=error.seconds)
        headers = {**PRIVATE, "Retry-After": str(error.seconds)}
        return html(text, 429 if error.is_own else 503, headers)

    async def too_large(self, _request: Request, _error: Exception) -> Response:
        """Return 503: the page would take more work than one page may."""
        return self._failure(503, "too-large")

    def too_many_forms(self, seconds: int) -> Response:
        """429: their network has sent too many forms."""
        return html(self._text("too-many-forms", seconds=seconds), 429, PRIVATE)

    def fault(self, error: BaseException) -> Response:
        """500, or 503: the log names the fault, the page does not."""
        log.error("a page failed", exc_info=error)
        return self._failure(*fault_of(error))


_EMPTY = ("draft", "trouble", "example", "words", "tap", "tool")
_DRAFT = {"key", "token", "scene", "stands", *_EMPTY}
_PLAIN: dict[str, Any] = {**dict.fromkeys(_EMPTY, ""), "key": _KEY, "token": _VISIT}
_UNSAID = {"by_letter": False, "refused": False}
_BY_VALUE = [one.name for one in fields(BoardPage) if one.name not in _DRAFT]


def _is_same(kept: BoardPage, page: BoardPage) -> bool:
    """Whether two pages show the same, but for a draft; a board that stands is the same object."""
    values = (getattr(kept, name) == getattr(page, name) for name in _BY_VALUE)
    return kept.stands is page.stands and all(values)


def _to_visit(page: str, token: str, query: str) -> Response:
    """Lead to the address of a visit, which replaces the link's in the browser."""
    way = f"{page}{token}" + (f"?{query}" if query else "")
    return Response(status_code=303, headers={**PRIVATE, "Location": way})


async def _visit_over(printer: Printer, request: Request) -> Response:
    """Say that a visit is over, with the words of a form that came too late."""
    form = await read_form(request, LONGEST_FORM) if request.method == "POST" else {}
    written = [form[name] for name in ("move", "words") if form.get(name, "").strip()]
    text = printer.text("visit-over", hours=VISIT_MINUTES // 60, written=written)
    return html(text, 410, PRIVATE)


class _Personal:
    """A player's own page, which opens from a letter, and the form that has its link mailed."""

    def __init__(self, printer: Printer, web_requests: WebRequests) -> None:
        self._printer = printer
        self._visits = web_requests
        self._service = web_requests.personal
        self._form = printer.text("mine-link", why="")
        self._asked = printer.text("mine-asked")

    async def link(self, request: Request) -> Response:
        """The form; a POST always gets the same answer, as quickly."""
        if request.method != "POST":
            return tagged(request, self._form, headers=SHARED)
        who = (await read_form(request, LONGEST_WISH)).get("who", "")
        if who.strip():
            await self._service.ask_link(who)
        return html(self._asked, headers=PRIVATE)

    async def page(self, request: Request) -> Response:
        """The page; a POST asks for a change, and leads back to it."""
        token: str = request.path_params["token"]
        if len(token) > LONGEST_TOKEN:
            return self._gone()
        if self._visits.has_ended(token):
            return await _visit_over(self._printer, request)
        if request.method != "POST":
            if self._visits.is_link(token):
                return self._to_visit(token, request.url.query)
            found = await self._service.page(token)
            done = request.query_params.get("done", "")
            return self._gone() if found is None else self._shown(found, done)
        fields = await read_form(request, LONGEST_WISH)
        if fields.get("do") not in DONE:
            return self._printer.failure(400, "no-form")
        change = await self._service.press(token, fields)
        if change is None:
            return self._gone()
        if change.refused is not None:
            return self._shown(change.refused, status=422)
        if not change.is_open:
            return html(self._printer.text("mine-link", why="changed"), headers=PRIVATE)
        return self._to_visit(token, f"done={fields['do']}")

    def _to_visit(self, token: str, query: str) -> Response:
        return _to_visit(f"{self._printer.base}/mine/", self._visits.visit(token) or token, query)

    def _shown(self, page: PersonalPage, done: str = "", status: int = 200) -> Response:
        draw = partial(self._printer.board, "mine-board", bots=BOT_USERIDS)
        made = [draw(one.scene, board=one) for one in page.waiting[:MOST_DRAWN]]
        said = {"made": made, "done": done if done in DONE else ""}
        return html(self._printer.text("mine", page=page, **said), status, PRIVATE)

    def _gone(self) -> Response:
        return html(self._printer.text("mine-link", why="expired"), 404, PRIVATE)
