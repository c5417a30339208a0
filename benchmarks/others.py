"""Side by side with what a person would use instead: mails accepted, as ratios to bare aiosmtpd.

None of these plays a game. Postfix keeps a mail on the disk, then throws it away; a process for
each mail adds a row to SQLite (`each.py`); Mailman answers commands (`mailman.py`). What is not
installed is not run, and the table says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks import mailman, moves, servers
from benchmarks.net import free_port, wait_for
from benchmarks.smtp import send_all
from benchmarks.table import Line, told

SESSIONS = 10
BOARDS = 400
WARM_UP = 100
SLOW = 10
"""A process for each mail gets so much fewer of them, so that its rounds are not minutes."""

_MAIN = """
compatibility_level = 3.6
queue_directory = {folder}/spool
data_directory = {folder}/data
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
myhostname = mx.bench.example
mydestination =
alias_maps =
alias_database =
default_transport = discard:
smtpd_relay_restrictions = permit_mynetworks, reject
"""
_MASTER = """
127.0.0.1:{port} inet n - n - - smtpd
cleanup  unix n - n - 0 cleanup
qmgr     unix n - n 300 1 qmgr
rewrite  unix - - n - - trivial-rewrite
bounce   unix - - n - 0 bounce
defer    unix - - n - 0 bounce
trace    unix - - n - 0 bounce
proxymap unix - - n - - proxymap
anvil    unix - - n - 1 anvil
discard  unix - - n - - discard
"""


@dataclass(slots=True)
class Contender:
    """A server and what it did.

    Attributes:
        part: of a round's mails that it is sent.
        rates: mails a second, of each round.
    """

    what: str
    port: int
    games: moves.Games
    part: float = 1.0
    rates: list[float] = field(default_factory=list)

    def round(self, mails: int) -> None:
        """Send it a round."""
        shares = self.games.shares(SESSIONS, max(SESSIONS, int(mails * self.part)))
        seconds = send_all(self.port, shares)
        self.rates.append(sum(map(len, shares)) / seconds)


def measure(folder: Path, rounds: int, mails: int) -> list[Line]:
    """All that can be run here, with our door among them, round by round in turns."""
    lines: list[Line] = []
    with ExitStack() as stack:
        games = [moves.prepare(folder / f"other-{n}.sqlite3", BOARDS) for n in range(4)]
        bare = Contender("", stack.enter_context(servers.bare()).port, games[0])
        door = stack.enter_context(servers.stage(folder, folder / "other-1.sqlite3", "door"))
        each = stack.enter_context(servers.process_for_each(folder / "each.sqlite3"))
        others = [
            Contender("our door, on the disk at the 250", door.port, games[1]),
            Contender("a process for each mail (Python, a row in SQLite)", each.port, games[2]),
        ]
        others[1].part = 1 / SLOW
        if missing := _why_no_postfix():
            lines.append(told("Postfix, to discard:", f"NOT RUN: {missing}"))
        else:
            port = stack.enter_context(_postfix())
            others.append(Contender("Postfix, on the disk, then to discard:", port, games[3]))
        for one in (bare, *others):
            one.round(WARM_UP)
            one.rates.clear()
        for _ in range(rounds):
            for one in (bare, *others):
                one.round(mails)
        rate = median(bare.rates)
        for one in others:
            ratio = median(a / b for a, b in zip(one.rates, bare.rates, strict=True))
            note = f"{ratio:.3f} B ({median(one.rates):,.0f}/s of {rate:,.0f}/s)"
            lines.append(told(f"10 sessions: {one.what}", note))
    return lines + mailman.measure(rate, mails // 4)


def _why_no_postfix() -> str:
    """Why it cannot be run here; ``""``: it can."""
    if shutil.which("postfix", path="/usr/sbin:/usr/bin:/sbin:/bin") is None:
        return "it is not installed (Debian: apt install postfix)"
    return "" if os.geteuid() == 0 else "only root can start it"


@contextmanager
def _postfix() -> Iterator[int]:
    """The port of a Postfix with files of its own."""
    program = shutil.which("postfix", path="/usr/sbin:/usr/bin:/sbin:/bin")
    with tempfile.TemporaryDirectory(prefix="pbmserv-postfix-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # its user must be able to enter it
        for one in ("etc", "spool", "data"):
            (folder / one).mkdir()
        shutil.chown(folder / "data", "postfix")
        port = free_port()
        (folder / "etc" / "main.cf").write_text(_MAIN.format(folder=folder))
        (folder / "etc" / "master.cf").write_text(_MASTER.format(port=port))
        command = [str(program), "-c", str(folder / "etc")]
        subprocess.run([*command, "start"], check=True, capture_output=True)
        try:
            wait_for(port)
            yield port
        finally:
            subprocess.run([*command, "stop"], check=False, capture_output=True)
