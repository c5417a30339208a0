"""The HTML of a letter in a text browser, as mutt shows it to those who ask for it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from indoors import PASSWORD, address_of, indoors

ALICE, BOB = map(address_of, ("alice", "bob"))


def test_the_facts_of_a_board_are_legible(tmp_path: Path) -> None:
    program = shutil.which("w3m")
    if program is None:
        pytest.skip("NOT RUN: w3m is not installed here (.ci/run installs it when it can)")
    with indoors(tmp_path) as server:
        server.sign_up("alice", "bob")
        server.send(ALICE, "blackbox challenge alice bob")
        server.send(ALICE, f"blackbox move 1 alice {PASSWORD} b3,d3,a1,f2")
        server.send(BOB, f"blackbox move 1 bob {PASSWORD} c3,b5,e5,g6")
        server.send(ALICE, f"blackbox move 1 alice {PASSWORD} a,+c3,!d4")
        (letter, _) = sorted(
            server.send(BOB, f"blackbox move 1 bob {PASSWORD} 3,+b2"),
            key=lambda one: one.recipient,
        )
    done = subprocess.run(
        [program, "-dump", "-cols", "80", "-T", "text/html", "-O", "UTF-8", "-I", "UTF-8"],
        input=letter.html.encode(),
        capture_output=True,
        check=True,
    )
    shown = done.stdout.decode()
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
