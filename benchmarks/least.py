"""`python -m benchmarks.least`: the least that lines 2 and 4 of the bar could take here.

A round of moves (or of letters) is carried out, and every statement noted that it has SQLite do.
The same statements, with the same values and commits, are then done once more on a copy of the
database as it was before, by Python's own driver and with nothing around them: no SQLAlchemy, no
mail that is read, no rules, no templates. For letters the same octets are joined from ready lines
and packed, and as many tokens signed. All in processor time, as ratios to what bare aiosmtpd takes
for a mail; the two take turns.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, Self
from unittest.mock import patch

from sqlalchemy import Engine, event

from benchmarks import cost, letters, moves, servers
from benchmarks.letters import Mill
from benchmarks.smtp import send_all
from pbmserv.mail.reply_address import KeyRing, Purpose, ReplyAddress
from pbmserv.store.delivery.outbox import QueuedLetter
from pbmserv.store.tables.columns import pack

MAILS = 150


_noting: list[Noted] = []


class Noted:
    """What each connection to a store has SQLite do, in order, while it is entered."""

    def __init__(self, store: Path) -> None:
        self.done: defaultdict[int, list[tuple[str, Sequence[Any]]]] = defaultdict(list)
        self._store = store
        self._is_ours: dict[int, bool] = {}

    def __enter__(self) -> Self:
        _noting.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _noting.remove(self)

    def note(self, driver: sqlite3.Connection, text: str, values: Sequence[Any]) -> None:
        """One statement."""
        if id(driver) not in self._is_ours:
            file = sqlite3.Cursor(driver).execute("PRAGMA database_list").fetchone()[2]
            self._is_ours[id(driver)] = Path(file) == self._store
        if self._is_ours[id(driver)]:
            self.done[id(driver)].append((text, values))


class _NotedCursor(sqlite3.Cursor):
    def execute(self, text: str, values: Any = ()) -> Self:
        for noted in _noting:
            noted.note(self.connection, text, values)
        return super().execute(text, values)

    def executemany(self, text: str, each: Iterable[Any]) -> Self:
        rows = list(each)
        for noted in _noting:
            for values in rows:
                noted.note(self.connection, text, values)
        return super().executemany(text, rows)


class _Driver(sqlite3.Connection):
    def cursor(self, factory: Any = sqlite3.Cursor) -> Any:
        return super().cursor(_NotedCursor if _noting else factory)

    def execute(self, text: str, values: Any = ()) -> sqlite3.Cursor:
        found: sqlite3.Cursor = self.cursor().execute(text, values)
        return found

    def executemany(self, text: str, each: Iterable[Any]) -> sqlite3.Cursor:
        found: sqlite3.Cursor = self.cursor().executemany(text, each)
        return found


@event.listens_for(Engine, "do_connect")
def _make_noted(_dialect: Any, _record: Any, _arguments: Any, named: dict[str, Any]) -> None:
    named["factory"] = _Driver


def copied(store: Path) -> Path:
    """A database as it is now."""
    copy = store.with_suffix(".copy")
    for old in store.parent.glob(f"{copy.name}*"):
        old.unlink()
    with closing(sqlite3.connect(store)) as plain, closing(sqlite3.connect(copy)) as other:
        plain.backup(other)
        other.execute("PRAGMA journal_mode=WAL")
    return copy


def done_again(copy: Path, noted: Noted) -> float:
    """Seconds of a processor for the same statements on a copy, and nothing else."""
    with closing(sqlite3.connect(copy, isolation_level=None)) as driver:
        driver.execute("PRAGMA synchronous=FULL")
        begun = process_time()
        for statements in noted.done.values():
            for text, values in statements:
                if driver.in_transaction and text.startswith("BEGIN"):
                    driver.rollback()  # it has only read, and was given back
                driver.execute(text, values).fetchall()
            if driver.in_transaction:
                driver.execute("COMMIT")
        return process_time() - begun


Measured = dict[str, list[float]]
"""Seconds of a processor for one mail or letter, by what is done."""


def of_play(folder: Path, rounds: int) -> Measured:
    """A mail at bare aiosmtpd; a move in play; of that the statements alone."""
    found: Measured = defaultdict(list)
    world = cost.World(folder)
    games = moves.prepare(folder / "bare.sqlite3", cost.BOARDS)
    with servers.bare() as running:
        for number in range(rounds + 4):
            taken, played = cost.bare(running, games), world.round()
            copy = copied(folder / "cost.sqlite3")
            with Noted(folder / "cost.sqlite3") as noted:
                world.round()
            if number >= 4:  # caches are warm
                found["bare"].append(taken)
                found["a move in play"].append(played)
                found["its SQL"].append(done_again(copy, noted) / cost.MAILS)
    world.server.close()
    return found


def of_letters(folder: Path, rounds: int) -> Measured:
    """A mail at bare aiosmtpd; a letter; of that the statements, its octets and tokens alone."""
    found: Measured = defaultdict(list)
    with servers.sink() as relay, servers.bare() as running, ExitStack() as keeping:
        mill = Mill(folder, relay.url)
        made: list[bytes] = []
        prepare = mill.server.outbox.prepare

        def kept(rows: Sequence[QueuedLetter]) -> Any:
            prepared = prepare(rows)()
            made.extend(letter.raw for letter in prepared)
            return lambda: prepared

        keeping.enter_context(patch.object(mill.server.outbox, "prepare", kept))
        for number in range(rounds + 4):
            played = mill.play(MAILS)
            before = letters.processor(running.process.pid)
            send_all(running.port, [played[n::10] * 2 for n in range(10)])
            taken = letters.processor(running.process.pid) - before
            mill.took.clear()
            count = mill.send()
            whole = letters.by_part(mill.took)["all"]
            mill.play(MAILS)
            copy = copied(folder / "letters.sqlite3")
            made.clear()
            with Noted(folder / "letters.sqlite3") as noted:
                mill.send()
            if number >= 4:
                found["bare"].append(taken / count)
                found["a letter"].append(whole / count)
                found["its SQL"].append(done_again(copy, noted) / len(made))
                found["its octets"].append(joined(made) / len(made))
                found["its tokens"].append(signed(len(made), number) / len(made))
        mill.server.close()
    return found


def joined(made: Sequence[bytes]) -> float:
    """Seconds to join letters of their lines, as octets with CRLF, and to pack them."""
    lines = [raw.decode().split("\r\n") for raw in made]
    begun = process_time()
    for one in lines:
        pack("\n".join(one).encode().replace(b"\n", b"\r\n"))
    return process_time() - begun


def signed(count: int, round_: int) -> float:
    """Seconds for the three tokens of each of so many letters."""
    ring = KeyRing({1: bytes(32)})
    begun = process_time()
    for number in range(round_ * count, (round_ + 1) * count):
        ring.token(ReplyAddress(Purpose.BOARD, number, number, 7, 1))
        ring.token(ReplyAddress(Purpose.UNSUBSCRIBE, number, number, 0, 1))
        ring.token(ReplyAddress(Purpose.BOUNCE, about=number))
    return process_time() - begun


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.least", description=__doc__)
    parser.add_argument("--rounds", type=int, default=8)
    rounds = parser.parse_args().rounds
    for measure in (of_play, of_letters):
        with tempfile.TemporaryDirectory(prefix="pbmserv-least-") as name:
            found = measure(Path(name), rounds)
        for what, seconds in found.items():
            ratio = median(one / bare for one, bare in zip(seconds, found["bare"], strict=True))
            print(f"{what:16} {median(seconds) * 1e6:6.0f} us {ratio:6.2f} B")


if __name__ == "__main__":
    main()
