"""A block silences every way to send words, under every name of both persons."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from examples import DEEP
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from prepared_servers import Prepared, prepare, start_copy
from running import add_player
from sqlalchemy import select

from pbmserv.store.accounts import players
from pbmserv.store.operators.merging import boards_of_both
from pbmserv.store.tables.mail import outbox

pytestmark = pytest.mark.slow

ALICE, MALLORY, CAROL = address_of("alice"), address_of("mallory"), address_of("carol")
WORDS = "You will hear from me every single day!"
SMALL = "-size=4x4 -atoms=3 -unrated"

READERS = {"alice": ALICE, "alice2": "Alice+games@players.example".lower()}
"""Alice's names, by their addresses: one mailbox."""
WRITERS = {"mallory": MALLORY, "mallory2": "mallory+2@players.example"}


def sign_up(server: Indoors, names: dict[str, str]) -> None:
    for userid, address in names.items():
        add_player(server.server, userid, PASSWORD, address)


@dataclass(frozen=True)
class Pair:
    """Names of the blocker and of the blocked player who have two boards together.

    Attributes:
        question: the letter that asks the writer to accept a challenge of the reader's.
        turn: the letter after which it is the writer's turn to hide atoms.
    """

    reader: str
    writer: str
    question: Posted
    turn: Posted


@dataclass(frozen=True)
class Begun:
    prepared: Prepared
    pairs: tuple[Pair, ...]


def to(letters: list[Posted], address: str) -> Posted:
    return next(letter for letter in letters if letter.recipient == address)


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Begun:
    """Boards of all names, made before alice blocks mallory."""
    servers: list[Prepared] = []
    pairs = []
    with prepare(tmp_path_factory.mktemp("prepared"), servers) as server:
        sign_up(server, {**READERS, **WRITERS, "carol": CAROL})
        for reader, home in READERS.items():
            for writer, address in WRITERS.items():
                letters = []
                for _ in range(2):
                    line = f"blackbox challenge {reader} {PASSWORD} {writer} {SMALL}"
                    letters.append(to(server.send(home, line), address))
                challenge, second = letters
                turn = to(server.reply(second, "accept"), address)
                pairs.append(Pair(reader, writer, challenge, turn))
        server.send(ALICE, f"prefs alice {PASSWORD} block=mallory")
    return Begun(servers[0], tuple(pairs))


Way = Callable[[Indoors, Pair], list[Posted]]


def _line(line: str) -> Way:
    def write(server: Indoors, pair: Pair) -> list[Posted]:
        filled = line.format(reader=pair.reader, me=f"{pair.writer} {PASSWORD}", writer=pair.writer)
        filled = filled.replace("BOARD", str(pair.turn.board)).replace(
            "ASKED", str(pair.question.board)
        )
        return server.send(WRITERS[pair.writer], filled, WORDS)

    return write


def _reply(text: str, *, to_question: bool = False) -> Way:
    def write(server: Indoors, pair: Pair) -> list[Posted]:
        return server.reply(pair.question if to_question else pair.turn, f"{text}\n\n{WORDS}")

    return write


def _played_and(command: str, move: str = "") -> Way:
    """Write words with a command after both players have hidden their atoms."""

    def write(server: Indoors, pair: Pair) -> list[Posted]:
        number = pair.turn.board
        server.send(
            READERS[pair.reader], f"blackbox move {number} {pair.reader} {PASSWORD} a1,b2,c3"
        )
        line = f"blackbox move {number} {pair.writer} {PASSWORD} a2,c4,d1"
        server.send(WRITERS[pair.writer], line)
        server.send(READERS[pair.reader], f"blackbox move {number} {pair.reader} {PASSWORD} a")
        line = f"blackbox {command} {number} {pair.writer} {PASSWORD} {move}".strip()
        return server.send(WRITERS[pair.writer], line, WORDS)

    return write


def _rematched(server: Indoors, pair: Pair) -> list[Posted]:
    server.reply(pair.turn, "resign")
    return server.reply(pair.turn, f"rematch\n\n{WORDS}")


def _confirmed(server: Indoors, pair: Pair) -> list[Posted]:
    (shown,) = server.reply(pair.turn, "submit a2,c4,d1")
    return server.reply(shown, f"confirm\n\n{WORDS}")


PATHS: dict[str, Way] = {
    "chat": _reply("chat"),
    "chat by line": _line("blackbox chat BOARD {me}"),
    "words with a move": _reply("a2,c4,d1"),
    "words with a move by line": _line("blackbox move BOARD {me} a2,c4,d1"),
    "words with a free move": _played_and("move", "+a1"),
    "words with a submitted move": _confirmed,
    "resignation": _played_and("resign"),
    "resignation before a move": _reply("resign"),
    "undo": _played_and("undo"),
    "queue": _line("blackbox queue BOARD {me} a2,c4,d1"),
    "message": _line("message {me} {reader}"),
    "message to several": _line("message {me} {reader} carol"),
    "challenge": _line("blackbox challenge {me} {reader}"),
    "challenge without a password": _line("blackbox challenge {writer} {reader}"),
    "race": _line("blackbox challenge {me} {reader} carol -race"),
    "rematch": _rematched,
    "acceptance": _reply("accept", to_question=True),
    "rejection": _reply("reject", to_question=True),
    "invitation": _line("blackbox challenge {me} alice@players.example"),
    "invitation of another spelling": _line("blackbox challenge {me} ALICE+x@players.example"),
}


def words_to(server: Indoors, names: dict[str, str]) -> list[tuple[str, Any]]:
    """Letters to some players in which the words stand."""
    rows = server.server.rows(
        select(outbox.c.letter, outbox.c.words, outbox.c.recipient).where(
            outbox.c.recipient.in_([*names.values(), "alice+x@players.example"])
        )
    )
    return [(row.letter, row.words) for row in rows if WORDS in str(row.words)]


SILENT = {"undo", "queue", "challenge without a password"}
"""Ways that carry no words even between friends."""


ALIKE = {
    *("chat by line", "words with a move by line", "resignation before a move", "undo", "queue"),
    *("message to several", "challenge without a password", "invitation of another spelling"),
}
"""Ways that differ little from others, or carry no words: a deep run alone tries them."""


@pytest.mark.parametrize("path", [path for path in PATHS if DEEP or path not in ALIKE])
def test_no_words_of_a_blocked_person_reach_the_blocker(
    begun: Begun, tmp_path: Path, path: str
) -> None:
    """Try each way with a pair of names, and without the block with another one: most ways do
    carry words, so the first part proves something."""
    number = list(PATHS).index(path) % len(begun.pairs)
    pair, unblocked = begun.pairs[number], begun.pairs[3 if number == 0 else 0]
    with start_copy(begun.prepared, tmp_path) as server:
        letters = PATHS[path](server, pair)
        letters += server.live(hours=27)
        assert words_to(server, READERS) == [], (pair.reader, pair.writer)
        for letter in letters:
            if letter.recipient in READERS.values():
                assert WORDS not in letter.text
            else:
                assert "block" not in letter.text.lower(), letter.text
        server.send(ALICE, f"prefs alice {PASSWORD} unblock=mallory")
        for letter in PATHS[path](server, unblocked):
            if letter.kind == "begin-asked":
                server.reply(letter, "yes")
        reached = bool(words_to(server, READERS))
        assert reached or path in SILENT or path.startswith("invitation")


def test_a_move_of_a_blocked_player_counts(begun: Begun, tmp_path: Path) -> None:
    pair = begun.pairs[0]
    with start_copy(begun.prepared, tmp_path) as server:
        letters = server.reply(pair.turn, f"a2,c4,d1\n\n{WORDS}")
        assert [letter.kind for letter in letters if letter.recipient == MALLORY] == ["board"]
        (shown,) = server.send(MALLORY, f"blackbox showas mallory {PASSWORD} {pair.turn.board}")
        assert "hidden at" in shown.text or "waiting for alice" in shown.one_line


@pytest.mark.parametrize("path", ["words with a move", "rejection"])
def test_a_blocked_player_gets_the_same_letters_as_before(
    begun: Begun, tmp_path: Path, path: str
) -> None:
    texts = []
    for blocked in (True, False):
        with start_copy(begun.prepared, tmp_path / str(blocked)) as server:
            # The same number of mails before the move, since its mail is in the record hash.
            word = "block" if blocked else "unblock"
            server.send(ALICE, f"prefs alice {PASSWORD} {word}=mallory")
            letters = PATHS[path](server, begun.pairs[0])
            texts.append([letter.text for letter in letters if letter.recipient == MALLORY])
    assert texts[0] == texts[1] != []


@pytest.fixture
def house(database_url: str, tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path, database=database_url) as server:
        sign_up(server, {**READERS, **WRITERS, "carol": CAROL})
        server.send(CAROL, f"prefs carol {PASSWORD} accept=auto")
        yield server


def test_words_that_wait_for_a_digest_are_silenced_by_a_block(house: Indoors) -> None:
    house.send(ALICE, f"prefs alice {PASSWORD} digest=daily@07:30")
    challenge = to(house.send(ALICE, f"blackbox challenge alice {PASSWORD} mallory"), MALLORY)
    turn = to(house.reply(challenge, "accept"), MALLORY)
    house.reply(turn, f"chat\n\n{WORDS}")
    house.send(WRITERS["mallory2"], f"message mallory2 {PASSWORD} alice", f"{WORDS} Again.")
    house.send(CAROL, f"message carol {PASSWORD} alice", "Good morning, neighbour!")
    block(house)
    letters = house.live(hours=24)
    tray = next(letter for letter in letters if letter.kind == "tray")
    assert "Good morning, neighbour!" in tray.text
    assert not any(WORDS in letter.text for letter in letters)


# -- who meets whom --------------------------------------------------------------------------


def boards_with(server: Indoors, userid: str, other: str) -> int:
    first, second = (server.server.read(players.account_of, name) for name in (userid, other))
    assert first is not None
    assert second is not None
    return len(server.server.read(boards_of_both, first.id, second.id))


def block(server: Indoors) -> None:
    server.send(ALICE, f"prefs alice {PASSWORD} block=mallory")


MEETINGS = (
    ("{reader}", "blackbox challenge {reader} PW {writer}"),
    ("{writer}", "blackbox challenge {writer} PW {reader}"),
    ("carol", "blackbox challenge carol PW {reader} {writer} -race"),
    ("carol", "blackbox challenge {writer} carol PW {reader} -race"),
    ("{reader}", "blackbox challenge {reader} PW carol {writer} -race"),
    ("{writer}", "blackbox challenge {writer} PW carol {reader} -race"),
)
"""Senders and challenges: by the blocker, by the blocked player, and by a third one."""


def test_no_new_board_brings_the_two_together(house: Indoors) -> None:
    homes = {**READERS, **WRITERS, "carol": CAROL}
    for userid in ("alice", "alice2", "mallory"):
        house.send(homes[userid], f"prefs {userid} {PASSWORD} accept=auto")
    block(house)
    pairs = list(product(READERS, WRITERS))
    for number, (speaker, line) in enumerate(MEETINGS):
        # A usual run tries each way with two of the four pairs of names.
        for reader, writer in pairs if DEEP else (pairs[number % 4], pairs[(number + 2) % 4]):
            home = homes[speaker.format(reader=reader, writer=writer)]
            filled = line.format(reader=reader, writer=writer).replace("PW", PASSWORD)
            house.send_unread(home, filled)
            assert boards_with(house, reader, writer) == 0, (line, reader, writer)


def test_a_block_ends_a_challenge_that_still_waits(house: Indoors) -> None:
    challenge = to(house.send(ALICE, f"blackbox challenge alice {PASSWORD} mallory"), MALLORY)
    block(house)
    (refused,) = house.reply(challenge, "accept")
    assert refused.kind == "refusal"
    assert "alice is not taking challenges at the moment" in refused.one_line
    # By the first move, too.
    (refused,) = house.reply(challenge, "b3,d3,f6,g7")
    assert refused.kind == "refusal"
    declined = house.reply(challenge, "reject")
    assert "declined" in {letter.kind for letter in declined}


def test_a_rematch_and_seeks_bring_nobody_to_a_blocker(house: Indoors) -> None:
    challenge = to(
        house.send(ALICE, f"blackbox challenge alice {PASSWORD} mallory {SMALL}"), MALLORY
    )
    house.reply(challenge, "reject")
    block(house)
    for userid, home in (("mallory", MALLORY), ("alice", ALICE)):
        house.send(home, f"blackbox rematch {challenge.board} {userid} {PASSWORD}")
        house.send(home, f"blackbox seek {userid} {PASSWORD}")
    house.send(WRITERS["mallory2"], f"blackbox seek mallory2 {PASSWORD}")
    house.send(READERS["alice2"], f"blackbox seek alice2 {PASSWORD}")
    for reader in READERS:
        for writer in WRITERS:
            before = 1 if (reader, writer) == ("alice", "mallory") else 0
            assert boards_with(house, reader, writer) == before


def test_a_blocked_name_that_is_deleted_and_comes_back_is_blocked(house: Indoors) -> None:
    block(house)
    for userid, home in WRITERS.items():
        (letter,) = house.send(home, f"delete {userid} {PASSWORD}")
        house.reply(letter, "yes")
    sign_up(house, {"again": MALLORY})
    (refused,) = house.send(MALLORY, f"message again {PASSWORD} alice", WORDS)
    assert refused.kind == "refusal"
    house.send(MALLORY, f"blackbox challenge again {PASSWORD} alice2")
    assert boards_with(house, "again", "alice2") == 0
    house.send(ALICE, f"prefs alice {PASSWORD} unblock=again")
    letters = house.send(MALLORY, f"message again {PASSWORD} alice", WORDS)
    assert {letter.kind for letter in letters} == {"message", "message-sent"}


def test_a_new_name_with_the_old_address_of_a_blocked_one_is_blocked(house: Indoors) -> None:
    block(house)
    letters = house.send(MALLORY, f"change address mallory {PASSWORD} other@far.example")
    for letter in letters:
        if letter.kind == "address-confirm":
            house.reply(letter, "yes")
    sign_up(house, {"third": MALLORY})
    (refused,) = house.send(MALLORY, f"message third {PASSWORD} alice", WORDS)
    assert refused.kind == "refusal"


def test_names_of_one_mailbox_are_not_blocked_along_with_each_other(house: Indoors) -> None:
    house.send(ALICE, f"prefs alice {PASSWORD} block=alice2")
    (refused,) = house.send(READERS["alice2"], f"message alice2 {PASSWORD} alice", WORDS)
    assert refused.kind == "refusal"
    letters = house.send(ALICE, f"message alice {PASSWORD} alice2", WORDS)
    assert {letter.kind for letter in letters} == {"message", "message-sent"}


# -- the preference --------------------------------------------------------------------------


def test_a_player_can_refuse_messages_of_all_or_of_strangers(house: Indoors) -> None:
    house.send(ALICE, f"prefs alice {PASSWORD} messages=played")
    (refused,) = house.send(CAROL, f"message carol {PASSWORD} alice", WORDS)
    assert "alice is not taking messages" in refused.one_line
    letters = house.send(CAROL, f"blackbox challenge carol {PASSWORD} alice {SMALL}", WORDS)
    assert WORDS not in to(letters, ALICE).text
    turn = to(house.reply(to(letters, ALICE), "accept"), CAROL)
    assert WORDS in to(house.reply(turn, f"chat\n\n{WORDS}"), ALICE).text
    house.move_clock(hours=6)
    letters = house.send(CAROL, f"message carol {PASSWORD} alice", WORDS)
    assert {letter.kind for letter in letters} == {"message", "message-sent"}
    house.send(ALICE, f"prefs alice {PASSWORD} messages=none")
    house.move_clock(hours=6)
    assert [letter.kind for letter in house.reply(turn, f"chat\n\n{WORDS}, again")] == ["chat-sent"]
    (refused,) = house.send(CAROL, f"message carol {PASSWORD} alice", f"{WORDS} Again.")
    assert refused.kind == "refusal"
    (letter,) = house.send(ALICE, f"prefs alice {PASSWORD}")
    assert "nobody can write to you" in letter.text
    (refused,) = house.send(ALICE, f"prefs alice {PASSWORD} messages=friends")
    assert "(played)" in refused.text
