"""Replies as people write them get the answers of a good host."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from corpus import FILE, Case, Stage, cases, is_right
from examples import DEEP
from indoors import indoors

SMALL_TALK = FILE.parent / "small_talk.txt"
UNSEEN = FILE.parent / "people_write_unseen.txt"
TALK = FILE.parent / "people_write_talk.txt"
_NEAR_MISSES = 10
"""Small talk that is tried at a server; `test_blackbox_spoken` reads all of it."""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with indoors(tmp_path_factory.mktemp("people")) as server:
        yield Stage(server)


@pytest.mark.parametrize(
    ("file", "most_wrong", "step"),
    [(FILE, 0, 24), (UNSEEN, 0, 24), (TALK, 5, 8)],
    ids=["tuned", "unseen", "talk"],
)
def test_a_good_host_understands_them(stage: Stage, file: Path, most_wrong: int, step: int) -> None:
    """A usual run plays every *step*-th reply, a deep run all of them."""
    played = list(cases(file))[:: 1 if DEEP else step]
    wrong = [f"{case} -> {mistake}" for case in played if (mistake := _mistake(stage, case))]
    assert len(wrong) <= most_wrong, "\n".join(wrong)


def test_small_talk_fires_no_ray(stage: Stage) -> None:
    lines = [line for line in SMALL_TALK.read_text("utf-8").splitlines() if line[:1] != "#"]
    for line in lines[:_NEAR_MISSES]:
        assert stage.play(Case("turn", "words", line, passes_talk=False)).moves == (), line


def _mistake(stage: Stage, case: Case) -> str:
    outcome = stage.play(case)
    return "" if is_right(case, outcome) else str(outcome)


def test_a_move_is_answered_after_any_number_of_failed_replies(tmp_path: Path) -> None:
    with indoors(tmp_path, rate_refusals="4/hour; 40/day") as server:
        stage = Stage(server)
        letter = stage.letter("turn")
        answered = [bool(server.reply(letter, f"brillig {'x' * n}")) for n in range(6)]
        assert answered == [True] * 4 + [False] * 2
        (refusal,) = server.reply(letter, "99")
        assert "no port 99" in refusal.text
        assert server.reply(letter, "5")
        assert server.reply(letter, "6")  # not her turn


@pytest.mark.parametrize("signed", ["Best wishes\nAlice Liddell\nTel. 5", "Alice1 Liddell\nACME"])
def test_a_signature_is_not_chat(tmp_path: Path, signed: str) -> None:
    with indoors(tmp_path) as server:
        letter = Stage(server).letter("turn")
        letters = server.reply(letter, f"5\n\nNice weather here.\n\n{signed}")
        assert any("Nice weather" in letter.text for letter in letters)
        assert not any("Liddell" in letter.text for letter in letters)


def test_a_greeting_below_a_challenge_is_passed_on(tmp_path: Path) -> None:
    with indoors(tmp_path) as server:
        server.sign_up("kate")
        letters = server.reply(Stage(server).letter("turn"), "challenge kate\nHi Kate")
        assert any("Hi Kate" in letter.text for letter in letters if letter.kind == "challenge")
