"""The README shows a letter exactly as the server writes it."""

from __future__ import annotations

import re
from pathlib import Path

from indoors import PASSWORD, Posted, address_of, indoors

ALICE, BOB = map(address_of, ("alice", "bob"))
README = Path(__file__).parents[2] / "README.md"


def letter_in_readme() -> str:
    """Return the code block that shows a letter of the server."""
    blocks = re.findall(r"^```\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    (letter,) = (block for block in blocks if "-- Reply above this line --" in block)
    return str(letter)


def test_the_letter_in_the_readme_is_the_one_that_is_sent(tmp_path: Path) -> None:
    with indoors(tmp_path, address="pbmserv@localhost") as server:
        server.sign_up("alice", "bob")
        letters = server.send(ALICE, f"blackbox challenge alice {PASSWORD} bob", "Fancy a game?")
        (challenge,) = (letter for letter in letters if letter.recipient == BOB)
        server.reply(challenge, "b3,d3,a1,g6")
        server.send(ALICE, f"blackbox move 1 alice {PASSWORD} d2,f2,f6,f7")
        for alice, bob in (("D", "3"), ("G", "5")):
            server.send(ALICE, f"blackbox move 1 alice {PASSWORD} {alice}")
            server.send(BOB, f"blackbox move 1 bob {PASSWORD} {bob}")
        marks = "+b4,+g5," + ",".join(f"!a{row}" for row in range(1, 8))
        server.send(ALICE, f"blackbox move 1 alice {PASSWORD} {marks},12")
        words = "Getting warmer, I think!"
        letters = server.send(BOB, f"blackbox move 1 bob {PASSWORD} +d2,14", words)
        (letter,) = (letter for letter in letters if letter.recipient == ALICE)

    head, _, text = letter_in_readme().partition("\n\n")
    assert f"Subject: {letter.subject}" in head
    assert text.strip() == without_footer(letter), without_footer(letter)


def without_footer(letter: Posted) -> str:
    """Return the text of the letter without the lines that end every letter."""
    return letter.text.partition("\n-- \n")[0].strip()
