"""Where a reader can go from a letter: reply addresses, replies with words in them, ways out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import date, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from pbmserv.engine.types import value
from pbmserv.mail.letter_kinds import kind_of
from pbmserv.mail.reply_address import PAGE_DAYS, MailDomain, Purpose, ReplyAddress
from pbmserv.store.accounts.players import Player
from pbmserv.store.delivery.outbox import QueuedLetter

_EPOCH = date(1970, 1, 1).toordinal()
_OF_NOBODY = frozenset({Purpose.CONFIRM, Purpose.ADDRESS, Purpose.INVITED})
"""Questions to somebody who is no player, or is not known to be one."""


class Links(StrEnum):
    """How many links a board has, and whether there is room for the board at all.

    A letter begins at the top of this list and goes down until it is short enough.
    """

    ALL = "all"
    FEW = "few"
    NONE = "none"
    UNDRAWN = "undrawn"


@value(frozen=True, slots=True)
class Mailto:
    """Makes the links of one letter; templates call it with the text of a reply.

    Attributes:
        address: where the reply goes; it says who speaks and of what.
        subject: of the reply; words of ours, for people to see.
    """

    address: str
    subject: str

    def __call__(self, words: str) -> str:
        """``mailto:…`` with address, subject and *words* filled in.

        More words of a move may be appended as they are if they are letters and digits. All else
        is percent-encoded, ``+`` as well: some programs take a bare one for a blank (RFC 6068,
        section 5); a line ends with CR LF.
        """
        return _start(self.address, self.subject) + _body(words)


@lru_cache(maxsize=16)
def _start(address: str, subject: str) -> str:
    local, _, domain = address.rpartition("@")
    return f"mailto:{_quoted(local)}@{_quoted(domain)}?subject={_quoted(subject)}&body="


@lru_cache(maxsize=256)  # templates have few
def _body(words: str) -> str:
    return _quoted(words.replace("\n", "\r\n"))


_CODED = {code: quote(chr(code), safe="") for code in range(128)}


def _quoted(text: str) -> str:
    """As `urllib.parse.quote` with nothing safe, which goes over a text octet by octet."""
    return text.translate(_CODED) if text.isascii() else quote(text, safe="")


def confirmation(words: Mapping[str, Any]) -> ReplyAddress:
    """What confirms the signup that a letter asks about."""
    return ReplyAddress(Purpose.CONFIRM, about=words["signup"])


def reply_of(row: QueuedLetter, player: Player | None) -> ReplyAddress | None:
    """What a reply to a letter says; ``None``: it comes to the plain address and says nothing.

    For a letter to a player that is about nothing special the purpose is PLAYER: the caller, who
    sees the board, may make BOARD of it.
    """
    kind = kind_of(row.letter)
    purpose, about, number = Purpose.PLAYER, 0, 0
    if "answers" in row.words:  # a refusal, or help: the question that was asked is still open
        purpose, about, number = row.words["answers"]
        purpose = Purpose(purpose)
        if not player or purpose in _OF_NOBODY:
            return ReplyAddress(purpose, about=about) if purpose in _OF_NOBODY else None
        if row.letter == "summary" and purpose is Purpose.TRAY:
            purpose, about, number = Purpose.PLAYER, 0, 0  # its numbers name any board
    elif kind.question is not None:
        purpose = kind.question.purpose
        about = row.words[kind.question.about] if kind.question.about else 0
        number = row.words[kind.question.number] if kind.question.number else 0
        if kind.asks_of_itself:
            about = row.id
    elif kind.to_followers and row.board_id is not None:
        purpose, about = Purpose.FOLLOW, row.board_id
    if kind.asks_stranger:
        return ReplyAddress(purpose, about=about)
    if player is None or kind.to_old_address:
        return None
    return ReplyAddress(purpose, player.id, about, number, player.reply_epoch)


def page_of(player: Player, moment: datetime) -> ReplyAddress:
    """What opens a player's own page from *moment* on, for `PAGE_DAYS`."""
    day = moment.date().toordinal() - _EPOCH
    return ReplyAddress(Purpose.PAGE, player.id, 0, day, player.reply_epoch)


def opens_page(told: ReplyAddress, player: Player, now: datetime) -> bool:
    """Whether a link that says this opens the player's page now."""
    age = now.date().toordinal() - _EPOCH - told.number
    is_theirs = told.purpose is Purpose.PAGE and told.player == player.id
    is_good = player.active and told.epoch == player.reply_epoch
    return is_theirs and is_good and age <= PAGE_DAYS


def ways_out(
    mail_domain: MailDomain, web_url: str, row: QueuedLetter, player: Player | None
) -> tuple[str, ...]:
    """Where a reader's mail program can end what brought a letter: a page, and an address.

    A page only under ``https:`` (RFC 8058 section 3.1). Without reminders of one's own only the one
    before a forfeit comes, which nobody can do without; with a digest, single letters are answers.
    """
    what = kind_of(row.letter).subscription
    if what == "invitations":
        word = ReplyAddress(Purpose.UNINVITED, about=row.words["invitation"])
    elif (
        player is None
        or not what
        or (what == "reminders" and not player.remind)
        or (what == "single" and player.digest_minute is not None)
    ):
        return ()
    else:
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
    return f"{row.letter}:{about}:{kind}:{_mark(domain)}"


@lru_cache(maxsize=16)  # there is one
def _mark(domain: str) -> str:
    return hashlib.sha256(domain.encode()).hexdigest()[:10]
