"""Deeds of operators about letters on their way: look, hold, send again, drop."""

from __future__ import annotations

from collections.abc import Sequence

from pbmserv.errors import OperatorError
from pbmserv.mail.key_ring import blank_tokens
from pbmserv.mail.letter_kinds import kind_of
from pbmserv.plurals import counted
from pbmserv.service.core.context import CommandContext
from pbmserv.service.operators.deeds import Deed, Signature, read_day
from pbmserv.store.boards import boards
from pbmserv.store.delivery import bounces, outbox
from pbmserv.store.operators import letters
from pbmserv.store.operators.letters import LetterLine
from pbmserv.store.tables.boards import RUNNING
from pbmserv.store.tables.mail import LetterState

HIDDEN = (
    "Its reader plays a board that hides something, so its text stays closed until that is over."
)
_END_OF_HEAD = "\n\n"
SETTLED = frozenset({LetterState.SENT, LetterState.DIGEST, LetterState.FOLDED})
"""States of letters that operators cannot change any more."""
STATES = tuple(LetterState)
UNSETTLED = tuple(state for state in LetterState if state not in SETTLED)


def letter_lines(
    context: CommandContext, *, state: str, to: str, most: int
) -> Sequence[LetterLine]:
    """Return letters, newest first.

    Args:
        state: a state, ``all``, or ``""`` for all that operators can still change.
        to: part of the address.
    """
    states = STATES if state == "all" else (state,) if state in STATES else UNSETTLED
    return letters.letter_lines(context.connection, states, to.lower(), most)


def letter_text(context: CommandContext, number: int) -> tuple[LetterLine, str]:
    """Return a letter and its text without tokens.

    The text is made from the record, as an attempt to send the letter would make it now; it is
    ``""`` if that cannot be done, for example because the letter is so old that its words were
    deleted. If it may show secrets of a running board, only its head is returned.

    Raises:
        OperatorError: there is no such letter.
    """
    line = _lock_letter(context, number)
    row = outbox.letter(context.connection, number)
    raw = b"" if row is None else context.services.letters.octets(context.connection, row)
    text = raw.decode("utf-8", "replace").replace("\r\n", "\n")
    may_show_board = not kind_of(line.letter).shows_no_board
    if may_show_board and _may_show_secrets(context, line.board_id, line.player_id):
        text = text and f"{text.partition(_END_OF_HEAD)[0]}{_END_OF_HEAD}{HIDDEN}\n"
    return line, blank_tokens(text)


def retry_letters(context: CommandContext, _: Signature, numbers: Sequence[int]) -> Deed:
    """Send letters that wait, are held or have failed now.

    If some of them cannot be sent, the others are, and the summary names the faults.

    Raises:
        OperatorError: no letter can be sent: there is no such letter, it was sent, it waits for a
            digest, or its address is given up.
    """
    queued: list[LetterLine] = []
    faults: list[str] = []
    for number in dict.fromkeys(numbers):
        try:
            queued.append(_retry_letter(context, number))
        except OperatorError as error:
            faults.append(str(error))
    if not queued:
        raise OperatorError("; ".join(faults))
    lines = [
        f"We send letter {line.id} to {line.recipient} as soon as possible." for line in queued
    ]
    lines += [f"Not sent: {fault}." for fault in faults]
    if len(numbers) == 1:
        return _deed("retry", queued[0], lines[0])
    before = {str(line.id): line.state for line in queued}
    return Deed("retry", "letters", "\n".join(lines), (), {"before": before})


def retry_failed(context: CommandContext, by: Signature, since: str) -> Deed:
    """Send failed letters again.

    Args:
        since: a day; letters that were queued before it are left out. ``""`` leaves out none.

    Raises:
        OperatorError: the day is wrong, or none of the letters can be sent.
    """
    day = read_day(since) if since.strip() else None
    numbers = letters.failed_letters(context.connection, day)
    if numbers:
        return retry_letters(context, by, numbers)
    summary = "No letters have failed." if day is None else "No letters have failed since then."
    return Deed("retry", "letters", summary)


def flush(context: CommandContext, _: Signature) -> Deed:
    """Send the letters now that wait for another attempt, as after an outage of the relay."""
    number = letters.flush(context.connection, context.now)
    waiting = counted(number, "letter that waits", "letters that wait")
    summary = (
        f"We send {waiting} for another attempt as soon as possible."
        if number
        else "No letter waits for another attempt."
    )
    return Deed("flush", "letters", summary, (), {"letters": number})


def _retry_letter(context: CommandContext, number: int) -> LetterLine:
    line = _lock_unsettled(context, number)
    records = bounces.records_of(context.connection, [line.recipient])
    if any(record.suspended_at for record in records):
        raise OperatorError(
            f"we gave {line.recipient} up because letters came back from there; "
            "`pbmserv user reachable USERID` sends all that waits"
        )
    letters.set_state(context.connection, number, LetterState.QUEUED, context.now, line.error)
    return line


def hold_letter(context: CommandContext, _: Signature, number: int) -> Deed:
    """Hold a letter until it is retried or dropped.

    Raises:
        OperatorError: there is no such letter, or it does not wait any more.
    """
    line = _lock_unsettled(context, number)
    letters.set_state(context.connection, number, LetterState.HELD, None, line.error)
    return _deed("hold", line, f"We hold letter {number} to {line.recipient}.")


def drop_letter(context: CommandContext, by: Signature, number: int) -> Deed:
    """Never send a letter.

    Raises:
        OperatorError: there is no such letter, or it was sent.
    """
    line = _lock_unsettled(context, number)
    error = f"{letters.DROPPED}{by.why}"
    letters.set_state(context.connection, number, LetterState.FAILED, None, error)
    return _deed("drop", line, f"We will not send letter {number} to {line.recipient}.")


def _deed(action: str, line: LetterLine, summary: str) -> Deed:
    return Deed(action, f"letter {line.id}", summary, (), {"before": line.state})


def _lock_unsettled(context: CommandContext, number: int) -> LetterLine:
    """Return a letter that can still be changed, and lock it.

    Raises:
        OperatorError: there is no such letter, or it cannot be changed.
    """
    line = _lock_letter(context, number)
    if line.state in SETTLED:
        is_sent = line.state == LetterState.SENT
        why = "has been sent" if is_sent else f"is in a digest ({line.state})"
        raise OperatorError(f"letter {number} {why}; you cannot change that")
    if not line.recipient:
        raise OperatorError(
            f"letter {number} has no address any more: its player is deleted, or it is so old "
            "that we keep nothing else of it"
        )
    return line


def _lock_letter(context: CommandContext, number: int) -> LetterLine:
    line = letters.lock_letter(context.connection, number)
    if line is None:
        raise OperatorError(f"there is no letter {number}; `pbmserv outbox list` shows them")
    return line


def _may_show_secrets(context: CommandContext, number: int | None, player_id: int | None) -> bool:
    """Return whether a letter to a player about a board may show secrets of a running board."""
    board = boards.load(context.connection, number) if number else None
    if board is not None and board.status in RUNNING:
        return True
    return bool(player_id and boards.running_of(context.connection, player_id))
