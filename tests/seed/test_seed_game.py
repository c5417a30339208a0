"""The original's example game, played by mail: its boards come out as the original printed them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from running import Correspondence, Letter

HERE = Path(__file__).resolve().parent
ALICE, BOB = "dzander1", "dzander2"
FIRST_LINE = f"Player {ALICE}'s board on left.  Player {BOB}'s board on right.\n"
SECOND_LINE = f"Player {BOB}'s board on left.  Player {ALICE}'s board on right.\n"

PLACED = {ALICE: "c2,e2,f6,f7", BOB: "g1,b2,b4,f5"}

# The letters at the ports give the order of each player's detours away; when hits and
# reflections came, and from which end a detour was fired, is left open. Turns alternate and
# the first player has fired once more than the second. Markers may come in any move.
AS_PRINTED = "5 3 d g 13 5 a 13 f j 9 l 10,+b2,+b4,+12m"
FREE_AT_THE_END = "+c2,+m13"
FROM_THE_FAR_ENDS = "10,+b2 l 9,+a7 13,+c2 h 5 k,/a7 i,+13m n j +d11,-d4,f 12 +4b,+f5,1"


@dataclass
class Table:
    """The two players and the newest letter each of them has about their board."""

    server: Correspondence
    addresses: dict[str, str]
    letters: dict[str, Letter]

    def read(self) -> None:
        for userid, address in self.addresses.items():
            for letter in self.server.letters(address):
                self.letters[userid] = letter

    def move(self, userid: str, text: str, *, by_subject: bool = False) -> None:
        if by_subject:
            subject = f"blackbox move 1 {userid} secret {text}"
            answer = self.server.send(self.addresses[userid], subject)
        else:
            answer = self.server.reply(self.letters[userid], text)
        assert answer.startswith("250"), answer
        self.read()
        if self.letters[userid].subject.startswith("Not played yet"):  # a first far label
            self.server.reply(self.letters[userid], "yes")
            self.read()
        assert "nothing has changed" not in self.letters[userid].text, self.letters[userid].text

    def boards(self, userid: str) -> str:
        """The two boards with their title and guesses, cut from this player's last letter."""
        return boards_in(self.letters[userid].text)


def boards_in(text: str) -> str:
    lines = text.splitlines(keepends=True)
    first = next(n for n, line in enumerate(lines) if "'s board on left.  Player " in line)
    last = next(n for n, line in enumerate(lines) if n > first and " left.  Player " in line)
    return "".join(lines[first : last + 1])


@pytest.fixture
def table(handed_in: Correspondence) -> Table:
    addresses = {userid: handed_in.sign_up(userid) for userid in (ALICE, BOB)}
    handed_in.send(addresses[ALICE], f"blackbox challenge {ALICE} {BOB}")
    opened = Table(handed_in, addresses, {})
    opened.read()
    for userid in (BOB, ALICE):  # in any order
        opened.move(userid, PLACED[userid])
    return opened


def expected() -> dict[str, str]:
    text = (HERE / "game-in-progress.txt").read_text("ascii")
    cut = text.index(SECOND_LINE)
    return {ALICE: text[:cut].removesuffix("\n"), BOB: text[cut:]}


def test_the_examples_boards_come_out_and_the_game_goes_on_to_its_end(table: Table) -> None:
    for number, text in enumerate(AS_PRINTED.split()):
        table.move((ALICE, BOB)[number % 2], text)
    table.move(BOB, FREE_AT_THE_END)
    assert table.boards(ALICE) != expected()[ALICE]
    table.server.reply(table.letters[ALICE], "show")  # markers alone are nobody else's news
    table.read()

    assert expected()[ALICE].startswith(FIRST_LINE)
    for userid in (ALICE, BOB):
        assert table.boards(userid) == expected()[userid]
        part = table.letters[userid].message.get_body(("plain",))
        assert part is not None
        assert part["Content-Transfer-Encoding"] == "7bit"
    assert "Your move on board 1  -- Reply above this line --\n" in table.letters[BOB].text
    assert f"Board 1: {BOB} to move  -- Reply" in table.letters[ALICE].text

    table.move(BOB, "+e2,+g7,?")  # F7 it should have been
    assert "* You guessed wrong and have 2 guesses left.\n" in table.letters[BOB].text
    assert f"* {BOB} guessed wrong and has 2 guesses left.\n" in table.letters[ALICE].text
    for userid, hidden in ((BOB, "F7"), (ALICE, "G1")):
        assert hidden not in table.letters[userid].text.partition("Ports not used")[0]
    assert "?x" not in table.letters[ALICE].text + table.letters[BOB].text

    table.move(ALICE, "+g1,?")
    ends = {userid: table.letters[userid].text for userid in (ALICE, BOB)}
    assert ends[ALICE].startswith("You found all the atoms and won board 1")
    assert ends[BOB].startswith(f"{ALICE} found all the atoms and won board 1")
    opened = boards_in(ends[ALICE]) + "\n" + boards_in(ends[BOB])
    assert opened == (HERE / "game-opened.txt").read_text("ascii")


@pytest.mark.slow
def test_other_ports_of_the_same_rays_in_another_order_lead_to_the_same_boards(
    table: Table,
) -> None:
    for number, text in enumerate(FROM_THE_FAR_ENDS.split()):
        table.move((ALICE, BOB)[number % 2], text, by_subject=True)
    for userid in (ALICE, BOB):
        assert table.boards(userid) == expected()[userid]
