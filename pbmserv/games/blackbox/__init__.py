"""Blackbox: find the atoms that the other player hid, by firing rays."""

from pbmserv.games.blackbox.game import GAME

__all__ = ["GAME"]
