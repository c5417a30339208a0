"""Every command in every way to write it, with a text below it that nobody else may read."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from examples import DEEP
from indoors import PASSWORD, Indoors, Posted, indoors
from poison import (
    ALICE,
    BOB,
    CAROL,
    HELLO,
    challenged,
    hidden,
    last_letter,
    poison,
    words_to_others,
)
from prepared_servers import Prepared, prepare, start_copy
from running import MovableClock
from sqlalchemy import select

from pbmserv.commands.table.catalogue import ROWS
from pbmserv.commands.table.row_types import Row, Trait
from pbmserv.commands.table.starting import STARTING
from pbmserv.store.tables.mail import outbox

pytestmark = pytest.mark.slow

WAYS = ("message", "message-in-full", "subject", "body", "reply", "digest-form")


def _in_full(row: Row, board: int | None) -> str:
    line = row.example.replace("NEWPASSWORD", PASSWORD).replace("PASSWORD", PASSWORD)
    line = line.replace("digest=daily@07:30", "remind=2d").replace("g,+b2", "a,+b2")
    line = line.replace("challenge alice bob", f"challenge alice {PASSWORD} bob -unrated")
    return re.sub(r"\b12\b", str(board), line)


def _in_reply(row: Row) -> str:
    samples = [parameter.sample for parameter in row.as_reply.parameters]
    examples = {"g,+b2": "a,+b2", "move": "a", "digest=daily@07:30": "remind=2d", "NEWPASSWORD": ""}
    line = " ".join((row.name, *(examples.get(sample, sample) for sample in samples))).strip()
    return re.sub(r"^move ", "", line)


def _write(
    server: Indoors, row: Row, way: str, message: Posted, letters: list[Posted]
) -> tuple[str, ...]:
    """Write a command in one of the ways; what of the mail must go to nobody else."""
    text, secrets = poison(server, letters)
    board = letters[-1].board
    if row.name in {"accept", "reject"}:
        challenge = challenged(server, by="bob", to="alice")
        letters, board = [challenge], challenge.board
    elif row.name == "rematch":
        server.reply(letters[-1], "a")
        server.reply(letters[-1], "resign")
    full, short = _in_full(row, board), _in_reply(row)
    if way == "subject":
        new_letters = server.send(ALICE, full, text)
    elif way == "body":
        new_letters = server.send(ALICE, "", f"{full}\n\n{text}")
    else:
        answered = message if way.startswith("message") else letters[-1]
        line = {"digest-form": f"{board}: {short}", "message-in-full": full}.get(way, short)
        new_letters = server.reply(answered, f"{line}\n\n{text}")
    _answer(server, new_letters)
    return secrets


def _answer(server: Indoors, letters: list[Posted]) -> None:
    """Send a broadcast, and decline a challenge."""
    for letter in letters:
        if letter.kind == "broadcast-asked":
            server.reply(letter, "yes")
        if letter.kind == "challenge":
            server.reply(letter, "reject")


@dataclass
class Begun:
    """A server at rest, with a board for each way.

    Attributes:
        message: what bob wrote to alice.
        letters: alice's newest by the way in which she is to write, each about a board of its own
            on which all atoms are hidden.
    """

    prepared: Prepared
    message: Posted
    letters: dict[str, list[Posted]]


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Begun:
    servers: list[Prepared] = []
    with prepare(tmp_path_factory.mktemp("prepared"), servers, operators="alice") as server:
        server.sign_up("alice", "bob", "carol")
        server.send(CAROL, f"prefs carol {PASSWORD} broadcast=on")
        new_letters = server.send(BOB, f"message bob {PASSWORD} alice", "How are you?")
        message = next(letter for letter in new_letters if letter.recipient == ALICE)
        letters = {way: hidden(server) for way in reversed(WAYS)}
    return Begun(servers[0], message, letters)


LOOKS = [row for row in ROWS if Trait.LOOKS in row.traits and row not in STARTING]
"""Commands that change nothing, so all of them are tried on one server."""


@pytest.mark.parametrize("row", [row for row in ROWS if row not in LOOKS], ids=lambda row: row.name)
def test_nothing_that_is_not_for_others_gets_to_them(
    begun: Begun, tmp_path: Path, row: Row
) -> None:
    for ways in _on_one_server(row):
        with start_copy(begun.prepared, tmp_path / ways[0]) as server:
            for way in ways:
                _tells_nobody(server, begun, row, way)


def test_a_look_takes_no_words_to_others(begun: Begun, tmp_path: Path) -> None:
    with start_copy(begun.prepared, tmp_path) as server:
        for row in LOOKS:
            for way in itertools.chain(*_on_one_server(row)):
                _tells_nobody(server, begun, row, way)


def _tells_nobody(server: Indoors, begun: Begun, row: Row, way: str) -> None:
    """Write a command hours after the last one, and look for its words in all new letters."""
    _later(server)
    before = last_letter(server)
    secrets = _write(server, row, way, begun.message, begun.letters[way])
    for letter, words in words_to_others(server, ALICE, before):
        assert not [secret for secret in secrets if secret in words], (row.name, way, letter, words)


def _on_one_server(row: Row) -> Iterator[list[str]]:
    """The ways to write a command, together if it begins no board, of which there is a limit, and
    sends no words but those of a board: with others it is looked at the newest letters alone.

    A usual run tries a command in one way, and its neighbours in the others.
    """
    if row.command is None:
        return
    ways = [way for way in WAYS if row.in_line or way not in {"subject", "body"}]
    if not DEEP:
        ways = [ways[ROWS.index(row) % len(ways)]]
    if row in STARTING or row.name in {"message", "broadcast"}:
        yield from ([way] for way in ways)
    else:
        yield ways


def test_these_are_all_letters_with_words_of_others(tmp_path: Path) -> None:
    """A new letter with words of players must be sent in this test, too."""
    with indoors(tmp_path, operators="alice") as server:
        server.sign_up("alice", "bob", "carol")
        letters = hidden(server)
        text, secrets = poison(server, letters)
        again = _apart(server, text)
        server.send(CAROL, f"prefs carol {PASSWORD} accept=auto broadcast=on")
        server.send(ALICE, f"blackbox challenge alice {PASSWORD} carol", next(again))
        server.send(ALICE, f"blackbox challenge alice {PASSWORD} bob", next(again))
        # In the one to a stranger words go as a whole or not at all, and never with a link.
        server.send(ALICE, f"blackbox challenge alice {PASSWORD} one@far.example", next(again))
        server.send(ALICE, f"blackbox challenge alice {PASSWORD} two@far.example", HELLO)
        challenge = challenged(server, by="bob", to="alice")
        server.reply(challenge, f"reject\n\n{next(again)}")
        (challenge,) = server.send(ALICE, f"broadcast alice {PASSWORD}", next(again))
        server.reply(challenge, "yes")
        server.send(ALICE, f"message alice {PASSWORD} bob", next(again))
        _in_a_team(server, next(again))
        server.reply(letters[-1], f"chat\n\n{next(again)}")
        server.reply(letters[-1], f"a\n\n{next(again)}")
        server.reply(letters[-1], f"give 2d\n\n{next(again)}")
        ended = hidden(server)
        server.reply(ended[-1], f"resign\n\n{next(again)}")
        letters = hidden(server)
        server.send(BOB, f"prefs bob {PASSWORD} digest=daily@07:30")
        server.send(ALICE, f"message alice {PASSWORD} bob", next(again))
        server.reply(letters[-1], f"a\n\n{next(again)}")
        server.live(hours=24)
        reached = set()
        for letter, words in words_to_others(server, ALICE):
            assert not [secret for secret in secrets if secret in words], (letter, words)
            reached |= {letter} if HELLO in words else set()
        for tray in _trays(server):
            reached.update(entry["letter"] for entry in (*tray["waiting"], *tray["news"]))
    assert reached - {"tray"} == _with_a_place() - _TO_THE_WRITER


def _in_a_team(server: Indoors, text: str) -> None:
    """Send words to a team of two."""
    (solo,) = server.send(ALICE, f"blackbox solo alice {PASSWORD} -size=2x2 -atoms=1")
    server.send(ALICE, f"blackbox move {solo.board} alice {PASSWORD} a")
    server.send(ALICE, f"blackbox resign {solo.board} alice {PASSWORD}")
    server.send(ALICE, f"team alice {PASSWORD} create Rooks")
    server.send(ALICE, f"team alice {PASSWORD} invite bob")
    server.send(BOB, f"team bob {PASSWORD} join Rooks")
    server.send(ALICE, f"team chat alice {PASSWORD}", text)


def _later(server: Indoors) -> None:
    """Hours later: else the writer of the same words again looks like a program."""
    clock = server.server.clock
    assert isinstance(clock, MovableClock)
    clock.move(hours=12)


def _apart(server: Indoors, text: str) -> Iterator[str]:
    """A text in several forms, hours apart: else its writer looks like a program."""
    clock = server.server.clock
    assert isinstance(clock, MovableClock)
    for number in itertools.count():
        clock.move(hours=6)
        yield f"{text} {number}"


_TO_THE_WRITER = {"message-sent", "chat-sent", "broadcast-sent", "broadcast-asked", "came-back"}
"""Letters that tell their reader what they said themselves, or what a mail server said."""


def _with_a_place() -> set[str]:
    """Letters whose templates have a place for what somebody says."""
    templates = Path(__file__).parents[2] / "templates" / "letters"
    place = re.compile(r"pieces/said|(?:message|report)\.said|words\.said\|said")
    letters = templates.glob("*.j2")
    return {letter.stem for letter in letters if place.search(letter.read_text("utf-8"))}


def _trays(server: Indoors) -> Iterator[dict[str, list[dict[str, str]]]]:
    with server.server.database.reading.connect() as connection:
        for row in connection.execute(select(outbox.c.words).where(outbox.c.letter == "tray")):
            yield row.words
