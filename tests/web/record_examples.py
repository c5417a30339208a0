"""Record the examples of the API's OpenAPI document from a server that plays a short story.

Run ``PYTHONPATH=tests .venv/bin/python tests/web/record_examples.py`` after a change of the API's
shapes, and read the difference before you commit it.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from http import HTTPStatus
from pathlib import Path
from typing import Any

from asgi_client import fetch, site_of
from blackbox_alone import play_blackbox_alone
from browser_tab import page_of
from indoors import PASSWORD, Indoors, address_of, indoors

from pbmserv.views.environment import environment
from pbmserv.web.api.openapi import EXAMPLES
from pbmserv.web.api.problems import TITLES

PARAMETERS = {
    "board": 1,
    "event": 1,
    "team": "rooks",
    "game": "blackbox",
    "group": 1,
    "userid": "alice",
    "limit": 30,
    "before": 100,
    "turn": 1,
    "state": "A",
    "tap": "B",
}
ANSWERS = {
    "get_games": "/games",
    "get_games_game": "/games/blackbox",
    "get_boards": "/boards",
    "get_boards_board": "/boards/1",
    "get_ratings": "/ratings",
    "get_ratings_game": "/ratings/blackbox",
    "get_ladders": "/ladders",
    "get_ladders_game": "/ladders/blackbox",
    "get_players_userid": "/players/alice",
    "get_players_userid_boards": "/players/alice/boards",
    "get_events": "/events",
    "get_events_event": "/events/1",
    "get_teams": "/teams",
    "get_teams_team": "/teams/rooks",
    "get_seeks": "/seeks",
    "get_today": "/today?tap=A",
    "get_seat": "/seat",
}
NOT_FOUND = {
    "get_games_game": "/games/chess",
    "get_boards": "/boards?before=999",
    "get_boards_board": "/boards/999",
    "get_ratings_game": "/ratings/chess",
    "get_ladders_game": "/ladders/chess",
    "get_events_event": "/events/999",
    "get_teams_team": "/teams/pawns",
    "get_players_userid": "/players/nobody",
    "get_players_userid_boards": "/players/nobody/boards",
}
MOVE = {"turn": 2, "move": "+a1,g", "words": "Your turn!", "key": "my-second-turn"}


def record(world: Indoors) -> dict[str, Any]:
    """Play the story and return all examples."""
    token = play(world)
    site = site_of(world.server)

    def answer(path: str, body: Any = None, expected: int = 200, **headers: str) -> Any:
        """Return the JSON of an answer with the expected status."""
        method = "GET" if body is None else "POST"
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"} | headers
        octets = b"" if body is None else json.dumps(body).encode()
        reply = asyncio.run(fetch(site, f"/api{path}", method, octets, **headers))
        assert reply.status == expected, (path, reply)
        return json.loads(reply.body)

    answers = {name: answer(path) for name, path in ANSWERS.items()}
    move = {**MOVE, "turn": answers["get_seat"]["turn"]}
    problems = {
        "400": answer("/boards?limit=0", expected=400),
        "401": answer("/seat", expected=401, authorization="Bearer wrong"),
        "405": answer("/games", {}, expected=405),
        "409": answer("/seat/moves", {**move, "turn": 0}, expected=409),
        "413": answer("/seat/moves", {**move, "words": "a" * 50_000}, expected=413),
        "415": answer("/seat/moves", move, expected=415, **{"content-type": "text/plain"}),
        "422": answer("/seat/moves", {**move, "move": "z99"}, expected=422),
        "429": refusal(429, "too-many", most=120, span="minute", seconds=20),
        "500": refusal(500, "fault"),
        "503": refusal(503, "away"),
    }
    for name, path in NOT_FOUND.items():
        problems[f"404 {name}"] = answer(path, expected=404)
    problems["404 get_today"] = refusal(404, "no-today")
    answers["post_seat_moves"] = answer("/seat/moves", move)
    return {
        "parameters": PARAMETERS,
        "requests": {"post_seat_moves": move},
        "answers": answers,
        "problems": problems,
    }


def play(world: Indoors) -> str:
    """Play one board to its end, begin another, look for an opponent; return alice's token."""
    world.sign_up("alice", "bob")
    letters = []
    for _ in range(2):
        challenge = f"blackbox challenge alice {PASSWORD} bob -size=4x4 -atoms=1"
        letters += world.send(address_of("alice"), challenge)
    for number in (1, 2):
        world.send(address_of("bob"), f"blackbox move {number} bob {PASSWORD} b2")
        world.send(address_of("alice"), f"blackbox move {number} alice {PASSWORD} c3")
    for move in ("a", "guess c3"):
        world.send(address_of("bob"), f"blackbox move 1 bob {PASSWORD} {move}")
        world.send(address_of("alice"), f"blackbox move 1 alice {PASSWORD} {move}")
    world.send(address_of("bob"), f"blackbox resign 1 bob {PASSWORD}")
    for name in ("alice", "bob"):
        world.send(address_of(name), f"ladder join {name} {PASSWORD} blackbox")
    world.send(address_of("bob"), f"team bob {PASSWORD} create Rooks")
    world.send(address_of("bob"), f"league bob {PASSWORD} join blackbox")
    world.send(address_of("bob"), f"blackbox seek bob {PASSWORD} -size=8x8")
    tokens = {letter.recipient: page_of(letter).removeprefix("/b/") for letter in letters}
    return tokens[address_of("alice")]


def refusal(status: int, code: str, **words: Any) -> dict[str, Any]:
    """Return a problem that a healthy server never reports."""
    template = environment().get_template("web/problems.j2")
    block = template.blocks[code.replace("-", "_")]
    sentence = " ".join("".join(block(template.new_context({"words": words}))).split())
    title = TITLES.get(status) or HTTPStatus(status).phrase
    return {"title": title, "status": status, "detail": sentence, "code": code, "example": ""}


def main() -> None:
    """Write the file."""
    play_blackbox_alone()
    with tempfile.TemporaryDirectory() as folder, indoors(Path(folder)) as world:
        examples = record(world)
    text = json.dumps(examples, indent=1, ensure_ascii=False)
    EXAMPLES.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
