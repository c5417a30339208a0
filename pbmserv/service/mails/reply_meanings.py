"""The meaning of a line that answers a letter: it depends on what the letter asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pbmserv.commands.grammar.consent import begins_with_no, consent_in, says_yes
from pbmserv.commands.grammar.courtesies import is_kind_word
from pbmserv.commands.grammar.readings import Line
from pbmserv.commands.reading.replies import first_paragraph
from pbmserv.commands.table.command_types import AtBoard, Command, ReplyMove, TrayReply, Yes
from pbmserv.commands.table.looking import Games, Help, ShowAs
from pbmserv.commands.table.playing import Chat, ConfirmMove
from pbmserv.commands.table.starting import Accept, Reject
from pbmserv.errors import Misread, PlayerError, Refused
from pbmserv.mail.reply_address import ENDINGS, Purpose, ReplyAddress
from pbmserv.service.accounts import (
    absences,
    leaving,
    messages,
    new_addresses,
    signing_up,
    subscriptions,
)
from pbmserv.service.boards import (
    chat,
    followers,
    invitation_answers,
    moves,
    submitted_moves,
    unconfirmed_answers,
)
from pbmserv.service.boards.mover import mover_at
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer
from pbmserv.service.delivery import digest_replies
from pbmserv.service.events import event_commands, team_chat, team_invitations
from pbmserv.service.mails import line_readings
from pbmserv.store.tables.boards import BoardStatus

Meaning: TypeAlias = Answer | Command
"""The answer to a line that was carried out for its letter's question, or a command."""

_WHOLE_MAIL: Mapping[Purpose, Callable[[CommandContext, ReplyAddress], Answer]] = {
    Purpose.MESSAGE: messages.message_by_reply,
    Purpose.TEAM: team_chat.chat_by_reply,
    Purpose.UNSUBSCRIBE: subscriptions.unsubscribe_by_mail,
    Purpose.UNINVITED: invitation_answers.never,
}
"""Addresses at which a mail without commands has one meaning as a whole."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A question of a letter that is answered by yes or no.

    Attributes:
        yes: carries out a yes; `None` if nothing has to be done for it, so that a yes is unclear.
        no: carries out a no; `None` if the question takes none.
        how: the refusal of an unclear answer, which says how to answer.
        example: a clear answer that does no harm.
        takes_no_in_words: words such as "no, thanks" are a no, and not only ``reject``.
        is_for_good: a yes cannot be taken back. It must be the whole first paragraph, and an empty
            reply is none.
    """

    yes: Callable[[CommandContext, ReplyAddress], Answer] | None
    no: Callable[[CommandContext, ReplyAddress], Answer] | None
    how: str = "confirm-how"
    example: str = ""
    takes_no_in_words: bool = False
    is_for_good: bool = False


_QUESTIONS: Mapping[Purpose, _Question] = {
    Purpose.CONFIRM: _Question(signing_up.confirm_by_reply, signing_up.refuse_signup),
    Purpose.ADDRESS: _Question(new_addresses.confirm_address, new_addresses.refuse_address),
    Purpose.KEEP_ADDRESS: _Question(
        None, new_addresses.keep_address, how="keep-address-how", example="reject"
    ),
    Purpose.BEGIN: _Question(
        unconfirmed_answers.begin_confirmed,
        unconfirmed_answers.drop_unconfirmed,
        takes_no_in_words=True,
    ),
    Purpose.TEAM_INVITED: _Question(
        team_invitations.join_by_reply, team_invitations.decline_by_reply, takes_no_in_words=True
    ),
    Purpose.EVENT_INVITED: _Question(
        event_commands.join_by_reply, event_commands.decline_by_reply, takes_no_in_words=True
    ),
    Purpose.SIGNOFF: _Question(
        leaving.confirm_sign_off,
        leaving.stay,
        how="leaving-how",
        example="no",
        takes_no_in_words=True,
        is_for_good=True,
    ),
    Purpose.DELETE: _Question(
        leaving.confirm_delete,
        leaving.stay,
        how="leaving-how",
        example="no",
        takes_no_in_words=True,
        is_for_good=True,
    ),
    Purpose.BROADCAST: _Question(
        messages.confirm_broadcast, None, how="broadcast-how", is_for_good=True
    ),
}


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
            return _confirmed_at_board(context, command)
        case ReplyMove() if _asks_nothing(context, command):
            return ShowAs(None, None)
        case TrayReply():
            return digest_replies.unfold(context, command)
        case AtBoard() if command.credentials is None:
            line_readings.refuse_other_board(context, command)
    return command


def _by_purpose(context: CommandContext, line: Line, reply_address: ReplyAddress) -> Meaning | None:
    """Return the meaning that a line has because of the letter; `None`: it means what it says."""
    command, purpose = line.meaning, reply_address.purpose
    if purpose in _WHOLE_MAIL and _is_no_command(purpose, line):
        return _WHOLE_MAIL[purpose](context, reply_address)
    if purpose in _QUESTIONS:
        return _answer_to_question(context, _QUESTIONS[purpose], command, reply_address)
    match purpose:
        case Purpose.RESET if isinstance(command, ReplyMove | Yes) or _mentions_password(command):
            context.current.echo_hidden = True  # the line may be just the new password
            raise Refused("reset-how", example="password NEWPASSWORD")
        case Purpose.AWAY:
            return absences.answer_if_away(context, command)
        case Purpose.INVITED:
            return invitation_answers.answer(context, command, reply_address)
        case Purpose.FOLLOW:
            return followers.by_reply(context, line, reply_address)
        case Purpose.TRAY if digest_replies.names_no_board(command) or isinstance(command, Yes):
            return _in_digest(context, line)
        case Purpose.PLAYER if isinstance(command, ReplyMove | Yes):
            return _without_question(context, command)
    return None


def _mentions_password(command: object) -> bool:
    """Return whether a reply was refused because it mentions a password in other words."""
    return isinstance(command, Misread) and command.refusal.code == "reply-password"


def _is_no_command(purpose: Purpose, line: Line) -> bool:
    """Return whether a line to an address of `_WHOLE_MAIL` is no command of its own."""
    talks = isinstance(line.meaning, Yes | Chat)
    return purpose in ENDINGS or (talks and line.credentials is None)


def _answer_to_question(
    context: CommandContext, question: _Question, command: object, reply_address: ReplyAddress
) -> Answer | None:
    """Carry out a yes or a no; return `None` for a command of its own.

    Raises:
        Refused: the answer is unclear, or comes too late.
    """
    is_no = _says_no(command) if question.takes_no_in_words else isinstance(command, Reject)
    if is_no and question.no is not None:
        return question.no(context, reply_address)
    if not isinstance(command, Yes | ReplyMove):
        return None
    if question.yes is not None and _is_clear_yes(context, question, command):
        return question.yes(context, reply_address)
    part = command.lines[0] if isinstance(command, ReplyMove) else ""
    raise Refused(question.how, part=part, example=question.example)


def _is_clear_yes(context: CommandContext, question: _Question, command: Yes | ReplyMove) -> bool:
    """Return whether a reply says yes: "Yes please!" does, and "No!" does not.

    A reply without words says yes, since it comes from that address. It does not if it may have
    had words of its writer, however likely they were quoted.
    """
    if question.is_for_good:
        return isinstance(command, Yes) and says_yes(first_paragraph(context.submission.text))
    if isinstance(command, Yes):
        return not (command.is_empty and context.submission.left_out)
    return says_yes(command.lines[0])


def _in_digest(context: CommandContext, line: Line) -> Command:
    """Return the meaning of words without a board's number, in answer to a digest."""
    if isinstance(line.meaning, Yes) or (
        isinstance(line.meaning, ReplyMove) and _only_thanks(line.meaning)
    ):
        return Games(None, (), "active")
    return digest_replies.only_board(context, line)


def _without_question(context: CommandContext, command: ReplyMove | Yes) -> Command:
    """Return the meaning of words in answer to a letter without a question: a move on the only
    board, or thanks, which are answered with a list of boards."""
    if isinstance(command, ReplyMove) and not _only_thanks(command):
        return digest_replies.without_number(context, command)
    return Games(None, (), "active")


def _confirmed_at_board(context: CommandContext, command: Yes) -> Command:
    """Return the command that a yes stands for: the plan, the challenge, or the move below it."""
    if context.answered_board is None:
        return Help()
    board, sitter = context.seat_at()
    if command.is_empty:
        raise Refused("accept-how" if sitter.accepted_at is None else "empty-reply")
    if submitted_moves.may_confirm(context, board, sitter):
        return ConfirmMove(None, None, None)
    if board.status == BoardStatus.PROPOSED and sitter.accepted_at is None:
        return Accept(None, None, None, command.below)
    if command.below is not None:
        return command.below
    if board.status == BoardStatus.ACTIVE:
        moves.refuse_unclear_answer(mover_at(context, board, sitter), "yes", is_yes=True)
    raise Refused("nothing-to-confirm")


def _answers_challenge(context: CommandContext, command: ReplyMove) -> bool:
    """Return whether a kind word or an emoji is a yes or no to a challenge: a thumb up is."""
    _, sitter = context.seat_at()
    return sitter.accepted_at is None and consent_in(command.lines[0]) is not None


def _asks_nothing(context: CommandContext, command: ReplyMove) -> bool:
    """Return whether words at a board are only thanks.

    They are neither an answer to a challenge nor kind words that another person at the board gets.
    """
    if not _only_thanks(command) or _answers_challenge(context, command):
        return False
    return not chat.is_heard_praise(context, command.lines[0])


def _only_thanks(command: ReplyMove) -> bool:
    """Return whether a reply asks for nothing: it is only a kind word, or an emoji."""
    return len(command.lines) == 1 and is_kind_word(command.lines[0])


def _says_no(command: object) -> bool:
    """Return whether a reply says no, by a command or by its first word."""
    if isinstance(command, Reject):
        return True
    return isinstance(command, ReplyMove) and begins_with_no(command.lines[0])
