"""The web pages, asked over a real socket as a browser, a robot and a stranger would."""

from __future__ import annotations

import asyncio
import http.client
import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from asgi_client import FORM, fetch, site_of
from rows import rows
from running import Running, start

from pbmserv.config.listen import Listen
from pbmserv.engine.types import GameInfo
from pbmserv.errors import ConfigError
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.geometry import geometry
from pbmserv.games.blackbox.rays import HIT, trace_all
from pbmserv.net.listening import bind
from pbmserv.service.pages.web_requests import WebRequests
from pbmserv.store.accounts import players
from pbmserv.views.environment import environment

MERELS = GameInfo("merels", "Merels <&>", "Three in a row.", 1, 4, False, 1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("pages")
    settings = {"signup": "confirm", "web_url": "https://games.example"}
    with start(folder, **settings) as running:
        yield running


def ask(
    server: Running, method: str, path: str, form: str = ""
) -> tuple[http.client.HTTPResponse, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.web_port, timeout=60)
    connection.request(method, path, form or None, {"Content-Type": FORM} if form else {})
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response, text


def load(server: Running, path: str, **facts: object) -> str:
    """Return a page of this server with other facts about it."""
    return asyncio.run(fetch(site_of(server.server, **facts), path)).body.decode()


def confirmation(server: Running, name: str) -> str:
    """Sign somebody up by mail, and return the path of the link in the answer."""
    address = f"{name}@players.example"
    server.send(address, f"signup {name} wonder-land")
    match = re.search(r"https://games\.example(/confirm/[a-z2-7]+)", server.letter(address).text)
    assert match is not None
    return match[1]


def is_player(server: Running, name: str) -> bool:
    return server.server.read(players.account_of, name) is not None


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


def test_the_front_page_plays_signs_up_and_shows_the_games(server: Running) -> None:
    response, page = ask(server, "GET", "/")
    assert response.status == 200
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert '<form method="get" action="/today">' in page
    assert page.count('name="tap"') > 40
    assert '<form method="post" action="/signup">' in page
    assert 'type="password"' not in page
    assert '<a href="/help/blackbox">' in page
    assert 'href="/hide"' in page
    assert page.count("<h1>") == 1
    assert "<code>" not in page, "syntax lives in help"
    several = load(server, "/", games=(GAME.info, MERELS))
    assert "Merels &lt;&amp;&gt;" in several
    assert "1 to 4 players" in several
    assert "No game is installed" in load(server, "/", games=())


def test_the_sample_board_is_a_true_one(server: Running) -> None:
    """Its marks are what the rays do in a box with atoms where the markers are."""
    _, page = ask(server, "GET", "/")
    board = re.findall(r'<div role="img".*?</table>', page, re.DOTALL)[0]
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


def test_pages_need_nothing_from_elsewhere(server: Running) -> None:
    for path in ("/", confirmation(server, "nelly"), "/confirm/unknown", "/nowhere"):
        for link in Links(ask(server, "GET", path)[1]).addresses:
            assert link.startswith(("mailto:", "/"))
            if link.startswith("/"):
                assert ask(server, "GET", link)[0].status == 200


def test_style_and_icon_may_be_kept(server: Running) -> None:
    style, text = ask(server, "GET", "/style.css")
    assert style.headers["Content-Type"] == "text/css; charset=utf-8"
    assert style.headers["Cache-Control"] == "public, max-age=86400"
    assert "prefers-color-scheme: dark" in text
    assert "url(" not in text
    icon, _ = ask(server, "GET", "/icon.svg")
    assert icon.headers["Content-Type"] == "image/svg+xml"


def test_the_first_page_is_small_and_has_one_stylesheet_in_which_nothing_moves(
    server: Running,
) -> None:
    _, page = ask(server, "GET", "/")
    sheets = re.findall(r'<link rel="stylesheet" href="([^"]+)">', page)
    assert len(sheets) == 1
    parts = {path: ask(server, "GET", path)[1] for path in (*sheets, "/icon.svg")}
    assert sum(len(text.encode()) for text in (page, *parts.values())) < 50_000
    for sheet in (parts[sheets[0]], environment().get_template("web/mailbox.css").render()):
        assert not re.search(r"transition|animation|scroll-behavior", sheet)


def test_only_the_button_of_a_confirmation_link_confirms(server: Running) -> None:
    """Mail programs open links by themselves, and people press buttons twice."""
    path = confirmation(server, "anna")
    response, page = ask(server, "GET", path)
    assert response.status == 200
    assert not is_player(server, "anna")
    assert '<form method="post">' in page
    assert "anna@players.example" in page
    assert path.rpartition("/")[2] not in page
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert response.headers["X-Robots-Tag"] == "noindex, nofollow"
    assert '<meta name="robots" content="noindex, nofollow">' in page
    for _ in range(2):
        response, page = ask(server, "POST", path)
        assert response.status == 200
        assert "is confirmed" in page
        assert is_player(server, "anna")
    assert "is confirmed" in ask(server, "GET", path)[1]


@rows(
    ("method", "token"),
    [
        *(("GET", token) for token in ("unknown", "b" * 45, "a" * 3000, "%00", "%ff", "..%2f")),
        ("POST", "unknown"),
    ],
)
def test_an_unknown_token_is_answered_kindly(server: Running, method: str, token: str) -> None:
    response, page = ask(server, method, f"/confirm/{token}")
    assert response.status == 404
    assert response.headers["Cache-Control"] == "no-store"
    assert "Nothing has changed" in page or "There is no page here" in page


def test_a_mail_program_may_post_its_form_either_way(server: Running) -> None:
    alice, bob = server.sign_up("alice"), server.sign_up("bob")
    server.send(bob, "blackbox challenge bob alice")
    field = str(server.letter(alice).message["List-Unsubscribe"])
    (path,) = re.findall(r"<https://games\.example(/[^>]+)>", field)
    for body in ("List-Unsubscribe=One-Click", "", "--x\r\nnonsense", "x=" + "y" * 100_000):
        response, _ = ask(server, "POST", path, body)
        assert response.status == 200
        assert response.headers["Cache-Control"] == "no-store"
    response, page = ask(server, "POST", "/unsubscribe/nobody", "List-Unsubscribe=One-Click")
    assert response.status == 404
    assert "Nothing has changed" in page


def test_requests_that_no_page_offers_are_refused_without_details(server: Running) -> None:
    response, page = ask(server, "PUT", "/confirm/x")
    assert response.status == 405
    assert set(response.headers["Allow"].split(", ")) == {"GET", "HEAD", "POST"}
    assert "This page cannot do that" in page
    response, page = ask(server, "GET", "/nowhere")
    assert response.status == 404
    assert "There is no page here" in page
    assert "nowhere" not in page
    assert ask(server, "GET", "/confirm/x/")[0].status == 404


def test_every_answer_carries_the_safety_headers_also_that_of_a_fault(
    server: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret inside")

    answers = [
        ask(server, method, path)
        for method, path in (
            *(("GET", "/"), ("GET", "/healthz"), ("GET", "/style.css"), ("GET", "/nowhere")),
            *(("PUT", "/"), ("POST", "/confirm/x")),
        )
    ]
    path = confirmation(server, "fanny")
    monkeypatch.setattr(WebRequests, "signup", fail)
    answers.append(ask(server, "GET", path))
    response, page = answers[-1]
    assert response.status == 500
    assert "on our side" in page
    assert "secret" not in page
    assert "RuntimeError" not in page
    for response, _ in answers:
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script" not in policy
        assert "frame-ancestors 'none'" in policy
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Referrer-Policy"] == "no-referrer"
        assert "Server" not in response.headers
        assert "Set-Cookie" not in response.headers


@pytest.mark.parametrize(
    ("signup", "says"), [("confirm", "Sign up"), ("open", "Sign up"), ("closed", "takes no new")]
)
def test_the_form_that_signs_up_is_there_if_players_are_taken(
    server: Running, signup: str, says: str
) -> None:
    page = load(server, "/", signup=signup, base="/games")
    assert says in page
    assert 'href="/games/style.css?v=' in page


def test_a_server_that_takes_no_players_has_no_page_to_sign_up(server: Running) -> None:
    site = site_of(server.server, signup="closed")
    form = b"name=kate&address=kate%40example.org"
    assert asyncio.run(fetch(site, "/signup", "POST", form, content_type=FORM)).status == 404


def test_a_host_that_is_not_there_is_named_with_its_setting() -> None:
    with pytest.raises(ConfigError, match=r"PBMSERV_WEB"):
        bind(Listen("no-such-host.invalid", 80), "PBMSERV_WEB")
