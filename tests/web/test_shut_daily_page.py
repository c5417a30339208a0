"""The pages of a day's box that its player has given up: it stays shut there, too."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from asgi_client import fetch, site_of
from browser_tab import Tab, page_of
from indoors import HandedIn, indoors

from pbmserv.games.blackbox.game_ids import atoms_of, read_id
from pbmserv.games.blackbox.geometry import geometry
from pbmserv.store.boards import boards

pytestmark = pytest.mark.slow

ALICE = "alice@players.example"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[HandedIn]:
    with indoors(tmp_path) as house:
        server = HandedIn(house)
        server.sign_up("alice", "wonder-land")
        yield server


def atoms(server: HandedIn) -> list[str]:
    board = server.server.read(boards.load, 1)
    assert board is not None
    (word,) = [word for word in board.options if word.startswith("-id=")]
    game = read_id(word.removeprefix("-id="))
    cells = geometry(game.width, game.height)
    return [cells.name(cell) for cell in sorted(atoms_of(game))]


def drawn_atoms(html: str) -> list[str]:
    """The cells that a page calls an atom."""
    return re.findall(r"\b([A-Z]\d)\b[^\"<]{0,12}atom", html)


def seat(server: HandedIn, token: str) -> str:
    """Return the API's answer to a program with a board's token, as JSON."""
    bearer = f"Bearer {token}"
    answer = asyncio.run(fetch(site_of(server.server), "/api/seat", authorization=bearer))
    assert answer.status == 200
    return json.dumps(json.loads(answer.body))


def test_its_pages_and_the_api_show_no_atom_before_the_box_is_open(server: HandedIn) -> None:
    server.send(ALICE, "blackbox daily alice wonder-land 07:30")
    letter = next(letter for letter in server.letters(ALICE) if "Daily Box" in letter.text)
    page = Tab(server.pages, page_of(letter)).load()
    cells, token = atoms(server), page.link.removeprefix("/b/")
    page.press("solve")
    shown = [page.load().html, page.load().html]
    paths = ("/game/1", "/api/boards/1", "/daily", "/games.atom", "/daily.atom", "/games")
    shown += [Tab(server.pages, path).load().html for path in paths]
    for html in shown:
        assert drawn_atoms(html) == []
        assert not re.search(r"\b8x8[^\"<]*:[0-9a-f]{8}", html)
        assert f"{cells[0]}, {cells[1]}" not in html
    picture = Tab(server.pages, "/game/1.svg")
    assert picture.load().status == 404
    assert "You gave up Daily Box" in page.text
    assert '"atoms": null' in seat(server, token)
    server.live(hours=13)
    assert picture.load().status == 200
    assert drawn_atoms(page.reopen().html) != []
    assert json.dumps(cells) in seat(server, token)
