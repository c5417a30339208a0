"""The meaning of a line that answers a letter: it depends on what the letter asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from pbmserv.commands.grammar.consent import consent_in
from pbmserv.commands.grammar.plain_words import says_yes
from pbmserv.commands.grammar.readings import Line
from pbmserv.commands.reading.replies import first_paragraph
from pbmserv.commands.table.catalogue import STOPS
from pbmserv.commands.table.looking import Games, Help, ShowAs
from pbmserv.commands.table.model import AtBoard, Command, ReplyMove, TrayReply, Yes
from pbmserv.commands.table.playing import Chat, ConfirmMove
from pbmserv.commands.table.starting import Accept, Reject
from pbmserv.errors import PlayerError, Refused
from pbmserv.mail.reply_address import ENDINGS, Purpose, ReplyAddress
from pbmserv.service.accounts import (
    absences,
    leaving,
    messages,
    new_addresses,
    preferences,
    signing_up,
)
from pbmserv.service.boards import followers, mail_invitations, moves, proposals, queued_moves
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer
from pbmserv.service.delivery import digest
from pbmserv.service.events import team_commands
from pbmserv.service.mails import line_readings
from pbmserv.store.tables.boards import BoardStatus

Meaning: TypeAlias = Answer | Command
"""The answer to a line that was carried out for its letter's question, or a command."""

_WHOLE_MAIL: Mapping[Purpose, Callable[[CommandContext, ReplyAddress], Answer]] = {
    Purpose.MESSAGE: messages.message_by_reply,
    Purpose.TEAM: team_commands.chat_by_reply,
    Purpose.UNSUBSCRIBE: preferences.unsubscribe_by_mail,
    Purpose.UNINVITED: mail_invitations.never,
}
"""Addresses at which a mail without commands has one meaning as a whole."""

_BY_WORDS: Mapping[Purpose, Callable[[CommandContext, object, ReplyAddress], Answer | None]] = {
    Purpose.AWAY: lambda context, command, _: absences.answer_if_away(context, command),
    Purpose.INVITED: mail_invitations.answer,
}
"""Addresses at which the words of a mail decide whether it answers the question."""

_ANSWERS: Mapping[tuple[Purpose, type], Callable[[CommandContext, ReplyAddress], Answer]] = {
    (Purpose.ADDRESS, Yes): new_addresses.confirm_address,
    (Purpose.ADDRESS, ReplyMove): new_addresses.confirm_address,
    (Purpose.ADDRESS, Reject): new_addresses.refuse_address,
    (Purpose.KEEP_ADDRESS, Reject): new_addresses.keep_address,
    (Purpose.SIGNOFF, Yes): leaving.signed_off,
    (Purpose.DELETE, Yes): leaving.deleted,
    (Purpose.BEGIN, Yes): proposals.begin_confirmed,
    (Purpose.BEGIN, ReplyMove): proposals.begin_confirmed,  # unclear words were refused before
    (Purpose.BROADCAST, Yes): messages.broadcast_confirmed,
    (Purpose.TEAM_INVITED, Yes): team_commands.join_by_reply,
    (Purpose.TEAM_INVITED, ReplyMove): team_commands.join_by_reply,  # as for `BEGIN`
}
"""Answers to questions, by the purpose of the letter and the type of the line."""

_UNCLEAR: Mapping[tuple[Purpose, type], tuple[str, str]] = {
    (Purpose.KEEP_ADDRESS, Yes): ("keep-address-how", "reject"),
    (Purpose.KEEP_ADDRESS, ReplyMove): ("keep-address-how", "reject"),
    (Purpose.SIGNOFF, ReplyMove): ("leaving-how", "no"),
    (Purpose.DELETE, ReplyMove): ("leaving-how", "no"),
    (Purpose.BROADCAST, ReplyMove): ("broadcast-how", ""),
}
"""Lines that could mean yes or no: the refusal, and a clear answer that does no harm."""

_FOR_GOOD = frozenset({Purpose.SIGNOFF, Purpose.DELETE, Purpose.BROADCAST})
"""Questions whose yes cannot be taken back. It must be the whole first paragraph, and an empty
reply is none."""

_MAY_SAY_NO = frozenset({Purpose.BEGIN, Purpose.TEAM_INVITED})

_LEAVING = frozenset({Purpose.SIGNOFF, Purpose.DELETE})

_NO = frozenset({"no", "nope", "nah", "n", "never", "not", "don't", "dont", "cancel", "stay"}) | {
    *("nein", "non", "nee", "nej", "nei", "não", "nao", "nie")
}

_THANKS = (STOPS - {"quit"}).union(
    ("thank you", "thank you very much", "many thanks", "thanks a lot", "thx", "ty", "cheers"),
    ("great", "cool", "nice", "perfect", "super", "wow", "got it", "danke", "gracias", "merci"),
)


def meaning_of(context: CommandContext, line: Line) -> Meaning:
    """Carry out a line that answers a letter's question; return the command of any other line.

    Raises:
        PlayerError: the line is refused, or could not be read.
    """
    command, reply_address = line.meaning, context.reply_address
    if context.submission.is_unread and isinstance(command, PlayerError):
        raise command  # whatever letter it answers
    # A reply to a letter about a board means what it says.
    if reply_address is not None and reply_address.purpose is not Purpose.BOARD:
        meaning = _by_purpose(context, line, reply_address)
        if meaning is not None:
            return meaning
    match command:
        case PlayerError():
            raise command
        case Yes():
            return _confirmed_at_board(context, command, reply_address)
        case ReplyMove() if _asks_nothing(context, command):
            return ShowAs(None, None)
        case TrayReply():
            return digest.unfold(context, command)
        case AtBoard() if command.who is None:
            line_readings.must_speak_of(context, command)
    return command


def _by_purpose(context: CommandContext, line: Line, reply_address: ReplyAddress) -> Meaning | None:
    """Return the meaning that a line has because of the letter; `None`: it means what it says."""
    command = line.meaning
    match reply_address.purpose:
        case purpose if purpose in _WHOLE_MAIL and _is_no_command(purpose, line):
            return _WHOLE_MAIL[purpose](context, reply_address)
        case Purpose.CONFIRM if isinstance(command, Reject):
            return signing_up.refuse_signup(context, reply_address)
        case Purpose.CONFIRM | Purpose.ADDRESS | Purpose.BEGIN | Purpose.TEAM_INVITED if (
            _is_unclear(context, reply_address, command)
        ):
            part = command.lines[0] if isinstance(command, ReplyMove) else ""
            raise Refused("confirm-how", part=part)
        case Purpose.CONFIRM if isinstance(command, Yes | ReplyMove):
            return signing_up.confirm_by_reply(context, reply_address)
        case Purpose.RESET if isinstance(command, ReplyMove | Yes):
            context.current.echo_hidden = True  # the line may be just the new password
            raise Refused("reset-how", example="password NEWPASSWORD")
        case Purpose.AWAY | Purpose.INVITED:
            return _BY_WORDS[reply_address.purpose](context, command, reply_address)
        case Purpose.FOLLOW:
            return followers.by_reply(context, line, reply_address)
        case Purpose.TRAY if digest.names_no_board(command) or isinstance(command, Yes):
            return _in_digest(context, line)
        case Purpose.PLAYER if isinstance(command, ReplyMove | Yes):
            return _without_question(context, command)
    return _answer_to_question(context, command, reply_address)


def _is_no_command(purpose: Purpose, line: Line) -> bool:
    """Whether a line to an address of `_WHOLE_MAIL` is no command of its own."""
    talks = isinstance(line.meaning, Yes | Chat)
    return purpose in ENDINGS or (talks and line.who is None)


def _is_unclear(context: CommandContext, reply_address: ReplyAddress, command: object) -> bool:
    """Whether a reply does not say yes: "Yes please!" does, and "No!" does not.

    A reply without words says yes, since it comes from that address. It does not if it may have
    had words of its writer, however likely they were quoted.
    """
    if isinstance(command, Yes):
        return command.is_empty and context.submission.left_out
    if reply_address.purpose in _MAY_SAY_NO and _says_no(command):
        return False
    return isinstance(command, ReplyMove) and not says_yes(command.lines[0])


def _in_digest(context: CommandContext, line: Line) -> Command:
    """Return the meaning of words without a board's number, in answer to a digest."""
    if isinstance(line.meaning, Yes) or (
        isinstance(line.meaning, ReplyMove) and _only_thanks(line.meaning)
    ):
        return Games(None, (), "active")
    return digest.only_board(context, line)


def _without_question(context: CommandContext, command: ReplyMove | Yes) -> Command:
    """Return the meaning of words in answer to a letter without a question: a move on the only
    board, or thanks, which are answered with a list of boards."""
    if isinstance(command, ReplyMove) and not _only_thanks(command):
        return digest.without_number(context, command)
    return Games(None, (), "active")


def _confirmed_at_board(
    context: CommandContext, command: Yes, reply_address: ReplyAddress | None
) -> Command:
    """Return the command that a yes stands for: the plan, the challenge, or the move below it."""
    if reply_address is None or reply_address.purpose is not Purpose.BOARD:
        return Help()
    board, sitter = context.seat_at(None, None, None)
    if command.is_empty:
        raise Refused("accept-how" if sitter.accepted_at is None else "empty-reply")
    if queued_moves.may_confirm(context, board, sitter):
        return ConfirmMove(None, None, None)
    if board.status == BoardStatus.PROPOSED and sitter.accepted_at is None:
        return Accept(None, None, None, command.below)
    if command.below is not None:
        return command.below
    raise Refused("nothing-to-confirm")


def _answer_to_question(
    context: CommandContext, command: object, reply_address: ReplyAddress
) -> Answer | None:
    """Carry out an answer to a letter's question; return `None` for a command of its own.

    Raises:
        Refused: the answer is unclear, or comes too late.
    """
    if reply_address.purpose in _LEAVING and _says_no(command):
        return leaving.stay(context, reply_address)
    if reply_address.purpose is Purpose.TEAM_INVITED and _says_no(command):
        return team_commands.decline_by_reply(context, reply_address)
    if reply_address.purpose is Purpose.BEGIN and _says_no(command):
        return proposals.drop_unconfirmed(context, reply_address)
    kind = type(command)
    if kind is Yes and reply_address.purpose in _FOR_GOOD:
        kind = Yes if says_yes(first_paragraph(context.submission.text)) else ReplyMove
    question = (reply_address.purpose, kind)
    if question in _ANSWERS:
        return _ANSWERS[question](context, reply_address)
    if question in _UNCLEAR:
        code, example = _UNCLEAR[question]
        part = command.lines[0] if isinstance(command, ReplyMove) else ""
        raise Refused(code, part=part, example=example)
    return None


def _answers_challenge(context: CommandContext, command: ReplyMove) -> bool:
    """Whether a kind word or an emoji is a yes or no to a challenge: a thumb up is."""
    _, sitter = context.seat_at(None, None, None)
    return sitter.accepted_at is None and consent_in(command.lines[0]) is not None


def _asks_nothing(context: CommandContext, command: ReplyMove) -> bool:
    """Whether words at a board are only thanks, neither an answer to a challenge nor kind words
    that another person at the board gets."""
    if not _only_thanks(command) or _answers_challenge(context, command):
        return False
    return not moves.is_kind(context, command.lines[0])


def _only_thanks(command: ReplyMove) -> bool:
    """Whether a reply asks for nothing: it is only a kind word, or an emoji."""
    if len(command.lines) > 1:
        return False
    text = command.lines[0].lower()
    if " ".join(text.strip(".!").split()) in _THANKS:
        return True
    return not text.isascii() and not any(map(str.isalnum, text))


def _says_no(command: object) -> bool:
    """Whether a reply says no, by a command or by its first word."""
    if isinstance(command, Reject):
        return True
    if not isinstance(command, ReplyMove):
        return False
    return command.lines[0].partition(" ")[0].strip(".,;:!").lower() in _NO
