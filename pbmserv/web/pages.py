"""Tools of all pages: their common facts, rendering, caching, forms and ETags."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from math import ceil
from typing import Any
from urllib.parse import parse_qsl

from jinja2 import Environment
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from pbmserv.engine.types import GameInfo
from pbmserv.mail.networks import Network
from pbmserv.views.board import BoardScene
from pbmserv.views.own_templates import with_defaults
from pbmserv.views.reader import show_or_log

SHARED = {"Cache-Control": "public, max-age=300"}
"""For answers that are the same for everybody for minutes."""
BRIEFLY = {"Cache-Control": "public, max-age=10"}
"""For answers that are the same for everybody until a player moves."""
LASTING = {"Cache-Control": "public, max-age=86400"}
PRIVATE = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex, nofollow"}
"""For answers to people who have a secret link."""
UNLISTED = {"X-Robots-Tag": "noindex, nofollow"}
"""For answers to everybody but search engines."""
DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Pages:
    """Facts about this server for its pages.

    Attributes:
        address: the address for commands.
        games: the games, in the order to show them.
        signup: ``"confirm"``, ``"open"`` or ``"closed"``, as in the settings.
        base: path under which a proxy shows these pages, without a slash at its end; "" for the
            root.
        origin: scheme and host of these pages for players, for absolute links.
        contact: URI of the person to tell about security problems; "" for none.
        bots: userids of the games' bots, by game.
        can_hide: whether a game can be set up by hand for another player at the same device.
        proxies: networks of the server's own proxies.
    """

    address: str
    games: tuple[GameInfo, ...]
    signup: str
    base: str
    origin: str = ""
    contact: str = ""
    bots: Mapping[str, Sequence[str]] = field(default_factory=dict)
    can_hide: bool = False
    proxies: Collection[Network] = ()

    @property
    def boxes(self) -> bool:
        """Whether a game has boxes for one player; see `GameInfo.boxes`."""
        return any(game.boxes for game in self.games)


class Printer:
    """Renders pages.

    Attributes:
        pages: facts about this server.
        base: see `Pages`.
        templates: the templates.
        shared: values for every page.
        style: the stylesheet.
        icon: the icon.
        replay: the script that steps through a game.
        leave: the script that empties a page when its reader leaves it.
    """

    def __init__(self, pages: Pages, templates: Environment) -> None:
        self.pages = pages
        self.base = pages.base
        self.templates = templates
        self._latest: dict[str, tuple[Mapping[str, Any], bytes]] = {}
        self.style = templates.get_template("web/style.css").render()
        self.icon = templates.get_template("web/icon.svg").render()
        self.replay = templates.get_template("web/replay.js").render()
        self.leave = templates.get_template("web/leave.js").render()
        self.shared = {
            "pages": pages,
            "style": f"{pages.base}/style.css?v={_version(self.style)}",
            "replay": f"{pages.base}/replay.js?v={_version(self.replay)}",
            "leave": f"{pages.base}/leave.js?v={_version(self.leave)}",
        }

    def text(self, name: str, **values: Any) -> str:
        """Render the page ``web/NAME.html.j2``."""
        scene = values.get("scene") or getattr(values.get("page"), "scene", None)
        render = partial(self._render, f"web/{name}.html.j2", self.shared | values)
        return with_defaults(scene.key, render) if isinstance(scene, BoardScene) else render()

    def _render(self, name: str, values: Mapping[str, Any]) -> str:
        return self.templates.get_template(name).render(values)

    def board(self, name: str, scene: BoardScene, **values: Any) -> Markup | None:
        """Render one board of several; ``None`` if its game raises an error."""
        page = show_or_log(scene.number, scene.key, partial(self.text, name, **values))
        return None if page is None else Markup(page)  # noqa: S704 - of a template that escapes

    def again(self, name: str, **values: Any) -> bytes:
        """Return a page as octets; render it only if its values have changed."""
        latest = self._latest.get(name)
        if latest is None or latest[0] != values:
            latest = self._latest[name] = values, self.text(name, **values).encode()
        return latest[1]

    def raw(self, name: str, **values: Any) -> str:
        """Render ``web/NAME.j2``, which is not HTML and escapes its values itself."""
        return self.templates.get_template(f"web/{name}.j2").render(self.shared | values)

    def failure(self, status: int, name: str, headers: Mapping[str, str] | None = None) -> Response:
        """Return the page of an error."""
        return html(self.text(name), status, {**PRIVATE, **(headers or {})})


def _version(text: str) -> str:
    """Return a word that changes with a file, for its address in browsers' caches."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


MOST_OCTETS = 10_000_000
"""Most octets in a `Rendered`; a large race has a page of 600 kB."""


class Rendered:
    """A cache of pages that are the same for all readers; it drops the least recently read ones.

    Args:
        most: most pages, as far as they have no more than `MOST_OCTETS` together.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._octets = 0
        self._pages: OrderedDict[Hashable, tuple[Hashable, bytes]] = OrderedDict()
        self._renderings: dict[Hashable, asyncio.Future[bytes | None]] = {}

    async def get(
        self, key: Hashable, stamp: Hashable, make: Callable[[], Awaitable[bytes | None]]
    ) -> bytes | None:
        """Return the page of a key, and render it if its stamp has changed.

        Readers who ask at the same time wait for one rendering.

        Args:
            key: the page.
            stamp: a value that changes with the page's content.
            make: renders the page; ``None`` if there is none, which is not kept.
        """
        entry = self._pages.get(key)
        if entry is not None and entry[0] == stamp:
            self._pages.move_to_end(key)
            return entry[1]
        rendering = self._renderings.get((key, stamp))
        if rendering is None:
            rendering = asyncio.ensure_future(make())
            self._renderings[key, stamp] = rendering
            rendering.add_done_callback(partial(self._finish, (key, stamp)))
        page = await asyncio.shield(rendering)
        if page is not None:
            self._keep(key, stamp, page)
        return page

    def _finish(self, key: Hashable, rendering: asyncio.Future[bytes | None]) -> None:
        self._renderings.pop(key, None)
        if not rendering.cancelled():
            rendering.exception()  # all readers may have left, and asyncio warns of unread errors

    def _keep(self, key: Hashable, stamp: Hashable, page: bytes) -> None:
        _, older = self._pages.pop(key, (None, b""))
        self._pages[key] = stamp, page
        self._octets += len(page) - len(older)
        while len(self._pages) > self._most or self._octets > MOST_OCTETS:
            _, (_, oldest) = self._pages.popitem(last=False)
            self._octets -= len(oldest)


def html(
    text: str | bytes, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an answer with a page."""
    return Response(text, status, headers, "text/html; charset=utf-8")


def tagged(
    request: Request,
    body: str | bytes,
    media_type: str = "text/html; charset=utf-8",
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return an answer with an ETag (RFC 9110 section 8.8.3), or 304 if the client has it already.

    The tag is a hash of the body, so it reveals nothing.
    """
    octets = body.encode() if isinstance(body, str) else body
    tag = f'"{hashlib.sha256(octets).hexdigest()[:32]}"'
    headers = {**(headers or {}), "ETag": tag}
    tags = request.headers.get("if-none-match", "").split(",")
    if not {tag, "*"}.isdisjoint(text.strip().removeprefix("W/") for text in tags):
        return Response(status_code=304, headers=headers)
    return Response(octets, 200, headers, media_type)


async def read_form(request: Request, longest: int) -> dict[str, str]:
    """Return the fields of a form; none if it has more than *longest* octets.

    NUL is removed: browsers do not send it, and PostgreSQL refuses text with it.
    """
    body = await read_body(request, longest)
    try:
        fields = parse_qsl((body or b"").decode("ascii"), keep_blank_values=True, max_num_fields=20)
    except ValueError:
        return {}
    return {name: value.replace("\0", "") for name, value in fields}


async def read_body(request: Request, longest: int) -> bytes | None:
    """Return the body of a request; ``None`` if it has more than *longest* octets."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > longest:
            return None
    return body


def seconds_until(moment: datetime) -> int:
    """Return the seconds for ``Retry-After`` (RFC 9110 section 10.2.3), from one to a day."""
    return min(max(1, ceil((moment - datetime.now(UTC)).total_seconds())), DAY_S)
