"""The HTML of a letter in a text browser, as mutt shows it to those who ask for it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from indoors import PASSWORD, address_of, indoors

from pbmserv.drawing.html import letter_blocks
from pbmserv.game import Grid
from pbmserv.games.hex import GAME as HEX
from pbmserv.testing.server import server

ALICE, BOB = map(address_of, ("alice", "bob"))


def seen_in_w3m(html: str) -> str:
    """Return a page of HTML as text."""
    program = shutil.which("w3m")
    if program is None:
        pytest.skip("NOT RUN: w3m is not installed here (.ci/run installs it when it can)")
    done = subprocess.run(
        [program, "-dump", "-cols", "80", "-T", "text/html", "-O", "UTF-8", "-I", "UTF-8"],
        input=html.encode(),
        capture_output=True,
        check=True,
    )
    return done.stdout.decode()


def test_the_facts_of_a_board_are_legible(tmp_path: Path) -> None:
    with indoors(tmp_path) as house:
        house.sign_up("alice", "bob")
        house.send(ALICE, "blackbox challenge alice bob")
        house.send(ALICE, f"blackbox move 1 alice {PASSWORD} b3,d3,a1,f2")
        house.send(BOB, f"blackbox move 1 bob {PASSWORD} c3,b5,e5,g6")
        house.send(ALICE, f"blackbox move 1 alice {PASSWORD} a,+c3,!d4")
        (letter, _) = sorted(
            house.send(BOB, f"blackbox move 1 bob {PASSWORD} 3,+b2"),
            key=lambda letter: letter.recipient,
        )
    shown = seen_in_w3m(letter.html)
    lines = [line.replace("\u2502", "|").split("|") for line in shown.splitlines()]
    cells = [[cell.strip(" \u00a0\u2503") for cell in line] for line in lines]
    flat = "\n".join(" ".join(filter(None, line)) for line in cells)
    for fact in (
        "Your move on board 1",
        "bob fired port 3: hit (#).",
        "What bob has found out",
        "1 ray, 1 marker, 3 guesses left.",
        "B C D E F G",
        "H I J K L M N",
    ):
        assert fact in flat, shown
    for row in (1, 2, 5, 6, 7):
        (line,) = [line for line in flat.splitlines() if line.split()[:1] == [str(row)]]
        assert line.split()[1:] == [*(f"{column}{row}" for column in "ABCDEFG"), str(row + 7)]
    assert "<" not in shown.replace("<<", "")


def test_each_row_of_hexes_is_shifted_by_half_a_cell() -> None:
    with server(HEX) as mails:
        mails.challenge("hex", ["alice", "bob"], "-size=13")
        mails.reply(mails.newest(ALICE), "c3")
        shown = seen_in_w3m(mails.newest(BOB).html)
    assert_rows_are_shifted_evenly(shown, 13)


def test_rows_of_hexes_are_shifted_evenly_if_the_first_one_has_a_long_name() -> None:
    grid = Grid(["." * 11] * 11, shape="hexes")
    (block,) = letter_blocks([grid], ["alice", "bob"], 1, [], None, turned=True)
    assert 'colspan="-' not in block.rows
    shown = seen_in_w3m(f'<table border="0" cellspacing="0">{block.rows}</table>')
    assert_rows_are_shifted_evenly(shown, 11)


def assert_rows_are_shifted_evenly(shown: str, size: int) -> None:
    rows = [
        [at for at, sign in enumerate(line) if sign in "\u00b7\u25cf"]
        for line in shown.splitlines()
        if line.split()[:1] and line.split()[0].isdecimal()
    ]
    half = (rows[0][1] - rows[0][0]) // 2
    first = rows[0][0]
    assert rows == [
        [first + half * (2 * column + row) for column in range(size)] for row in range(size)
    ], shown
