"""Time of one move on an idle server, as multiples of bare aiosmtpd."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from queue import SimpleQueue
from statistics import median
from time import perf_counter, sleep

from benchmarks import moves, servers
from benchmarks.smtp import Client, relaying
from benchmarks.table import Line, at_most

ACCEPTED_X, LETTER_X = 30.0, 150.0
"""Limits in times of bare: 3 and 15 ms on a machine whose bare aiosmtpd takes 0.1 ms."""
BOARDS = 100
WARM_UP = 20
PAUSE_S = 0.01
"""Pause between two moves, so that the server is idle when the next one arrives."""
PATIENCE_S = 10

Arrivals = SimpleQueue[tuple[str, float]]
"""Recipients of letters, and the moments at which the letters came."""


@contextmanager
def noting(arrivals: Arrivals) -> Iterator[str]:
    """Run a relay that notes when letters come, and yield its URL."""
    with relaying(lambda to, _: arrivals.put((to, perf_counter()))) as port:
        yield f"smtp://127.0.0.1:{port}"


def letter_seconds(client: Client, games: moves.Games, arrivals: Arrivals) -> float:
    """Make a move on an idle server, and return the seconds from its dot to the other's letter."""
    board = games.pick()
    opponent = games.player_address(board, 1 - board.seat)
    sleep(PAUSE_S)
    client.send(games.move(board))
    while True:
        to, moment = arrivals.get(timeout=PATIENCE_S)
        if to == opponent and moment > client.dot_at:
            return moment - client.dot_at


def measure(folder: Path, mails: int) -> list[Line]:
    """Measure from the final dot to the 250, and to the opponent's letter at the relay."""
    database = folder / "idle.sqlite3"
    games = moves.prepare(database, BOARDS)
    bare_mail = games.move(games.running.pop())  # bare forgets it, so one is enough
    arrivals: Arrivals = SimpleQueue()
    letter_s = []
    with (
        noting(arrivals) as relay,
        servers.bare() as bare_server,
        servers.pbmserv(folder, database, relay) as server,
        closing(Client(bare_server.port)) as to_bare,
        closing(Client(server.port)) as to_server,
    ):
        for _ in range(WARM_UP + mails):
            sleep(PAUSE_S)
            to_bare.send(bare_mail)
            letter_s.append(letter_seconds(to_server, games, arrivals))
    played = moves.plies(database) - 2 * BOARDS
    if played != mails + WARM_UP:
        raise RuntimeError(f"{mails + WARM_UP} mails were sent, but {played} moves were made")
    bare, accepted = (median(client.waits[WARM_UP:]) for client in (to_bare, to_server))
    lines = []
    for what, limit, seconds in (
        ("dot to 250 on an idle server, p50", ACCEPTED_X, accepted),
        ("dot to the opponent's letter at the relay, p50", LETTER_X, median(letter_s[WARM_UP:])),
    ):
        note = f"{seconds * 1000:.2f} ms, bare {bare * 1000:.2f} ms"
        lines.append(at_most(what, limit, seconds / bare, "x bare", note))
    return lines
