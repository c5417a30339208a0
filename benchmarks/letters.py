"""Line 4: processor time of one letter, by its parts, against a mail at bare aiosmtpd.

Both letters of each move: text and HTML with both boards, as players get them. All stages are in
this process, and nothing runs beside; the relay (`sink.py`) and bare aiosmtpd have processes of
their own. Letters and bare mails take turns, round by round.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any
from unittest.mock import patch

from benchmarks import moves, servers
from benchmarks.moves import DOMAIN, LOCAL
from benchmarks.smtp import Mail, send_all
from benchmarks.table import Line, at_most, printed, told
from pbmserv.config.settings import load
from pbmserv.mail.envelope import Envelope
from pbmserv.outbound.outbox import Sent
from pbmserv.outbound.sender import BATCH
from tests.one_process import Server

MADE = 2.0
DELIVERED = 0.5
"""What is asked, in what bare aiosmtpd takes for a mail."""
BOARDS = 300
WARM_UP = 4
"""Rounds before the first that counts: templates are compiled then, and most of the dozen ways
through them learnt, 10 ms each, which a server does once."""


class Mill:
    """A server with letters to make; what each part of the work took.

    Attributes:
        took: seconds of processor time by part, of all letters since they were last taken.
    """

    def __init__(self, folder: Path, relay: str, **settings: str) -> None:
        self.games = moves.prepare(folder / "letters.sqlite3", BOARDS)
        loaded = load(
            {
                "PBMSERV_DATA_DIR": str(folder),
                "PBMSERV_DATABASE": f"sqlite:///{folder}/letters.sqlite3",
                "PBMSERV_ADDRESS": f"{LOCAL}@{DOMAIN}",
                "PBMSERV_RELAY": relay,
                "PBMSERV_SENDER_CHECKS": "off",
                "PBMSERV_RATE_PLAYER": "",
                "PBMSERV_RATE_ADDRESS": "",
                "PBMSERV_RATE_ANSWERS": "",
                **settings,
            },
            None,
        )
        self.server = Server(loaded.settings)
        self.took: defaultdict[str, float] = defaultdict(float)
        self.sizes: list[int] = []
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)  # as `serve` does
        rows = self.server.play_stage.rows
        patch.object(rows, "keep", self._timed("kept", rows.keep)).start()

    def play(self, count: int) -> list[Mail]:
        """So many moves, carried out; two letters of each wait. Their mails."""
        loop = asyncio.new_event_loop()
        mails = self.games.shares(1, count)[0]
        for mail in mails:
            envelope = Envelope(mail.sender, mail.recipient, mail.raw)
            reply = loop.run_until_complete(self.server.door.arrives(envelope, is_counted=False))
            if not reply.startswith("250"):
                raise RuntimeError(reply)
            self.server.settle()
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
        return mails

    def send(self) -> int:
        """All letters that wait, from claim to settled; how many they were."""
        outbox, relay, count = self.server.outbox, self.server.post_stage.relay, 0
        claim = self._timed("claimed", outbox.claim)
        make = self._timed("made and kept", outbox.make)
        settle = self._timed("settled", outbox.settle)
        deliver = self._timed("delivered", relay.deliver)
        while claimed := claim(BATCH):
            made = make(claimed)
            self.sizes += [len(letter.raw) for letter in made]
            for letter in made:
                deliver(letter)
            settle([Sent(row.id) for row in claimed])
            count += len(claimed)
        return count

    def _timed(self, part: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any) -> Any:
            begun = process_time()
            try:
                return work(*arguments)
            finally:
                self.took[part] += process_time() - begun

        return timed


def measure(folder: Path, rounds: int, mails: int, **settings: str) -> list[Line]:
    """All of line 4."""
    parts: dict[str, list[float]] = {}
    yardstick = []
    with ExitStack() as stack:
        relay, bare = stack.enter_context(servers.sink()), stack.enter_context(servers.bare())
        mill = Mill(folder, relay.url, **settings)
        stack.callback(mill.server.close)
        for number in range(rounds + WARM_UP):
            played = mill.play(mails)
            before = processor(bare.process.pid)
            send_all(bare.port, [played[n::10] * 2 for n in range(10)])
            taken = processor(bare.process.pid) - before
            mill.took.clear()
            count = mill.send()
            if count != 2 * mails:
                raise RuntimeError(f"{mails} moves, but {count} letters")
            if number >= WARM_UP:
                yardstick.append(taken / (2 * mails))
                for part, seconds in by_part(mill.took).items():
                    parts.setdefault(part, []).append(seconds / count)
    ratio = {
        part: median(a / b for a, b in zip(found, yardstick, strict=True))
        for part, found in parts.items()
    }
    us = {part: median(found) * 1e6 for part, found in parts.items()}
    bare_us = median(yardstick) * 1e6
    size = f"letters of {sum(mill.sizes) / len(mill.sizes) / 1000:,.1f} kB"
    inside = ", ".join(f"{part} {us[part]:,.0f}" for part in ("claimed", "made", "kept", "settled"))
    note = f"{us['all']:,.0f} us of {bare_us:,.0f} us"
    return [
        at_most("4", f"a letter, claimed to settled ({size})", MADE, ratio["all"], "B", note),
        told("that is in us", inside),
        at_most("4", "a letter, delivered", DELIVERED, ratio["delivered"], "B",
                f"{us['delivered']:,.0f} us"),
    ]  # fmt: skip


def by_part(took: Mapping[str, float]) -> dict[str, float]:
    """What was taken, with what is not measured by itself."""
    found = {**took, "made": took["made and kept"] - took["kept"]}
    found["all"] = took["claimed"] + took["made and kept"] + took["settled"]
    return found


def processor(pid: int) -> float:
    """Seconds that the first thread of a process has used, and its children's never."""
    return int(Path(f"/proc/{pid}/schedstat").read_text("ascii").split()[0]) / 1e9


def main() -> None:
    """Print it, or write a profile."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.letters", description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--mails", type=int, default=150)
    parser.add_argument("--profile", type=Path, help="where to write a profile (cProfile)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pbmserv-letters-") as name:
        if chosen.profile is None:
            print(printed(measure(Path(name), chosen.rounds, chosen.mails)))
        else:
            _profile(Path(name), chosen.mails, chosen.profile)


def _profile(folder: Path, mails: int, file: Path) -> None:
    import cProfile

    with servers.sink() as relay:
        mill = Mill(folder, relay.url)
        mill.play(mails)
        mill.send()
        mill.play(mails)
        profile = cProfile.Profile()
        profile.enable()
        count = mill.send()
        profile.disable()
        profile.dump_stats(file)
        print(f"{count} letters")
        mill.server.close()


if __name__ == "__main__":
    main()
