"""What a page costs in processor time, in bare Starlette's answers.

`.venv/bin/python -m benchmarks.pages` plays a game, forks a process that serves the pages and,
behind the same web server, a bare Starlette application whose answer is as long as the page; asks
them in turns over connections that stay open; and prints the median of the ratios, in processor
time of that process (all its threads). `--profile FILE` writes where a board page's time goes.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import http.client
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.config.listen import Listen
from pbmserv.net.connection_limits import ConnectionLimits
from pbmserv.net.listening import bind
from pbmserv.web.server import WebServer, bounds

ROUNDS, ASKED = 21, 60


def bare(length: int) -> Starlette:
    """An application with one answer."""
    text = "x" * length

    async def answer(_request: Request) -> Response:
        return Response(text, media_type="text/html; charset=utf-8")

    return Starlette(routes=[Route("/{path:path}", answer)])


async def serve(apps: list[Any], told: int) -> None:
    """Serve each application on a port of its own; tell the ports, then the time at SIGUSR1."""
    ports = []
    for app in apps:
        limits = ConnectionLimits("web", bounds(100, 100), ())
        server = WebServer(app, bind(Listen("127.0.0.1", 0), "PBMSERV_WEB"), limits)
        ports.append((await server.start())[1])
    os.write(told, (" ".join(map(str, ports)) + "\n").encode())
    await asyncio.Event().wait()


def processor_ns(pid: int) -> int:
    """Processor time of a process with all its threads, in nanoseconds."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)


def cost_us(pid: int, connection: http.client.HTTPConnection, path: str) -> float:
    """Of one request, in microseconds."""
    before = processor_ns(pid)
    for _ in range(ASKED):
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, (path, answer.status)
    return (processor_ns(pid) - before) / ASKED / 1_000


@contextmanager
def forked(build: Any, told: int) -> Iterator[int]:
    """A process that serves what *build* makes."""
    pid = os.fork()
    if pid == 0:
        try:
            asyncio.run(serve(build(), told))
        finally:
            os._exit(1)
    try:
        yield pid
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", type=Path)
    chosen = parser.parse_args()
    sys.path[:0] = [str(Path(__file__).parent.parent / "tests")]
    from asking_pages import asked, site_of
    from indoors import indoors

    with tempfile.TemporaryDirectory() as folder, indoors(Path(folder)) as server:
        paths = world(server)
        site = site_of(server.server)
        if chosen.profile:
            profile(site, asked, paths["a board's page"], chosen.profile)
        length = len(asyncio.run(asked(site, paths["a board's page"])).body)
        told, tell = os.pipe()
        with forked(lambda: [site_of(server.server), bare(length)], tell) as pid:
            ports = [int(word) for word in os.read(told, 100).split()]
            ours, plain = (http.client.HTTPConnection("127.0.0.1", port) for port in ports)
            for connection, path in ((ours, paths["a board's page"]), (plain, "/")):
                cost_us(pid, connection, path)  # all that is loaded with the first request
            for name, path in paths.items():
                cost_us(pid, ours, path)
                pairs = [
                    (cost_us(pid, ours, path), cost_us(pid, plain, "/")) for _ in range(ROUNDS)
                ]
                ratio = statistics.median(one / other for one, other in pairs)
                least = [min(side) / 1_000 for side in zip(*pairs, strict=True)]
                print(f"{name:32} {ratio:5.2f} x (least {least[0]:.2f} and {least[1]:.2f} ms)")


def world(server: Any) -> dict[str, str]:
    """A running board, and one that is over; the paths to be asked."""
    from indoors import address_of

    server.sign_up("alice", "bob")
    for _ in range(2):
        server.send(address_of("alice"), "blackbox challenge alice wonder-land bob")
    for number in (2, 1):
        for name, move in (("bob", "b3,d3,f6,g7"), ("alice", "a1,c4,e5,g2")):
            server.send(address_of(name), f"blackbox move {number} {name} wonder-land {move}")
        for port in ("1", "2,+b3", "3,+c4", "4,+d5", "a", "b"):
            for name in ("alice", "bob"):
                letters = server.send(
                    address_of(name), f"blackbox move {number} {name} wonder-land {port}"
                )
    server.send(address_of("alice"), "blackbox move 2 alice wonder-land resign")
    page = next(
        line.rpartition("http://games.example")[2]
        for letter in letters
        if letter.recipient == address_of("alice")
        for line in letter.text.splitlines()
        if "/b/" in line
    )
    return {
        "a board's page": page,
        "a board's page with a draft": f"{page}?move=5,%2Be5",
        "a game that is over": "/game/2",
        "a game that runs, for spectators": "/game/1",
        "today's box": "/today",
        "standings": "/standings",
        "the front page": "/",
    }


def profile(site: Any, asked: Any, path: str, file: Path) -> None:
    """Where the time of a page goes; run in this thread alone."""
    profiler = cProfile.Profile()

    async def ask() -> None:
        for _ in range(200):
            await asked(site, path)

    asyncio.run(ask())
    begun = time.process_time()
    profiler.enable()
    asyncio.run(ask())
    profiler.disable()
    profiler.dump_stats(file)
    print(f"{path[:3]}... {(time.process_time() - begun) * 5:.2f} ms under the profiler")


if __name__ == "__main__":
    main()
