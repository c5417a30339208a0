"""No text in a path, a query, a form or a body is answered with a fault of the server."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from urllib.parse import quote

import pytest
from asgi_client import fetch, site_of, visit_address
from examples import DEEP
from hypothesis import given
from hypothesis import strategies as st
from indoors import Indoors, indoors
from running import Running, start
from seating import seat_pairs
from starlette.applications import Starlette
from starlette.routing import Mount, Route
from test_mailbox import Browser
from test_operators_pages import Operator, keep

from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.service.solo.hot_seat import changed, empty_box
from pbmserv.store import hot_seats
from pbmserv.store.accounts import players
from pbmserv.web.operators.token import new_token, read_token

PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")
HOSTILE = (
    *("9" * 9, str(2**63), "9" * 5_000, "0" * 5_000, "-1", "0", "1_0", " 1", "1.5", "NaN"),
    *("\u0661", "\u00b2", "a" * 5_000, "\u00e9" * 300, "\0", "1\0", "\r\n", "\x7f\x80"),
    *("\U0001f600", '"><', "%00", "{0}", "../..", "a/b", "["),
)
WORST = ("9" * 9, str(2**63), "9" * 5_000, "-1", "\u00b2", "\0", "a" * 5_000, "../..")
"""Values for places that cost more to try; a deep run tries all of `HOSTILE` there."""
QUERIES = (
    *("group",),
    *("turn", "state", "tap", "move", "check", "words", "limit", "before", "answered", "done"),
    *("as", "sent", "answer", "to", "subject", "body", "like", "player", "status", "game"),
    *("target", "tool", "take", "restart", "step", "name"),
)
"""Parameters of queries; `test_every_parameter_of_a_query_is_tried` finds a new one."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indoors]:
    with indoors(tmp_path_factory.mktemp("hostile")) as opened:
        seat_pairs(opened.server, 1)
        yield opened


@pytest.fixture(scope="module")
def site(house: Indoors) -> Starlette:
    return site_of(house.server)


def token(house: Indoors) -> str:
    """The token of a page of a board."""
    player = house.server.read(players.account_of, "p0a")
    assert player is not None
    seat = ReplyAddress(Purpose.BOARD, player.id, 1, epoch=player.reply_epoch)
    return house.server.mail_domain.ring.token(seat)


def hide_boxes(house: Indoors) -> None:
    """Store a box that somebody fills by hand, and one that is played."""
    filled = empty_box(house.server.base.registry, "blackbox", ["-size=5x5", "-atoms=1"])
    spotted = changed(house.server.base.registry, filled, "A1", shuts=False)
    shut = changed(house.server.base.registry, spotted, "", shuts=True)
    with house.server.database.writing.begin() as connection:
        for key, box in (("filled", filled), ("shut", replace(shut, turn=0))):
            hot_seats.add(connection, key, asdict(box), house.server.clock.now())


def routes(site: Starlette) -> list[str]:
    """Paths of the pages and the API; the health checks are those of a whole server."""
    paths = [route.path for route in site.routes if isinstance(route, Route)]
    paths = [path for path in paths if not path.startswith("/healthz")]
    mounts = [route for route in site.routes if isinstance(route, Mount)]
    return paths + [
        f"{mount.path}{route.path}"
        for mount in mounts
        for route in mount.routes
        if isinstance(route, Route)
    ]


def faults(site: Starlette, *requests: tuple[str, str, bytes], **headers: str) -> list[str]:
    """Those requests whose answer is a fault."""

    async def ask() -> list[str]:
        return [
            f"{method} {path[:60]!a}"
            for method, path, body in requests
            if (await fetch(site, path, method, body, **headers)).status >= 500
        ]

    return asyncio.run(ask())


def test_any_value_in_any_place_of_a_path(site: Starlette) -> None:
    requests = []
    for path in routes(site):
        for place in PARAMETER.finditer(path):
            for value in HOSTILE if DEEP else WORST:
                filled = path[: place.start()] + value.replace("?", "") + path[place.end() :]
                requests.append(("GET", PARAMETER.sub("1", filled), b""))
    assert len(requests) > 200
    assert faults(site, *requests) == []


def test_any_value_of_any_parameter_of_a_query(site: Starlette, house: Indoors) -> None:
    wrong = []
    seat = asyncio.run(visit_address(site, f"/b/{token(house)}"))
    assert asyncio.run(fetch(site, seat)).status == 200
    headers = {"authorization": f"Bearer {token(house)}"}
    assert asyncio.run(fetch(site, "/api/seat", **headers)).status == 200
    # All parameters at once at each path, and each one alone at some of the paths.
    for shift, path in enumerate(routes(site)):
        filled = path.replace("/b/{token}", seat)
        filled = PARAMETER.sub("1", filled)
        wrong += faults(
            site,
            *[
                ("GET", f"{filled}?{name}={quote(WORST[(number + shift) % 8])}", b"")
                for number, name in enumerate(QUERIES)
                if DEEP or (number + shift) % 24 == 0
            ],
            *[
                ("GET", f"{filled}?" + "&".join(f"{name}={quote(value)}" for name in QUERIES), b"")
                for value in (HOSTILE if DEEP else WORST[shift % 4 :: 4])
            ],
        )
    assert wrong == []


@given(st.text(max_size=60), st.sampled_from(QUERIES), st.text(max_size=60))
def test_any_path_and_any_query(site: Starlette, path: str, name: str, value: str) -> None:
    path = path.encode("utf-8", "replace").decode().replace("?", "")
    value = value.encode("utf-8", "replace").decode()
    requests = [
        ("GET", f"{front}{path}{end}?{name}={quote(value)}", b"")
        for front in ("/", "/game/", "/daily/", "/players/", "/help/", "/b/", "/api/boards/")
        for end in ("", ".svg", "/boards")
    ]
    assert faults(site, *requests) == []


def test_any_value_in_a_form(house: Indoors) -> None:
    wrong = []
    hide_boxes(house)
    for value in HOSTILE if DEEP else WORST:
        site = site_of(house.server)  # a new one has counted no forms yet
        fields = ("turn", "key", "move", "words", "who", "do", "value", "tap", "option-size")
        body = "&".join(f"{name}={quote(value)}" for name in fields).encode()
        paths = (f"/b/{token(house)}", "/mine", "/mine/x", "/confirm/x", "/unsubscribe/x")
        for path in (*paths, "/hide", "/hide/filled", "/hide/shut"):
            wrong += faults(site, ("POST", path, body))
            if value == HOSTILE[0]:
                wrong += faults(site, ("POST", path, body[:-1] + b"\xff"))
            play = f"turn=0&key=1&move={quote(value)}&words={quote(value)}".encode()
            if path.startswith("/hide/"):
                taps = f"turn=0&tap={quote(value)}&tool={quote(value)}".encode()
                wrong += faults(site, ("POST", path, taps), ("GET", path, b""))
            if path.startswith("/b/"):
                house.server.play_stage.play.run_until_idle()
                wrong += faults(site, ("POST", path, play[:40]))
    assert wrong == []


def test_any_value_in_a_body_of_the_api(house: Indoors) -> None:
    site, wrong = site_of(house.server), []
    plain = {"turn": 0, "move": "b3", "words": "", "key": "1"}
    bodies = [
        json.dumps(plain | {name: value})
        for name in plain
        for value in (HOSTILE if DEEP or name == "move" else WORST)
    ]
    numbers = ("9" * 5_000, "-" + "9" * 5_000, "1e9999", "-0", "1.0", "NaN", str(2**63), "[1]")
    bodies += [json.dumps(plain).replace('"turn": 0', f'"turn": {n}') for n in numbers]
    bodies += ["[" * 5_000, "9" * 5_000, '"\\ud800"', '{"turn": 0, "move": "\\ud800"}', "\0", ""]
    headers = {"content_type": "application/json", "authorization": f"Bearer {token(house)}"}
    for at in range(0, len(bodies), 50):
        requests = [("POST", "/api/seat/moves", body.encode()) for body in bodies[at : at + 50]]
        wrong += faults(site_of(house.server), *requests, **headers)
    bearers = [value.encode("utf-8").decode("latin-1") for value in HOSTILE if "\n" not in value]
    for bearer in bearers:
        wrong += faults(site, ("GET", "/api/seat", b""), authorization=f"Bearer {quote(bearer)}")
    assert wrong == []


def test_every_parameter_of_a_query_is_tried() -> None:
    import pbmserv.web

    files = Path(pbmserv.web.__file__).parent.rglob("*.py")
    text = "".join(file.read_text() for file in files)
    read = re.findall(r'\bquery(?:_params)?\.get\("(\w+)"', text)
    read += re.findall(r'\brequest\.query\("(\w+)"\)', text)
    read += re.findall(r'\bnumber_of\(request, "(\w+)"', text)
    read += re.findall(r'"(\w+)" in (?:query|request\.query_params)\b', text)
    assert len(read) > 30  # the patterns still find them
    assert set(read) <= set(QUERIES)


# -- the pages that only this machine reaches ---------------------------------------------------


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, Path]]:
    folder = tmp_path_factory.mktemp("local")
    secret = keep(folder / "token", new_token())
    named = {"operator_pages": "127.0.0.1:0", "operator_token": str(secret)}
    with start(folder, mailbox="127.0.0.1:0", web_url="", **named) as running:
        yield running, secret


VALUES = sorted({quote(value[:3_000], safe="") for value in (HOSTILE if DEEP else WORST)})


@pytest.mark.slow
def test_operators_pages_take_any_value(local: tuple[Running, Path]) -> None:
    running, secret = local
    operator = Operator(running).sign_in(read_token(secret))
    wrong = []
    for value in VALUES:
        paths = [f"/{name}/{value}" for name in ("mails", "letters", "players", "boards", "games")]
        paths += [f"/letters?state={value}&to={value}", f"/players?state={value}&like={value}"]
        paths += [f"/boards?player={value}&status={value}&game={value}", f"/audit?target={value}"]
        wrong += [path[:60] for path in paths if operator.open(path).status >= 500]
    assert wrong == []


@pytest.mark.slow
def test_the_mailbox_takes_any_value(local: tuple[Running, Path]) -> None:
    running, _ = local
    browser = Browser(running)
    browser.send("", {"name1": "carol", "password1": "wonder-land"})
    carol = "carol@games.example"
    wrong = []
    for value in VALUES:
        paths = [f"{value}/", f"{value}/write", f"{carol}/{value}", f"{carol}/{value}/html"]
        paths += [f"{carol}/write?answer={value}", f"{carol}/write?to={value}&body={value}"]
        paths += [f"{carol}/?sent={value}&as={value}"]
        wrong += [path[:60] for path in paths if browser.open(path).status >= 500]
    assert wrong == []


@pytest.mark.both_databases
def test_numbers_too_large_for_a_database_are_asked_of_neither(
    database_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """PostgreSQL refuses texts with NUL and numbers above 63 bits, SQLite only the latter."""
    values = ("a\0b", str(2**63), "9" * 5_000)
    with indoors(tmp_path, database_url) as house:
        seat_pairs(house.server, 1)
        site, requests = site_of(house.server), []
        for path in routes(site):
            for value in values:
                filled = PARAMETER.sub(lambda _, value=value: value, path)
                query = "&".join(f"{name}={quote(value)}" for name in QUERIES)
                requests.append(("GET", f"{filled}?{query}", b""))
        seat = token(house)
        for value in values:
            form = "&".join(f"{n}={quote(value)}" for n in ("key", "move", "words", "who", "tap"))
            requests += [("GET", f"/b/{seat}?{form}", b""), ("POST", "/mine", form.encode())]
        assert faults(site, *requests) == []
        house.server.play_stage.play.run_until_idle()
        assert [
            record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR
        ] == []
