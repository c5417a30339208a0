"""The stored hashes with which the password of a command is compared."""

from __future__ import annotations

from collections.abc import Sequence

from pbmserv.store.accounts.players import Player
from pbmserv.store.accounts.signups import PendingSignup

WAITING_SIGNUPS = 3
"""Newest unconfirmed signups of a userid whose passwords are compared."""


def stored_hashes(player: Player | None, waiting: Sequence[PendingSignup]) -> list[str | None]:
    """Return the hash of a player, or those of the newest signups for the userid.

    `None` stands for a userid that does not exist, so that its check takes as long.

    Args:
        player: the player with the userid, if there is one.
        waiting: unconfirmed signups for the userid, newest first.
    """
    if player is not None:
        return [player.password_hash]
    return [signup.password_hash for signup in waiting[:WAITING_SIGNUPS]] or [None]
