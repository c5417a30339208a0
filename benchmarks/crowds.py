"""Clients that only sit there, and mails that lead to nothing: does a game go on meanwhile?

`python -m benchmarks.crowds` starts a server that may open 1,024 files, fills its ports from
addresses in 127.0.0.0/8 and prints what a stranger, a reader of the pages and our own mail server
meet then; at last what the inbox grows by in an hour of mails from one network.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import signal
import smtplib
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from email.utils import make_msgid
from pathlib import Path
from time import perf_counter, sleep
from types import TracebackType
from typing import Self

OPEN_FILES = 1024
"""What the server may open: a usual limit of a login."""
ADDRESS = "pbmserv@games.example"
PLAYER = "alice@players.example"
PATIENCE_S = 5.0
"""For each reply; a mail server has more, a reader of a page has less."""
WATCHED_S = 10
"""For how long the log is watched while the crowd is there."""
AN_HOUR = 1200
"""Mails that are taken from one network in an hour."""
MAIL_OCTETS = 1_048_000

NETWORK_OF_OURS = "127.0.0.1"
STRANGER = "127.0.30.1"
READER = "127.0.31.1"
CELLS = [f"{column}{row}" for row in range(1, 9) for column in "abcdefgh"]
"""Of a box of 8x8: a marker in each is a move."""


class Serving:
    """`pbmserv serve` with every port that there is, and few files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        settings = {
            "DATA_DIR": str(folder),
            "SMTP": "127.0.0.1:0",
            "LMTP": f"127.0.0.1:{_free_port()}",
            "WEB": f"127.0.0.1:{_free_port()}",
            "ADDRESS": ADDRESS,
            "SIGNUP": "open",
            "SENDER_CHECKS": "off",
        }
        self.lmtp = int(settings["LMTP"].rpartition(":")[2])
        self.web = int(settings["WEB"].rpartition(":")[2])
        theirs = {k: v for k, v in os.environ.items() if not k.startswith("PBMSERV_")}
        self._log = (folder / "log").open("a")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pbmserv", "serve"],
            env=theirs | {f"PBMSERV_{name}": value for name, value in settings.items()},
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            preexec_fn=_few_files,  # noqa: PLW1509 - there are no threads here
        )
        self.smtp = 0
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.search(r"SMTP \S*?:(\d+)", line):
                self.smtp = int(found[1])
            if line == "ready\n":
                return
        raise RuntimeError((folder / "log").read_text())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._log.close()

    @property
    def logged(self) -> int:
        """Octets in the log."""
        return (self.folder / "log").stat().st_size

    @property
    def files(self) -> int:
        """How many the server has open."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))  # noqa: PTH208

    def asks(self, question: str) -> int:
        """One number out of the database."""
        with sqlite3.connect(self.folder / "pbmserv.sqlite3", timeout=30) as connection:
            return int(connection.execute(question).fetchone()[0] or 0)

    @property
    def octets(self) -> int:
        """What the database takes on the disk."""
        return sum(file.stat().st_size for file in self.folder.glob("pbmserv.sqlite3*"))


def _few_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def sits(port: int, sources: Sequence[str], number: int) -> list[socket.socket]:
    """Connections that say nothing, from these addresses in turn; the kernel may keep some back."""
    found = []
    for n in range(number):
        client = socket.socket()
        client.bind((sources[n % len(sources)], 0))
        client.setblocking(False)
        client.connect_ex(("127.0.0.1", port))
        found.append(client)
    sleep(1)
    return found


@contextmanager
def limits(port: int, sources: Sequence[str], number: int) -> Iterator[None]:
    """So many of them, as long as this lasts; whoever is sent away comes again at once."""
    sitting = sits(port, sources, number)
    try:
        yield
    finally:
        for client in sitting:
            client.close()
        sleep(1)


def page(serving: Serving, source: str = READER) -> str:
    """What a reader of the front page gets: the status, or what went wrong."""
    try:
        with socket.create_connection(("127.0.0.1", serving.web), PATIENCE_S, (source, 0)) as one:
            one.sendall(b"GET / HTTP/1.1\r\nHost: games.example\r\nConnection: close\r\n\r\n")
            return one.recv(4096).decode("latin-1").partition("\r\n")[0] or "hung up"
    except OSError as error:
        return type(error).__name__


def begin_game(serving: Serving) -> None:
    """A player, and a board of hers on which she will set a marker with each mail."""
    for subject in ("signup alice secret", "blackbox solo alice -size=8x8 -atoms=4"):
        said = sent(serving, serving.smtp, STRANGER, PLAYER, mail(PLAYER, subject, b""))
        if not said.startswith("250"):
            raise RuntimeError(said)


def move(serving: Serving, port: int, source: str) -> str:
    """A player's move by SMTP or LMTP: the reply, or what went wrong."""
    cell = CELLS[serving.asks("SELECT count(*) FROM plies") % len(CELLS)]
    raw = mail(PLAYER, f"blackbox move 1 alice secret +{cell}", b"")
    return sent(serving, port, source, PLAYER, raw)


def mail(sender: str, subject: str, body: bytes) -> bytes:
    """A mail that nobody has sent before."""
    own = make_msgid(domain="players.example")
    head = f"From: {sender}\r\nSubject: {subject}\r\nMessage-ID: {own}\r\n\r\n"
    return head.encode() + body


def sent(serving: Serving, port: int, source: str, sender: str, raw: bytes) -> str:
    """One mail in a session of its own: the server's last word, or what went wrong."""
    client = smtplib.LMTP if port == serving.lmtp else smtplib.SMTP
    try:
        with client("127.0.0.1", port, "client.example", source_address=(source, 0)) as session:
            session.ehlo()
            session.mail(sender)
            code, words = session.rcpt(ADDRESS)
            if code == 250:
                code, words = session.data(raw)
            return f"{code} {words.decode()}"
    except (OSError, smtplib.SMTPException) as error:
        return f"{type(error).__name__}: {error}"


def tried(times: int, attempt: Callable[[], str], good: str) -> str:
    """How many attempts went well, how long the slowest took, and what the others met."""
    began, slowest, well, other = perf_counter(), 0.0, 0, {""}
    for _ in range(times):
        said = attempt()
        slowest = max(slowest, perf_counter() - began)
        began = perf_counter()
        well += good in said
        other |= {""} if good in said else {said[:70]}
    more = "; ".join(sorted(other - {""}))
    return f"{well} of {times} (slowest {slowest:.2f} s){': ' + more if more else ''}"


def looks(serving: Serving, what: str, before: int) -> None:
    """Print what goes on while a crowd is there; *before* it the log had so many octets."""
    print(f"{what}:")
    print(f"  files that the server has open: {serving.files} of {OPEN_FILES}")
    print(f"  a page for a reader:            {tried(10, lambda: page(serving), ' 200 ')}")
    doors = (
        ("a stranger's mail by SMTP:      ", serving.smtp, STRANGER),
        ("our mail server's by SMTP:      ", serving.smtp, NETWORK_OF_OURS),
        ("our mail server's by LMTP:      ", serving.lmtp, NETWORK_OF_OURS),
    )
    for name, port, source in doors:
        print(f"  {name}{tried(5, lambda p=port, s=source: move(serving, p, s), '250 ')}")
    moves = serving.asks("SELECT count(*) FROM plies")
    print(f"  moves that are on the board:    {moves} of {5 * len(doors)}")
    sleep(WATCHED_S)
    print(f"  octets of log meanwhile:        {serving.logged - before:,}", flush=True)


def hour(serving: Serving, number: int) -> None:
    """Print what an hour of mails from one network leaves behind; *number* of them are sent."""
    before = serving.octets
    filler = b"x" * 76 + b"\r\n"
    taken = 0
    for n in range(number):
        sender = f"nobody{n % 20}@elsewhere.example"
        raw = mail(sender, f"nonsense {n}", filler * ((MAIL_OCTETS - 200) // len(filler)))
        taken += sent(serving, serving.smtp, "127.0.40.1", sender, raw).startswith("250")
    kept = serving.asks("SELECT sum(length(raw)) FROM inbox")
    scale = AN_HOUR / max(taken, 1)
    print(f"mails of {MAIL_OCTETS:,} octets that lead to nothing: {taken} of {number} taken")
    print(f"  kept of their text in an hour:  {kept * scale:,.0f} octets")
    print(f"  on the disk in an hour:         {(serving.octets - before) * scale:,.0f} octets")


def main() -> None:
    """All of it, one after the other, each with a server of its own."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crowds", description=__doc__)
    parser.add_argument("--mails", type=int, default=120, help="sent, of the 1,200 of an hour")
    mails = parser.parse_args().mails
    socket.setdefaulttimeout(PATIENCE_S)
    one = ["127.0.9.1"]
    five = [f"127.0.{20 + n}.{m}" for m in range(1, 13) for n in range(5)]
    many = [f"127.{n}.{m}.1" for m in range(30) for n in range(1, 11)]
    crowds = (
        ("250 idle connections to the pages from one network", "web", one, 250),
        ("1,100 idle connections to the pages from one network", "web", one, 1100),
        ("1,100 idle connections to the pages from 300 networks", "web", many, 1100),
        ("300 idle SMTP sessions from five networks", "smtp", five, 300),
        ("1,100 idle SMTP sessions from 300 networks", "smtp", many, 1100),
    )
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pbmserv-crowds-")))
        for number, (what, port, sources, size) in enumerate(crowds):
            own = folder / str(number)
            own.mkdir()
            with Serving(own) as serving:
                begin_game(serving)
                before = serving.logged
                with limits(getattr(serving, port), sources, size):
                    looks(serving, what, before)
        own = folder / "inbox"
        own.mkdir()
        with Serving(own) as serving:
            hour(serving, mails)


if __name__ == "__main__":
    main()
