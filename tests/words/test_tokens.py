"""No token of the server reaches another player, in any spelling, by any route for words."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import urlencode

import pytest
from asgi_client import fetch, load_page, site_of
from browser_tab import page_of
from examples import DEEP
from indoors import PASSWORD, Indoors, Posted, indoors
from poison import ALICE, BOB, CAROL, HELLO, SMALL, challenged, hidden, last_letter, words_to_others
from token_spellings import SPELLINGS

from pbmserv.mail.key_ring import mailbox_secret
from pbmserv.mail.own_tokens import lines_with_tokens
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.mail.visits import visit_of

pytestmark = pytest.mark.slow

ROOM = 3_500
"""Characters of a text: fewer than are passed on of one."""
LITTLE_ROOM = 500
"""Characters of the one text that a usual run sends by most routes."""


def texts(server: Indoors, room: int) -> Iterator[str]:
    """Texts with a harmless line and tokens of every kind, in all spellings together."""
    ring, now = server.server.mail_domain.ring, server.server.clock.now()
    tokens = [ring.token(ReplyAddress(purpose, 1, 1, 20_000, 0)) for purpose in Purpose]
    visit = visit_of(ReplyAddress(Purpose.BOARD, 1, 1), now)
    assert visit is not None
    tokens += [ring.token(visit), mailbox_secret(ring)]
    text = HELLO
    for number, name in enumerate(SPELLINGS):
        passage = SPELLINGS[name](tokens[number % len(tokens)])
        if len(text) + len(passage) > room:
            yield text
            text = f"{HELLO} {number}"
        text += f"\n{passage}"
    yield text


def send_page(server: Indoors, letter: Posted, move: str, words: str) -> None:
    """Press the button of a board's page."""
    site, run = site_of(server.server), server.loop.run_until_complete
    page = run(load_page(site, page_of(letter))).body.decode()
    fields = dict(re.findall(r'<input type="hidden" name="(turn|key)" value="([^"]*)">', page))
    body = urlencode({**fields, "move": move, "words": words}).encode()
    assert run(fetch(site, page_of(letter), "POST", body)).status == 303


def send_program(server: Indoors, letter: Posted, move: str, words: str) -> None:
    """Play as a program does."""
    token = page_of(letter).removeprefix("/b/")
    body = json.dumps({"turn": 0, "move": move, "words": words}).encode()
    head = {"authorization": f"Bearer {token}", "content_type": "application/json"}
    site = site_of(server.server)
    answer = asyncio.run(fetch(site, "/api/seat/moves", "POST", body, **head))
    assert answer.status in {200, 422}, answer


def reply_to_message(server: Indoors, _: list[Posted], text: str) -> None:
    letters = server.send(BOB, f"message bob {PASSWORD} alice", "How are you?")
    server.reply(next(letter for letter in letters if letter.recipient == ALICE), text)


def answer_challenge(word: str) -> Callable[[Indoors, list[Posted], str], None]:
    def answer(server: Indoors, _: list[Posted], text: str) -> None:
        server.reply(challenged(server, by="bob", to="alice"), f"{word}\n\n{text}")

    return answer


def broadcast(server: Indoors, _: list[Posted], text: str) -> None:
    (question,) = server.send(ALICE, f"broadcast alice {PASSWORD}", text)
    server.reply(question, "yes")


def greet(line: str) -> Callable[[Indoors, list[Posted], str], None]:
    return lambda server, _, text: server.send(ALICE, line, text) and None


def reply(line: str) -> Callable[[Indoors, list[Posted], str], None]:
    return lambda server, letters, text: server.reply(letters[-1], f"{line}\n\n{text}") and None


ROUTES: Mapping[str, Callable[[Indoors, list[Posted], str], None]] = {
    "chat": reply("chat"),
    "words with a move": reply("a"),
    "words with a resignation": reply("resign"),
    "message": greet(f"message alice {PASSWORD} bob"),
    "reply to a message": reply_to_message,
    "challenge": greet(f"blackbox challenge alice {PASSWORD} bob {SMALL}"),
    "invitation": greet(f"blackbox challenge alice {PASSWORD} friend@far.example {SMALL}"),
    "accept": answer_challenge("accept"),
    "reject": answer_challenge("reject"),
    "broadcast": broadcast,
    "page": lambda server, letters, text: send_page(server, letters[-1], "", text),
    "page with a move": lambda server, letters, text: send_page(server, letters[-1], "b", text),
    "program": lambda server, letters, text: send_program(server, letters[-1], "chat", text),
    "subject": lambda server, letters, text: server.reply(
        letters[-1], f"chat\n\n{HELLO}", subject=" ".join(text.split("\n")[:4])
    )
    and None,
}  # fmt: skip


@pytest.mark.parametrize("route", ROUTES)
def test_no_token_gets_to_anybody(tmp_path: Path, route: str) -> None:
    with indoors(tmp_path, operators="alice", invitations="50") as server:
        server.sign_up("alice", "bob", "carol")
        server.send(CAROL, f"prefs carol {PASSWORD} broadcast=on")
        ring = server.server.mail_domain.ring
        passed = []
        every = list(texts(server, ROOM if DEEP or route == "chat" else LITTLE_ROOM))
        if not DEEP and route != "chat":  # one guard reads the words of all routes
            every = every[:1]
        for text in every:
            server.live(hours=12)  # else the writer of the same words looks like a program
            before = last_letter(server)
            ROUTES[route](server, hidden(server), text)
            for _, words in words_to_others(server, ALICE, before):
                assert not lines_with_tokens(ring, words.split("\n")), words
                passed.append(words)
        if route != "invitation":  # words to strangers go as a whole or not at all
            assert any(HELLO in text for text in passed), passed


def test_the_writer_is_told_and_may_write_again(tmp_path: Path) -> None:
    with indoors(tmp_path) as server:
        server.sign_up("alice", "bob")
        letter = hidden(server)[-1]
        letters = server.reply(letter, f"chat\n\nLook at my board: {page_of(letter)}\nSee you!")
        (answer,) = (letter for letter in letters if letter.recipient == ALICE)
        assert "opens your board or your account" in answer.one_line
        assert [text for _, text in words_to_others(server, ALICE)][-1] == "See you!"
