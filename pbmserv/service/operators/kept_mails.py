"""Mails that were kept because our own code failed on them: operators list, show and retry them."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from pbmserv.commands.grammar.readings import REST
from pbmserv.commands.grammar.word_forms import SHORTEST_PASSWORD
from pbmserv.commands.table.command_types import VOUCHED, Secret
from pbmserv.errors import MailError, OperatorError, PlayerError
from pbmserv.mail.envelope import Envelope, Mail
from pbmserv.mail.key_ring import blank_tokens
from pbmserv.service.core.context import CommandContext
from pbmserv.service.mails.incoming import IncomingMail
from pbmserv.service.operators.deeds import Deed, Operators, Signature
from pbmserv.store.core.database import Database
from pbmserv.store.delivery import inbox
from pbmserv.store.delivery.inbox import StoredMail
from pbmserv.store.tables.mail import MailState

BLANK = "***"
UNREAD = "(cannot be read)"

_ADDRESSED = re.compile(r"^(?:From|To|Date|Message-ID):.*", re.IGNORECASE | re.MULTILINE)
_ENCODED = re.compile(r"base64|quoted-printable|=\?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class KeptMail:
    """A kept mail in a list.

    Attributes:
        subject: its first command, without passwords; `UNREAD` if there is none.
        error: the line of the fault that names it.
    """

    id: int
    received_at: datetime
    sender: str
    subject: str
    error: str


class KeptMailsView:
    """Kept mails, for reading.

    Args:
        database: game store, for reading.
        read: reads an envelope, as play does.
    """

    def __init__(self, database: Database, read: Callable[[Envelope], IncomingMail]) -> None:
        self._database = database
        self._read = read

    def count(self) -> int:
        """Return the number of all kept mails; `list` returns some hundreds at most."""
        with self._database.reading.connect() as connection:
            return inbox.count_kept(connection)

    def list(self) -> list[KeptMail]:
        """Return kept mails: faults, then mails for the postmaster, both newest first."""
        with self._database.reading.connect() as connection:
            mails = inbox.kept(connection)
        return [self._line(mail) for mail in mails]

    def _line(self, mail: StoredMail) -> KeptMail:
        incoming = self._try_read(mail)
        subject = incoming.reading.lines[0].echo if incoming else UNREAD
        error = blank_tokens(_blanked(fault_line(mail.error), incoming))
        return KeptMail(mail.id, mail.received_at, mail.sender, subject, error)

    def show(self, number: int) -> str | None:
        """Return a kept mail without its secrets, and the fault; `None` if there is no such mail.

        Of a mail that was carried out, only sender, time and sender check are shown: its text is
        private. An encoded text is shown decoded, so that passwords in it can be blanked. Of a mail
        that cannot be read, or is a report, only From, To, Date and Message-ID are shown.
        """
        with self._database.reading.connect() as connection:
            mail = inbox.get(connection, number)
        if mail is None:
            return None
        head = _head(mail)
        if mail.state != MailState.KEPT:
            return f"{head}\n{_OUTCOMES[mail.state]}\n"
        raw = mail.raw.decode("utf-8", "replace").replace("\r\n", "\n")
        incoming = self._try_read(mail)
        if incoming is None:
            raw = "\n".join(_ADDRESSED.findall(raw.partition("\n\n")[0]))
        elif _secrets(incoming) and _ENCODED.search(raw):
            read = incoming.mail
            raw = f"From: {read.sender}\nSubject: {read.subject}\n\n{read.text}"
        text = f"{raw.rstrip()}\n\n--- why it was kept ---\n{mail.error.strip()}\n"
        return f"{head}\n{blank_tokens(_blanked(text, incoming))}"

    def is_kept(self, number: int) -> bool:
        """Return whether a mail waits for the operator."""
        return self._kept(number) is not None

    def _kept(self, number: int) -> StoredMail | None:
        with self._database.reading.connect() as connection:
            mail = inbox.get(connection, number)
        return mail if mail is not None and mail.state == MailState.KEPT else None

    def _try_read(self, mail: StoredMail) -> IncomingMail | None:
        """Read a kept mail; return `None` if it cannot be read, or brings no commands.

        A report about a letter brings none; it quotes the letter, which operators must not see.
        """
        try:
            incoming = self._read(envelope_of(mail))
        except Exception:  # noqa: BLE001 - perhaps it was kept because it cannot be read
            return None
        return incoming if incoming.reading.lines else None


class KeptMails(KeptMailsView):
    """Kept mails, for reading and retrying.

    Args:
        database: game store, for reading.
        read: reads an envelope, as play does.
        retry: carries out a read mail again; returns whether it was still kept.
        operators: adds the retry to the audit.
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
        """Carry out a kept mail again; return a sentence for the operator.

        The attempt is added to the audit, even if it fails.

        Raises:
            OperatorError: the mail is not kept, or no reason is given.
        """
        mail = self._kept(number)
        if mail is None:
            raise _not_kept(number)
        self._operators.do(by, partial(_retry_deed, number=number))
        try:
            incoming = self._read(envelope_of(mail))
            done = self._retry(number, incoming.with_verdict(mail.verdict))
        except MailError as error:
            return f"We cannot read mail {number} ({error}), and still keep it."
        except Exception:  # noqa: BLE001 - the operator asked to see it fail again
            fault = _blanked(fault_line(traceback.format_exc()), self._try_read(mail))
            return f"Mail {number} failed again, and we still keep it: {fault}"
        if not done:
            return f"Somebody else has carried out mail {number} in the meantime."
        return f"Mail {number} is carried out, and the answers are on their way."


def _retry_deed(_: CommandContext, _by: Signature, number: int) -> Deed:
    return Deed("retry", f"mail {number}", "")


def drop_mail(context: CommandContext, _: Signature, number: int) -> Deed:
    """Delete the text of a kept mail.

    Raises:
        OperatorError: the mail is not kept.
    """
    if inbox.lock(context.connection, number, MailState.KEPT) is None:
        raise _not_kept(number)
    inbox.mark(context.connection, number, MailState.IGNORED, "dropped by an operator")
    inbox.erase_texts(context.connection, [number])
    return Deed("drop", f"mail {number}", f"Mail {number} is dropped; its text is gone.")


def _not_kept(number: int) -> OperatorError:
    return OperatorError(f"there is no kept mail {number}; `pbmserv inbox list` shows them all")


def _blanked(text: str, incoming: IncomingMail | None) -> str:
    """Return a text without the passwords of a mail."""
    for secret in sorted(_secrets(incoming) if incoming else (), key=len, reverse=True):
        text = text.replace(secret, BLANK)
    return text


def _secrets(incoming: IncomingMail) -> set[str]:
    """Return the passwords of a mail, and words of misread lines that may be passwords."""
    secrets: set[str] = set()
    for line in incoming.reading.lines:
        if isinstance(line.meaning, PlayerError):
            secrets |= _left_out(line.echo, incoming.mail)
        for value in (
            getattr(line.meaning, "password", None),
            getattr(line.meaning, "new", None),
            line.credentials.password if line.credentials else None,
        ):
            if isinstance(value, Secret) and value.text and value != VOUCHED:
                secrets.add(value.text)
    return secrets


def _left_out(echo: str, mail: Mail) -> set[str]:
    """Return the words of a misread line that its echo leaves out; one may be a password."""
    echoed = echo.split()
    lines = [line.split() for line in (mail.subject, *mail.text.splitlines())]
    return {
        word
        for words in lines
        if echoed[0] in {*words[:1], REST}
        for word in words
        if word not in echoed and len(word) >= SHORTEST_PASSWORD
    }


_OUTCOMES: Mapping[MailState, str] = {
    MailState.DONE: "It is carried out. We do not show its text.",
    MailState.ANSWERED: "It led only to an answer. We do not show its text.",
    MailState.LATER: "It waits until its player may send more. We do not show its text.",
    MailState.PAUSED: "It waits until its game can be played. We do not show its text.",
    MailState.IGNORED: "A machine wrote it, so we did nothing. We do not show its text.",
}


def _head(mail: StoredMail) -> str:
    """Return sender, time and sender check of a mail."""
    by = f" by {mail.peer}" if mail.peer else ""
    evidence = f" ({mail.verdict.checks})" if mail.verdict.checks else ""
    return (
        f"Received {mail.received_at:%Y-%m-%d %H:%M:%S} UTC from <{mail.sender}> "
        f"for <{blank_tokens(mail.recipient)}>{by}\nSender check: {mail.verdict.result}{evidence}\n"
    )


def fault_line(fault: str) -> str:
    """Return the line of a stored fault that names it: the exception's, if it is a traceback.

    Lines may follow it: SQLAlchemy adds the statement and the address of a page.
    """
    lines = fault.strip().splitlines() or [""]
    frames = [number for number, line in enumerate(lines) if line.startswith('  File "')]
    if not frames:
        return lines[-1]
    after = lines[frames[-1] + 1 :]
    return next((line for line in after if not line.startswith(" ")), lines[-1])


def envelope_of(mail: StoredMail) -> Envelope:
    return Envelope(mail.sender, mail.recipient, mail.raw, mail.peer)
