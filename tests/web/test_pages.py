"""The web pages, asked over a real socket as a browser, a robot and a stranger would."""

from __future__ import annotations

import asyncio
import http.client
import re
import socket
import threading
from dataclasses import dataclass
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest
from rows import rows
from starlette.applications import Starlette

from pbmserv.clock import SystemClock
from pbmserv.config.listen import Listen
from pbmserv.engine.registry import Registry
from pbmserv.engine.types import GameInfo
from pbmserv.errors import ConfigError, Refusal
from pbmserv.games.blackbox.geometry import geometry
from pbmserv.games.blackbox.rays import HIT, trace_all
from pbmserv.mail.key_ring import KeyRing
from pbmserv.net.connection_limits import ConnectionLimits
from pbmserv.net.listening import bind
from pbmserv.service.solo.guest_box import GuestBoxes, GuestLook
from pbmserv.views.environment import environment
from pbmserv.web.application import build_site
from pbmserv.web.http.server import WebServer, bounds
from pbmserv.web.rendering.site_facts import SiteFacts

TOKEN = "a" * 45
BLACKBOX = GameInfo("blackbox", "Blackbox", "Find the hidden atoms.", 2, 2, True, 1)
MERELS = GameInfo("merels", "Merels <&>", "Three in a row.", 1, 4, False, 1)


@dataclass(frozen=True)
class Waiting:
    """A signup that waits, or is done."""

    userid: str
    address: str
    done: bool


@dataclass(frozen=True)
class Followed:
    """The page to which the unsubscribe link of a letter leads."""

    what: str
    userid: str
    board: int = 0
    game: str = ""


@dataclass(frozen=True)
class Looked:
    """The answer to a probe."""

    status: str

    def as_json(self, *, numbers: bool) -> dict[str, object]:
        return {"status": self.status, "numbers": numbers}


class CommandContext:
    """One address that waits to be confirmed, and a subscription that can be ended."""

    def __init__(self) -> None:
        self.done = False
        self.ended: list[str] = []
        self.subscribed = Followed("follow", "<alice>", 12, "blackbox")
        self.broken = False

    def _waiting(self, token: str) -> Waiting | None:
        if self.broken:
            raise RuntimeError("secret inside")
        return Waiting("<alice>", "alice@example.org", self.done) if token == TOKEN else None

    async def describe(self, token: str) -> Waiting | None:
        return self._waiting(token)

    async def confirm(self, token: str) -> Waiting | None:
        self.done = self.done or token == TOKEN
        return self._waiting(token)

    async def sign_up(self, name: str, address: str, network: str) -> Refusal | None:
        return None

    async def subscription(self, token: str) -> Followed | None:
        self._waiting("")
        return self.subscribed if token == TOKEN else None

    async def unsubscribe(self, token: str) -> Followed | None:
        self.ended.append(token)
        return await self.subscription(token)

    async def standings(self) -> list[dict[str, object]]:
        return []

    @property
    def public(self) -> CommandContext:
        return self

    @property
    def personal(self) -> CommandContext:
        return self

    @property
    def hot_seats(self) -> CommandContext:
        return self

    async def seeks(self) -> list[dict[str, object]]:
        return []

    async def teams(self) -> list[object]:
        return []

    async def ladders(self) -> list[object]:
        return []

    async def events(self) -> list[object]:
        return []

    async def dailies(self) -> list[object]:
        return []

    async def finished_boards(self, userid: str, most: int) -> list[object]:
        return []

    async def tables(self, most: int) -> list[object]:
        return []

    async def guest(self, look: GuestLook) -> object:
        domain = SimpleNamespace(ring=KeyRing({1: b"a key"}))
        services = SimpleNamespace(mail_domain=domain, registry=Registry.installed())
        return await GuestBoxes(services, SystemClock()).page(look)

    async def live(self) -> Looked:
        return Looked("ok")

    async def ready(self) -> Looked:
        self._waiting("")
        return Looked("ok")


def anybody() -> ConnectionLimits:
    """Room for all."""
    return ConnectionLimits("web", bounds(100, 100), ())


def site_of(context: CommandContext) -> Starlette:
    return build_site(pages(), context, environment(), context, Registry([]))


class Site:
    """The pages behind a port."""

    def __init__(self, context: CommandContext, pages: SiteFacts) -> None:
        self.context = context
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._server = self._do(self._start(pages))

    async def _start(self, pages: SiteFacts) -> WebServer:
        bound = bind(Listen("127.0.0.1", 0), "PBMSERV_WEB")
        site = build_site(pages, self.context, environment(), self.context, Registry([]))
        server = WebServer(site, bound, anybody())
        self.host, self.port = await server.start()
        return server

    def _do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def ask(self, method: str, path: str, form: str = "") -> tuple[http.client.HTTPResponse, str]:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        kind = {"Content-Type": "application/x-www-form-urlencoded"} if form else {}
        connection.request(method, path, form or None, kind)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response, text

    def close(self) -> None:
        self._do(self._server.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def pages(**other) -> SiteFacts:
    facts = {
        "address": "pbmserv@localhost",
        "games": (BLACKBOX, MERELS),
        "signup": "confirm",
        "base": "",
        "bots": {"blackbox": ("house-easy", "house")},
    }
    return SiteFacts(**{**facts, **other})


@pytest.fixture(scope="module")
def server():
    site = Site(CommandContext(), pages())
    yield site
    site.close()


@pytest.fixture
def site(server):
    server.context.__init__()
    return server


class Links(HTMLParser):
    """Collects what a page refers to, and checks that its elements close."""

    VOID = frozenset({"meta", "link", "img", "br", "input"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.addresses += [value for name, value in attrs if name in {"href", "src", "action"}]
        assert tag != "script"
        assert not any(name == "style" or name.startswith("on") for name, _ in attrs)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_front_page_plays_signs_up_and_shows_the_games(site) -> None:
    response, page = site.ask("GET", "/")
    assert response.status == 200
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert '<form method="get" action="/today">' in page
    assert page.count('name="tap"') > 40
    assert '<form method="post" action="/signup">' in page
    assert 'type="password"' not in page
    assert "Merels &lt;&amp;&gt;" in page
    assert "1 to 4 players" in page
    assert '<a href="/help/blackbox">' in page
    assert page.count("<h1>") == 1
    assert "<code>" not in page, "syntax lives in help"


def test_the_sample_board_is_a_true_one(site) -> None:
    """Its marks are what the rays do in a box with atoms where the markers are."""
    _, page = site.ask("GET", "/")
    board = re.search(r'<div role="img".*?</table>', page, re.DOTALL)[0]
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in board.split("</tr>")[:9]]
    assert {len(row) for row in rows} == {9}
    box = geometry(7, 7)
    atoms = [
        box.cell(f"{'ABCDEFG'[x]}{y + 1}") for y in range(7) for x in range(7) if rows[y + 1][x + 1]
    ]
    assert len(atoms) == 4
    shown = dict(zip("ABCDEFG", rows[0][1:], strict=False))
    shown |= dict(zip("HIJKLMN", rows[8][1:], strict=False))
    shown |= {str(y): rows[y][0] for y in range(1, 8)}
    shown |= {str(y + 7): rows[y][8] for y in range(1, 8)}
    marks = {label: mark for label, mark in shown.items() if mark != label}
    assert len(marks) == 12
    results = trace_all(box, atoms)
    for label, mark in marks.items():
        result = results[box.port(label)]
        if mark == "#":
            assert result == HIT
        elif mark == "%":
            assert result == box.port(label)
        else:
            other = next(o for o, m in marks.items() if m == mark and o != label)
            assert result == box.port(other)


def test_pages_need_nothing_from_elsewhere(site) -> None:
    for path in ("/", f"/confirm/{TOKEN}", "/confirm/unknown", "/nowhere"):
        _, page = site.ask("GET", path)
        for link in Links(page).addresses:
            assert link.startswith(("mailto:", "/"))
            if link.startswith("/"):
                assert site.ask("GET", link)[0].status == 200


def test_style_and_icon_may_be_kept(site) -> None:
    style, text = site.ask("GET", "/style.css")
    assert style.headers["Content-Type"] == "text/css; charset=utf-8"
    assert style.headers["Cache-Control"] == "public, max-age=86400"
    assert "prefers-color-scheme: dark" in text
    assert "url(" not in text
    icon, _ = site.ask("GET", "/icon.svg")
    assert icon.headers["Content-Type"] == "image/svg+xml"


def test_the_first_page_is_small_and_has_one_stylesheet_in_which_nothing_moves(site) -> None:
    _, page = site.ask("GET", "/")
    sheets = re.findall(r'<link rel="stylesheet" href="([^"]+)">', page)
    assert len(sheets) == 1
    parts = {path: site.ask("GET", path)[1] for path in (*sheets, "/icon.svg")}
    assert sum(len(text.encode()) for text in (page, *parts.values())) < 50_000
    for sheet in (parts[sheets[0]], environment().get_template("web/mailbox.css").render()):
        assert not re.search(r"transition|animation|scroll-behavior", sheet)


def test_following_a_confirmation_link_changes_nothing(site) -> None:
    response, page = site.ask("GET", f"/confirm/{TOKEN}")
    assert response.status == 200
    assert not site.context.done
    assert '<form method="post">' in page
    assert "&lt;alice&gt;" in page
    assert "alice@example.org" in page
    assert TOKEN not in page
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert response.headers["X-Robots-Tag"] == "noindex, nofollow"
    assert '<meta name="robots" content="noindex, nofollow">' in page


def test_the_button_confirms_and_pressing_it_twice_does_no_harm(site) -> None:
    for _ in range(2):
        response, page = site.ask("POST", f"/confirm/{TOKEN}")
        assert response.status == 200
        assert "is confirmed" in page
        assert site.context.done
    assert "is confirmed" in site.ask("GET", f"/confirm/{TOKEN}")[1]


@rows(
    ("method", "token"),
    [
        *(("GET", token) for token in ("unknown", "b" * 45, "a" * 3000, "%00", "%ff", "..%2f")),
        ("POST", "unknown"),
    ],
)
def test_an_unknown_token_is_answered_kindly(site, method, token) -> None:
    response, page = site.ask(method, f"/confirm/{token}")
    assert response.status == 404
    assert response.headers["Cache-Control"] == "no-store"
    assert "Nothing has changed" in page or "There is no page here" in page
    assert not site.context.done


KINDS = (
    *("single", "digest", "broadcasts", "announcements"),
    *("challenges", "reminders", "follow", "daily"),
)


@rows("kind", KINDS)
def test_a_way_out_asks_first_and_then_says_what_ended(site, kind) -> None:
    site.context.ended.clear()
    site.context.subscribed = Followed(kind, "<alice>", 12, "blackbox")
    url = f"/unsubscribe/{TOKEN}"
    response, page = site.ask("GET", url)
    assert response.status == 200
    assert not site.context.ended, "mail programs open links by themselves"
    assert "&lt;alice&gt;" in page
    assert '<form method="post">' in page
    for _ in range(2):
        response, page = site.ask("POST", url, "List-Unsubscribe=One-Click")
        assert response.status == 200
        assert "No game has changed" in page
    assert len(site.context.ended) == 2
    assert response.getheader("Cache-Control") == "no-store"


def test_a_mail_program_may_post_its_form_either_way(site) -> None:
    for body in ("List-Unsubscribe=One-Click", "", "--x\r\nnonsense", "x=" + "y" * 100_000):
        response, _ = site.ask("POST", f"/unsubscribe/{TOKEN}", body)
        assert response.status == 200
    response, page = site.ask("POST", "/unsubscribe/nobody", "List-Unsubscribe=One-Click")
    assert response.status == 404
    assert "Nothing has changed" in page


def test_requests_that_no_page_offers_are_refused_without_details(site) -> None:
    response, page = site.ask("PUT", f"/confirm/{TOKEN}")
    assert response.status == 405
    assert set(response.headers["Allow"].split(", ")) == {"GET", "HEAD", "POST"}
    assert "This page cannot do that" in page
    response, page = site.ask("GET", "/nowhere")
    assert response.status == 404
    assert "There is no page here" in page
    assert "nowhere" not in page
    assert site.ask("GET", f"/confirm/{TOKEN}/")[0].status == 404


def test_a_fault_of_ours_shows_nothing_of_itself(site) -> None:
    site.context.broken = True
    response, page = site.ask("GET", f"/confirm/{TOKEN}")
    assert response.status == 500
    assert "on our side" in page
    assert "secret" not in page
    assert "RuntimeError" not in page


@rows(
    ("method", "path", "is_broken"),
    [
        ("GET", "/", False),
        ("GET", "/healthz", False),
        ("GET", "/style.css", False),
        ("GET", "/nowhere", False),
        ("PUT", "/", False),
        ("POST", f"/confirm/{TOKEN}", False),
        ("GET", f"/confirm/{TOKEN}", True),
    ],
)
def test_every_answer_carries_the_safety_headers(site, method, path, is_broken) -> None:
    site.context.broken = is_broken
    headers = site.ask(method, path)[0].headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Server" not in headers
    assert "Set-Cookie" not in headers


@pytest.mark.parametrize(
    ("signup", "says", "status"),
    [("confirm", "Sign up", 200), ("open", "Sign up", 200), ("closed", "takes no new", 404)],
)
def test_the_form_that_signs_up_is_there_if_players_are_taken(signup, says, status) -> None:
    site = Site(CommandContext(), pages(signup=signup, base="/games"))
    try:
        _, page = site.ask("GET", "/")
        code, _ = site.ask("POST", "/signup", "name=kate&address=kate%40example.org")
    finally:
        site.close()
    assert code.status == status
    assert says in page
    assert 'href="/games/style.css?v=' in page


def test_a_server_without_games_says_so() -> None:
    site = Site(CommandContext(), pages(games=()))
    try:
        _, page = site.ask("GET", "/")
        _, confirmed = site.ask("POST", f"/confirm/{TOKEN}")
    finally:
        site.close()
    assert "No game is installed" in page
    assert "is confirmed" in confirmed


def test_a_port_that_is_taken_is_named_before_anything_runs() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = Listen(*taken.getsockname()[:2])
        with pytest.raises(ConfigError, match=rf'PBMSERV_WEB = "{listen}": Address already in use'):
            bind(listen, "PBMSERV_WEB")
    with pytest.raises(ConfigError, match=r"PBMSERV_WEB"):
        bind(Listen("no-such-host.invalid", 80), "PBMSERV_WEB")
