"""Boards that somebody asks for in a player's name: they wait for a yes, and use nothing up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from test_forged_from import ELSEWHERE, LIMITS, forged, kinds

from pbmserv.store.tables.boards import boards, unconfirmed_boards

pytestmark = pytest.mark.slow

ALICE = address_of("alice")
AT_HOME = "192.0.2.7"
THIRD = "203.0.113.9"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path, signup="open", **LIMITS) as opened:
        opened.sign_up("alice", "bob", "carol", "dave", "erin")
        opened.letters()
        yield opened


def count(server: Indoors, table: type) -> int:
    number: int = server.server.count(table)
    return number


def written(server: Indoors, subject: str, peer: str, author: str = ALICE) -> list[Posted]:
    forged(server, subject, author=author, peer=peer)
    return server.letters()


def test_forged_solos_make_no_board_and_block_none(server: Indoors) -> None:
    for n in range(8):
        forged(server, f"blackbox solo alice -size=4x4 -atoms={1 + n}", author=ALICE)
    counted = kinds(server.letters(), ALICE)
    assert counted["begin-asked"] == 2
    assert sum(counted.values()) <= 6
    assert count(server, boards) == 0
    # Her own way in is as open as ever: without any proof, by a password, by a reply.
    (question,) = written(server, "blackbox solo alice", AT_HOME)
    assert question.kind == "begin-asked"
    (begun,) = server.reply(question, "yes")
    assert begun.kind == "started"
    for n in range(2, 21):
        (begun,) = server.reply(begun, f"solo alice -size=5x5 -atoms={n}")
        assert begun.board == n
    (refused,) = server.reply(begun, "solo alice -size=2x2 -atoms=1")
    assert "20 games alone" in refused.one_line


def test_unconfirmed_boards_are_forgotten(server: Indoors) -> None:
    (question,) = written(server, "blackbox solo alice", AT_HOME)
    (late,) = written(server, "blackbox challenge alice house", AT_HOME)
    (begun,) = server.reply(late, "yes")
    assert begun.kind == "started"
    server.live(days=7, hours=1)
    (refused,) = server.reply(question, "yes")
    assert "you had 7 days to answer the letter" in refused.one_line
    server.live(days=1)
    assert count(server, unconfirmed_boards) == 0


def test_a_yes_of_somebody_else_is_none(server: Indoors) -> None:
    (question,) = written(server, "blackbox solo alice", AT_HOME)
    forged(server, "yes", author=ALICE)
    server.letters()
    assert count(server, boards) == 0
    server.send(ALICE, f"change password alice {PASSWORD} better-one")
    (letter,) = server.send(ALICE, "forgot alice")
    server.reply(letter, "password best-one")
    (refused,) = server.reply(question, "yes")
    assert refused.kind == "refusal"
    assert count(server, boards) == 0


def test_forged_challenges_do_not_use_up_her_own(server: Indoors) -> None:
    for n in range(12):
        other = ("bob", "carol", "dave", "erin")[n % 4]
        forged(server, f"blackbox challenge alice {other} -size=4x4 -atoms={1 + n}", author=ALICE)
    challenges = [letter for letter in server.letters() if letter.kind == "challenge"]
    assert len(challenges) == 10
    (letter,) = server.send(ALICE, f"prefs alice {PASSWORD}")
    for n in range(3):
        own = server.reply(letter, f"blackbox challenge bob -size=5x5 -atoms={n + 1}")
        assert {letter.kind for letter in own} == {"challenged", "challenge"}


def test_a_victim_gets_few_letters_from_all_networks_together(server: Indoors) -> None:
    for network in range(6):
        for n in range(6):
            forged(server, "help", f"{network} {n}", peer=f"10.0.{network}.1")
    assert sum(kinds(server.letters()).values()) <= 3 * 5 + 3
    for n in range(12):
        forged(server, f"signup carol{n} secret-word", peer=f"10.1.{n}.1")
    assert kinds(server.letters())["confirm"] <= 6


def test_forged_nonsense_does_not_silence_who_proves_more(server: Indoors) -> None:
    (letter,) = server.send(ALICE, f"prefs alice {PASSWORD}")
    for n in range(20):
        forged(server, f"nonsense {n}", author=ALICE, peer=(ELSEWHERE, THIRD)[n % 2])
        forged(server, "list", author=ALICE, peer=(ELSEWHERE, THIRD)[n % 2])
    server.letters()
    assert [answer.kind for answer in server.reply(letter, "list")] == ["list"]
    assert [letter.kind for letter in server.send(ALICE, f"prefs alice {PASSWORD}")] == ["prefs"]
    assert [letter.kind for letter in written(server, "list", AT_HOME)] == ["list"]
