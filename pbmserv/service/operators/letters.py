"""What operators do with letters that are on their way: look, hold, send again, drop."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pbmserv.errors import OperatorError
from pbmserv.mail.reply_address import blank_tokens
from pbmserv.service.core.context import CommandContext
from pbmserv.service.operators.deeds import Deed, Signature
from pbmserv.store.delivery import bounces, kept_letters
from pbmserv.store.operators import operating
from pbmserv.store.operators.operating import PostRow
from pbmserv.store.tables.mail import LetterState

_SETTLED = frozenset({LetterState.SENT, LetterState.DIGEST, LetterState.FOLDED})


def shown(context: CommandContext, number: int) -> tuple[PostRow, str]:
    """A letter and its text, every token in it blanked; "" while it has not been made, and when
    it is not kept any more.

    Raises:
        OperatorError: there is none of that number.
    """
    row = _known(context, number)
    raw = kept_letters.bytes_of(context.connection, number) or b""
    text = raw.decode("utf-8", "replace").replace("\r\n", "\n")
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
