"""Words to others are counted by the people whom they reach, whatever mail they come in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from indoors import PASSWORD, Indoors, Posted, address_of, indoors

from pbmserv.service.limits import rates

pytestmark = pytest.mark.slow

ALICE, BOB = address_of("alice"), address_of("bob")
OTHERS = [f"friend{n}" for n in range(8)]


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Indoors]:
    monkeypatch.setattr(rates, "REACHED", "20/hour; 150/day")  # as usual, but smaller
    with indoors(tmp_path, rate_refusals="20/hour; 40/day") as inside:
        inside.sign_up("alice", "bob", *OTHERS)
        yield inside


def reached(letters: list[Posted]) -> int:
    return sum(letter.kind in {"message", "challenge", "chat"} for letter in letters)


EIGHT = " ".join(OTHERS[:8])


def test_one_mail_to_eight_counts_as_eight(server: Indoors) -> None:
    line = f"message alice {PASSWORD} {EIGHT}"
    answers = [server.send(ALICE, line, f"Hello number {n}!") for n in range(4)]
    assert [reached(letters) for letters in answers] == [8, 8, 0, 0]
    (refused,) = answers[-1]
    assert "This would go to 8 more players" in refused.one_line
    # Whoever is written to by somebody else notices nothing, and an hour later it goes on.
    assert reached(server.send(BOB, f"message bob {PASSWORD} alice", "Hi!")) == 1
    server.live(hours=1, minutes=1)
    assert reached(server.send(ALICE, line, "Once more!")) == 8


def test_lines_of_one_mail_and_challenges_are_counted_alike(server: Indoors) -> None:
    lines = "\n".join(f"message alice {PASSWORD} {EIGHT}" for _ in range(4))
    letters = server.send(ALICE, "multiple", f"prefs alice {PASSWORD}\n{lines}\n\nHello!")
    assert reached(letters) == 16
    race = " ".join(OTHERS[:7])
    assert reached(server.send(ALICE, f"blackbox challenge alice {race} -race")) == 0
    assert reached(server.send(ALICE, "blackbox challenge alice bob")) == 1


def test_moves_of_a_game_are_not_counted(server: Indoors) -> None:
    server.send(BOB, "blackbox challenge bob alice")
    lines = "\n".join(f"message alice {PASSWORD} {EIGHT}" for _ in range(3))
    server.send(ALICE, "multiple", f"{lines}\n\nHello!")
    letters = server.send(ALICE, f"blackbox move 1 alice {PASSWORD} a1,b2,c3,d4", "Good luck!")
    assert {letter.recipient for letter in letters} == {ALICE, BOB}
