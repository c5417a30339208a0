"""Most tests are about Blackbox: their servers have no other game of ours.

A server with one game needs no game in its commands, so dialogs would read otherwise. Tests of the
other games say which ones they play.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint

from pbmserv.engine import registry

every_game = registry.announced


@cache
def _blackbox_and_others() -> tuple[EntryPoint, ...]:
    """Return the games of installed packages, of our own games Blackbox alone."""
    return tuple(
        entry
        for entry in every_game()
        if entry.name == "blackbox" or not entry.module.startswith("pbmserv.")
    )


def play_blackbox_alone() -> None:
    """From now on servers of this process have no other game of ours."""
    registry.announced = _blackbox_and_others
