"""The full-screen game, played with keys and mouse by textual's pilot on 80 by 24 characters."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from pbmserv.cli.blackbox.terminal.application import Start, Terminal
from pbmserv.cli.blackbox.terminal.board import Board
from pbmserv.cli.blackbox.terminal.hiding import Hiding
from pbmserv.cli.blackbox.terminal.panels import Question
from pbmserv.games.blackbox.game_ids import read_id
from pbmserv.games.blackbox.options import Scoring
from pbmserv.games.blackbox.practice import Practice, begin
from pbmserv.games.blackbox.state import Box

pytestmark = pytest.mark.slow

BOX = "w8h8m5M5#123456789012345"
ATOMS = "+d1,+g1,+b3,+f5,+d7"


class House:
    """A running game and its pilot."""

    def __init__(self, app: Terminal, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def game(self) -> Practice:
        return self.app.practice

    @property
    def box(self) -> Box:
        return self.game.state.boxes[0]

    @property
    def board(self) -> Board:
        return self.app.screen_stack[0].query_one(Board)

    @property
    def lines(self) -> list[str]:
        """The lines of the board on the screen."""
        return [self.board.render_line(y).text for y in range(self.board.size.height)]

    def text(self, place: str) -> str:
        shown = self.app.screen_stack[0].query_one(f"#{place}", Static).content
        return " ".join(str(shown).split())

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        """Make a move in words without the question, which `test_a_wrong_move…` tests."""
        self.app._play(text)
        await self.pilot.pause()

    async def answer(self, text: str) -> None:
        assert isinstance(self.app.screen, Question)
        self.app.screen.query_one(Input).value = text
        await self.press("enter")

    async def click(self, column: int, row: int, button: int = 1) -> None:
        x, y = self.board.centre_of((column, row))
        await self.pilot.click(Board, offset=(x, y), button=button)
        await self.pilot.pause()


def played(
    story: Callable[[House], Awaitable[None]],
    box: str = BOX,
    scoring: Scoring = Scoring.PRACTICE,
    guesses: int = 99,
    clock: Callable[[], float] = lambda: 0.0,
    start: Start | None = None,
    *,
    by_hand: bool = False,
) -> None:
    """Run a story in a fresh game."""

    def fresh(old: Practice) -> Practice:
        return begin(read_id("5x5/3#another"), old.scoring, guesses, fair=True, clue=True)

    async def run() -> None:
        game = begin(read_id(box), scoring, guesses, fair=True, clue=True)
        app = Terminal(start or Start(game), fresh, clock, by_hand=by_hand)
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.pause()
            await story(House(app, pilot))

    asyncio.run(run())


def test_a_whole_game_with_keys() -> None:
    async def story(house: House) -> None:
        await house.press("enter", "right", "enter")  # fire A and B
        assert house.box.marks[:3] == ("a", "#", "")
        assert house.text("messages").startswith("You fired port B: hit (#).")
        await house.press("down", "down", "enter")  # a marker on B2
        assert house.box.markers == {9}
        await house.press("space", "enter")  # locked: the marker stays
        assert (house.box.markers, house.box.locked) == ({9}, {9})
        assert 'You have locked B2, so "/B2" cannot change it.' in house.text("messages")
        await house.press("space", "enter", "space")
        assert (house.box.markers, house.box.sealed) == (frozenset(), {9})
        assert "3 of 32" in house.text("facts")
        await house.type(ATOMS)
        assert "ready to guess" in house.text("facts")
        await house.press("g")
        assert house.game.over
        assert "You solved it." in house.text("messages")
        assert (
            house.lines[2][:31] == "  1  \u00b7           @        @     \u00b7"[:31]
            or "?" in house.lines[2]
        )

    played(story)


def test_the_mouse_fires_marks_and_seals() -> None:
    async def story(house: House) -> None:
        await house.click(0, -1)  # port A
        await house.click(8, 0)  # port 9
        assert house.box.marks[0] == "a"
        assert house.box.marks[8] == "#"
        await house.click(2, 2)
        assert house.box.markers == {18}
        await house.click(2, 2)
        assert house.box.markers == frozenset()
        await house.click(3, 3, button=3)
        assert house.box.sealed == {27}
        await house.click(3, 3, button=3)
        await house.click(8, 7, button=3)  # port 16: its whole row
        assert house.box.sealed == set(range(56, 64))
        await house.click(-1, -1)  # a corner is nothing
        assert house.game.done == 7

    played(story)


def test_a_tip_comes_from_the_coach_and_has_its_price() -> None:
    async def story(house: House) -> None:
        async def tipped() -> str:
            await house.app.workers.wait_for_complete()
            await house.pilot.pause()
            return house.text("messages")

        await house.press("t")
        tip = await tipped()
        assert tip.startswith("The best port now is ")
        assert "This hint costs 3 points." in tip
        await house.press("m")
        await house.answer("hint")  # the same again
        await tipped()
        assert house.game.score(0).total == 3
        await house.type("+b2,+c2,+d2")
        await house.press("t")
        assert (await tipped()).startswith("You have 3 markers, but the box holds no more than 2")
        assert "Reply" not in house.text("messages")
        assert house.game.score(0).hints == 2
        await house.press("v", "v", "t")
        assert "This game is over" in house.text("messages")

    played(story, "w8h8m2M2#tip", Scoring.CLASSIC)


def test_a_fired_port_shows_its_other_end_and_a_test_ray() -> None:
    async def story(house: House) -> None:
        await house.type("a,+c3")
        await house.click(0, -1)
        assert house.text("messages").startswith("A and 2: a")
        assert "[a]" in house.lines[1]
        assert "[a]" in house.lines[3]
        await house.click(0, -1, button=3)
        assert house.text("messages").startswith(
            "Through your markers a ray into A comes out at I, but"
        )
        assert [line[8] for line in house.lines[2:10]] == ["*"] * 8
        await house.type("b")
        await house.click(1, -1)
        assert house.text("messages").startswith("B: #")

    played(story)


def test_undo_redo_restart_and_a_new_box() -> None:
    async def story(house: House) -> None:
        await house.type("a")
        await house.press("enter", "u", "u")
        assert house.box.marks[0] == ""
        await house.press("u")
        assert "There is nothing to take back yet" in house.text("messages")
        await house.press("r", "R")
        assert "Press R again" in house.text("messages")
        assert house.box.marks[0] == "a"
        await house.press("R")
        assert house.box.marks[0] == ""
        await house.press("R")
        assert "at its beginning" in house.text("messages")
        await house.press("u")
        assert house.box.marks[0] == "a"
        await house.press("n")
        assert "Press n again" in house.text("messages")
        await house.press("r")
        assert house.box.marks[0] == ""
        await house.press("ctrl+underscore")
        assert house.box.marks[0] == "a"
        await house.press("ctrl+n")
        assert "Press n again" in house.text("messages")
        await house.press("ctrl+n")
        assert house.game.options.width == 5
        assert len(house.lines) == 9

    played(story)


def test_giving_up_is_asked_twice_and_opens_the_box() -> None:
    async def story(house: House) -> None:
        await house.type("a,+d1,+a8")
        await house.press("v")
        assert not house.game.over
        await house.press("v")
        assert house.game.over
        assert "The marks at ports A and 2 do not agree with your markers." in house.text(
            "messages"
        )
        assert "x" in house.lines[9]
        assert "@" in house.lines[4]
        await house.type("b")
        assert "This game is over" in house.text("messages")
        await house.press("u")
        assert not house.game.over

    played(story)


def test_timed_points_count_seconds_until_the_box_is_solved() -> None:
    now = [1000.0]

    async def story(house: House) -> None:
        now[0] += 75
        await house.type("a")
        assert "Time 1:15 Score 105 (timed)" in house.text("facts")
        await house.type("+a1,+g1,+b3,+f5,+d7,?")
        now[0] += 5
        await house.type(f"/a1,{ATOMS},?")
        now[0] += 500
        messages = house.text("messages")
        assert (
            "160 points, for 2 marked ports at 15, 1 wrong marker at 50 and 80 seconds" in messages
        )
        assert house.app.seconds == 80

    played(story, scoring=Scoring.TIMED, clock=lambda: now[0])


def test_a_game_is_saved_and_opened_again(tmp_path: Path) -> None:
    file = tmp_path / "tea.txt"

    async def saves(house: House) -> None:
        await house.type("a,+b2")
        await house.type("b")
        await house.press("u", "s")
        await house.answer(str(file))
        assert house.text("messages").startswith("Saved as")
        await house.press("q")  # nothing is lost, so it quits at once
        assert not house.app.is_running

    async def opens(house: House) -> None:
        await house.press("o")
        await house.answer(str(tmp_path / "no.txt"))
        assert "cannot be read: No such file" in house.text("messages")
        await house.press("o", "escape")
        await house.press("o")
        await house.answer(str(file))
        assert house.box.marks[0] == "a"
        await house.press("r")
        assert house.box.marks[1] == "#"
        (tmp_path / "bad.txt").write_text(file.read_text().replace("1. A", "1. Z9"))
        await house.press("o")
        assert "Not saved. Press o again" in house.text("messages")
        await house.press("o")
        await house.answer(str(tmp_path / "bad.txt"))
        assert "Move 1 of the transcript" in house.text("messages")
        await house.press("s")
        await house.answer(str(tmp_path / "no" / "tea.txt"))
        assert "cannot be written" in house.text("messages")

    played(saves)
    played(opens, box="5x5/3#other")


def test_quitting_asks_when_something_would_be_lost() -> None:
    async def story(house: House) -> None:
        await house.type("a")
        await house.press("q")
        assert house.app.is_running
        assert "Not saved." in house.text("messages")
        await house.press("enter", "q")  # something else in between: it asks again
        assert house.app.is_running
        await house.press("q")
        assert not house.app.is_running

    played(story)


def test_a_wrong_move_is_explained_and_changes_nothing() -> None:
    async def story(house: House) -> None:
        await house.press("m")
        await house.answer("zz9")
        assert '"zz9" is off the board' in house.text("messages")
        await house.press("m")
        await house.answer("a,+b2")
        await house.press("u", "g")
        assert "A guess needs 5 markers" in house.text("messages")
        assert house.game.done == 0

    played(story)


def test_one_s_own_moves_are_looked_at_step_by_step() -> None:
    async def story(house: House) -> None:
        await house.type("a,+b2")
        await house.type("b")
        await house.type("!c3")
        before = house.game
        shown = [house.lines]
        for step in (2, 1, 0):
            await house.press("comma")
            assert house.text("messages").startswith(f"Move {step} of 3")
            shown.append(house.lines)
        await house.press("comma")
        assert house.text("messages").startswith("Move 0 of 3")
        assert "?" not in "".join(shown[3])
        assert "?" in shown[2][3]
        for keys in (("enter",), ("g",), ("c",), ("t",), ("u",), ("R",)):
            await house.press(*keys)
            assert "only to look at" in house.text("messages")
            assert house.game is before
        await house.press("full_stop", "full_stop")
        assert house.lines == shown[1]
        assert "You fired port B: hit (#)." in house.text("messages")
        await house.press("full_stop")
        assert house.lines == shown[0]
        await house.press("comma", "end", "enter")
        assert house.game is not before or "A and 2" in house.text("messages")

    played(story)


def test_one_hides_the_atoms_by_hand_and_the_other_one_plays() -> None:
    async def story(house: House) -> None:
        app = house.app

        def shown() -> str:
            board = app.screen.query_one(Board)
            return "".join(board.render_line(y).text for y in range(board.size.height))

        assert isinstance(app.screen, Hiding)
        await house.press("enter", "down", "enter", "right", "enter", "right", "enter")
        assert app.screen.atoms == {0, 1, 2}
        assert shown().count("@") == 3
        await house.press("g")
        assert isinstance(app.screen, Hiding)
        await house.press("down", "enter", "down", "enter")
        cells = set(app.screen.atoms)
        assert len(cells) == 5
        await house.press("g")
        assert not isinstance(app.screen, Hiding)
        assert set(house.box.atoms or ()) == cells
        assert "@" not in shown()
        for key in ("i", "s", "comma", "u", "R", "y"):  # nothing leads back to the atoms
            await house.press(key)
            assert not isinstance(app.screen, Question)
            assert "@" not in shown()
            assert house.game.game.text not in house.text("messages") + app.clipboard
        await house.type("a")
        before = house.game
        await house.press("n", "n", "down", "enter", "escape")
        assert house.game is before  # what was hidden for the next game is no move of this one
        await house.press("v", "v")
        assert shown().count("@") == 5
        await house.press("i")
        assert house.game.game.text in house.text("messages")

    async def leaves(house: House) -> None:
        await house.press("escape")
        assert not house.app.is_running

    played(story, by_hand=True)
    played(leaves, by_hand=True)
