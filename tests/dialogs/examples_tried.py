"""Tries the example of each kind of refusal in a dialog on a copy of the server.

A deep run tries every example, also of kinds that another dialog tries.

Forms to fill in, such as "forgot USERID", are not examples.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from examples import DEEP
from indoors import HandedIn, Indoors, Posted, indoors
from running import MovableClock
from sqlalchemy import select

from pbmserv.errors import is_form
from pbmserv.store.tables.boards import boards, plies, unconfirmed_boards


@dataclass(frozen=True)
class Tried:
    """The effects of an example that was sent back as a reply to its refusal.

    Attributes:
        wrote: the refused line, as the letter repeats it.
        letters: kinds of the letters that answered.
        again: codes of the refusals among them.
        plies: texts of the moves that the example made.
        begun: number of boards that it began or asked for.
    """

    code: str
    wrote: str
    example: str
    letters: tuple[str, ...]
    again: tuple[str, ...]
    plies: tuple[str, ...]
    begun: int

    @property
    def costs(self) -> tuple[str, ...]:
        """The ports, cells and guesses of its moves that the player has not written."""
        written = "".join(re.findall("[A-Z0-9?]", self.wrote.upper()))
        labels = [label for ply in self.plies for label in re.findall("[A-Z]+|[0-9]+|[?]", ply)]
        return tuple(
            label
            for label in labels
            if label not in written and not (label == "?" and "GUESS" in written)
        )


class Trying(HandedIn):
    """A server for dialogs that tries each example at once on a copy of itself.

    Args:
        folder: its data and its SQLite database.
        elsewhere: codes of the refusals whose examples another dialog tries.

    Attributes:
        met: codes of the refusals with an example.
    """

    def __init__(
        self, house: Indoors, folder: Path, settings: Mapping[str, str], elsewhere: Collection[str]
    ) -> None:
        super().__init__(house)
        self._folder = folder
        self._settings = settings
        self._elsewhere = () if DEEP else elsewhere
        self._seen: set[str] = set()
        self.met: set[str] = set()
        self.tried: list[Tried] = []

    def take_in(self, letters: list[Posted]) -> None:
        """Try the examples in letters, too."""
        super().take_in(letters)
        for letter in letters:
            for refused in refusals_in(letter):
                code, example = refused["refusal"]["code"], refused["refusal"]["example"]
                key = f"{code}: {example}" if DEEP else code
                if not example or is_form(example):
                    continue
                self.met.add(code)
                if key not in self._seen and code not in self._elsewhere:
                    self._seen.add(key)
                    self.tried.append(self._try(letter, refused))

    def _try(self, letter: Posted, refused: Mapping[str, Any]) -> Tried:
        refusal = refused["refusal"]
        with TemporaryDirectory() as folder:
            copy = Path(folder, "copy")
            shutil.copytree(self._folder, copy)
            with indoors(copy, **self._settings) as house:
                assert isinstance(house.server.clock, MovableClock)
                assert isinstance(self.server.clock, MovableClock)
                house.server.clock.moment = self.server.clock.moment
                house.mails = 1_000  # Message-IDs that no other mail has
                house.reads_late = True  # nobody reads the letters that answer
                house.server.bots_were_rung = False  # they have looked already
                before, begun = _record(house)
                came = house.reply(letter, refusal["example"])
                after, begun_then = _record(house)
                again = [
                    refusal_again["refusal"]["code"]
                    for letter in came
                    for refusal_again in refusals_in(letter)
                ]
        return Tried(
            refusal["code"],
            refused["echo"],
            refusal["example"],
            tuple(letter.kind for letter in came),
            tuple(again),
            tuple(text for key, text in after.items() if key not in before),
            begun_then - begun,
        )


def refusals_in(letter: Posted) -> Iterator[Mapping[str, Any]]:
    """Yield the words of each refusal in a letter."""
    words = letter.queued.words
    if letter.kind == "refusal":
        yield words
    for line in words.get("lines", ()):
        yield from (part["words"] for part in line["parts"] if part["letter"] == "refusal")


def _record(house: Indoors) -> tuple[dict[tuple[int, int], str], int]:
    """Return plies by board and number, and the number of boards, with those asked for."""
    with house.server.database.reading.connect() as connection:
        moves = {(r.board_id, r.number): r.text for r in connection.execute(select(plies))}
        begun = len(connection.execute(select(boards.c.id)).all())
        questions = len(connection.execute(select(unconfirmed_boards.c.id)).all())
    return moves, begun + questions


BEGINS = re.compile(r"\b(challenge|challange|solo|rematch|replay|seek|play|daily)\b", re.IGNORECASE)
"""Words that ask for a board."""


def check(tried: Tried) -> None:
    """Check that an example works, and uses only what the player has written."""
    assert not tried.again, f"the example is refused: {tried}"
    assert tried.letters, f"the example is answered by silence: {tried}"
    assert tried.begun == 0 or BEGINS.search(tried.wrote), f"nobody asked for a board: {tried}"
    if "resign" in tried.plies:
        wants_to = any(words in tried.wrote for words in ("resign", "give up", "quit"))
        assert wants_to, f"nobody wanted to give up: {tried}"
    elif tried.code != "unsubscribe":
        assert not tried.costs, f"nobody wrote {tried.costs}: {tried}"
