"""Every address that takes forms takes so many from one network, and no more."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from types import SimpleNamespace

import pytest
from asgi_client import Answer, fetch, site_of
from indoors import Indoors, indoors
from limits import parse
from sqlalchemy import text
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from pbmserv.config.listen import Listen
from pbmserv.mail.key_ring import KeyRing
from pbmserv.views.environment import environment
from pbmserv.web.api.application import build_api
from pbmserv.web.application import build_site
from pbmserv.web.limits import post_limits
from pbmserv.web.limits.allowance import Allowance
from pbmserv.web.limits.post_limits import ANYBODY, WITH_TOKEN
from pbmserv.web.mailbox.application import build_mailbox
from pbmserv.web.operators.application import build_operators
from pbmserv.web.operators.token import new_token
from pbmserv.web.rendering.printer import Printer
from pbmserv.web.rendering.site_facts import SiteFacts

PARAMETER = re.compile(r"\{\w+(?::\w+)?\}")
ANONYMOUS = {"/hide", "/mine", "/proof", "/signup"}
"""Forms that need no token, no session and no secret path."""
FACTS = SiteFacts("pbmserv@games.example", (), "open", "", "http://games.example")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indoors]:
    with indoors(tmp_path_factory.mktemp("posts")) as opened:
        yield opened


def site_named(name: str, house: Indoors, folder: Path) -> Starlette:
    """An application that serves pages, fresh, so that nothing was counted yet."""
    if name == "mailbox":
        domain = SimpleNamespace(ring=KeyRing({1: b"a key"}), address="pbmserv@localhost")
        return build_mailbox(f"maildir:{folder}", Listen("127.0.0.1", 1), domain, environment())
    if name == "operators":
        token = folder / "token"
        token.write_text(new_token())
        token.chmod(0o600)
        side, clock = house.server.web_stage.operators, house.server.clock
        return build_operators(side, token, "", clock, environment(), ())
    return site_of(house.server)


def api_of(house: Indoors) -> Starlette:
    requests = house.server.web_stage.web_requests
    return build_api(Printer(FACTS, environment()), requests, Allowance(()))


def takers(house: Indoors, folder: Path) -> list[tuple[str, str]]:
    """Each application's routes that take more than GET."""
    routes = [
        (name, route.path)
        for name in ("site", "mailbox", "operators")
        for route in site_named(name, house, folder).routes
        if isinstance(route, Route) and set(route.methods or ()) - {"GET", "HEAD"}
    ]
    api = [route for route in api_of(house).routes if isinstance(route, Route)]
    routes += [("site", f"/api{route.path}") for route in api if "POST" in (route.methods or ())]
    return routes


def stored(house: Indoors) -> int:
    """The number of rows that forms have left, also of those that are carried out and deleted."""
    newest = text("SELECT seq FROM sqlite_sequence WHERE name = 'arrivals'")
    with house.server.base.mail.reading.connect() as connection:
        return connection.execute(newest).scalar() or 0


def from_client(site: Starlette, client: str) -> ASGIApp:
    """A site as a client with this address asks it."""

    async def ask(scope: Scope, receive: Receive, send: Send) -> None:
        await site({**scope, "client": (client, 1)}, receive, send)

    return ask


async def flood(site: ASGIApp, path: str, times: int, **headers: str) -> list[Answer]:
    body = b"who=nobody&name1=&do=prefs"
    return [await fetch(site, path, "POST", body, **headers) for _ in range(times)]


def test_every_route_that_takes_forms_has_a_limit(
    house: Indoors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    anybody, with_token = parse("2/minute"), parse("4/minute")  # hundreds take long for each route
    monkeypatch.setattr(post_limits, "ANYBODY", anybody)
    monkeypatch.setattr(post_limits, "WITH_TOKEN", with_token)
    wrong = {}
    routes = takers(house, tmp_path)
    assert len(routes) > 10
    pages = site_named("site", house, tmp_path)
    for number, (name, path) in enumerate(routes):
        if name == "site":  # one application for many networks
            site = from_client(pages, f"10.{number}.0.1")
        else:
            site = from_client(site_named(name, house, tmp_path), "127.0.0.1")
        limit = anybody if path in ANONYMOUS else with_token
        headers = {"host": "127.0.0.1", "content-type": "application/json"}
        filled = PARAMETER.sub("7", path)
        answers = asyncio.run(flood(site, filled, limit.amount, **headers))
        before = stored(house)
        over = asyncio.run(flood(site, filled, 5, **headers))
        faults = [
            {answer.status for answer in answers} & {429, 500},
            {answer.status for answer in over} != {429},
            any(not 1 <= int(answer.header("retry-after") or 0) <= 60 for answer in over),
            any(not answer.body for answer in over),
            any("frame-anc" not in answer.header("content-security-policy") for answer in over),
            stored(house) != before,
        ]
        if any(faults):
            wrong[name, path] = faults
    assert wrong == {}


def test_a_flood_of_wishes_for_links_stores_no_more_rows(house: Indoors) -> None:
    site = site_of(house.server)
    before = stored(house)
    answers = asyncio.run(flood(site, "/mine", 200))
    assert [answer.status for answer in answers].count(200) == ANYBODY.amount
    assert stored(house) - before == ANYBODY.amount
    page = answers[-1].body.decode()
    assert "Please wait a moment" in page
    assert f"Wait {answers[-1].header('retry-after')} seconds" in page


def test_other_networks_and_readers_have_their_own_share(house: Indoors) -> None:
    """A proxy of ours says for whom it asks; anybody else's word on that is not believed."""
    site = site_of(house.server)

    def statuses(client: str, forwarded: str) -> set[int]:
        asking = flood(from_client(site, client), "/mine", 2, x_forwarded_for=forwarded)
        return {answer.status for answer in asyncio.run(asking)}

    for _ in range(ANYBODY.amount // 2):
        assert statuses("127.0.0.1", "203.0.113.9, 192.0.2.7") == {200}
    assert statuses("127.0.0.1", "192.0.2.8") == {429}  # the same /24
    assert statuses("127.0.0.1", "192.0.2.8, 203.0.113.9") == {200}
    assert statuses("127.0.0.1", "") == {200}
    assert statuses("192.0.2.9", "198.51.100.1") == {429}
    assert statuses("198.51.100.1", "192.0.2.9") == {200}
    assert asyncio.run(fetch(site, "/mine")).status == 200
    assert asyncio.run(fetch(site, "/mine", "HEAD")).status == 200


def test_the_api_believes_the_same_proxies_as_the_pages(house: Indoors) -> None:
    proxies = [ip_network("10.0.0.0/8")]
    site = build_site(
        replace(FACTS, proxies=proxies),
        house.server.web_stage.web_requests,
        environment(),
        house.server.web_stage.web_requests,  # type: ignore[arg-type] - nobody asks for the health
        house.server.registry,
        Allowance(proxies),
    )
    behind = from_client(site, "10.0.0.5")
    asyncio.run(flood(behind, "/api/seat/moves", WITH_TOKEN.amount, x_forwarded_for="192.0.2.7"))
    for reader, is_refused in (("192.0.2.8", True), ("203.0.113.9", False)):
        (answer,) = asyncio.run(flood(behind, "/api/seat/moves", 1, x_forwarded_for=reader))
        assert (answer.status == 429) is is_refused
