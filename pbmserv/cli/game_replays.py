"""Replays checked games in another process, as a server does after a restart.

There, a set of texts has another order, and values that a module drew when it was imported are
drawn again. A game that depends on either gives other states for the same moves.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any

from pbmserv.engine.adapter import adapt
from pbmserv.engine.position import opening
from pbmserv.engine.record import GameRecord, Scoresheet, read_record, write_record
from pbmserv.testing.display_checks import NAMES
from pbmserv.testing.findings import PlayedGame

PATIENCE_S = 120.0
"""Seconds for which the other process may replay the games."""
_CHILD = """
from pbmserv.cli.game_authoring import rules_of
from pbmserv.cli.game_replays import answer
answer(rules_of)
"""


def first_difference(name: str, played: Sequence[PlayedGame]) -> int | None:
    """Replay games in a process of their own, and compare all states.

    Args:
        name: the game's key, file, or module and name.

    Returns:
        The number of the first ply after which a state differs, 0 for the start; `None` if all
        states are the same, or if the games cannot be replayed there.
    """
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    try:
        child = subprocess.run(  # noqa: S603 - this program
            (sys.executable, "-c", _CHILD),
            input=json.dumps({"game": name, "records": [_text(game.record) for game in played]}),
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE_S,
            check=True,
        )
        replayed: list[list[str]] = json.loads(child.stdout)
    except (subprocess.SubprocessError, ValueError):
        return None
    for game, digests in zip(played, replayed, strict=True):
        for number, state in enumerate(game.states):
            if number >= len(digests) or digests[number] != _digest(state):
                return number
    return None


def answer(rules_of: Callable[[str], Any]) -> None:
    """Read the name of a game and its records from standard input, and print digests of all states,
    as JSON; runs in the other process."""
    output, sys.stdout = sys.stdout, sys.stderr  # rules may print
    request = json.load(sys.stdin)
    game = adapt(rules_of(request["game"]))
    records = [read_record(text).record for text in request["records"]]
    json.dump([list(_digests(game, record)) for record in records], output)
    output.flush()


def _text(record: GameRecord) -> str:
    """Return a record as text, with its seed."""
    names = NAMES[: record.seats]
    return write_record(Scoresheet(record, names, 1, "2026-03-05", "", sides_drawn=False))


def _digests(game: Any, record: GameRecord) -> Iterator[str]:
    """Yield the digests of the states of a replayed game, as far as its moves can be made."""
    position = opening(game, record)
    yield _digest(position.state.state)
    for ply in record.plies:
        try:
            position = position.play(ply)
        except Exception:  # noqa: BLE001 - whatever a game raises
            return
        yield _digest(position.state.state)


def _digest(state: Any) -> str:
    """Return a text that is the same for equal states, in all processes."""
    return sha256(_canonical(state).encode("utf-8", "surrogatepass")).hexdigest()


def _canonical(value: Any) -> str:
    """Return a value as text, with the items of sets and dictionaries sorted."""
    kind = type(value).__qualname__
    if isinstance(value, dict):
        pairs = [f"{_canonical(key)}: {_canonical(item)}" for key, item in value.items()]
        return f"{kind}{sorted(pairs)}"
    if isinstance(value, set | frozenset):
        return f"{kind}{sorted(map(_canonical, value))}"
    if isinstance(value, list | tuple):
        return f"{kind}{[_canonical(item) for item in value]}"
    if value is None or isinstance(value, str | bytes | bool | int | float | type):
        return repr(value)
    reduced = value.__reduce_ex__(2)  # what copies of an object are made of
    return f"{kind}{reduced if isinstance(reduced, str) else _canonical(reduced[1:3])}"
