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
    "show {}",
    "#{}",
    "{}",
    "show p0a {password} {}",
    "show p0a {password} 1#{}",
    "blackbox solo p0a -size={}x{}",
    "blackbox solo p0a -balls={}-{}",
    "blackbox solo p0a -atoms={}",
    "blackbox solo p0a -guesses={}",
    "blackbox solo p0a {}",
    "solo id={}x{}m{}M{}:{}",
    "blackbox solo p0a id={}",
    "blackbox challenge p0a {password} p0b --nagtime={}",
    "blackbox challenge p0a {password} p0b --forfeittime={} --totaltime={}",
    "blackbox race p0a {password} {}",
    "blackbox daily p0a {}",
    "blackbox challenge p0a {password} p0b -size={}x{} -balls={}",
    "prefs p0a {password} tz={}",
    "prefs p0a {password} digest={}",
    "prefs p0a {password} away={}",
    "away p0a {password} {} days",
    "away p0a {password} until {}-{}-{}",
    "games {}",
    "history p0a {}",
    "accept {}",
    "move p0a {password} 1 {}",
    "move p0a {password} {} b3",
    "undo p0a {password} 1 {}",
    "preview p0a {password} 1 {},{}",
    "hint p0a {password} 1 {}",
    "message p0a {password} {} hello",
    "resign {}",
)


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
    """Lines of a body, subjects and replies are read alike, so a number is in every second line of
    a usual run, and in some of the subjects and replies."""
    lines = LINES if DEEP else LINES[NUMBERS.index(number) % 2 :: 2]
    send(house, [filled(line, number) for line in lines])
    with house.server.database.reading.connect() as connection:
        player = players.account_of(connection, "p0a")
    assert player is not None
    seat = ReplyAddress(Purpose.BOARD, player.id, 1, epoch=player.reply_epoch)
    to = house.server.mail_domain.address_of(seat)
    some = LINES[NUMBERS.index(number) % 6 :: 6]
    for line in some:
        house.send_unread(address_of("p0a"), filled(line, number)[:900])
    for line in (*some, "+b{}", "{},{}", "g,{}", "undo {}", "{}: b3", "#{} b3"):
        house.send_unread(address_of("p0a"), "Re: your board", filled(line, number), to)
    assert faults(house) == []


@pytest.mark.slow
def test_every_command_with_a_number_in_each_place(house: Indoors) -> None:
    """Write a number of 5,000 digits in the places of a command's example in turn; a usual run
    takes every second place."""
    for number, row in enumerate(ROWS):
        words = row.example.split() if isinstance(row.example, str) else [row.name]
        places = range(1 if DEEP else 1 + number % 2, len(words) + 1, 1 if DEEP else 2)
        send(house, [" ".join([*words[:at], "9" * 5_000, *words[at + 1 :]]) for at in places])
    assert faults(house) == []
