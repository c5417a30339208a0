"""What a reply means to a letter that asks about an account: do it, or not, or say it clearly."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pbmserv.commands.reading.replies import first_paragraph, says_yes
from pbmserv.commands.table import model
from pbmserv.commands.table.starting import Reject
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.service.accounts import address_changes, leaving, signup
from pbmserv.service.boards import unproven_boards
from pbmserv.service.core.answers import Answer
from pbmserv.service.core.context import CommandContext

_MEANT: Mapping[tuple[Purpose, type], Callable[[CommandContext, ReplyAddress], Answer]] = {
    (Purpose.ADDRESS, model.Yes): address_changes.confirm,
    (Purpose.ADDRESS, model.ReplyMove): address_changes.confirm,
    (Purpose.ADDRESS, Reject): address_changes.reject,
    (Purpose.KEEP_ADDRESS, Reject): address_changes.stop,
    (Purpose.SIGNOFF, model.Yes): leaving.signed_off,
    (Purpose.DELETE, model.Yes): leaving.deleted,
    (Purpose.BEGIN, model.Yes): unproven_boards.begin,
    (
        Purpose.BEGIN,
        model.ReplyMove,
    ): unproven_boards.begin,  # what is no clear yes has been asked back
    (Purpose.BROADCAST, model.Yes): signup.broadcast_confirmed,
}

_UNCLEAR: Mapping[tuple[Purpose, type], tuple[str, str]] = {
    (Purpose.KEEP_ADDRESS, model.Yes): ("keep-address-how", "reject"),
    (Purpose.KEEP_ADDRESS, model.ReplyMove): ("keep-address-how", "reject"),
    (Purpose.SIGNOFF, model.ReplyMove): ("leaving-how", "no"),
    (Purpose.DELETE, model.ReplyMove): ("leaving-how", "no"),
    (Purpose.BROADCAST, model.ReplyMove): ("broadcast-how", "yes"),
}
"""Words that could mean either: what is said about them, and what would be clear."""

_FOR_GOOD = frozenset({Purpose.SIGNOFF, Purpose.DELETE, Purpose.BROADCAST})
"""What cannot be taken back: here a yes is the whole first paragraph, and no empty reply is one."""


_LEAVING = frozenset({Purpose.SIGNOFF, Purpose.DELETE})

_NO = frozenset({"no", "nope", "nah", "n", "never", "not", "don't", "dont", "cancel", "stay"}) | {
    *("nein", "non", "nee", "nej", "nei", "não", "nao", "nie")
}


def is_no(asked: object) -> bool:
    """Whether a reply says no: by a command that does, or by its first word."""
    if isinstance(asked, Reject):
        return True
    if not isinstance(asked, model.ReplyMove):
        return False
    return asked.lines[0].partition(" ")[0].strip(".,;:!").lower() in _NO


def answer(context: CommandContext, asked: object, reply_address: ReplyAddress) -> Answer | None:
    """What the reply leads to; ``None`` when it is a command of its own.

    Raises:
        Refused: it is not clear, or it comes too late.
    """
    if reply_address.purpose in _LEAVING and is_no(asked):
        return leaving.stay(context, reply_address)
    if reply_address.purpose is Purpose.BEGIN and is_no(asked):
        return unproven_boards.refuse(context, reply_address)
    kind = type(asked)
    if kind is model.Yes and reply_address.purpose in _FOR_GOOD:
        kind = model.Yes if says_yes(first_paragraph(context.incoming.text)) else model.ReplyMove
    asks = (reply_address.purpose, kind)
    if asks in _MEANT:
        return _MEANT[asks](context, reply_address)
    if asks in _UNCLEAR:
        code, example = _UNCLEAR[asks]
        part = asked.lines[0] if isinstance(asked, model.ReplyMove) else ""
        raise Refused(code, part=part, example=example)
    return None
