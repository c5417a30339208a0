"""`python -m benchmarks.trace_move [--list]`: how much of our code one move runs through.

One reply with a move, from the SMTP socket to both letters in a Maildir, all stages in this
process. Each has done the same before, and each letter of this shape is a skeleton already, so this
is a move as nearly all are. Counted are the files, functions, calls and made
dataclasses of `pbmserv` (names.md, "How far"); what libraries and templates call is theirs. A
comprehension is part of its function, as it is for the interpreter from Python 3.12 on.

That the door removes what is settled is not on the way of any move: it comes once a second, however
many there were. What it adds is printed apart.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import sys
import tempfile
import threading
from pathlib import Path
from time import sleep
from types import FrameType
from typing import Any

import pbmserv
from benchmarks import smtp
from benchmarks.moves import DOMAIN, LOCAL, prepare
from pbmserv.config.settings import load
from pbmserv.stages.lanes import WARY_S
from pbmserv.stages.listeners import MailPorts, bind, shares
from pbmserv.stages.parts import DoorStage
from pbmserv.store.core.writer import SLOW_FOR_S
from tests.one_process import Server

ROOM = str(Path(pbmserv.__file__).parent)
_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})
BEFORE = 8
"""Moves that are not counted: templates, statements and caches are warm then."""
BARS = {"files": 60, "functions": 250, "calls": 1_500}


Calls = collections.Counter[tuple[str, str]]
"""Calls by file and function."""


class Trace:
    """Counts calls in all threads that begin after it was made.

    Attributes:
        calls: on the way of the move.
        removal: of what the door does afterwards.
        made: dataclasses on the way of the move.
        counting: which of the two calls are counted in now; ``None``: in neither.
    """

    def __init__(self) -> None:
        self.calls: Calls = collections.Counter()
        self.removal: Calls = collections.Counter()
        self.made = 0
        self.counting: Calls | None = None
        threading.setprofile(self._event)
        sys.setprofile(self._event)

    def _event(self, frame: FrameType, event: str, _argument: object) -> None:
        counting = self.counting
        if event != "call" or counting is None:
            return
        code = frame.f_code
        if code.co_filename.startswith(ROOM):
            if code.co_name not in _COMPREHENSIONS:
                counting[code.co_filename[len(ROOM) + 1 :], code.co_qualname] += 1
        elif code.co_filename == "<string>" and code.co_name == "__init__":
            module = frame.f_locals.get("self").__class__.__module__
            self.made += counting is self.calls and module.startswith("pbmserv")

    def counts(self) -> dict[str, int]:
        """What was seen."""
        return {
            "files": len({file for file, _ in self.calls}),
            "functions": len(self.calls),
            "calls": self.calls.total(),
            "dataclasses made": self.made,
        }


def trace(folder: Path) -> Trace:
    """A move of a session, after some that were the like."""
    games = prepare(folder / "trace.sqlite3", 10)
    settings = load(
        {
            "PBMSERV_DATA_DIR": str(folder),
            "PBMSERV_DATABASE": f"sqlite:///{folder}/trace.sqlite3",
            "PBMSERV_SMTP": "127.0.0.1:0",
            "PBMSERV_WEB": "",
            "PBMSERV_ADDRESS": f"{LOCAL}@{DOMAIN}",
            "PBMSERV_SENDER_CHECKS": "off",
        },
        None,
    ).settings
    found = Trace()
    bound = bind(settings)
    server = Server(settings)
    try:
        asyncio.run(_moves(server, bound, games, found))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        server.close()
        bound.close()
    return found


async def _moves(server: Server, bound: Any, games: Any, found: Trace) -> None:
    ports = MailPorts(server.base, server.door, bound, shares(server.settings, bound))
    await ports.open()
    session = await smtp.connected(bound.smtp.getsockname()[1])
    board = games.running[0]
    for is_on in (*[False] * BEFORE, True):
        if is_on:  # the door has its thread commit after a slow one; play is wary at its start
            await asyncio.sleep(max(SLOW_FOR_S, WARY_S))
        mail = games.move(board)
        found.counting = found.calls if is_on else None
        await session.send([mail])
        server.play_stage.play.run_until_idle()
        await asyncio.to_thread(server.sender.run_once)
        found.counting = found.removal if is_on else None
        await asyncio.to_thread(_remove, server.door_stage)
        found.counting = None
    session.close()
    await ports.close()


def _remove(door: DoorStage) -> None:
    """Have what is settled removed, until the writer's thread is back where it waits."""
    door.run_once()
    while any(one.silent_s for one in door.writer.vitals()):
        sleep(0.001)


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trace_move", description=__doc__)
    parser.add_argument("--list", action="store_true", help="every function and its calls")
    is_long = parser.parse_args().list
    with tempfile.TemporaryDirectory(prefix="pbmserv-trace-") as name:
        found = trace(Path(name))
    if is_long:
        for (file, function), calls in sorted(found.calls.items()):
            print(f"{calls:5}  {file}:{function}")
    for what, count in found.counts().items():
        asked = BARS.get(what)
        verdict = (
            "" if asked is None else f"  (<= {asked}: {'met' if count <= asked else 'NOT MET'})"
        )
        print(f"{what:18} {count:6}{verdict}")
    more = found.removal.keys() - found.calls.keys()
    files = {file for file, _ in more} - {file for file, _ in found.calls}
    print(
        f"the removal adds {len(files)} files, {len(more)} functions, {found.removal.total()} calls"
    )


if __name__ == "__main__":
    main()
