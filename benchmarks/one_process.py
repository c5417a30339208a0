"""What line 5 could be without processes that wake each other: the same work, done by one.

A move comes after a pause, as in `latency`; its mail is stored and carried out, and the opponent's
letter claimed, made, kept and delivered, step by step and in memory. What comes of it has no ring,
no question and no disk in it; those are in the floor. `python -m benchmarks.one_process` prints it.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks import servers
from benchmarks.latency import PAUSE_S
from benchmarks.letters import Mill
from benchmarks.smtp import connected
from benchmarks.table import Line, printed, told
from pbmserv.mail.envelope import Envelope
from pbmserv.outbound.outbox import Sent
from pbmserv.outbound.sender import BATCH

WARM_UP = 300
"""Moves that teach it the ways through its templates."""


def measure(moves: int) -> list[Line]:
    """What each part takes, and all of it as multiples of bare aiosmtpd."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with (
        tempfile.TemporaryDirectory(prefix="pbmserv-one-", dir=place) as name,
        servers.sink() as relay,
        servers.bare() as bare,
    ):
        mill = Mill(Path(name), relay.url)
        mill.play(WARM_UP)
        mill.send()
        waits, took = asyncio.run(_moves(mill, bare.port, moves))
        mill.server.close()
    ms = {part: median(seconds) * 1000 for part, seconds in took.items()}
    theirs, ours = median(waits) * 1000, sum(ms.values())
    inside = ", ".join(f"{part} {one:.2f}" for part, one in ms.items())
    return [
        told(
            "work of line 5, opponent's letter, in one process in memory",
            f"{ours / theirs:.1f} x bare ({ours:.2f} ms: {inside})",
        )
    ]


async def _moves(mill: Mill, bare: int, moves: int) -> tuple[list[float], dict[str, list[float]]]:
    """Seconds of each move: at bare from the dot to the 250, and of ours by part."""
    server, took = mill.server, defaultdict[str, list[float]](list)
    theirs = await connected(bare)
    for mail in mill.games.shares(1, moves)[0]:
        await asyncio.sleep(PAUSE_S)
        await theirs.send([mail])
        await asyncio.sleep(PAUSE_S)
        envelope = Envelope(mail.sender, mail.recipient, mail.raw)
        marks = [perf_counter()]
        reply = await server.door.arrives(envelope, is_counted=False)
        marks.append(perf_counter())
        server.play_stage.play.run_until_idle()
        marks.append(perf_counter())
        rows = server.outbox.claim(BATCH)
        marks.append(perf_counter())
        (letter,) = server.outbox.make(rows[:1])
        marks.append(perf_counter())
        server.post_stage.relay.deliver(letter)
        marks.append(perf_counter())
        parts = ("stored", "carried out", "claimed", "made and kept", "delivered")
        for part, begun, ended in zip(parts, marks, marks[1:], strict=False):
            took[part].append(ended - begun)
        for letter in server.outbox.make(rows[1:]):
            server.post_stage.relay.deliver(letter)
        server.outbox.settle([Sent(row.id) for row in rows])
        server.door_stage.run_once()
        if not reply.startswith("250") or len(rows) != 2:
            raise RuntimeError(f"{reply}, {len(rows)} letters")
    waits = theirs.dialog.waits
    theirs.close()
    return waits, took


if __name__ == "__main__":
    print(printed(measure(400)))
