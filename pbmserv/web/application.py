"""The web pages as a Starlette application: front page, help, confirmation, health."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import parse_qsl

from jinja2 import Environment
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.engine.types import BOT_USERIDS, GameInfo
from pbmserv.errors import StillWorking
from pbmserv.service.accounts.web_requests import PublicPlayer
from pbmserv.service.boards.board_page import BoardPage, GamePage, Look, Press, Pressed
from pbmserv.web.help import HelpPages
from pbmserv.web.probes import Health, health_routes
from pbmserv.web.server import SafeResponses

LONGEST_TOKEN = 200
"""Characters. Our tokens are shorter; a longer one is not looked up."""
LONGEST_FORM = 64_000
"""Octets of a form: more words than a player sends to an opponent."""
LONGEST_NUMBER = 9
"""Digits of a turn's number."""

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

    async def game(self, number: int, turn: int | None) -> GamePage | None:
        """A board as everybody may see it, after *turn* turns or now; ``None`` = there is none."""
        ...

    async def press(self, token: str, press: Press) -> Pressed | None:
        """Carry out what was sent: see `BoardPages.press`."""
        ...


class WebRequests(Protocol):
    """What the pages ask of the service."""

    @property
    def boards(self) -> Boards:
        """For the pages of boards."""
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

    async def standings(self) -> Sequence[Mapping[str, Any]]:
        """The best players of each game: words of the letter ``standings``."""
        ...

    async def player(self, userid: str) -> PublicPlayer | None:
        """What everybody may know of a player; ``None`` = there is none of this name."""
        ...


@dataclass(frozen=True, slots=True)
class Pages:
    """The facts that the pages tell.

    Attributes:
        address: where players write to.
        games: in the order shown.
        signup: ``"confirm"``, ``"open"`` or ``"closed"``, as in the settings.
        base: path under which a proxy shows these pages, without a slash at
            its end; ``""`` = at the root.
    """

    address: str
    games: tuple[GameInfo, ...]
    signup: str
    base: str


def build(
    pages: Pages, web_requests: WebRequests, templates: Environment, health: Health
) -> Starlette:
    """The application.

    Args:
        pages: facts for the front page.
        web_requests: the service's side.
        templates: an environment that escapes ``*.html.j2`` and finds ``web/…``.
        health: says whether the server is well.
    """
    site = _Site(pages, web_requests, templates)
    application = Starlette(
        routes=[
            Route("/", site.front),
            Route("/help", site.help),
            Route("/help/{topic}", site.help),
            *health_routes(health, numbers=False),
            Route("/style.css", site.style),
            Route("/icon.svg", site.icon),
            Route("/confirm/{token}", site.confirmation, methods=["GET", "POST"]),
            Route("/game/{number:int}", site.game),
            Route("/standings", site.standings),
            Route("/players/{userid}", site.player),
            Route("/b/{token}", site.board, methods=["GET", "POST"]),
            Route("/unsubscribe/{token}", site.subscription, methods=["GET", "POST"]),
        ],
        middleware=[Middleware(SafeResponses, fault=site.fault)],
        exception_handlers={HTTPException: site.refused, StillWorking: site.working},
    )
    application.router.redirect_slashes = False  # it would echo the Host header
    return application


class _Site:
    """The handlers, and what they share."""

    def __init__(self, pages: Pages, web_requests: WebRequests, templates: Environment) -> None:
        self._service = web_requests
        self._base = pages.base
        self._titles = {game.key: game.title for game in pages.games}
        self._templates = templates
        self._style = templates.get_template("web/style.css").render()
        self._icon = templates.get_template("web/icon.svg").render()
        version = hashlib.sha256(self._style.encode()).hexdigest()[:12]
        self._shared = {"pages": pages, "style": f"{pages.base}/style.css?v={version}"}
        self._front = self._text("front")
        self._help = HelpPages(pages.games, templates, self._shared)

    async def front(self, _request: Request) -> Response:
        return _html(self._front, headers=_SHARED)

    async def help(self, request: Request) -> Response:
        """The table of contents, or one page of it."""
        page = self._help.page(request.path_params.get("topic", "").lower())
        if page is None:
            return self._failure(404, "missing")
        return _html(page, headers=_SHARED)

    async def style(self, _request: Request) -> Response:
        return _lasting(self._style, "text/css")

    async def icon(self, _request: Request) -> Response:
        return _lasting(self._icon, "image/svg+xml")

    async def confirmation(self, request: Request) -> Response:
        """GET shows a button and changes nothing, for mail programs and virus scanners
        open links by themselves; POST is the button."""
        token: str = request.path_params["token"]
        step = self._service.confirm if request.method == "POST" else self._service.describe
        found = await step(token) if len(token) <= LONGEST_TOKEN else None
        if found is None:
            return self._failure(404, "expired")
        name = "confirmed" if found.done else "confirm"
        return _html(self._text(name, confirmation=found), headers=_PRIVATE)

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
        return _html(self._text(name, words=found), headers=_PRIVATE)

    async def board(self, request: Request) -> Response:
        """The page of a board; a POST plays, and leads back to it.

        A move is put together by GETs of the same page, which change nothing.
        """
        token: str = request.path_params["token"]
        if len(token) > LONGEST_TOKEN:
            return self._failure(404, "no-board")
        boards, asked = self._service.boards, request.query_params
        if request.method == "GET":
            look = Look(
                asked.get("move", ""),
                asked.get("tap", ""),
                asked.get("check", ""),
                asked.get("words", ""),
            )
            found = await boards.page(token, look)
            if found is None:
                return self._failure(404, "no-board")
            return _html(self._board(found, by_letter="answered" in asked), headers=_PRIVATE)
        form = await _form(request)
        turn = form.get("turn", "")
        if not _is_number(turn):
            return self._failure(400, "no-form")
        press = Press(int(turn), form.get("key", ""), form.get("move", ""), form.get("words", ""))
        done = await boards.press(token, press)
        if done is None:
            return self._failure(404, "no-board")
        if done.refused is not None:
            return _html(self._board(done.refused, refused=True), 422, _PRIVATE)
        way = f"{self._base}/b/{token}" + ("?answered" if done.by_letter else "")
        return Response(status_code=303, headers={**_PRIVATE, "Location": way})

    def _board(self, page: BoardPage, *, by_letter: bool = False, refused: bool = False) -> str:
        said = {"by_letter": by_letter, "refused": refused}
        return self._text("board", page=page, bots=BOT_USERIDS, **said)

    async def standings(self, _request: Request) -> Response:
        found = await self._service.standings()
        return _html(self._text("standings", tables=found), headers=_BRIEFLY)

    async def player(self, request: Request) -> Response:
        found = await self._service.player(request.path_params["userid"])
        if found is None:
            return self._failure(404, "missing")
        return _html(self._text("player", player=found, titles=self._titles), headers=_BRIEFLY)

    async def game(self, request: Request) -> Response:
        """A board as everybody may see it; ``?turn=5``: after five turns."""
        number, turn = request.path_params["number"], request.query_params.get("turn")
        if len(str(number)) > LONGEST_NUMBER or not (turn is None or _is_number(turn)):
            return self._failure(404, "missing")
        found = await self._service.boards.game(number, None if turn is None else int(turn))
        if found is None:
            return self._failure(404, "missing")
        return _html(self._text("game", page=found), headers=_BRIEFLY)

    async def refused(self, _request: Request, error: Exception) -> Response:
        """404 and 405, as a page without details."""
        status = error.status_code if isinstance(error, HTTPException) else 500
        headers = error.headers if isinstance(error, HTTPException) else None
        return self._failure(status, "missing" if status == 404 else "method", headers)

    async def working(self, _request: Request, _error: Exception) -> Response:
        """202: it is stored and will be done."""
        return self._failure(202, "working")

    def fault(self, error: Exception) -> Response:
        """500: the log names the fault, the page does not."""
        log.error("a page failed", exc_info=error)
        return self._failure(500, "fault")

    def _failure(
        self, status: int, name: str, headers: Mapping[str, str] | None = None
    ) -> Response:
        return _html(self._text(name), status, {**_PRIVATE, **(headers or {})})

    def _text(self, name: str, **values: Any) -> str:
        return self._templates.get_template(f"web/{name}.html.j2").render(self._shared | values)


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form; nothing of one that is longer than any of ours."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LONGEST_FORM:
            return {}
    try:
        fields = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=20)
    except ValueError:
        return {}
    return dict(fields)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER


_SHARED = {"Cache-Control": "public, max-age=300"}
_BRIEFLY = {"Cache-Control": "public, max-age=10", "X-Robots-Tag": "noindex, nofollow"}
_PRIVATE = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex, nofollow"}


def _html(text: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(text, status, headers, "text/html; charset=utf-8")


def _lasting(text: str, media_type: str) -> Response:
    return Response(text, media_type=media_type, headers={"Cache-Control": "public, max-age=86400"})
