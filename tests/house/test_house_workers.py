"""Moves of the house are made once, even if several processes compute them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from indoors import Indoors, address_of, indoors

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
def test_two_processes_never_make_the_same_move_twice(database_url: str, tmp_path: Path) -> None:
    with process(database_url, tmp_path) as first, process(database_url, tmp_path) as second:
        first.sign_up("alice")
        (letter,) = first.begin(ALICE, "blackbox challenge alice house")
        for turn in range(3):
            ports = letter.text.partition("Ports not used yet:")[2].split()
            first.reply_unread(letter, ports[0] if ports else HIDING)
            begin = threading.Barrier(2)

            def think(house: Indoors, begin: threading.Barrier = begin) -> None:
                begin.wait(60)
                house.server.bot_worker.run_once()

            with ThreadPoolExecutor(2) as pool:
                list(pool.map(think, (first, second)))
            (letter,) = first.letters()
            assert record(first) == [1, 0, *(0, 1) * turn]
