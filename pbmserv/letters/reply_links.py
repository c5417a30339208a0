"""Where a reader can go from a letter: the address for replies, and the way out of a subscription.

Every kind of letter that is not about a board alone has its row in one of the tables below.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from pbmserv.letters.kinds import can_be_ended
from pbmserv.mail.reply_address import MailDomain, Purpose, ReplyAddress
from pbmserv.store.accounts.players import Player
from pbmserv.store.delivery.outbox import QueuedLetter

FOLLOWERS = frozenset({"follow", "followed"})
"""Letters to those who watch a board; they are a thread, too, and can be answered."""


def confirmation(words: Mapping[str, Any]) -> ReplyAddress:
    """What confirms the signup that a letter asks about."""
    return ReplyAddress(Purpose.CONFIRM, about=words["signup"])


_DROPPED = frozenset({"address-moved"})
"""Letters to a player's address that is no longer one: no reply to it speaks for anybody."""

_STRANGERS: Mapping[str, Callable[[Mapping[str, Any]], ReplyAddress]] = {
    "confirm": confirmation,
    "address-confirm": lambda words: ReplyAddress(Purpose.ADDRESS, about=words["change"]),
}
"""Letters to addresses that nobody has confirmed: a reply says just that."""

_OF_ITSELF: Mapping[str, Purpose] = {"tray": Purpose.TRAY, "broadcast-asked": Purpose.BROADCAST}
"""Letters whose replies are about what stands in that very letter."""

_ASKING: Mapping[str, Callable[[Mapping[str, Any]], tuple[Purpose, int, int]]] = {
    "begin-asked": lambda words: (Purpose.BEGIN, words["number"], 0),
    "reset": lambda words: (Purpose.RESET, 0, words["mark"]),
    "message": lambda words: (Purpose.MESSAGE, words["peer"], 0),
    "address-asked": lambda words: (Purpose.KEEP_ADDRESS, words["change"], 0),
    "signoff-asked": lambda words: (Purpose.SIGNOFF, 0, words["day"]),
    "away-asked": lambda words: (Purpose.AWAY, 0, 0),  # noqa: ARG005 - one form for all
    "delete-asked": lambda words: (Purpose.DELETE, 0, words["day"]),
}
"""Letters to players whose reply answers a question: purpose, about and number of its address."""


def reply_of(row: QueuedLetter, player: Player | None) -> ReplyAddress | None:
    """What a reply to a letter says; ``None``: it comes to the plain address and says nothing.

    For a letter to a player that is about nothing special the purpose is PLAYER: the caller, who
    sees the board, may make BOARD of it.
    """
    if row.letter in _STRANGERS:
        return _STRANGERS[row.letter](row.words)
    if player is None or row.letter in _DROPPED:
        return None
    purpose, about, number = Purpose.PLAYER, 0, 0
    if row.letter in _ASKING:
        purpose, about, number = _ASKING[row.letter](row.words)
    elif row.letter in _OF_ITSELF:
        purpose, about = _OF_ITSELF[row.letter], row.id
    elif row.letter in FOLLOWERS and row.board_id is not None:
        purpose, about = Purpose.FOLLOW, row.board_id
    return ReplyAddress(purpose, player.id, about, number, player.reply_epoch)


def ways_out(
    mail_domain: MailDomain, web_url: str, row: QueuedLetter, player: Player | None
) -> tuple[str, ...]:
    """Where a reader's mail program can end what brought a letter: a page, and an address.

    A page only under ``https:`` (RFC 8058 section 3.1).
    """
    if player is None or not can_be_ended(row.letter, player.remind, player.digest_minute):
        return ()
    word = ReplyAddress(Purpose.UNSUBSCRIBE, player.id, row.id, 0, player.reply_epoch)
    by_mail = f"mailto:{mail_domain.address_of(word)}?subject=unsubscribe"
    if not web_url.startswith("https:"):
        return (by_mail,)
    return (f"{web_url}/unsubscribe/{mail_domain.ring.token(word)}", by_mail)


def feedback_id(domain: str, row: QueuedLetter, about: str) -> str:
    """What feedback loops sum complaints by: kind of letter, game, how it came, and us.

    Gmail's form; the same for everybody, so it says nothing about the reader.
    """
    kind = "answer" if row.in_reply_to else "news"
    return ":".join((row.letter, about, kind, hashlib.sha256(domain.encode()).hexdigest()[:10]))
