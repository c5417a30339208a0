"""Numbers of any length in commands, options and replies get an answer and cause no fault."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from examples import DEEP
from indoors import Indoors, address_of, indoors
from seating import seat_pairs
from sqlalchemy import select

from pbmserv.commands.table.catalogue import ROWS
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.store.accounts import players
from pbmserv.store.tables.mail import MailState, inbox

NUMBERS = (str(2**63), "-" + "9" * 5_000, "\u00b2", "\uff11" * 5_000)
"""Longer than Python reads (4,300 digits), than a database holds (63 bits), and other digits."""

LINES = (
    "#{}",
    "{}",
    "show p0a {password} 1#{}",
    "blackbox solo p0a -size={}x{}",
    "blackbox solo p0a -balls={}-{}",
    "blackbox solo p0a -guesses={}",
    "solo id={}x{}m{}M{}:{}",
    "blackbox challenge p0a {password} p0b --nagtime={}",
    "prefs p0a {password} tz={}",
    "prefs p0a {password} digest={}",
    "away p0a {password} {} days",
    "away p0a {password} until {}-{}-{}",
    "preview p0a {password} 1 {},{}",
)
"""Numbers inside words, and where no command has a place for one."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indoors]:
    with indoors(tmp_path_factory.mktemp("numbers")) as opened:
        seat_pairs(opened.server, 1)  # p0a and p0b, at board 1
        yield opened


def faults(house: Indoors) -> list[str]:
    """Return the last lines of the faults for which mails were kept."""
    with house.server.database.reading.connect() as connection:
        rows = connection.execute(select(inbox.c.error).where(inbox.c.state == MailState.KEPT))
        return [error.strip().rpartition("\n")[2] for (error,) in rows]


def filled(line: str, number: str) -> str:
    return line.replace("{password}", "secret").replace("{}", number)


def send(house: Indoors, lines: Sequence[str]) -> None:
    """Send commands, a few in each mail: for many, one mail has not enough time."""
    for at in range(0, len(lines), 6):
        house.send_unread(address_of("p0a"), "multiple", "\n".join(lines[at : at + 6]))


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: f"{number[:6]}*{len(number)}")
def test_any_number_in_commands_and_replies_gets_an_answer(house: Indoors, number: str) -> None:
    send(house, [filled(line, number) for line in LINES])
    player = house.server.read(players.account_of, "p0a")
    assert player is not None
    seat = ReplyAddress(Purpose.BOARD, player.id, 1, epoch=player.reply_epoch)
    to = house.server.mail_domain.address_of(seat)
    for line in ("show {}", "resign {}", "#{}"):
        house.send_unread(address_of("p0a"), filled(line, number)[:900])
    for line in ("{}", "+b{}", "{},{}", "g,{}", "undo {}", "{}: b3", "#{} b3"):
        house.send_unread(address_of("p0a"), "Re: your board", filled(line, number), to)
    assert faults(house) == []


@pytest.mark.slow
def test_every_command_with_a_number_in_each_place(house: Indoors) -> None:
    """Write long numbers in the places of a command's example; a usual run takes some of them."""
    for turn, row in enumerate(ROWS):
        words = row.example.split() if isinstance(row.example, str) else [row.name]
        for number in NUMBERS if DEEP else NUMBERS[turn % 4 : turn % 4 + 1]:
            places = range(1 if DEEP else 1 + turn % 2, len(words) + 1, 1 if DEEP else 3)
            send(house, [" ".join([*words[:at], number, *words[at + 1 :]]) for at in places])
    assert faults(house) == []
