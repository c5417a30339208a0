"""The API: what everybody may read as JSON, and a seat by its token."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from asgi_client import Answer, fetch, site_of
from browser_tab import page_of
from indoors import PASSWORD, Indoors, address_of, indoors
from running import start
from starlette.applications import Starlette

from pbmserv.errors import StillWorking, StoreAway
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.store.tables.boards import plies

BOT = Path(__file__).parents[2] / "docs" / "example_bot.py"
HTML = "text/html,application/xhtml+xml,*/*;q=0.8"


class Client(NamedTuple):
    """A program that asks the API of a server."""

    world: Indoors
    site: Starlette

    def ask(self, path: str, method: str = "GET", body: bytes = b"", **headers: str) -> Answer:
        asked = fetch(self.site, f"/api{path}", method, body, **headers)
        return self.world.loop.run_until_complete(asked)

    def read(self, path: str, **headers: str) -> Any:
        """The JSON at an address that is there."""
        answer = self.ask(path, **headers)
        assert (answer.status, answer.header("content-type")) == (200, "application/json"), answer
        return json.loads(answer.body)

    def refused(self, status: int, path: str, *others: Any, **headers: str) -> dict[str, Any]:
        """The problem that an address tells, which is one by RFC 9457."""
        answer = self.ask(path, *others, **headers)
        assert answer.header("content-type") == "application/problem+json", answer
        content = json.loads(answer.body)
        assert (answer.status, content["status"]) == (status, status), content
        assert re.fullmatch(r"[A-Z\"].{10,}[.?!]", content["detail"]), content
        return {**content, "headers": answer}

    def seat(self, token: str) -> Any:
        return self.read("/seat", authorization=f"Bearer {token}")

    def post(self, token: str, body: bytes | dict[str, Any], **headers: str) -> Answer:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        all_headers = {
            "authorization": f"Bearer {token}",
            "content_type": "application/json",
            **headers,
        }
        return self.ask("/seat/moves", "POST", raw, **all_headers)

    def play(self, token: str, move: str, **others: Any) -> tuple[int, Any]:
        """Play at the turn that the seat shows."""
        answer = self.post(token, {"turn": self.seat(token)["turn"], "move": move, **others})
        return answer.status, json.loads(answer.body)

    def moves(self) -> int:
        return self.world.server.count(plies)

    def challenge(self, *words: str) -> list[str]:
        """The tokens of alice and bob at a new board."""
        letters = self.world.send(
            address_of("alice"), " ".join(("blackbox challenge alice", PASSWORD, "bob", *words))
        )
        tokens = {letter.recipient: page_of(letter).removeprefix("/b/") for letter in letters}
        return [tokens[address_of(userid)] for userid in ("alice", "bob")]


@pytest.fixture
def client(database_url: str, tmp_path: Path) -> Iterator[Client]:
    with indoors(tmp_path, database_url) as world:
        world.sign_up("alice", "bob")
        yield Client(world, site_of(world.server))


SMALL = ("-size=4x4", "-atoms=1")


def won_by_alice(client: Client, ports: str = "") -> None:
    """*ports*: that each fires into; a game of fewer than three changes no rating."""
    alice, bob = client.challenge()
    assert client.play(bob, "b3,d3,f6,g7")[0] == 200
    assert client.play(alice, "a1,c4,e5,g2")[0] == 200
    for port in ports:
        assert client.play(alice, port)[0] == 200
        assert client.play(bob, port)[0] == 200
    assert client.play(bob, "resign")[0] == 200


@pytest.mark.slow
def test_programs_read_what_the_public_pages_tell(client: Client) -> None:
    (game,) = client.read("/games")["items"]
    assert (game["game"], game["title"], game["hidden"]) == ("blackbox", "Blackbox", True)
    assert "-size=WxH" in game["options"]
    assert client.read("/games/blackbox") == game
    assert client.read("/boards") == {"items": [], "next": None}
    assert client.read("/seeks")["items"] == []
    for ports in ("", "abc", ""):
        won_by_alice(client, ports)
    client.world.send(address_of("bob"), f"blackbox seek bob {PASSWORD} -size=8x8")

    board = client.read("/boards/2")
    assert (board["status"], board["turn"], board["turns"]) == ("finished", 9, 9)
    assert board["outcome"] == {"places": [1, 2], "reason": "resigned", "points": []}
    assert board["url"] == "http://games.example/game/2"
    assert board["facts"]["boxes"][0]["atoms"] == ["B3", "D3", "F6", "G7"]
    assert board["facts"]["boxes"][1]["atoms"] == ["A1", "G2", "C4", "E5"]
    first = client.read("/boards/2?turn=3")
    assert (first["turn"], first["turns"], first["outcome"]) == (3, 9, None)
    fired = [box["ports"]["A"] for box in first["facts"]["boxes"]]
    assert fired[0] != ""
    assert fired[1] == ""

    numbers, address = [], "/boards?limit=2"
    while address:
        page = client.read(address)
        assert 0 < len(page["items"]) <= 2
        numbers += [item["board"] for item in page["items"]]
        address = (page["next"] or "").removeprefix("http://games.example/api")
    assert numbers == [3, 2, 1]
    assert client.read("/boards?limit=3")["next"] is None  # there are no more
    mine = client.ask("/players/BOB/boards?limit=1")
    content = json.loads(mine.body)
    assert content["items"][0]["winners"] == ["alice"]
    assert mine.header("link") == f'<{content["next"]}>; rel="next"'
    assert "/players/BOB/boards?limit=1&before=3" in content["next"]

    (table,) = client.read("/ratings")["items"]
    assert [player["userid"] for player in table["below"]] == ["alice", "bob"]
    assert client.read("/ratings/blackbox") == table
    bob = client.read("/players/bob")
    assert bob["ratings"][0]["standing"]["lost"] == 1
    assert [change["board"] for change in bob["ratings"][0]["changes"]] == [2]
    assert bob["met"][0] == {"name": "alice", "played": 3, "won": 0, "lost": 3, "drawn": 0}
    assert bob["seeks"] == client.read("/seeks")["items"]
    assert bob["seeks"][0]["options"] == ["-size=8x8"]
    assert not bob["bot"]
    for content in (board, bob, table, page):
        assert "players.example" not in json.dumps(content)


def test_boards_that_must_stay_hidden_leave_no_gap_in_a_list(client: Client) -> None:
    won_by_alice(client)
    for _ in range(3):
        alice, bob = client.challenge("-race", "-seed=monday", *SMALL)
        for player, command in ((bob, "accept"), (alice, "a"), (bob, "resign"), (alice, "resign")):
            client.play(player, command)
        assert client.seat(alice)["status"] == "finished"
    assert [item["board"] for item in client.read("/boards?limit=1")["items"]] == [1]


def test_a_board_that_runs_shows_what_spectators_see(client: Client) -> None:
    alice, bob = client.challenge(*SMALL)
    before = client.ask("/boards/1")
    client.play(bob, "b2", words="Found you!")
    board = client.read("/boards/1")
    assert (board["status"], board["waiting"], board["ended"]) == ("running", ["alice"], None)
    assert [box["atoms"] for box in board["facts"]["boxes"]] == [None, None]
    assert "Found you" not in json.dumps(board)
    assert client.ask("/boards/1").header("etag") != before.header("etag")
    assert client.read("/boards") == {"items": [], "next": None}
    (running,) = client.read("/players/alice")["running"]
    assert (running["board"], running["waiting"]) == (1, ["alice"])
    client.world.send(address_of("alice"), "blackbox daily alice wonder-land 07:30")
    client.world.live(days=1)
    assert client.read("/boards/2")["facts"]["boxes"] == []  # a race is nobody else's
    assert alice


def test_todays_box_is_played_without_an_account(client: Client) -> None:
    box = client.read("/today")
    assert box["facts"]["boxes"][0]["atoms"] is None
    for tap in ("A", "+B2"):
        box = client.read("/today?" + urlencode({"state": box["state"], "tap": tap}))
    assert box["facts"]["boxes"][0]["ports"]["A"] != ""
    assert box["facts"]["boxes"][0]["markers"] == ["B2"]
    assert (box["trouble"], box["anew"], box["players"]) == ("", False, ["guest"])
    again = urlencode({"state": box["state"], "tap": "A"})
    assert client.read(f"/today?{again}")["trouble"].startswith("Port A already shows")
    assert client.read("/today?state=forged&tap=A")["anew"]


def test_wrong_requests_of_programs_are_refused_kindly(client: Client) -> None:
    for path, code in {
        "/nothing": "no-such-address",
        "/games/chess": "no-game",
        "/ratings/chess": "no-game",
        "/boards/1": "no-board",
        "/boards/x": "no-board",
        "/boards/99999999999999999999": "no-board",
        "/boards/-1": "no-board",
        "/players/nobody": "no-player",
        "/players/%00": "no-player",
        "/players/nobody/boards": "no-player",
        "/players/alice/boards?before=7": "not-behind",
    }.items():
        assert client.refused(404, path)["code"] == code, path
    for query in ("limit=0", "limit=51", "limit=x", "limit=", "before=0", "limit=%C2%B2"):
        assert client.refused(400, f"/boards?{query}")["code"] == "bad-query", query
    assert client.refused(404, "/boards?before=7")["code"] == "not-behind"
    assert client.refused(400, "/boards/1?turn=-1")["code"] == "bad-query"
    problem = client.refused(405, "/boards", "POST")
    assert problem["headers"].header("allow") in {"GET, HEAD", "HEAD, GET"}
    assert problem["detail"] == "This address does not accept POST; it accepts GET or HEAD."
    assert client.refused(405, "/seat/moves")["headers"].header("allow") == "POST"


def test_an_unchanged_seat_is_not_sent_again(client: Client) -> None:
    client.challenge()
    for path in ("/games", "/boards/1", "/ratings", "/openapi.json", "/"):
        answer = client.ask(path)
        again = client.ask(path, if_none_match=answer.header("etag"))
        assert (again.status, again.body) == (304, b""), path
        head = client.ask(path, "HEAD")
        assert (head.status, head.header("etag")) == (200, answer.header("etag")), path
        assert "default-src 'none'" in answer.header("content-security-policy")
        assert "set-cookie" not in dict(answer.headers)
        assert "access-control-allow-origin" not in dict(answer.headers)


def test_the_way_in_is_a_page_for_people_and_a_document_for_programs(client: Client) -> None:
    assert client.ask("").header("location") == "/api/"
    page = client.ask("/")
    assert page.header("content-type") == "text/html; charset=utf-8"
    assert "Authorization: Bearer TOKEN" in page.body.decode()
    assert 'href="/api/boards"' in page.body.decode()
    document = client.read("/openapi.json")
    assert document["openapi"] == "3.1.0"
    seat = document["components"]["schemas"]["Seat"]["properties"]
    assert "the board as a letter draws it" in seat["text"]["description"]
    assert {"$ref": "#/components/schemas/BlackboxBoard"} in seat["facts"]["anyOf"]
    for path in ("/games", "/seeks", "/ratings"):
        assert f'href="/api{path}"' in page.body.decode()
    named = re.findall(r"`(?:GET |POST )?/api(/[^`…]*)", BOT.with_name("api.md").read_text())
    assert len(named) > 12
    for path in named:
        assert b"no-such-address" not in client.ask(path).body, path


def test_a_seat_tells_at_once_who_has_accepted(client: Client) -> None:
    client.world.sign_up("carol")
    alice, bob = client.challenge("carol", "-race")
    assert client.seat(alice)["undecided"] == ["bob", "carol"]
    assert client.play(bob, "accept")[0] == 200
    assert client.seat(alice)["undecided"] == ["carol"]


@pytest.mark.both_databases
def test_a_program_plays_by_its_token(client: Client) -> None:
    alice, bob = client.challenge(*SMALL)
    seat = client.seat(bob)
    assert (seat["status"], seat["undecided"], seat["seat"]) == ("proposed", ["bob"], 1)
    assert (seat["your_turn"], seat["facts"]["must_hide"], len(seat["legal"])) == (True, True, 1)
    body = {"turn": seat["turn"], "move": "b2", "words": "Find it!"}
    for _ in range(2):  # sent twice, played once
        answer = client.post(bob, body)
        assert answer.status == 200
        played = json.loads(answer.body)
        assert (played["status"], played["your_turn"]) == ("running", False)
        assert played["facts"]["boxes"][1]["atoms"] == ["B2"]
    assert client.moves() == 1
    letters = [
        letter for letter in client.world.letters() if letter.recipient == address_of("alice")
    ]
    assert ["Find it!" in letter.text for letter in letters] == [True]

    refused = client.post(bob, {"turn": seat["turn"], "move": "b3"})  # of the turn before
    problem = json.loads(refused.body)
    assert (refused.status, problem["code"]) == (409, "stale")
    assert "letter" not in problem["detail"]
    status, problem = client.play(alice, "z9")
    assert (status, problem["code"]) == (422, "blackbox.column-unknown"), problem
    assert client.moves() == 1
    assert client.seat(alice)["facts"]["boxes"][0]["atoms"] is None
    client.play(alice, "c3")
    status, seat = client.play(alice, "a,+b2")
    assert (status, seat["facts"]["boxes"][0]["fired"]) == (200, "A")
    assert seat["facts"]["boxes"][0]["markers"] == ["B2"]
    status, seat = client.play(alice, "chat", words="Your move, bob", key="1")
    assert status == 200
    client.play(bob, "a")
    status, seat = client.play(alice, "?")
    assert (status, seat["status"], seat["outcome"]["places"]) == (200, "finished", [1, 2])
    assert seat["legal"] == []
    status, problem = client.play(alice, "b")
    assert (status, problem["code"]) == (422, "board-over")


def test_nobody_plays_without_a_good_token(client: Client, caplog: Any) -> None:
    alice, _ = client.challenge()
    problem = client.refused(401, "/seat")
    assert problem["headers"].header("www-authenticate") == "Bearer"
    ring = client.world.server.base.mail_domain.ring
    address = ring.read(alice)
    assert address is not None
    others = [
        ReplyAddress(Purpose.PLAYER, address.player, 0, 0, address.epoch),
        ReplyAddress(Purpose.PAGE, address.player, 0, address.number, address.epoch),
        ReplyAddress(
            Purpose.BOARD, address.player, address.about + 7, address.number, address.epoch
        ),
        ReplyAddress(
            Purpose.BOARD, address.player, address.about, address.number, address.epoch + 1
        ),
    ]
    forged = ("b" if alice[9] == "a" else "a").join((alice[:9], alice[10:]))
    for token in (*map(ring.token, others), forged, "x", "x" * 5000, "a b", "%00"):
        problem = client.refused(401, "/seat", authorization=f"Bearer {token}")
        assert problem["headers"].header("www-authenticate") == 'Bearer error="invalid_token"'
        answer = client.post(token, {"turn": 1, "move": "resign"})
        assert answer.status == 401
    for other in (f"Basic {alice}", alice, "Bearer", ""):
        assert client.refused(401, "/seat", authorization=other)["code"] == "no-token"
    assert client.ask(f"/seat?token={alice}").status == 401  # addresses are written into logs
    assert client.moves() == 0
    caplog.set_level(logging.DEBUG)
    client.seat(alice)
    client.play(alice, "b3,d3,f6,g7")
    client.play(alice, "nonsense")
    assert caplog.records
    assert alice not in caplog.text + "".join(str(vars(record)) for record in caplog.records)


def test_a_body_that_cannot_be_read_is_not_played(client: Client) -> None:
    alice, _ = client.challenge()
    before = client.seat(alice)
    turn = before["turn"]
    for body in (
        *(b"", b"{", b"[]", b"null", b"\xff", b'{"turn": 1}', b'{"move": "a"}'),
        *(b'{"turn": "1", "move": "a"}', b'{"turn": 1, "move": ""}', b'{"turn": -1, "move": "a"}'),
        *(b'{"turn": 1, "move": "a", "more": 1}', b'{"turn": 1e99, "move": "a"}'),
        *(b'{"turn": 1, "move": "\\ud800"}', b'{"turn": 1, "move": ["a"]}', b"[" * 9_000),
        json.dumps({"turn": turn, "move": "a" * 1_001}).encode(),
        json.dumps({"turn": turn, "move": "a", "words": "x" * 4_001}).encode(),
        json.dumps({"turn": turn, "move": "a", "key": "x" * 65}).encode(),
    ):
        answer = client.post(alice, body)
        assert (answer.status, json.loads(answer.body)["code"]) == (400, "bad-body"), body[:60]
    assert client.post(alice, b"x" * 50_000).status == 413
    for kind in ("", "text/plain", "application/x-www-form-urlencoded"):
        assert client.post(alice, {"turn": turn, "move": "a"}, content_type=kind).status == 415
    for move in ("\x00", "a\r\nresign", "\u200b", " ", "blackbox resign 2", "-- \nb2"):
        assert client.play(alice, move)[0] in {200, 422}, move
    assert client.seat(alice)["status"] != "finished"
    assert client.moves() == 0


def test_a_program_that_asks_too_often_hears_when_to_come_again(
    database_url: str, tmp_path: Path
) -> None:
    with indoors(tmp_path, database_url, rate_player="3/hour", rate_refusals="2/hour") as world:
        world.sign_up("alice", "bob")
        client = Client(world, site_of(world.server))
        alice, bob = client.challenge(*SMALL)
        for _ in range(120):
            assert client.ask("/seat", authorization=f"Bearer {alice}").status == 200
        problem = client.refused(429, "/seat", authorization=f"Bearer {alice}")
        assert 1 <= int(problem["headers"].header("retry-after")) <= 86_400
        ring = world.server.mail_domain.ring
        link = ring.read(alice)
        assert link is not None
        calendar = ring.token(ReplyAddress(Purpose.CALENDAR, link.player, epoch=link.epoch))
        shared = asyncio.run(fetch(client.site, f"/calendar/{calendar}.ics"))
        assert shared.status == 429  # the calendar has the same share
        assert client.seat(bob)["userid"] == "bob"  # each player has an own share
        assert client.ask("/boards/1").status == 200
        turn = client.seat(bob)["turn"]
        codes = []
        for move in ("z9", "z8", "z7"):
            answer = client.post(bob, {"turn": turn, "move": move})
            codes.append((answer.status, json.loads(answer.body)["code"]))
        assert [code[0] for code in codes] == [422] * 3
        assert {code[1] for code in codes} == {"blackbox.column-unknown"}  # refusals do not run out
        answer = client.post(bob, {"turn": turn, "move": "b2"})
        assert (answer.status, json.loads(answer.body)["code"]) == (429, "too-many")
        assert client.moves() == 0
        page = asyncio.run(fetch(client.site, f"/b/{bob}", "POST", b"turn=1&key=a&move=b2"))
        assert page.status == 429  # the page of the board has the same share
        assert int(page.header("retry-after")) >= 1
        world.live(minutes=61)
        assert client.post(bob, {"turn": turn, "move": "b2"}).status == 200


def test_a_move_that_takes_long_or_fails_is_reported(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, _ = client.challenge()
    presses = client.world.server.web_requests.presses
    errors: list[Exception] = [StillWorking("x"), StoreAway("x"), LookupError("inside")]
    statuses = []

    async def fails(*_: object) -> None:
        raise errors.pop(0)

    monkeypatch.setattr(presses, "press", fails)
    for _ in range(3):
        answer = client.post(alice, {"turn": 1, "move": "b3,d3,f6,g7"})
        statuses.append((answer.status, answer.header("retry-after"), b"inside" in answer.body))
    assert statuses == [(202, "10", False), (503, "10", False), (500, "", False)]


@pytest.mark.usefixtures("heaps_installed")
def test_a_game_that_tells_programs_no_facts(database_url: str, tmp_path: Path) -> None:
    with indoors(tmp_path, database_url) as world:
        world.sign_up("alice", "bob")
        client = Client(world, site_of(world.server))
        letters = world.send(address_of("alice"), f"heaps challenge alice {PASSWORD} bob")
        token = page_of(letters[0]).removeprefix("/b/")
        seat = client.seat(token)
        assert seat["facts"] is None
        assert seat["text"].strip()
        assert client.read("/boards/1")["facts"] is None


@pytest.mark.slow
def test_the_example_bot_plays_a_whole_game(database_url: str, tmp_path: Path) -> None:
    assert len(BOT.read_text().splitlines()) <= 40
    with start(tmp_path, database_url, signup="open") as server:
        alice = server.sign_up("alice", PASSWORD)
        challenge = f"blackbox challenge alice {PASSWORD} house-easy -size=4x4 -atoms=1"
        server.send(alice, challenge)
        token = page_of(server.letters(alice)[-1]).removeprefix("/b/")
        home = f"http://127.0.0.1:{server.web_port}"
        bot = [sys.executable, str(BOT), home, token]
        done = subprocess.run(bot, capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip()
        with urlopen(f"{home}/api/boards/1") as answer:
            assert json.load(answer)["status"] == "finished"


def test_a_far_label_is_refused_with_both_readings(client: Client) -> None:
    """Nobody can be asked there; on 4 by 4 the label E is below column A."""
    alice, bob = client.challenge(*SMALL)
    for place, near in (("e2", "A2"), ("b5", "B1"), ("6e", "A2")):
        status, problem = client.play(bob, place)
        assert (status, problem["code"], problem["example"]) == (422, "far-cells", near), problem
        assert place.upper() in problem["detail"]
        assert near in problem["detail"]
    assert client.moves() == 0
    client.play(bob, "b2")
    client.play(alice, "c3")
    status, problem = client.play(alice, "+e2", key="far")
    assert (status, problem["code"], problem["example"]) == (422, "far-cells", "+A2"), problem
    assert client.seat(alice)["facts"]["boxes"][0]["markers"] == []
    status, seat = client.play(alice, "+a2", key="near")
    assert (status, seat["facts"]["boxes"][0]["markers"]) == (200, ["A2"])
