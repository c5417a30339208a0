"""Sends the example of each refusal in a dialog back, to a copy of the server.

Forms to fill in ("forgot USERID") are no examples.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from indoors import HandedIn, Indoors, Posted, indoors
from running import MovableClock
from sqlalchemy import select

from pbmserv.errors import is_form
from pbmserv.store.tables.boards import boards, plies, unconfirmed_boards
from pbmserv.store.tables.mail import outbox


@dataclass(frozen=True)
class Tried:
    """What became of the example of one refusal that was sent back as a reply.

    Attributes:
        wrote: the line that was refused, as the letter repeats it.
        letters: kinds of the letters that came.
        again: codes of the refusals among them.
        plies: texts of the moves that it led to.
        begun: how many boards it began, or asked about.
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
        """What of its moves nobody has written: ports, cells, guesses."""
        written = "".join(re.findall("[A-Z0-9?]", self.wrote.upper()))
        labels = [label for ply in self.plies for label in re.findall("[A-Z]+|[0-9]+|[?]", ply)]
        return tuple(
            label
            for label in labels
            if label not in written and not (label == "?" and "GUESS" in written)
        )


class Trying(HandedIn):
    """A server without doors, for dialogs, that has each example tried at once, on a copy.

    Args:
        folder: its data and its database, on SQLite.
    """

    def __init__(self, house: Indoors, folder: Path, settings: Mapping[str, str]) -> None:
        super().__init__(house)
        self._house = house
        self._folder = folder
        self._settings = settings
        self.tried: list[Tried] = []

    def _read(self, made: list[Posted]) -> None:
        super()._read(made)
        for letter in made:
            for refused in refusals_in(self._house, letter):
                example = refused["refusal"]["example"]
                if example and not is_form(example):
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
                house.mails = 1_000  # Message-IDs that no mail here has
                before, begun = _record(house)
                came = house.reply(letter, refusal["example"])
                after, begun_then = _record(house)
                again = [one["refusal"]["code"] for x in came for one in refusals_in(house, x)]
        return Tried(
            refusal["code"],
            refused["echo"],
            refusal["example"],
            tuple(one.kind for one in came),
            tuple(again),
            tuple(text for key, text in after.items() if key not in before),
            begun_then - begun,
        )


def refusals_in(house: Indoors, letter: Posted) -> Iterator[Mapping[str, Any]]:
    """The words of each refusal that a letter tells of."""
    with house.server.database.reading.connect() as connection:
        words = connection.execute(
            select(outbox.c.words).where(outbox.c.id == letter.id)
        ).scalar_one()
    if letter.kind == "refusal":
        yield words
    for line in words.get("lines", ()):
        yield from (part["words"] for part in line["parts"] if part["letter"] == "refusal")


def _record(house: Indoors) -> tuple[dict[tuple[int, int], str], int]:
    """All plies by board and number, and how many boards there are or are asked about."""
    with house.server.database.reading.connect() as connection:
        made = {(r.board_id, r.number): r.text for r in connection.execute(select(plies))}
        begun = len(connection.execute(select(boards.c.id)).all())
        asked = len(connection.execute(select(unconfirmed_boards.c.id)).all())
    return made, begun + asked


BEGINS = re.compile(r"\b(challenge|challange|solo|rematch|replay|seek|play|daily)\b", re.IGNORECASE)
"""Words with which people ask for a board."""


def check(tried: Tried) -> None:
    """An example works, and costs only what was asked for."""
    assert not tried.again, f"the example is refused: {tried}"
    assert tried.letters, f"the example is answered by silence: {tried}"
    assert tried.begun == 0 or BEGINS.search(tried.wrote), f"nobody asked for a board: {tried}"
    if "resign" in tried.plies:
        assert "resign" in tried.wrote or "give up" in tried.wrote, (
            f"nobody wanted to give up: {tried}"
        )
    elif tried.code != "unsubscribe":
        assert not tried.costs, f"nobody wrote {tried.costs}: {tried}"
