"""Numbers of any length in commands, options and replies get an answer, and are no fault."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from indoors import PASSWORD, Indoors, address_of, indoors
from sqlalchemy import select

from pbmserv.commands.table.catalogue import BY_NAME
from pbmserv.store.tables.mail import MailState, inbox

NUMBERS = (
    "9" * 9,
    "9" * 10,
    str(2**31),
    str(2**63),
    str(2**64 + 1),
    "9" * 100,
    "9" * 4_301,
    "1" + "0" * 5_000,
    "0" * 5_000 + "1",
    "-" + "9" * 5_000,
    "1e999",
    "\u0661\u0662",
    "\u00b2",
    "\uff11" * 5_000,
)
"""Longer than Python reads (4,300 digits), than a database holds (63 bits), and other digits."""

LINES = (
    "show {}",
    "#{}",
    "{}",
    "board {}",
    "show alice {password} {}",
    "show alice {password} #{}",
    "show alice {password} 1#{}",
    "blackbox solo alice {password} -size={}x{}",
    "blackbox solo alice {password} -size={}",
    "blackbox solo alice {password} -balls={}",
    "blackbox solo alice {password} -balls={}-{}",
    "blackbox solo alice {password} -atoms={}",
    "blackbox solo alice {password} -guesses={}",
    "blackbox solo alice {password} {}",
    "blackbox solo alice {password} id={}x{}m{}M{}:{}",
    "blackbox solo alice {password} id={}",
    "blackbox challenge alice {password} bob --nagtime={}",
    "blackbox challenge alice {password} bob --forfeittime={} --totaltime={}",
    "blackbox seek alice {password} {}",
    "blackbox join alice {password} {}",
    "blackbox race alice {password} {}",
    "prefs alice {password} tz={}",
    "prefs alice {password} digest={}",
    "prefs alice {password} away={}",
    "away alice {password} {}",
    "away alice {password} {} days",
    "away alice {password} until {}-{}-{}",
    "games {}",
    "standings {}",
    "history alice {}",
    "accept {}",
    "move alice {password} 1 {}",
    "move alice {password} {} b3",
    "undo alice {password} 1 {}",
    "preview alice {password} 1 {},{}",
    "hint alice {password} 1 {}",
    "coach alice {password} 1 {}",
    "message alice {password} {} hello",
    "decline {}",
    "resign {}",
)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indoors]:
    with indoors(tmp_path_factory.mktemp("numbers")) as opened:
        opened.sign_up("alice", "bob")
        opened.send(address_of("alice"), f"blackbox solo alice {PASSWORD}")
        yield opened


def faults(house: Indoors) -> list[str]:
    """The last lines of the faults on which mails were kept."""
    with house.server.database.reading.connect() as connection:
        found = connection.execute(select(inbox.c.error).where(inbox.c.state == MailState.KEPT))
        return [error.strip().rpartition("\n")[2] for (error,) in found]


def filled(line: str, number: str) -> str:
    return line.replace("{password}", PASSWORD).replace("{}", number)


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: f"{number[:6]}*{len(number)}")
def test_any_number_in_a_command_gets_an_answer(house: Indoors, number: str) -> None:
    for line in LINES:
        house.send_unread(address_of("alice"), "multiple", filled(line, number))
        house.send_unread(address_of("alice"), filled(line, number)[:900])
    assert faults(house) == []


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: f"{number[:6]}*{len(number)}")
def test_any_number_in_a_reply_gets_an_answer(house: Indoors, number: str) -> None:
    letters = house.send(address_of("alice"), f"show alice {PASSWORD} 1")
    letter = next(one for one in letters if one.reply_to.startswith("pbmserv+"))
    for line in (*LINES, "+b{}", "{},{}", "g,{}", "b{}", "undo {}", "{}: b3", "#{} b3"):
        house.reply_unread(letter, filled(line, number))
    assert faults(house) == []


@pytest.mark.slow
def test_every_command_with_a_number_in_each_place(house: Indoors) -> None:
    """Whatever a command's example has in a place, a number of 5,000 digits stands there once."""
    for row in set(BY_NAME.values()):
        words = row.example.split() if isinstance(row.example, str) else [row.name]
        for at in range(1, len(words) + 1):
            line = " ".join([*words[:at], "9" * 5_000, *words[at + 1 :]])
            house.send_unread(address_of("alice"), "multiple", line)
    assert faults(house) == []
