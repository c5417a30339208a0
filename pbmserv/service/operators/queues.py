"""What operators do with mails that were kept since our own code failed on them (list, show,
retry), and with letters on their way (look, hold, send again, drop).
"""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from pbmserv.commands.grammar.line import REST
from pbmserv.commands.grammar.words import SHORTEST_PASSWORD
from pbmserv.commands.table.model import VOUCHED, Secret
from pbmserv.errors import MailError, OperatorError, PlayerError
from pbmserv.mail.envelope import Envelope, Mail
from pbmserv.mail.letter_kinds import OF_ACCOUNTS
from pbmserv.mail.reply_address import blank_tokens
from pbmserv.service.auth.passwords import Outdated
from pbmserv.service.core.context import CommandContext
from pbmserv.service.limits.rates import TooMany
from pbmserv.service.mails.incoming import IncomingMail
from pbmserv.service.operators.boards import hides
from pbmserv.service.operators.deeds import Deed, Operators, Signature
from pbmserv.store.core.database import Database
from pbmserv.store.core.writer import UNAVAILABLE, Closed
from pbmserv.store.delivery import bounces, inbox, kept_letters
from pbmserv.store.delivery.inbox import Received
from pbmserv.store.operators import operating
from pbmserv.store.operators.operating import PostRow
from pbmserv.store.tables.mail import LetterState, MailState

log = logging.getLogger("pbmserv.service")

BLANK = "***"
AT_ONCE = 100
"""Mails that were put off and are looked at in one round."""

UNREAD = "(cannot be read)"

_ADDRESSED = re.compile(r"^(?:From|To|Date|Message-ID):.*", re.IGNORECASE | re.MULTILINE)
_ENCODED = re.compile(r"base64|quoted-printable|=\?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class KeptMail:
    """A kept mail in a list; `subject` is its first command, passwords blanked."""

    id: int
    received_at: datetime
    sender: str
    recipient: str
    subject: str
    error: str


class KeptMailsView:
    """Kept mails as an operator sees them. *read*: reads an envelope, as the way in does."""

    def __init__(self, database: Database, read: Callable[[Envelope], IncomingMail]) -> None:
        self._database = database
        self._read = read

    def count(self) -> int:
        """Return how many mails are kept; the list has some hundreds at most."""
        with self._database.reading.connect() as connection:
            return inbox.count_kept(connection)

    def list(self) -> list[KeptMail]:
        """Return kept mails: faults first, then mails for the postmaster, each the newest first."""
        with self._database.reading.connect() as connection:
            found = inbox.kept(connection)
        return [
            KeptMail(
                mail.id,
                mail.received_at,
                mail.sender,
                mail.recipient,
                self._first_command(mail),
                blank_tokens(self._blanked(mail, _last_line(mail.error))),
            )
            for mail in found
        ]

    def show(self, number: int) -> str | None:
        """A kept mail as it came, secrets blanked, and the fault; ``None`` = no such mail.

        Of mails that were carried out only who wrote, when, and whether that is proven: their
        text is between the players.

        Where its text is encoded a password could not be found, so it is shown decoded; of a
        mail that cannot be read only who wrote it to whom, and when.
        """
        with self._database.reading.connect() as connection:
            mail = inbox.get(connection, number)
        if mail is None:
            return None
        head = _head(mail)
        if mail.state != "kept":
            became = _BECAME.get(mail.state, mail.state)
            return f"{head}\n{became}\n"
        raw = mail.raw.decode("utf-8", "replace").replace("\r\n", "\n")
        if self._first_command(mail) == UNREAD:
            raw = "\n".join(_ADDRESSED.findall(raw.partition("\n\n")[0]))
        elif self._secrets(mail) and _ENCODED.search(raw):
            read = self._read(_envelope(mail)).mail
            raw = f"From: {read.sender}\nSubject: {read.subject}\n\n{read.text}"
        told = f"{raw.rstrip()}\n\n--- why it was kept ---\n{mail.error.strip()}\n"
        return f"{head}\n{blank_tokens(self._blanked(mail, told))}"

    def is_kept(self, number: int) -> bool:
        """Whether a mail waits for the operator."""
        return self._kept(number) is not None

    def _kept(self, number: int) -> Received | None:
        with self._database.reading.connect() as connection:
            mail = inbox.get(connection, number)
        return mail if mail is not None and mail.state == "kept" else None

    def _first_command(self, mail: Received) -> str:
        try:
            return self._read(_envelope(mail)).reading.lines[0].echo
        except Exception:  # noqa: BLE001 - it may have been kept because it cannot be read
            return UNREAD

    def _blanked(self, mail: Received, text: str) -> str:
        for secret in sorted(self._secrets(mail), key=len, reverse=True):
            text = text.replace(secret, BLANK)
        return text

    def _secrets(self, mail: Received) -> set[str]:
        try:
            incoming = self._read(_envelope(mail))
        except Exception:  # noqa: BLE001 - it may have been kept because it cannot be read
            return set()
        found: set[str] = set()
        for line in incoming.reading.lines:
            if isinstance(line.meaning, PlayerError):
                found |= _left_out(line.echo, incoming.mail)
            for value in (
                getattr(line.meaning, "password", None),
                getattr(line.meaning, "new", None),
                line.who.password if line.who else None,
            ):
                if isinstance(value, Secret) and value.text and value != VOUCHED:
                    found.add(value.text)
        return found


class KeptMails(KeptMailsView):
    """Kept mails as an operator looks after them.

    Args:
        retry: carries a read mail out again; True when it was still kept.
        operators: where it is written down who did so and why.
    """

    def __init__(
        self,
        database: Database,
        read: Callable[[Envelope], IncomingMail],
        retry: Callable[[int, IncomingMail], bool],
        operators: Operators,
    ) -> None:
        super().__init__(database, read)
        self._retry = retry
        self._operators = operators

    def retry(self, number: int, by: Signature) -> str:
        """Carry a kept mail out again; one sentence on what became of it.

        That it was tried is in the audit, whatever became of it.

        Raises:
            OperatorError: no reason is given.
        """
        mail = self._kept(number)
        if mail is None:
            return f"There is no kept mail {number}."
        self._operators.do(by, partial(_tried, number=number))
        try:
            incoming = self._read(_envelope(mail))
            done = self._retry(number, incoming.judged(mail.verdict))
        except MailError as error:
            return f"We cannot read mail {number} ({error}), and still keep it."
        except Exception:  # noqa: BLE001 - the operator asked to see it fail again
            last = self._blanked(mail, _last_line(traceback.format_exc()))
            return f"Mail {number} failed again, and we still keep it: {last}"
        if not done:
            return f"Somebody else has carried out mail {number} in the meantime."
        return f"Mail {number} is carried out, and the answers are on their way."


def _tried(_: CommandContext, _by: Signature, number: int) -> Deed:
    return Deed("retry", f"mail {number}", "")


def drop_kept(context: CommandContext, _: Signature, number: int) -> Deed:
    """Keep a mail no longer."""
    if inbox.lock(context.connection, number, MailState.KEPT) is None:
        return Deed("drop", f"mail {number}", f"There is no kept mail {number}.")
    inbox.mark(context.connection, number, "ignored", "dropped by an operator")
    inbox.forget(context.connection, [number])
    return Deed("drop", f"mail {number}", f"Mail {number} is dropped; its text is gone.")


def _left_out(echo: str, mail: Mail) -> set[str]:
    """The words of a misread line that its echo does not repeat: one may be a password."""
    shown = echo.split()
    lines = [line.split() for line in (mail.subject, *mail.text.splitlines())]
    return {
        word
        for words in lines
        if shown[0] in {*words[:1], REST}
        for word in words
        if word not in shown and len(word) >= SHORTEST_PASSWORD
    }


class PutOffMails:
    """Mails over a limit that only play could know of, carried out when that allows it.

    Args:
        read: reads an envelope, as play does.
        retry: carries a read mail out; raises `TooMany` while it has to wait.
        keep: keeps a mail for the operator, by its number and the fault.
    """

    def __init__(
        self,
        database: Database,
        read: Callable[[Envelope], IncomingMail],
        retry: Callable[[int, IncomingMail], bool],
        keep: Callable[[int, str], None],
    ) -> None:
        self._database = database
        self._read = read
        self._retry = retry
        self._keep = keep

    def run_once(self) -> None:
        """Carry out what may be carried out now, each sender's in their order."""
        with self._database.reading.connect() as connection:
            found = inbox.put_off(connection, AT_ONCE)
        waiting: set[str] = set()
        for mail in found:
            if mail.sender in waiting:
                continue
            try:
                incoming = self._read(_envelope(mail)).judged(mail.verdict)
                self._retry(mail.id, incoming)
            except (TooMany, Outdated, *UNAVAILABLE, Closed):
                waiting.add(mail.sender)
            except Exception:
                log.exception("a mail that was put off is kept", extra={"mail": mail.id})
                self._keep(mail.id, traceback.format_exc())


_BECAME = {
    "done": "It is carried out. We do not show its text.",
    "answered": "It led only to an answer. We do not show its text.",
    "later": "It waits until its player may send more. We do not show its text.",
    "ignored": "A machine wrote it, so we did nothing. We do not show its text.",
}


def _head(mail: Received) -> str:
    """Who wrote when, and who vouches for that."""
    by = f" by {mail.peer}" if mail.peer else ""
    found = f" ({mail.verdict.found})" if mail.verdict.found else ""
    return (
        f"Received {mail.received_at:%Y-%m-%d %H:%M:%S} UTC from <{mail.sender}> "
        f"for <{blank_tokens(mail.recipient)}>{by}\nSender check: {mail.verdict.result}{found}\n"
    )


def _last_line(fault: str) -> str:
    return fault.strip().rpartition("\n")[2]


def _envelope(mail: Received) -> Envelope:
    return Envelope(mail.sender, mail.recipient, mail.raw, mail.peer)


_BODY = "\n\n"
HIDDEN = (
    "Its reader plays a board that hides something, so its text stays closed until that is over."
)
_SETTLED = frozenset({LetterState.SENT, LetterState.DIGEST, LetterState.FOLDED})


def shown(context: CommandContext, number: int) -> tuple[PostRow, str]:
    """A letter and its text, every token in it blanked; "" while it has not been made, and when
    it is not kept any more. Of what may show boards that run only the head is shown.

    Raises:
        OperatorError: there is none of that number.
    """
    row = _known(context, number)
    raw = kept_letters.bytes_of(context.connection, number) or b""
    text = raw.decode("utf-8", "replace").replace("\r\n", "\n")
    if row.letter not in OF_ACCOUNTS and hides(context, row.board_id, row.player_id):
        text = text and f"{text.partition(_BODY)[0]}{_BODY}{HIDDEN}\n"
    return row, blank_tokens(text)


def failed(context: CommandContext, since: datetime | None) -> list[int]:
    """Letters that have failed, or those of them that were written at *since* or later."""
    return operating.failed_letters(context.connection, since)


def retry(context: CommandContext, _: Signature, numbers: Sequence[int]) -> Deed:
    """Send letters now: such as wait, are held, or have failed.

    Of several all others are sent, and what is wrong with these is said.

    Raises:
        OperatorError: nothing can be sent: there is none of a number, it was sent, it waits for
            a digest, or its address is given up.
    """
    done: list[PostRow] = []
    wrong: list[str] = []
    for number in dict.fromkeys(numbers):
        try:
            done.append(_retried(context, number))
        except OperatorError as error:
            wrong.append(str(error))
    if not done:
        raise OperatorError("; ".join(wrong))
    told = [f"We send letter {row.id} to {row.recipient} as soon as possible." for row in done]
    told += [f"Not sent: {one}." for one in wrong]
    if len(numbers) == 1:
        return _deed("retry", done[0], told[0])
    before = {str(row.id): row.state for row in done}
    return Deed("retry", f"{len(done)} letters", "\n".join(told), (), {"before": before})


def _retried(context: CommandContext, number: int) -> PostRow:
    row = _changeable(context, number)
    if any(s.suspended_at for s in bounces.standings(context.connection, [row.recipient])):
        raise OperatorError(
            f"we gave {row.recipient} up because letters came back from there; "
            "`pbmserv user reachable USERID` sends all that waits"
        )
    operating.put_letter(context.connection, number, LetterState.QUEUED, context.now, row.error)
    return row


def hold(context: CommandContext, _: Signature, number: int) -> Deed:
    """Keep a letter until it is retried or dropped.

    Raises:
        OperatorError: there is none, or it is not waiting any more.
    """
    row = _changeable(context, number)
    operating.put_letter(context.connection, number, LetterState.HELD, None, row.error)
    return _deed("hold", row, f"We hold letter {number} to {row.recipient}.")


def drop(context: CommandContext, by: Signature, number: int) -> Deed:
    """Never send a letter.

    Raises:
        OperatorError: there is none, or it was sent.
    """
    row = _changeable(context, number)
    operating.put_letter(
        context.connection, number, LetterState.FAILED, None, f"{operating.DROPPED}{by.why}"
    )
    return _deed("drop", row, f"We will not send letter {number} to {row.recipient}.")


def _deed(action: str, row: PostRow, said: str) -> Deed:
    return Deed(action, f"letter {row.id}", said, (), {"before": row.state})


def _changeable(context: CommandContext, number: int) -> PostRow:
    row = _known(context, number)
    if row.state in _SETTLED:
        why = "has been sent" if row.state == LetterState.SENT else f"is in a digest ({row.state})"
        raise OperatorError(f"letter {number} {why}; you cannot change that")
    if not row.recipient:
        raise OperatorError(
            f"letter {number} has no address any more: its player is deleted, or it is so old "
            "that we keep nothing else of it"
        )
    return row


def _known(context: CommandContext, number: int) -> PostRow:
    row = operating.lock_letter(context.connection, number)
    if row is None:
        raise OperatorError(f"there is no letter {number}; `pbmserv outbox list` shows them")
    return row
