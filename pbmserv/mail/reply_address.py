"""Reply addresses: the player for whom a mail speaks, and the letter that it answers.

`key_ring` signs them as tokens, and `mail_domain` makes mail addresses of these.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import IntEnum


class Purpose(IntEnum):
    """The purpose of a token: the player for whom it speaks, and the meaning of its numbers."""

    BOARD = 1
    """`player` speaks about board `about`; `number` is the turn of the letter."""
    PLAYER = 2
    """`player` speaks, about nothing in particular."""
    CONFIRM = 3
    """A reply confirms signup `about`."""
    RESET = 4
    """`player` may set a new password; `number` is the `password_mark` of the old one."""
    MESSAGE = 5
    """`player` answers a message of player `about`."""
    TRAY = 10
    """`player` answers the daily digest, which is letter `about` of the outbox."""
    FOLLOW = 11
    """`player` speaks about board `about`, as a follower."""
    ADDRESS = 6
    """A reply confirms row `about` of the changes of address; it speaks for no player."""
    KEEP_ADDRESS = 7
    """`player` speaks, and may stop the change of address in row `about`."""
    SIGNOFF = 8
    """`player` may leave; `number` is the day (since 1970) of the request."""
    DELETE = 9
    """`player` may have all personal data removed; `number` as for `SIGNOFF`."""
    AWAY = 14
    """`player` answers the question whether they are away; otherwise as `PLAYER`."""
    UNSUBSCRIBE = 17
    """`player` ends letters of the kind of letter `about` of the outbox."""
    BROADCAST = 15
    """`player` may send the words in letter `about` of the outbox to all players who want them."""
    BEGIN = 20
    """`player` speaks, and may accept row `about` of the boards that wait for it."""
    BOUNCE = 16
    """Return address of letter `about` of the outbox, for reports; it speaks for no player."""
    INVITED = 21
    """A reply answers invitation `about`; it speaks for no player."""
    UNINVITED = 22
    """The recipient of invitation `about` never wants another one."""
    PAGE = 23
    """Opens the page of `player`'s account for `PAGE_DAYS`; `number` is the first day (since 1970).
    It is only used in links: mail to it speaks for no player."""
    BOARD_VISIT = 24
    """Opens the page of board `about` for `player` for `VISIT_MINUTES`; `number` is the first
    minute (since 1970). It is only used in the address of the page."""
    PAGE_VISIT = 25
    """Opens the page of `player`'s account; `number` as for `BOARD_VISIT`."""
    CALENDAR = 26
    """Reads the calendar of `player`'s deadlines, and nothing else."""
    TEAM_INVITED = 27
    """`player` speaks, and may join team `about`."""
    TEAM = 28
    """`player` answers words of a member of team `about`, which goes to the whole team."""
    EVENT_INVITED = 29
    """`player` speaks, and may enter event `about`."""


PAGE_DAYS = 30
VISIT_MINUTES = 120

OF_PAGES = frozenset({Purpose.PAGE, Purpose.BOARD_VISIT, Purpose.PAGE_VISIT, Purpose.CALENDAR})
"""Tokens that open pages and are not reply addresses."""

OF_BOARDS = frozenset({Purpose.PLAYER, Purpose.BOARD, Purpose.TRAY})
"""Purposes of letters whose replies are about the board that the letter shows, if any."""

OF_TALK = frozenset({Purpose.MESSAGE, Purpose.TEAM})
"""Purposes of letters that hold words of a player; a reply is an answer in words."""

ENDINGS = frozenset({Purpose.UNSUBSCRIBE, Purpose.UNINVITED})
"""Purposes of addresses that end letters of a kind; the text of the mail does not matter."""


@dataclass(frozen=True, slots=True)
class ReplyAddress:
    """The contents of a reply address.

    Attributes:
        purpose: see `Purpose`.
        player: row id of the speaker; 0 for none.
        about: see `Purpose`.
        number: see `Purpose`.
        epoch: the speaker's ``reply_epoch`` when the address was made; a later one revokes it.
    """

    purpose: Purpose
    player: int = 0
    about: int = 0
    number: int = 0
    epoch: int = 0


def speaker_of(reply_address: ReplyAddress | None) -> int:
    """Return the row id of the player for whom mails to an address speak; 0 for none."""
    return 0 if reply_address is None else reply_address.player


def password_mark(password_hash: str) -> int:
    """Return a number that changes with the password, so that a reset address works once."""
    return int.from_bytes(hashlib.sha256(password_hash.encode()).digest()[:4], "big")
