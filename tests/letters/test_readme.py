"""The README shows letters as they really are."""

from __future__ import annotations

import re
from pathlib import Path

from indoors import PASSWORD, Posted, address_of, indoors

ALICE, BOB = map(address_of, ("alice", "bob"))
README = Path(__file__).parents[2] / "README.md"


def quoted() -> list[str]:
    """The texts in code fences that are letters of the server."""
    fences = re.findall(r"^```\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    return [text for text in fences if "-- Reply above this line --" in text]


def test_the_letters_in_the_readme_are_those_that_come(tmp_path: Path) -> None:
    with indoors(tmp_path, address="pbmserv@localhost") as server:
        server.sign_up("alice", "bob")
        told = server.send(ALICE, f"blackbox challenge alice {PASSWORD} bob", "Fancy a game?")
        (challenge,) = (one for one in told if one.recipient == BOB)
        server.reply(challenge, "b3,d3,a1,g6")
        server.send(ALICE, f"blackbox move 1 alice {PASSWORD} d2,f2,f6,f7")
        for alice, bob in (("D", "3"), ("G", "5")):
            server.send(ALICE, f"blackbox move 1 alice {PASSWORD} {alice}")
            server.send(BOB, f"blackbox move 1 bob {PASSWORD} {bob}")
        marks = "+b4,+g5," + ",".join(f"!a{row}" for row in range(1, 8))
        server.send(ALICE, f"blackbox move 1 alice {PASSWORD} {marks},12")
        words = "Getting warmer, I think!"
        told = server.send(BOB, f"blackbox move 1 bob {PASSWORD} +d2,14", words)
        (move,) = (one for one in told if one.recipient == ALICE)

    first, second = quoted()
    head, _, body = first.partition("\n\n")
    assert body.strip() == body_of(challenge)
    assert f"Subject: {challenge.subject}" in head
    assert second.strip() == body_of(move)


def body_of(letter: Posted) -> str:
    """The text without the lines of every letter."""
    return letter.text.partition("\n-- \n")[0].strip()
