"""The floor under lines 1, 3 and 5: the same processes and durable writes, and nothing else.

A mail is one row and a commit that waits for the disk (the door), another row and commit in another
file (play), and two letters of 32 kB to a relay (post). Nobody reads, checks or makes anything: no
headers, no rules, no board, no template. Mails are read as our door reads them, all lines at once.
`python -m benchmarks.floor` prints it, on the disk and in memory.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Any

from benchmarks import servers
from benchmarks.bare import serve
from benchmarks.smtp import Mail, Session, connected, send_all, sinking
from benchmarks.table import Line, printed, told
from pbmserv.smtpd.protocol import StrictSmtp

LETTER = b"x" * 76 + b"\r\n"
LINES = 420
"""32 kB, as a letter with text, HTML and both boards."""
MAIL = Mail(
    "alice@players.example",
    "games@games.example",
    b"From: alice@players.example\r\nSubject: Your move\r\n\r\n"
    + (b"> a line of the board that this answers, forty\r\n" * 18)
    + b".\r\n",
)
"""As many octets and lines as a mail of `moves` has: bare aiosmtpd waits for each line."""
SESSIONS = (1, 10, 50)
PAUSE_S = 0.01
MOST = 65_536
"""Octets of a ring, one for each mail."""


def _opened(path: str, name: str) -> sqlite3.Connection:
    """A store as ours are: WAL, each commit waits for the disk."""
    store = sqlite3.connect(f"{path}-{name}", isolation_level=None)
    store.execute("PRAGMA journal_mode=WAL")
    store.execute("PRAGMA synchronous=FULL")
    store.execute("CREATE TABLE IF NOT EXISTS mails (id INTEGER PRIMARY KEY, raw BLOB)")
    return store


def _store(store: sqlite3.Connection, mails: list[bytes]) -> None:
    store.execute("BEGIN IMMEDIATE")
    for raw in mails:
        store.execute("INSERT INTO mails (raw) VALUES (?)", (raw,))
    store.execute("COMMIT")


class Door:
    """Stores what has come together in one commit, answers, and rings."""

    def __init__(self, path: str) -> None:
        self._store = _opened(path, "door")
        self._waiting: list[tuple[bytes, asyncio.Future[str]]] = []
        self._bell = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._bell.setblocking(False)
        self._path = f"{path}-play"
        self._untold = 0

    async def handle_MAIL(self, *arguments: Any) -> str:  # noqa: N802 - named like aiosmtpd's hooks
        """Take any sender."""
        _, _, envelope, envelope.mail_from, _ = arguments
        return "250 2.1.0 ok"

    async def handle_RCPT(self, *arguments: Any) -> str:  # noqa: N802 - named like aiosmtpd's hooks
        """Take any recipient."""
        _, _, envelope, address, _ = arguments
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 ok"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802 - named like aiosmtpd's hooks
        """Reply 250 after the commit."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._commit)
        done: asyncio.Future[str] = loop.create_future()
        self._waiting.append((envelope.content, done))
        return await done

    def _commit(self) -> None:
        group, self._waiting = self._waiting, []
        _store(self._store, [raw for raw, _ in group])
        for _, done in group:
            done.set_result("250 2.0.0 taken")
        asyncio.get_running_loop().call_soon(self._ring, len(group))

    def _ring(self, count: int) -> None:
        """Tell play of so many mails; a full socket takes few, and hears of all a moment later."""
        self._untold += count
        try:
            self._bell.sendto(b"!" * self._untold, self._path)
            self._untold = 0
        except BlockingIOError:
            asyncio.get_running_loop().call_later(PAUSE_S / 10, self._ring, 0)
        except OSError:  # the door is measured alone
            return


def _listening(path: str) -> socket.socket:
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    bound.bind(path)
    return bound


def play(path: str) -> None:
    """Notes each mail as done, durably, and rings post."""
    store, ring = _opened(path, "game"), _listening(f"{path}-play")
    bell = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    print("ready", flush=True)
    while True:
        count = len(ring.recv(MOST))
        ring.setblocking(False)
        try:
            while count < 64:
                count += len(ring.recv(MOST))
        except BlockingIOError:
            pass
        ring.setblocking(True)
        _store(store, [b"done"] * count)
        for _ in range(count):
            bell.sendto(b"!", f"{path}-post")


def post(path: str, port: int) -> None:
    """Sends two letters for each mail over one kept-open session."""
    ring = _listening(f"{path}-post")
    relay = socket.create_connection(("127.0.0.1", port))
    relay.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    replies = relay.makefile("rb")
    replies.readline()
    print("ready", flush=True)
    while True:
        ring.recv(1)
        for _ in range(2):
            relay.sendall(b"MAIL FROM:<>\r\nRCPT TO:<bob@players.example>\r\nDATA\r\n")
            for _ in range(3):
                replies.readline()
            relay.sendall(LETTER * LINES + b".\r\n")
            replies.readline()


@contextmanager
def _stage(name: str, *arguments: str) -> Iterator[int]:
    """One of the processes above, once it is ready; its port, if it has one."""
    command = [sys.executable, "-m", "benchmarks.floor", name, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    port = 0
    try:
        for line in process.stdout:
            port = int(line.rpartition(":")[2]) if "SMTP" in line else port
            if line == "ready\n":
                break
        yield port
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _accepted(path: str, rounds: int, mails: int) -> list[Line]:
    """The floor of line 1: one row and one commit, against bare aiosmtpd."""
    lines = []
    with servers.bare() as bare, _stage("door", path) as port:
        for sessions in SESSIONS:
            count = mails // 3 if sessions == 1 else mails
            ratios = []
            for _ in range(rounds):
                shares = [[MAIL] * (count // sessions)] * sessions
                theirs, ours = (send_all(one, shares) for one in (bare.port, port))
                ratios.append(theirs / ours)
            what = f"floor of line 1, sessions: {sessions}"
            lines.append(told(what, f"{median(ratios):.2f} B"))
    return lines


async def _moves(path: str, mails: int) -> list[Line]:
    """The floors of lines 5 and 3."""
    letters: asyncio.Queue[float] = asyncio.Queue()
    async with sinking(lambda _: letters.put_nowait(perf_counter())) as relay:
        with ExitStack() as stack:
            bare = stack.enter_context(servers.bare())
            stack.enter_context(_stage("play", path))
            port = stack.enter_context(_stage("door", path))
            # It waits for the sink's greeting, which this loop says.
            post = _stage("post", path, str(relay))
            await asyncio.to_thread(stack.enter_context, post)
            theirs, ours = await connected(bare.port), await connected(port)
            firsts = []
            for _ in range(mails):
                await asyncio.sleep(PAUSE_S)
                await theirs.send([MAIL])
                await asyncio.sleep(PAUSE_S)
                await ours.send([MAIL])
                firsts.append(await letters.get() - ours.dialog.dot_at)
                await letters.get()
            lines = _latencies(theirs, ours, firsts)
            theirs.close()
            ours.close()
            lines.append(await _both_letters(bare.port, port, letters, mails))
    return lines


def _latencies(theirs: Session, ours: Session, firsts: list[float]) -> list[Line]:
    bare, p99 = median(theirs.dialog.waits), quantiles(theirs.dialog.waits, n=100)[98]
    found = {
        "dot to 250, p50": (median(ours.dialog.waits), bare),
        "dot to 250, p99": (quantiles(ours.dialog.waits, n=100)[98], p99),
        "dot to the first letter": (median(firsts), bare),
    }
    return [
        told(
            f"floor of line 5, {what}",
            f"{one / other:.1f} x bare ({one * 1000:.2f} ms, bare {other * 1000:.2f} ms)",
        )
        for what, (one, other) in found.items()
    ]


async def _both_letters(bare: int, ours: int, letters: asyncio.Queue[float], mails: int) -> Line:
    """The floor of line 3, with 10 sessions; the sink is in the client's process."""
    ratios = []
    for _ in range(3):
        rates = []
        for port in (bare, ours):
            sessions = [await connected(port) for _ in range(10)]
            begun = perf_counter()
            await asyncio.gather(*(one.send([MAIL] * (mails // 10)) for one in sessions))
            for _ in range(2 * 10 * (mails // 10) if port == ours else 0):
                await letters.get()
            rates.append(perf_counter() - begun)
            for one in sessions:
                one.close()
        ratios.append(rates[0] / rates[1])
    what = "floor of line 3, until both letters are at the relay"
    return told(what, f"{median(ratios):.2f} B")


def measure(folder: Path, rounds: int, mails: int) -> list[Line]:
    """All floors on the file system of *folder*."""
    lines = _accepted(str(folder / "accepted"), rounds, mails)
    return lines + asyncio.run(_moves(str(folder / "moves"), mails // 3))


def main() -> None:
    """On the disk, and in memory where there is some."""
    for place in (None, "/dev/shm"):
        if place is None or os.access(place, os.W_OK):
            with tempfile.TemporaryDirectory(prefix="pbmserv-floor-", dir=place) as name:
                print(f"In {Path(name).parent}, {time.strftime('%H:%M')}:")
                print(printed(measure(Path(name), 5, 600)))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["door", path]:
            asyncio.run(serve(Door(path), "floor.example", StrictSmtp))
        case ["play", path]:
            play(path)
        case ["post", path, port]:
            post(path, int(port))
        case _:
            main()
