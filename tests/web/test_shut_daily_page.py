"""The pages of a day's box that its player has given up: it stays shut there, too."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_tab import Tab, page_of
from running import Running, start

from pbmserv.games.blackbox.game_ids import atoms_of, read_id
from pbmserv.games.blackbox.geometry import geometry
from pbmserv.store.boards import boards

pytestmark = pytest.mark.slow

ALICE = "alice@players.example"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with start(f"sqlite:///{tmp_path}/games.sqlite3", tmp_path) as running:
        running.sign_up("alice", "wonder-land")
        yield running


def atoms(server: Running) -> list[str]:
    with server.server.database.reading.connect() as connection:
        board = boards.load(connection, 1)
    assert board is not None
    (word,) = [word for word in board.options if word.startswith("-id=")]
    game = read_id(word.removeprefix("-id="))
    cells = geometry(game.width, game.height)
    return [cells.name(cell) for cell in sorted(atoms_of(game))]


def drawn_atoms(html: str) -> list[str]:
    """The cells that a page calls an atom."""
    return re.findall(r"\b([A-Z]\d)\b[^\"<]{0,12}atom", html)


def test_its_own_page_and_the_api_show_no_atom_before_the_box_is_open(server: Running) -> None:
    server.send(ALICE, "blackbox daily alice wonder-land 07:30")
    letter = next(letter for letter in server.letters(ALICE) if "Daily Box" in letter.text)
    page = Tab(server.web_port, page_of(letter)).load()
    cells = atoms(server)
    page.press("solve")
    shown = [page.load().html, page.load().html]
    paths = ("/game/1", "/api/boards/1", "/daily", "/games.atom", "/daily.atom", "/games")
    shown += [Tab(server.web_port, path).load().html for path in paths]
    for html in shown:
        assert drawn_atoms(html) == []
        assert not re.search(r"\b8x8[^\"<]*:[0-9a-f]{8}", html)
        assert f"{cells[0]}, {cells[1]}" not in html
    assert "You gave up Daily Box" in page.text
    server.live(hours=13)
    assert drawn_atoms(page.reopen().html) != []


def test_facts_of_its_seat_have_no_atoms(server: Running) -> None:
    server.send(ALICE, "blackbox daily alice wonder-land 07:30")
    letter = next(letter for letter in server.letters(ALICE) if "Daily Box" in letter.text)
    page = Tab(server.web_port, page_of(letter)).load()
    page.press("solve")
    token = page.link.removeprefix("/b/")
    assert '"atoms": null' in _seat(server, token)
    server.live(hours=13)
    assert json.dumps(atoms(server)) in _seat(server, token)


def _seat(server: Running, token: str) -> str:
    """Return the API's answer to a program with a board's token, as JSON."""
    connection = http.client.HTTPConnection("127.0.0.1", server.web_port, timeout=60)
    connection.request("GET", "/api/seat", headers={"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    content = json.dumps(json.loads(answer.read()))
    connection.close()
    assert answer.status == 200
    return content
