"""Addresses and links of a letter: for answers, for pages, and for the end of such letters."""

from __future__ import annotations

from urllib.parse import quote

from markupsafe import Markup

from pbmserv.mail.letter_kinds import kind_of
from pbmserv.mail.mail_domain import MailDomain
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.store.accounts.players import Player
from pbmserv.store.delivery.outbox import QueuedLetter

_FROM_STRANGERS = frozenset({Purpose.CONFIRM, Purpose.ADDRESS, Purpose.INVITED})
"""Purposes of questions to people who are not known to be players."""


class Mailto:
    """Makes links that begin a reply; templates call it with the text of the reply.

    Args:
        address: the address of the reply.
        subject: the subject of the reply.
    """

    def __init__(self, address: str, subject: str) -> None:
        local, _, domain = address.rpartition("@")
        # RFC 6068 section 2: "+" and ":" need no encoding here.
        to = f"{quote(local, safe='+')}@{quote(domain, safe='')}"
        self._start = f"mailto:{to}?subject={quote(subject, safe=':')}&body="

    def __call__(self, words: str) -> Markup:
        """Return a ``mailto:`` link with address, subject and *words*.

        Letters and digits of a move may be appended to it. All else in the body is
        percent-encoded, also ``+``, which some programs take for a blank (RFC 6068 section 5).
        Lines end with CR LF.
        """
        link = self._start + quote(words.replace("\n", "\r\n"), safe="")
        return Markup(link)  # noqa: S704 - percent-encoded, and HTML allows "&" in front of "body="


def answer_to(row: QueuedLetter, player: Player | None) -> ReplyAddress | None:
    """Return the contents of a letter's reply address, `None` for the plain address.

    The purpose is PLAYER if the letter asks nothing. A caller that knows the board uses BOARD then.
    """
    kind = kind_of(row.letter)
    purpose, about, number = Purpose.PLAYER, 0, 0
    if "answers" in row.words:  # after a refusal or help the question is still open
        purpose, about, number = row.words["answers"]
        purpose = Purpose(purpose)
        if not player or purpose in _FROM_STRANGERS:
            return ReplyAddress(purpose, about=about) if purpose in _FROM_STRANGERS else None
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


def unsubscribe_addresses(
    mail_domain: MailDomain, web_url: str, row: QueuedLetter, player: Player | None
) -> tuple[str, ...]:
    """Return the page and the address that end letters of this kind; empty if nothing can.

    A page must have an ``https:`` address (RFC 8058 section 3.1). The reminder before a forfeit
    comes even if the player wants no others. With a digest, single letters are answers.
    """
    subscription = kind_of(row.letter).subscription
    if subscription == "invitations":
        answer = ReplyAddress(Purpose.UNINVITED, about=row.words["invitation"])
    elif (
        player is None
        or not subscription
        or (subscription == "reminders" and not player.remind)
        or (subscription == "single" and player.digest_minute is not None)
    ):
        return ()
    else:
        answer = ReplyAddress(Purpose.UNSUBSCRIBE, player.id, row.id, 0, player.reply_epoch)
    token = mail_domain.ring.token(answer)
    by_mail = f"mailto:{mail_domain.local}+{token}@{mail_domain.domain}?subject=unsubscribe"
    if not web_url.startswith("https:"):
        return (by_mail,)
    return (f"{web_url}/unsubscribe/{token}", by_mail)
