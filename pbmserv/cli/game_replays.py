"""Replays checked games in another process, as a server does after a restart.

There, a set of texts has another order, and values that a module drew when it was imported are
drawn again. A game that depends on either gives other states for the same moves.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

from pbmserv.engine.adapter import adapt
from pbmserv.engine.position import opening
from pbmserv.engine.record import GameRecord
from pbmserv.testing.findings import PlayedGame

PATIENCE_S = 120.0
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
        The number of the first ply after which a state differs, 0 for the start; `None` if there
        is none, or if the games cannot be replayed there.
    """
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    try:
        child = subprocess.run(  # noqa: S603 - this program
            (sys.executable, "-c", _CHILD),
            input=pickle.dumps((name, [game.record for game in played])),
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            timeout=PATIENCE_S,
            check=True,
        )
        replayed = pickle.loads(child.stdout)  # noqa: S301 - written by our own child
    except (subprocess.SubprocessError, pickle.PickleError, EOFError, AttributeError, ImportError):
        return None
    for game, states in zip(played, replayed, strict=True):
        for number, state in enumerate(game.states):
            if number >= len(states) or states[number] != state:
                return number
    return None


def answer(rules_of: Callable[[str], Any]) -> None:
    """Read a game and records from standard input, and write the states after each ply."""
    output, sys.stdout = sys.stdout.buffer, sys.stderr  # rules may print
    name, records = pickle.loads(sys.stdin.buffer.read())  # noqa: S301 - written by our parent
    game = adapt(rules_of(name))
    output.write(pickle.dumps([_states(game, record) for record in records]))
    output.flush()


def _states(game: Any, record: GameRecord) -> list[Any]:
    """Return the states of a replayed game, as far as its moves can be made."""
    position = opening(game, record)
    states = [position.state.state]
    for ply in record.plies:
        try:
            position = position.play(ply)
        except Exception:  # noqa: BLE001 - whatever a game raises
            break
        states.append(position.state.state)
    return states
