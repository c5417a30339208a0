"""Lists the mails of a player or address, our answers, and the place of each letter.

Operators see numbers, times, kinds and outcomes. They see no text, so no password and no hidden
move.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pbmserv.errors import OperatorError
from pbmserv.mail.reply_address import Purpose
from pbmserv.plurals import counted
from pbmserv.service.core.context import CommandContext
from pbmserv.store.accounts import players
from pbmserv.store.core.database import Database
from pbmserv.store.delivery import mail_stores, settled_arrivals
from pbmserv.store.operators import correspondence
from pbmserv.store.operators.correspondence import AnswerLine, MailLine
from pbmserv.store.tables.mail import LetterState, MailState


@dataclass(frozen=True, slots=True)
class Correspondent:
    """A player, or the owner of an address who may have no account.

    Attributes:
        addresses: in lower case.
        player_id: `None` if an address was named.
    """

    name: str
    addresses: tuple[str, ...]
    player_id: int | None


@dataclass(frozen=True, slots=True)
class ReceivedMail:
    """A mail as a row of the list.

    Attributes:
        to: the kind of our address to which it came, such as ``board 12``.
        outcome: what became of it, with the codes of refused lines.
    """

    number: int
    at: datetime
    to: str
    proof: str
    outcome: str


@dataclass(frozen=True, slots=True)
class SentLetter:
    """A letter as a row of the list.

    Attributes:
        about: its board, ``""`` for none.
        mail: number of the mail that it answers, ``""`` for none.
        place: where it is now.
    """

    number: int
    at: datetime
    kind: str
    about: str
    mail: str
    place: str


@dataclass(frozen=True, slots=True)
class Correspondence:
    """The newest mails and letters of a correspondent, newest first."""

    person: Correspondent
    mails: tuple[ReceivedMail, ...]
    letters: tuple[SentLetter, ...]


def correspondent(context: CommandContext, name: str) -> Correspondent:
    """Return the correspondent with a userid or address.

    Raises:
        OperatorError: no player has this userid.
    """
    folded = name.strip().lower()
    if "@" in folded:
        return Correspondent(folded, (folded,), None)
    player = players.account_of(context.connection, folded)
    if player is None:
        raise OperatorError(
            f"there is no player {folded}; `pbmserv user list` shows them all; "
            "write an address to see the mails of somebody without an account"
        )
    own = players.addresses_of(context.connection, player.id)
    return Correspondent(player.userid, tuple(map(str.lower, own)), player.id)


def read(context: CommandContext, name: str, most: int) -> Correspondence:
    """Return the newest mails and letters of a player or address.

    Raises:
        OperatorError: no player has this userid.
    """
    person = correspondent(context, name)
    connection = context.connection
    mails = correspondence.mails_from(connection, person.addresses, person.player_id, most)
    codes: dict[int, list[str]] = {}
    for mail_id, words in correspondence.refusals_of(connection, [mail.id for mail in mails]):
        codes.setdefault(mail_id, []).extend(_refusal_codes(words))
    letters = correspondence.letters_to(connection, person.addresses, person.player_id, most)
    return Correspondence(
        person,
        tuple(
            ReceivedMail(
                mail.id,
                mail.received_at,
                _kind_of_address(context, mail.recipient),
                mail.verdict,
                _outcome(mail, codes.get(mail.id, [])),
            )
            for mail in mails
        ),
        tuple(
            SentLetter(
                letter.id,
                letter.created_at,
                letter.letter,
                "" if letter.board_id is None else f"board {letter.board_id}",
                "" if letter.mail_id is None else str(letter.mail_id),
                _place(letter),
            )
            for letter in letters
        ),
    )


def waiting(mail: Database, game: Database, person: Correspondent) -> list[tuple[int, datetime]]:
    """Return number and time of mails that are accepted and not yet carried out, oldest first."""
    with mail.reading.connect() as connection:
        stored = correspondence.waiting_from(connection, person.addresses, person.player_id)
        uuid = mail_stores.uuid_of(connection) if stored else ""
    if not stored:
        return []
    with game.reading.connect() as connection:
        done = settled_arrivals.numbers_since(connection, uuid, stored[0][0])
    return [(number, at) for number, at in stored if number not in done]


def _kind_of_address(context: CommandContext, recipient: str) -> str:
    mail_domain = context.services.mail_domain
    reply_address = mail_domain.read(recipient)
    if reply_address is None:
        return "postmaster" if mail_domain.is_postmaster(recipient) else "plain address"
    if reply_address.purpose is Purpose.BOUNCE:
        return f"report on letter {reply_address.about}"
    if reply_address.purpose in {Purpose.BOARD, Purpose.FOLLOW}:
        return f"board {reply_address.about}"
    return f"reply ({reply_address.purpose.name.lower().replace('_', ' ')})"


_OUTCOMES = {
    MailState.DONE: "carried out",
    MailState.ANSWERED: "answered, without any effect",
    MailState.IGNORED: "not answered",
    MailState.KEPT: "kept for you; see `pbmserv inbox show`",
    MailState.LATER: "waits until its player may send more",
    MailState.PAUSED: "waits until its game can be played",
}


def _outcome(mail: MailLine, codes: list[str]) -> str:
    """Return what became of a mail. The error of a kept mail may quote its words."""
    outcome = _OUTCOMES[mail.state]
    if mail.error and mail.state in {MailState.IGNORED, MailState.LATER, MailState.PAUSED}:
        outcome += f": {mail.error}"
    return f"{outcome}; refused: {', '.join(codes)}" if codes else outcome


def _refusal_codes(words: Any) -> Iterator[str]:
    """Yield the code of each refusal in the words of a letter, at any depth."""
    if isinstance(words, list):
        for item in words:
            yield from _refusal_codes(item)
    elif isinstance(words, dict):
        refusal = words.get("refusal")
        if isinstance(refusal, dict) and isinstance(refusal.get("code"), str):
            yield refusal["code"]
        for item in words.values():
            yield from _refusal_codes(item)


_PLACES = {
    LetterState.HELD: "held by an operator",
    LetterState.PARKED: "not sent, because the address is given up",
    LetterState.RETURNED: "came back",
    LetterState.DIGEST: "waits for the daily digest",
    LetterState.FOLDED: "part of a digest",
    LetterState.COMING: "waits for a bot or report",
}


def _place(letter: AnswerLine) -> str:
    """Return where a letter is, with the last fault."""
    fault = f": {letter.error}" if letter.error else ""
    if letter.state == LetterState.SENT:
        return (f"sent {letter.sent_at:%Y-%m-%d %H:%M} UTC" if letter.sent_at else "sent") + fault
    if letter.state == LetterState.QUEUED:
        due = f", due {letter.due_at:%Y-%m-%d %H:%M} UTC" if letter.due_at else ""
        tried = f", tried {counted(letter.attempts, 'time')}" if letter.attempts else ""
        return f"on its way{due}{tried}{fault}"
    return _PLACES.get(letter.state, str(letter.state)) + fault
