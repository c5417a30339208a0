"""Blackbox: find the atoms that the other player hid, by firing rays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pbmserv.games.blackbox.game import GAME

__all__ = ["GAME"]


def __getattr__(name: str) -> Any:
    """`GAME`, whose rules `pbmserv --version` and other commands need not load."""
    if name == "GAME":
        from pbmserv.games.blackbox.game import GAME

        return GAME
    raise AttributeError(name)
