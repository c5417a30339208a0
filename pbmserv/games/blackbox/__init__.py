"""Blackbox: find the atoms that the other player hid, by firing rays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pbmserv.games.blackbox.game import GAME

__all__ = ["GAME"]


def __getattr__(name: str) -> Any:
    """Load `GAME` on its first use, since `pbmserv --version` and other commands do not need it."""
    if name == "GAME":
        from pbmserv.games.blackbox.game import GAME

        return GAME
    raise AttributeError(name)
