"""Hidden atoms and seals: no letter and no log line depends on them before they may be known."""

from __future__ import annotations

import logging
import random
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from examples import DEEP
from indoors import Indoors, Posted, indoors
from layouts import other_secrets
from one_process import Server
from running import Running, start
from worlds import (
    HIDER,
    SOLVER,
    WATCHER,
    Sent,
    World,
    begin,
    draw_from_a_counter,
    letters_to,
    play,
    tell,
)

from pbmserv.log import TextFormatter

STORIES = (1, ""), (4, "-size=3x3 -atoms=1-5 -fair -clue -guesses=99")
"""Seeds and options of games; they have every option that a layout is told by."""

LONG_STORIES = (2, "-size=5x4 -atoms=1-4 -clue -guesses=9"), (3, "-size=9x9 -atoms=2-6 -fair")


@dataclass
class Quiet:
    """A world without sockets."""

    inside: Indoors
    sent: list[Posted] = field(default_factory=list)

    @property
    def server(self) -> Server:
        return self.inside.server

    def send(self, sender: str, subject: str, body: str, to: str) -> object:
        letters = self.inside.send(sender, subject, body, to)
        self.inside.make_letters()
        self.sent += letters
        return letters

    def letters(self) -> Iterable[tuple[str, bytes]]:
        return [(letter.recipient, letter.raw) for letter in self.sent]


@dataclass
class Wired:
    """A world that is reached by SMTP."""

    running: Running
    mails: int = 0

    @property
    def server(self) -> Server:
        return self.running.server

    def send(self, sender: str, subject: str, body: str, to: str) -> object:
        self.mails += 1
        answer = self.running.send(
            sender, subject, body, to=to, message_id=f"<{self.mails}@players.example>"
        )
        self.running.settle()
        return answer

    def letters(self) -> Iterable[tuple[str, bytes]]:
        delivered = sorted(self.running.relay.delivered.items())
        return [(letter.recipient, letter.raw) for _, letter in delivered]


@contextmanager
def quiet_world(folder: Path) -> Iterator[World]:
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        draw_from_a_counter(patch)
        with indoors(folder) as inside:
            world = Quiet(inside)
            begin(world)
            yield world


@contextmanager
def wired_world(folder: Path) -> Iterator[World]:
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        draw_from_a_counter(patch)
        with start(folder, signup="open") as running:
            world = Wired(running)
            begin(world)
            yield world


def send_again(world: World, mails: list[Sent]) -> dict[str, list[bytes]]:
    """Send these mails, and return all letters to others than the hider."""
    for mail in mails:
        tell(world, mail)
    return {userid: letters_to(world, userid) for userid in (SOLVER, WATCHER)}


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the lines of the log without times of a clock and lengths of mails: the cells that a
    player writes have one or two digits."""
    lines = [TextFormatter().format(record).partition(" ")[2] for record in caplog.records]
    lines = [re.sub(r" (?:ms|octets)=[0-9.]+", "", line) for line in lines]
    caplog.clear()
    return lines


@pytest.fixture(autouse=True)
def everything_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="pbmserv")


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "options"), [*STORIES, *(LONG_STORIES if DEEP else ())])
def test_other_atoms_and_seals_change_no_octet_of_a_letter(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, seed: int, options: str
) -> None:
    dice = random.Random(seed)
    with quiet_world(tmp_path / "real") as world:
        story = play(world, options, 13, dice)
        real = {userid: letters_to(world, userid) for userid in (SOLVER, WATCHER)}
        mails, others = other_secrets(world, story, dice)
        hidden_from = letters_to(world, HIDER)
    lines = logged(caplog)
    assert len(mails) > 6
    assert mails != others
    with quiet_world(tmp_path / "other") as world:
        same = send_again(world, others)
        hider = letters_to(world, HIDER)
    for userid, letters in same.items():
        assert letters == real[userid][: len(letters)]
    assert any(letters for letters in same.values())
    assert hider != hidden_from[: len(hider)], "the hider alone sees the difference"
    again = logged(caplog)
    assert again == lines[: len(again)]


@pytest.mark.slow
def test_other_atoms_change_nothing_that_goes_over_the_wire(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    dice = random.Random(5)
    with wired_world(tmp_path / "real") as world:
        story = play(world, "-atoms=3-4", 14, dice)
        real = {userid: letters_to(world, userid) for userid in (SOLVER, WATCHER)}
        mails, others = other_secrets(world, story, dice)
    assert len(mails) > 6
    with wired_world(tmp_path / "other") as world:
        same = send_again(world, others)
    for userid, letters in same.items():
        assert letters == real[userid][: len(letters)]
    for line in logged(caplog):
        assert not any(mail.secret and mail.secret in line for mail in (*mails, *others)), line
