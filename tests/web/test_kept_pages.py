"""A page is the same whether its scene is kept from an earlier look or replayed."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from asgi_client import load_all, site_of
from browser_tab import page_of
from indoors import PASSWORD, Indoors, address_of, indoors
from starlette.applications import Starlette

from pbmserv.store.core.database import Database

pytestmark = pytest.mark.slow

DRAFTS = (
    {},
    {"move": "5,+e5"},
    {"move": "5,+e5", "tap": "+E5"},
    {"move": "+c3,+d4,?"},
    {"move": "+c3,/c3", "tap": "?", "words": "Hello <b>bob</b>"},
    {"move": "z9"},
    {"move": '"><script>,+c4'},
    {"check": "all", "move": "+c3"},
    {"check": "1"},
)
KEY = re.compile(rb'(name="key" value=")[0-9a-f]{16}"')
HIDDEN_FOR_ME = re.compile(rb'value="[A-Z0-9,]+">Hide for me')


def played(server: Indoors) -> list[str]:
    """The paths of a board after some moves, as both players ask for it."""
    server.sign_up("alice", "bob")
    letters = server.send(address_of("alice"), f"blackbox challenge alice {PASSWORD} bob")
    turns = [("bob", "b3,d3,f6,g7"), ("alice", "a1,c4,e5,g2"), ("alice", "1"), ("bob", "b")]
    turns += [("alice", "2,+b3"), ("bob", "c")]
    for name, move in turns:
        letters += server.send(address_of(name), f"blackbox move 1 {name} {PASSWORD} {move}")
    newest = {letter.recipient: page_of(letter) for letter in letters if "/b/" in letter.text}
    assert len(newest) == 2
    return [f"{path}?{urlencode(draft)}" for path in newest.values() for draft in DRAFTS]


def test_a_page_is_the_same_by_every_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with indoors(tmp_path) as server:
        paths = played(server)
        site = site_of(server.server)
        first = bodies(site, paths)
        assert bodies(site, paths) == first  # with the scenes that were kept meanwhile
        again = bodies(site_of(server.server), list(reversed(paths)))
        assert again == first
        monkeypatch.setattr(Database, "may_read_in_loop", False)  # as on PostgreSQL
        assert bodies(site, paths) == first


def bodies(site: Starlette, paths: list[str]) -> dict[str, bytes]:
    """All pages but for the random word and the random cells of each."""
    answers = load_all(site, *paths)
    assert {value.status for value in answers.values()} == {200}
    assert all(KEY.search(value.body) for value in answers.values())
    return {
        path: HIDDEN_FOR_ME.sub(b"", KEY.sub(rb'\1"', answer.body))
        for path, answer in answers.items()
    }
