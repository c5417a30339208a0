"""What all pages have in common: facts, a frame, and answers that need not be sent twice."""

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
from pbmserv.views.reader import show_or_log

SHARED = {"Cache-Control": "public, max-age=300"}
"""The same for everybody, and for minutes."""
BRIEFLY = {"Cache-Control": "public, max-age=10"}
"""The same for everybody, until somebody moves."""
LASTING = {"Cache-Control": "public, max-age=86400"}
PRIVATE = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex, nofollow"}
"""For the one who has the link."""
UNLISTED = {"X-Robots-Tag": "noindex, nofollow"}
"""For everybody, but not for search engines."""
DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class Pages:
    """The facts that the pages tell.

    Attributes:
        address: where players write to.
        games: in the order shown.
        signup: ``"confirm"``, ``"open"`` or ``"closed"``, as in the settings.
        base: path under which a proxy shows these pages, without a slash at
            its end; ``""`` = at the root.
        origin: scheme and host of these pages as players reach them, for links that must be whole.
        contact: whom to tell of a hole in this server, as a URI; ``""`` = nobody.
        bots: userids of games' bots, by the game's key.
        can_hide: a game here can be set up by hand for somebody at the same device.
        proxies: networks of our own proxies.
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


class Printer:
    """Makes pages of templates, and answers of pages.

    Attributes:
        pages: their facts.
        base: see `Pages`.
        shared: what every page's template needs.
        style, icon: the stylesheet and the icon.
        replay: the script that steps through a game.
        leave: the script that empties a page when it is left.
    """

    def __init__(self, pages: Pages, templates: Environment) -> None:
        self.pages = pages
        self.base = pages.base
        self.templates = templates
        self._made: dict[str, tuple[Mapping[str, Any], bytes]] = {}
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
        """A page: ``web/NAME.html.j2``."""
        return self.templates.get_template(f"web/{name}.html.j2").render(self.shared | values)

    def board(self, name: str, scene: BoardScene, **values: Any) -> Markup | None:
        """As `text`, of one board of several; ``None``: its game breaks down over it."""
        made = show_or_log(scene.number, scene.key, partial(self.text, name, **values))
        return None if made is None else Markup(made)  # noqa: S704 - of a template that escapes

    def again(self, name: str, **values: Any) -> bytes:
        """The same as octets; those made last are good while all values are equal to those then."""
        kept = self._made.get(name)
        if kept is None or kept[0] != values:
            kept = self._made[name] = values, self.text(name, **values).encode()
        return kept[1]

    def raw(self, name: str, **values: Any) -> str:
        """What is no HTML: ``web/NAME.j2``, which escapes by itself."""
        return self.templates.get_template(f"web/{name}.j2").render(self.shared | values)

    def failure(self, status: int, name: str, headers: Mapping[str, str] | None = None) -> Response:
        """A page that says why there is none."""
        return html(self.text(name), status, {**PRIVATE, **(headers or {})})


def _version(text: str) -> str:
    """A word that changes with what browsers may keep."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


MOST_OCTETS = 10_000_000
"""Octets of the pages that one `Rendered` keeps; a large race has a page of 600 kB."""


class Rendered:
    """Pages that are made once for all their readers, the least recently read ones forgotten.

    Args:
        most: how many are kept, if they are no longer than `MOST_OCTETS` together.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._octets = 0
        self._kept: OrderedDict[Hashable, tuple[Hashable, bytes]] = OrderedDict()
        self._making: dict[Hashable, asyncio.Future[bytes | None]] = {}

    async def get(
        self, key: Hashable, stamp: Hashable, make: Callable[[], Awaitable[bytes | None]]
    ) -> bytes | None:
        """What *make* made for this key and stamp; who comes meanwhile waits for the same.

        Args:
            stamp: changes with all that the page is made of.
            make: gives ``None`` where there is no page, which is not kept.
        """
        found = self._kept.get(key)
        if found is not None and found[0] == stamp:
            self._kept.move_to_end(key)
            return found[1]
        making = self._making.get((key, stamp))
        if making is None:
            making = asyncio.ensure_future(make())
            self._making[key, stamp] = making
            making.add_done_callback(partial(self._made, (key, stamp)))
        made = await asyncio.shield(making)
        if made is not None:
            self._keep(key, stamp, made)
        return made

    def _made(self, about: Hashable, making: asyncio.Future[bytes | None]) -> None:
        self._making.pop(about, None)
        if not making.cancelled():
            making.exception()  # its readers may all have left, and nobody else asks for it

    def _keep(self, key: Hashable, stamp: Hashable, made: bytes) -> None:
        _, older = self._kept.pop(key, (None, b""))
        self._kept[key] = stamp, made
        self._octets += len(made) - len(older)
        while len(self._kept) > self._most or self._octets > MOST_OCTETS:
            _, (_, forgotten) = self._kept.popitem(last=False)
            self._octets -= len(forgotten)


def html(
    text: str | bytes, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A page as an answer."""
    return Response(text, status, headers, "text/html; charset=utf-8")


def tagged(
    request: Request,
    body: str | bytes,
    media_type: str = "text/html; charset=utf-8",
    headers: Mapping[str, str] | None = None,
) -> Response:
    """An answer with its ETag (RFC 9110 section 8.8.3), or 304 to who has it already.

    The tag is a hash of what is sent, so it tells nothing that the answer does not.
    """
    octets = body.encode() if isinstance(body, str) else body
    tag = f'"{hashlib.sha256(octets).hexdigest()[:32]}"'
    told = {**(headers or {}), "ETag": tag}
    known = request.headers.get("if-none-match", "")
    if not {tag, "*"}.isdisjoint(one.strip().removeprefix("W/") for one in known.split(",")):
        return Response(status_code=304, headers=told)
    return Response(octets, 200, told, media_type)


async def read_form(request: Request, longest: int) -> dict[str, str]:
    """Return the fields of a form; nothing of one that has more than *longest* octets.

    NUL is left out: no browser sends it, and PostgreSQL takes no text with it.
    """
    body = await read_body(request, longest)
    try:
        fields = parse_qsl((body or b"").decode("ascii"), keep_blank_values=True, max_num_fields=20)
    except ValueError:
        return {}
    return {name: value.replace("\0", "") for name, value in fields}


async def read_body(request: Request, longest: int) -> bytes | None:
    """What was posted; ``None``: more than *longest* octets."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > longest:
            return None
    return body


def seconds_until(moment: datetime) -> int:
    """For ``Retry-After`` (RFC 9110 section 10.2.3); at least one, at most a day."""
    return min(max(1, ceil((moment - datetime.now(UTC)).total_seconds())), DAY_S)
