"""`python -m benchmarks.cost`: what play takes for a move, part by part, in processor time.

Replies with moves, as the door has stored them, are carried out in this process: nothing is
waited for, so what else the machine does hardly matters, least of all to the ratio to B, which is
the processor time that bare aiosmtpd takes for a mail; the two take turns. Each board is played on
several times, so that in the first rounds its record is replayed, and later it is remembered.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial, wraps
from pathlib import Path
from statistics import median
from time import process_time, thread_time
from typing import Any

from sqlalchemy.engine.default import DefaultDialect

from benchmarks import moves, servers
from benchmarks.smtp import send_all
from pbmserv.config.settings import load
from pbmserv.engine.position import Position
from pbmserv.games.blackbox.game import Blackbox
from pbmserv.mail.envelope import Envelope
from pbmserv.service.delivery.incoming import MailReader
from pbmserv.store.boards import boards
from pbmserv.store.boards import moves as plies
from pbmserv.store.delivery import arrivals, inbox, outbox
from pbmserv.store.delivery.arrivals import NewArrival
from tests.one_process import Server

BOARDS, MAILS = 900, 150
"""All boards, and those that get a mail in a round."""

PARTS: tuple[tuple[str, Any, str], ...] = (
    ("taking what has arrived", arrivals, "after"),
    ("reading", MailReader, "read"),
    ("look-ups", boards, "lock"),
    ("look-ups", plies, "record"),
    ("replaying", plies.Positions, "newest"),
    ("rules", Blackbox, "apply"),
    ("rules", Blackbox, "view"),
    ("rules", Blackbox, "parse"),
    ("rules", Position, "move"),
    ("writing plies", plies, "append"),
    ("writing letters", outbox, "add"),
    ("noting the mail", inbox, "add"),
    ("noting the mail", arrivals, "settle"),
    ("commit", DefaultDialect, "do_commit"),
    ("log", MailReader, "note_done"),
)
"""What is measured by itself, less what stands within it."""


class Clocked:
    """Processor time of parts, each without those within it."""

    def __init__(self) -> None:
        self.taken: defaultdict[str, float] = defaultdict(float)
        self._within = [0.0]

    def put_on(self, stack: ExitStack) -> None:
        """Measure until *stack* ends."""
        for part, owner, name in PARTS:
            plain = owner.__dict__[name]
            own = plain.__func__ if isinstance(plain, staticmethod) else plain
            timed = self._timed(part, own)
            setattr(owner, name, staticmethod(timed) if own is not plain else timed)
            stack.callback(setattr, owner, name, plain)

    def _timed(self, part: str, own: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(own)
        def timed(*given: Any, **named: Any) -> Any:
            self._within.append(0.0)
            begun = thread_time()
            try:
                return own(*given, **named)
            finally:
                took = thread_time() - begun
                self.taken[part] += took - self._within.pop()
                self._within[-1] += took

        return timed


class World:
    """A server with many boards in play."""

    def __init__(self, folder: Path) -> None:
        self._games = moves.prepare(folder / "cost.sqlite3", BOARDS)
        self._at = 0
        values = {
            "PBMSERV_DATA_DIR": str(folder),
            "PBMSERV_DATABASE": f"sqlite:///{folder}/cost.sqlite3",
            "PBMSERV_WEB": "",
            "PBMSERV_ADDRESS": f"{moves.LOCAL}@{moves.DOMAIN}",
            "PBMSERV_SENDER_CHECKS": "off",
        }
        self.server = Server(load(values, None).settings)
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)  # as `serve` does

    def round(self) -> float:
        """Carry out a mail for each of some boards; seconds of a processor for each."""
        begun = self._at % BOARDS
        self._at += MAILS
        new = [self._stored(one) for one in self._games.running[begun : begun + MAILS]]
        writer = self.server.door_stage.writer
        for stored in [writer.submit(partial(arrivals.add, new=arrival)) for arrival in new]:
            stored.result()
        started = process_time()
        self.server.play_stage.play.run_until_idle()
        taken = process_time() - started
        self.server.door_stage.run_once()
        return taken / MAILS

    def _stored(self, board: moves.Board) -> NewArrival:
        player = board.players[board.seat]
        mail = self._games.move(board)
        raw = mail.raw
        envelope = Envelope(mail.sender, mail.recipient, raw, "192.0.2.7", "mx.example")
        now = self.server.clock.now()
        return NewArrival("mail", envelope, f"player {player}", now, player_id=player)


def bare(running: servers.Running, games: moves.Games) -> float:
    """Seconds of a processor that bare aiosmtpd takes for a mail."""
    shares = games.shares(10, MAILS)
    before = _used(running.process.pid)
    send_all(running.port, shares)
    return (_used(running.process.pid) - before) / sum(map(len, shares))


def _used(pid: int) -> float:
    """Seconds of a processor that a process of one thread has used (Linux)."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cost", description=__doc__)
    parser.add_argument("--rounds", type=int, default=18)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="pbmserv-cost-") as name, ExitStack() as stack:
        world = World(Path(name))
        running = stack.enter_context(servers.bare())
        games = moves.prepare(Path(name) / "bare.sqlite3", BOARDS)
        pairs = [(bare(running, games), world.round()) for _ in range(rounds)][2:]
        clocked = Clocked()
        clocked.put_on(stack)
        whole = sum(world.round() for _ in range(6))
        world.server.close()
    mail, move = (median(one) * 1e6 for one in zip(*pairs, strict=True))
    least = min(move for _, move in pairs) * 1e6
    print(f"bare aiosmtpd  {mail:6.0f} us a mail")
    print(f"play           {move:6.0f} us a move (least {least:.0f})")
    print(f"               {median(one / other for one, other in pairs):6.2f} B")
    shares = {part: seconds / MAILS / whole for part, seconds in clocked.taken.items()}
    for part, share in {**shares, "all else": 1 - sum(shares.values())}.items():
        print(f"  {part:24} {share:5.0%} {share * move:6.0f} us")


if __name__ == "__main__":
    main()
