"""Letters of other players while one player sends the heaviest mails that are allowed.

The heavy mails wait in their sender's lane, and each keeps play busy for as long as a mail may.
Others move meanwhile, one move after the other, as on an idle server (`latency`).
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from statistics import median
from time import sleep

from benchmarks import moves, servers
from benchmarks.latency import PAUSE_S, Arrivals, letter_seconds, noting
from benchmarks.smtp import Client, Mail
from benchmarks.table import Line, at_most
from tests.hostile import heavy_world
from tests.hostile.heavy_mails import HEAVY

HEAVIEST = "moves of rows and columns"
LONGEST_S = 1.0
"""Limit for the slowest letter of another player, in seconds from the dot of the move."""
OTHER_SENDER = "somebody@players.example"
BOARDS, WARM_UP = 40, 20
WAITING = 40
"""Heavy mails in the lane at the beginning; each takes a third of a second or more."""


def measure(folder: Path, count: int) -> list[Line]:
    """Compare *count* moves on an idle server with as many beside heavy mails."""
    database = folder / "heavy.sqlite3"
    games = moves.prepare(database, BOARDS)
    with heavy_world.world(folder) as world:
        order = HEAVY[HEAVIEST](world)
        sender, to = heavy_world.address("alice"), world.server.mail_domain.address
    raw = [heavy_world.mail(order.subject, order.body) + b".\r\n" for _ in range(WAITING + 1)]
    arrivals: Arrivals = SimpleQueue()
    with (
        noting(arrivals) as relay,
        servers.pbmserv(folder, database, relay) as running,
        closing(Client(running.port)) as player,
        closing(Client(running.port)) as other,
    ):
        # The first one is of another sender; the server compiles its templates with it.
        other.send(Mail(OTHER_SENDER, to, raw[0]))
        for _ in range(WARM_UP):
            letter_seconds(player, games, arrivals)
        while moves.waiting(database) or not moves.carried_out(database, OTHER_SENDER):
            sleep(PAUSE_S)
        idle_s = [letter_seconds(player, games, arrivals) for _ in range(count)]
        for octets in raw[1:]:
            other.send(Mail(sender, to, octets))
        beside_s = [letter_seconds(player, games, arrivals) for _ in range(count)]
        if moves.carried_out(database, sender) == WAITING:
            raise RuntimeError("the heavy mails were over before the moves")
    note = f"median {median(beside_s):.2f} s; {median(idle_s) * 1e3:.0f} ms on an idle server"
    what = "another player's letter meanwhile, slowest"
    return [at_most(what, LONGEST_S, max(beside_s), "s", note)]
