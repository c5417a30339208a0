"""The seed of a board's draws, into which mails of its players are mixed (decision 0151)."""

from __future__ import annotations

from collections.abc import Collection
from hashlib import sha256

from pbmserv.engine.record import Ply
from pbmserv.engine.rng import Rng

_MARK = 32
"""Hexadecimal digits of the mark of a mail."""


def digest(use: str, *parts: bytes | str | int) -> bytes:
    """Return the SHA-256 of the parts as netstrings, behind one that names the use."""
    hashed = sha256()
    for part in (f"pbmserv {use} 1", *parts):
        octets = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
        hashed.update(b"%d:" % len(octets))
        hashed.update(octets)
    return hashed.digest()


def mail_mark(message_id: str) -> str:
    """Return the mark of a mail: a hash that tells nothing about its Message-ID."""
    return digest("mail", message_id).hex()[:_MARK]


def mixed_chance(chance: bytes, ply: Ply) -> bytes:
    """Return the seed of the draws from a ply on, mixed with the mark of its mail if it has one."""
    return digest("chance", chance, ply.seat, ply.mark) if ply.mark else chance


def drawn_sides(seed: bytes, userids: Collection[str], mark: str) -> list[str]:
    """Draw seats by lot; return the players in the order of their seats.

    Args:
        mark: that of the mail that found opponents, ``""`` if there was none.
    """
    chance = digest("sides", seed, mark) if mark else digest("sides", seed)
    return Rng(chance, 0).sample(sorted(userids), len(userids))


def search_pledge(seed: bytes) -> bytes:
    """Return the hash that fixes the seed of a board for a player who looks for opponents."""
    return digest("search", seed)
