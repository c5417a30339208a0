"""A game may break its contract in any way: it harms its own boards, and nobody else.

Rules that hang, abort or eat the memory need real processes: `tests/faults/test_bad_plugin.py`. The
table of all ways is in `docs/operating/bad-games.md`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from pathlib import Path
from typing import Any, ClassVar

import pytest
from indoors import Indoors, Posted, address_of, indoors

from pbmserv.engine.registry import Registry
from pbmserv.game import After, Game, Grid, Items, Result, draw
from pbmserv.games import tictactoe
from pbmserv.log.lines import facts_of
from pbmserv.outbound.relay import OutgoingLetter
from pbmserv.outbound.results import Sent


class Breakdown(Exception):
    """The rules of the game are wrong."""


def breaks(*_: object) -> Any:
    raise Breakdown("these rules are wrong")


PLAYS: Mapping[str, Callable[[], Any]] = {
    "play raises": breaks,
    "play returns nothing": lambda: None,
    "next is no seat": lambda: After("fine", next=(7,)),
    "out is no seat": lambda: After("fine", out=(5,)),
    "told names no seat": lambda: After("fine", ["{5} is amazed."]),
    "told is no text": lambda: After("fine", [5]),  # type: ignore[list-item]
    "told is a megabyte": lambda: After("fine", ["word " * 200_000]),
    "told has headers": lambda: After("fine", ["a\r\nBcc: eve@players.example\r\n\r\nb\0"]),
    "told has markup": lambda: After("fine", ["<script>alert(1)</script>"]),
    "secret is no text": lambda: After("fine", secret=7),  # type: ignore[arg-type]
    "the state is a lock": lambda: After(threading.Lock()),
    "the state is huge": lambda: After("x" * 2_000_000),
}
"""Values of `play`, by the move that asks for them."""

LATER: Mapping[str, tuple[str, Callable[[], Any]]] = {
    "over raises": ("over", breaks),
    "over returns a text": ("over", lambda: "anna wins"),
    "over has a place too few": ("over", lambda: Result((1,))),
    "over has no first place": ("over", lambda: Result((2, 3))),
    "over has three places": ("over", lambda: draw("full", seats=3)),
    "show raises": ("show", breaks),
    "show is a megabyte": ("show", lambda: "word " * 200_000),
    "show returns a number": ("show", lambda: 5),
    "show returns nothing": ("show", lambda: None),
    "show has ragged rows": ("show", lambda: Grid(["..", "....."])),
    "show has unknown pieces": ("show", lambda: Grid(["Z?"])),
    "show has a thousand columns": ("show", lambda: Grid(["." * 1_000])),
    "show has items of numbers": ("show", lambda: Items("Dice", [5])),  # type: ignore[list-item]
    "ask raises": ("ask", breaks),
    "ask returns nothing": ("ask", lambda: None),
    "moves raises": ("moves", breaks),
    "moves returns numbers": ("moves", lambda: [1, 2]),
    "moves returns a hundred thousand": ("moves", lambda: [f"m{n}" for n in range(100_000)]),
    "moves returns blanks": ("moves", lambda: ["", " "]),
    "seen raises": ("seen", breaks),
    "seen returns nothing": ("seen", lambda: None),
    "read raises": ("read", breaks),
    "read returns a number": ("read", lambda: 5),
}
"""Methods that go wrong after a move, by that move, and what they do."""

WAYS = (*PLAYS, *LATER)


class Bad(Game[Any]):
    """Go wrong.

    Each move names a way of going wrong.
    """

    key, title, hidden = "bad", "Bad", True
    bots: ClassVar[Any] = {"house": breaks, "house-easy": lambda *_: "a move that is none"}

    def start(self, seats, options, rng):
        return "fine"

    def play(self, state, seat, move, rng):
        return PLAYS[move]() if move in PLAYS else move

    def moves(self, state, seat):
        return self.wrong("moves", state, lambda: ["fine", *WAYS])

    def read(self, state, seat, text):
        return self.wrong("read", state, lambda: text)

    def over(self, state):
        return self.wrong("over", state, lambda: None)

    def seen(self, state, seat):
        return self.wrong("seen", state, lambda: state)

    def show(self, state, seat):
        return self.wrong("show", state, lambda: "A board.")

    def ask(self, state, seat):
        return self.wrong("ask", state, lambda: "Reply with a way.")

    def wrong(self, method: str, state: Any, fine: Callable[[], Any]) -> Any:
        name, way = LATER.get(state, ("", fine)) if isinstance(state, str) else ("", fine)
        return way() if name == method else fine()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indoors]:
    """A server with the bad game and a good one."""
    folder: Path = tmp_path_factory.mktemp("bad")
    with pytest.MonkeyPatch.context() as patch:
        games = [Bad(), tictactoe.GAME]
        patch.setattr(Registry, "installed", classmethod(lambda cls: cls(games)))
        with indoors(folder) as opened:
            yield opened


def message_of(raw: bytes) -> EmailMessage:
    message = BytesParser(policy=policy.default).parsebytes(raw)
    assert isinstance(message, EmailMessage)
    return message


def letters_of(house: Indoors) -> list[OutgoingLetter]:
    """Make the waiting letters, each by itself as post does; drop those that cannot be made."""
    letters = []
    outbox = house.server.outbox
    for row in outbox.claim(1_000):
        with suppress(Exception):
            letters += outbox.make([row])
        outbox.settle([Sent(row.id)])
    return letters


def first_letter(house: Indoors, key: str, players: tuple[str, str]) -> Posted:
    """Begin a board; return the letter of the player to move."""
    letters = house.send(address_of(players[0]), f"{key} challenge {' '.join(players)}")
    (own,) = [letter for letter in letters if letter.recipient == address_of(players[0])]
    (other,) = [letter for letter in letters if letter is not own]
    house.reply(other, "accept")
    return own


@pytest.fixture(scope="module")
def newest(house: Indoors) -> dict[str, Posted]:
    """The newest letters of the players to move on two other boards, by their games."""
    house.sign_up("nina", "olaf")
    return {key: first_letter(house, key, ("nina", "olaf")) for key in ("bad", "ttt")}


@pytest.mark.parametrize("way", WAYS)
def test_only_its_own_board_is_harmed(house: Indoors, newest: dict[str, Posted], way: str) -> None:
    number = WAYS.index(way)
    players = f"anna{number}", f"bela{number}"
    house.sign_up(*players)
    own = first_letter(house, "bad", players)
    for words in (way, "show"):
        house.reply_unread(own, words)
    letters = [
        (letter.recipient, message_of(letter.raw), letter.raw) for letter in letters_of(house)
    ]

    # Nothing that the game says can become a header, a tag or an endless letter.
    for recipient, message, raw in letters:
        assert recipient in map(address_of, players)
        assert message["Bcc"] is None
        assert len(raw) <= 120_000
        html = message.get_body(("html",))
        assert html is None or "<script" not in html.get_content()

    # The other boards, of the game itself too, go on.
    answers = house.reply(newest["bad"], "fine")
    assert [letter.kind for letter in answers] == ["board", "board"]
    (newest["bad"],) = [letter for letter in answers if letter.recipient != newest["bad"].recipient]
    if number % 3 == 0:  # a player gets only so many answers a day
        assert [letter.kind for letter in house.reply(newest["ttt"], "show")] == ["board"]


@pytest.mark.parametrize("bot", Bad.bots)
def test_only_the_board_of_a_bad_bot_is_harmed(
    house: Indoors, bot: str, caplog: pytest.LogCaptureFixture
) -> None:
    name = f"carl{len(bot)}"
    house.sign_up(name)
    for key in ("bad", "ttt"):
        house.send_unread(address_of(name), f"{key} challenge {name} wonder-land {bot}")
        (started,) = [letter for letter in house.letters() if letter.recipient == address_of(name)]
        house.reply_unread(started, {"bad": "fine", "ttt": "a1"}[key])
        answers = [message_of(letter.raw)["Subject"] for letter in letters_of(house)]
        house.server.bot_worker.run_once()
        answers += [message_of(letter.raw)["Subject"] for letter in letters_of(house)]
        assert answers, "the move stands, and its player is told"
        assert ("Your move" in answers[-1]) == (key == "ttt"), "the bot of the good game has moved"
    put_off = [record for record in caplog.records if "the house cannot move" in record.message]
    assert len(put_off) == 1, "the log names the board"


@pytest.mark.parametrize(
    ("way", "method"), [("play raises", "play"), ("over returns a text", "over")]
)
def test_the_log_names_the_game_and_its_method(
    house: Indoors, way: str, method: str, caplog: pytest.LogCaptureFixture
) -> None:
    players = f"dora-{method}", f"emil-{method}"
    house.sign_up(*players)
    own = first_letter(house, "bad", players)
    house.reply_unread(own, way)
    assert [letter.recipient for letter in letters_of(house)] == [address_of(players[0])]
    lines = [dict(facts_of(line)) for line in caplog.records if "it is kept" in line.message]
    assert [(line["game"], line["method"]) for line in lines] == [("bad", method)]
    assert lines[0]["arrival"]
