"""Plays a dialog, and sends the example of each refusal back, to a copy of the server."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from dialog_play import Play
from dialog_reader import Dialog
from indoors import Indoors, Posted, indoors
from running import Letter, MovableClock, Running
from sqlalchemy import select

from pbmserv.errors import is_form
from pbmserv.mail.envelope import Envelope
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


class Watched:
    """A server without doors, for dialogs, that has each example tried at once."""

    def __init__(self, house: Indoors, folder: Path, settings: Mapping[str, str]) -> None:
        self.server = house.server
        self._house = house
        self._folder = folder
        self._settings = settings
        self._waiting: list[Letter] = []
        self.tried: list[Tried] = []

    @property
    def address(self) -> str:
        return self.server.mail_domain.address

    def sign_up(self, userid: str, password: str) -> None:
        (asked,) = self._house.send(f"{userid}@players.example", f"signup {userid} {password}")
        if asked.kind == "confirm":
            self._house.reply(asked, "yes")

    def send(self, sender: str, subject: str) -> None:
        self._take(self._house.send(sender, subject))

    def reply(self, letter: Letter, body: str) -> None:
        self._take(self._house.reply(letter, body))

    def send_raw(self, sender: str, to: str, raw: bytes) -> str:
        reply = self._house.hand_in(Envelope(sender, to, raw))
        self._take(self._house.letters())
        return reply

    def letters(self) -> list[Letter]:
        found, self._waiting = self._waiting, []
        return found

    def live(self, **by: float) -> None:
        self._take(self._house.live(**by))

    def _take(self, letters: Sequence[Posted]) -> None:
        self._waiting += letters
        for letter in letters:
            for refused in refusals_in(self._house, letter):
                example = refused["refusal"]["example"]
                if example and not is_form(example):
                    self.tried.append(self._try(letter, refused))

    def _try(self, letter: Posted, refused: Mapping[str, Any]) -> Tried:
        copy = self._folder / "copy"
        shutil.copytree(self._folder / "house", copy)
        refusal = refused["refusal"]
        with indoors(copy, **self._settings) as house:
            assert isinstance(house.server.clock, MovableClock)
            assert isinstance(self.server.clock, MovableClock)
            house.server.clock.moment = self.server.clock.moment
            house.mails = 1_000  # Message-IDs that no mail here has
            before, begun = _record(house)
            came = house.reply(letter, refusal["example"])
            after, begun_then = _record(house)
            again = [one["refusal"]["code"] for x in came for one in refusals_in(house, x)]
        shutil.rmtree(copy)
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


def examples_of(dialog: Dialog, folder: Path) -> list[Tried]:
    """Play a dialog, and try each example in it."""
    settings = {"signup": "confirm", "web": "", **dialog.settings}
    (folder / "house").mkdir()
    with indoors(folder / "house", **settings) as house:
        watched = Watched(house, folder, settings)
        Play(dialog, cast("Running", watched)).play()
    return watched.tried
