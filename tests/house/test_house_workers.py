"""Moves of the house survive the death of a process, and are made once even if several compute
them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from indoors import Indoors, address_of, indoors
from quiet import take
from running import Running

from pbmserv.store.boards import moves

ALICE = address_of("alice")
HIDING = "b3,d3,a1,f2"


def process(database_url: str, folder: Path) -> AbstractContextManager[Indoors]:
    """Return a server without doors and background threads."""
    return indoors(folder, database=database_url)


def record(server: Indoors) -> list[int]:
    with server.server.database.reading.connect() as connection:
        return [ply.seat for ply in moves.record(connection, 1)]


@pytest.mark.both_databases
def test_the_house_moves_after_a_restart(database_url: str, tmp_path: Path) -> None:
    with process(database_url, tmp_path) as first:
        first.sign_up("alice")
        (letter,) = first.begin(ALICE, "blackbox challenge alice house")
        (letter,) = first.reply(letter, HIDING)
        take(first, letter, "5")
        assert record(first) == [1, 0, 0]
    with process(database_url, tmp_path) as second:
        assert record(second) == [1, 0, 0]
        (letter,) = second.letters()
        assert record(second) == [1, 0, 0, 1]
        assert "* You fired port 5" in letter.text
        assert "* house fired port" in letter.text
        (letter,) = second.reply(letter, "+b2")
        assert "* You put a marker on B2." in letter.text


@pytest.mark.both_databases
def test_two_processes_never_make_the_same_move_twice(database_url: str, tmp_path: Path) -> None:
    with process(database_url, tmp_path) as first, process(database_url, tmp_path) as second:
        first.sign_up("alice")
        (letter,) = first.begin(ALICE, "blackbox challenge alice house")
        for turn in range(4):
            ports = letter.text.partition("Ports not used yet:")[2].split()
            take(first, letter, ports[0] if ports else HIDING)
            begin = threading.Barrier(2)

            def think(house: Indoors, begin: threading.Barrier = begin) -> None:
                begin.wait(60)
                house.server.bot_worker.run_once()

            with ThreadPoolExecutor(2) as pool:
                list(pool.map(think, (first, second)))
            (letter,) = first.letters()
            assert record(first) == [1, 0, *(0, 1) * turn]


def test_a_running_server_answers_within_seconds(server: Running) -> None:
    alice = server.sign_up("alice")
    server.send(alice, "blackbox challenge alice house-hard")
    server.reply(server.letter(alice), "yes")
    server.reply(server.letter(alice), HIDING)
    server.reply(server.letter(alice), "5")
    text = server.letter(alice).text
    assert "* You fired port 5" in text
    assert "* house-hard fired port" in text
