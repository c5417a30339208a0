"""Pages, feeds and JSON of events; they name nobody who does not want that."""

from __future__ import annotations

import asyncio
import json

import pytest
from asgi_client import fetch, site_of
from indoors import PASSWORD, Indoors, address_of, indoors

NAMES = ("alice", "bob", "carol", "dave")


def _season(server: Indoors) -> None:
    """Let a season begin, and end some of its games."""
    server.server.scheduler.begin()
    server.sign_up(*NAMES)
    for name in NAMES:
        server.send_unread(address_of(name), f"league {name} {PASSWORD} join blackbox")
    for _ in range(4):
        server.live(days=4)
    for board, name in ((1, "alice"), (2, "carol"), (3, "dave")):
        server.send_unread(address_of(name), f"blackbox resign {board} {name} {PASSWORD}")
    server.live(days=1)


def _page(server: Indoors, path: str, expected: int = 200) -> str:
    reply = asyncio.run(fetch(site_of(server.server), path))
    assert reply.status == expected, path
    return reply.body.decode()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Indoors:
    with indoors(tmp_path_factory.mktemp("season")) as server:
        _season(server)
        yield server


def test_the_list_leads_to_the_table(server: Indoors) -> None:
    listed = _page(server, "/events")
    assert "Season 1 of the Blackbox league" in listed
    assert 'href="/events/1"' in listed
    page = _page(server, "/events/1")
    for text in ("alice", "Points", "All games of the group", "Sonneborn-Berger", "/game/1"):
        assert text in page, text
    _page(server, "/events/99", 404)
    _page(server, "/events/1?group=40")


def test_the_feeds_have_what_begins_and_ends(server: Indoors) -> None:
    assert "Season 2 of the Blackbox league" in _page(server, "/events.atom")
    assert "2:0" in _page(server, "/events/1.atom")
    _page(server, "/events/99.atom", 404)


def test_programs_get_the_same_as_json(server: Indoors) -> None:
    events = json.loads(_page(server, "/api/events"))["items"]
    assert [event["status"] for event in events] == ["open", "running"]
    event = json.loads(_page(server, "/api/events/1"))
    (group,) = event["groups"]
    assert [row["place"] for row in group["rows"]] == [1, 2, 3, 4]
    assert sum(row["points"] for row in group["rows"]) == 6
    assert len(group["games"]) == 6
    problem = json.loads(_page(server, "/api/events/99", 404))
    assert problem["code"] == "no-event"


def test_nobody_is_named_who_does_not_want_that(server: Indoors) -> None:
    paths = ("/events/1", "/events/1.atom", "/api/events/1", "/events/2", "/api/events/2")
    assert all("alice" in _page(server, path) for path in paths if "atom" not in path)
    server.send(address_of("alice"), f"prefs alice {PASSWORD} public=no")
    assert not any("alice" in _page(server, path) for path in paths)
    server.send(address_of("alice"), f"prefs alice {PASSWORD} public=yes")
