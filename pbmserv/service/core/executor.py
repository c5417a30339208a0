"""Carries out a whole mail: a savepoint for each command, then the letters it leads to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pbmserv.commands.grammar.plain_words import says_yes
from pbmserv.commands.reading.replies import first_paragraph
from pbmserv.commands.table import model
from pbmserv.commands.table.accounts import Forgot, Signup
from pbmserv.commands.table.catalogue import STOPS
from pbmserv.commands.table.looking import Games, Help, ShowAs
from pbmserv.commands.table.model import AtBoard, Line, NotTried, ReplyMove, TrayReply, Yes
from pbmserv.commands.table.playing import Chat, ConfirmMove, Message
from pbmserv.commands.table.starting import Accept, Reject
from pbmserv.errors import PlayerError, Refused
from pbmserv.mail.letter_kinds import kind_of
from pbmserv.mail.reply_address import ENDINGS, Purpose, ReplyAddress
from pbmserv.service.accounts import absences, account, leaving, messages, preferences
from pbmserv.service.auth import lockout, verified_sender
from pbmserv.service.boards import (
    followers,
    friends,
    moves,
    proposals,
    queries,
    queued_moves,
)
from pbmserv.service.core import budget, contact, refusals
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.results import Answer, CommandResult, answers_to, last_answer, told_letter
from pbmserv.service.core.words_for_others import WORDS
from pbmserv.service.delivery import bounces, digest
from pbmserv.service.handlers import handle
from pbmserv.service.limits import answer_limits
from pbmserv.service.limits.rates import Reply
from pbmserv.store.core.statements import Savepoint
from pbmserv.store.delivery.outbox import NewLetter

_COMMAND = Savepoint("command")
_ONE_MEANING: Mapping[Purpose, Callable[[CommandContext, ReplyAddress], Answer]] = {
    Purpose.MESSAGE: messages.message_by_reply,
    Purpose.UNSUBSCRIBE: preferences.unsubscribe_by_mail,
    Purpose.UNINVITED: friends.never,
}
"""Addresses at which all of a mail is one thing, if it is no command."""

_BY_WORDS: Mapping[Purpose, Callable[[CommandContext, object, ReplyAddress], Answer | None]] = {
    Purpose.AWAY: lambda context, asked, _: absences.answer_if_away(context, asked),
    Purpose.INVITED: friends.answered,
}
"""Addresses at which a mail's words decide, if they are an answer at all."""

_MEANT: Mapping[tuple[Purpose, type], Callable[[CommandContext, ReplyAddress], Answer]] = {
    (Purpose.ADDRESS, model.Yes): account.confirm_address,
    (Purpose.ADDRESS, model.ReplyMove): account.confirm_address,
    (Purpose.ADDRESS, Reject): account.refuse_address,
    (Purpose.KEEP_ADDRESS, Reject): account.keep_address,
    (Purpose.SIGNOFF, model.Yes): leaving.signed_off,
    (Purpose.DELETE, model.Yes): leaving.deleted,
    (Purpose.BEGIN, model.Yes): proposals.begin_confirmed,
    (
        Purpose.BEGIN,
        model.ReplyMove,
    ): proposals.begin_confirmed,  # what is no clear yes has been asked back
    (Purpose.BROADCAST, model.Yes): messages.broadcast_confirmed,
}

_UNCLEAR: Mapping[tuple[Purpose, type], tuple[str, str]] = {
    (Purpose.KEEP_ADDRESS, model.Yes): ("keep-address-how", "reject"),
    (Purpose.KEEP_ADDRESS, model.ReplyMove): ("keep-address-how", "reject"),
    (Purpose.SIGNOFF, model.ReplyMove): ("leaving-how", "no"),
    (Purpose.DELETE, model.ReplyMove): ("leaving-how", "no"),
    (Purpose.BROADCAST, model.ReplyMove): ("broadcast-how", ""),
}
"""Words that could mean either: what is said about them, and what would be clear and do no harm."""

_FOR_GOOD = frozenset({Purpose.SIGNOFF, Purpose.DELETE, Purpose.BROADCAST})
"""What cannot be taken back: here a yes is the whole first paragraph, and no empty reply is one."""

_LEAVING = frozenset({Purpose.SIGNOFF, Purpose.DELETE})

_NO = frozenset({"no", "nope", "nah", "n", "never", "not", "don't", "dont", "cancel", "stay"}) | {
    *("nein", "non", "nee", "nej", "nei", "não", "nao", "nie")
}


def carry_out(context: CommandContext) -> list[NewLetter]:
    """Do everything a mail asks for; the letters to queue come back.

    A refused command leaves nothing behind. Anything but a `PlayerError` is our fault and
    leaves this function, so that the mail is kept for the operator.
    """
    lines = context.incoming.reading.lines
    if context.reply_address is not None and context.reply_address.purpose in ENDINGS:
        lines = lines[:1]  # all of such a mail is one thing, whatever its lines look like
    letters, said = _each(context, lines)
    for userid in sorted(context.right_passwords):  # also where the command itself was refused
        lockout.note_right(context.connection, userid, context.incoming.source, context.now)
    done = context.tally.done > 0
    # A reply address answers a letter of ours.
    context.carried_out = done and (bool(context.proven) or context.reply_address is not None)
    homes = {
        player_id: bounces.come_back(context, player_id)
        for player_id, unreachable_since in context.proven.items()
        if unreachable_since is not None
    }
    welcome = [told_letter(context, told) for home in homes.values() for told in home.told]
    if context.incoming.mail.automatic:
        return letters + welcome
    if context.reply_address is None and not context.proven:
        said = leaving.greeted(context, said)
    answers = answers_to(context, said)
    if homes:
        answers = _readdressed(answers, homes)
    if not context.led_on:
        found = answer_limits.outcome(context, done=done, told=bool(letters))
        reply = answer_limits.count_answers(context, found, answers)
        if reply is Reply.NONE:  # not the words to somebody else either
            return [*welcome, *(one for one in letters if kind_of(one.letter).never_hushed)]
        if reply is Reply.LAST:
            answers += [last_answer(context, letter) for letter in answers[:1]]
    return answers + welcome + letters  # before what queued moves led to


def _each(
    context: CommandContext, lines: Sequence[Line]
) -> tuple[list[NewLetter], list[CommandResult]]:
    """Carry out one line after the other: letters to others, and what became of each line."""
    letters: list[NewLetter] = []
    said: list[CommandResult] = []
    told_before: set[Line] = set()
    reply_address = context.reply_address
    is_message = reply_address is not None and reply_address.purpose is Purpose.MESSAGE
    for line in lines:
        if said:
            context.next_command()
        talks = is_message or isinstance(line.asked, Chat | Message)
        context.talks |= talks
        stopped = line.asked if isinstance(line.asked, NotTried) else None
        if stopped is None and context.budget.is_over:
            stopped = NotTried("budget")
        if stopped is not None:
            reader = context.reader()
            said.append(CommandResult(reader, line.echo, "not tried", (), stopped))
            continue
        answer, echo, status = _try(context, line)
        context.tally.done += status == "done"
        context.tally.refused += status == "refused"
        # Two programs can talk for ever, and anybody can ask for these in anybody's name.
        if status == "done" and not talks and not isinstance(line.asked, Forgot | Signup):
            context.led_on |= bool(context.moved or answer.told)
        # Whoever has left has no address any more.
        reaching = contact.heard(context, answer.told)
        letters += [told_letter(context, told) for told in reaching if told.recipient]
        said.append(CommandResult(context.reader(), echo, status, answer.parts))
        if context.left_out:
            said += _left_out(context, told_before)
    return letters, said


def _left_out(context: CommandContext, told_before: set[Line]) -> list[CommandResult]:
    """What of the words for others was not passed on, each of it told once in an answer."""
    new = [line for line in context.left_out if line not in told_before]
    told_before.update(new)
    return [
        CommandResult(
            context.reader(),
            one.echo,
            "left out" if one.echo == WORDS else "not tried",
            (),
            one.asked,
        )
        for one in new
        if isinstance(one.asked, NotTried)
    ]


def _readdressed(letters: list[NewLetter], homes: Mapping[int, bounces.Home]) -> list[NewLetter]:
    """Answers to somebody who was given up go to where they can be reached now."""
    found = {player_id: home.address for player_id, home in homes.items() if home.address}
    return [
        replace(letter, recipient=found.get(letter.player_id or 0, letter.recipient))
        for letter in letters
    ]


def _try(context: CommandContext, line: Line) -> tuple[Answer, str, str]:
    """What became of one command: the answer, how it was read, and done or refused."""
    unsaid, read = None, line  # nearly all lines can be read in one way only
    if line.unsaid is not None or line.unnamed is not None or line.proving is not None:
        unsaid = verified_sender.as_known(context, line)
        read = unsaid or verified_sender.with_password(context, line) or line
    waiting, plies, known = len(context.bot_turns), len(context.tally.plies), dict(context.played)
    _COMMAND.begin(context.connection)
    try:
        context.budget.begin(read)
        answer = _ask(context, read)
        reaching = [one for one in answer.told if kind_of(one.part.letter).reaches_others]
        if reaching:
            answer_limits.must_not_reach_too_many(context, reaching)
        # A move tells of the board on which it is made, and on most of them no move is queued.
        if not context.moved or any(context.moved.values()):
            answer = queued_moves.go_on(context, answer)
        budget.count_letters(context, answer.parts, answer.told)
    except PlayerError as error:
        _COMMAND.undo(context.connection)
        context.take_back(known)
        del context.bot_turns[waiting:]
        del context.tally.plies[plies:]
        if error.refusal.code != "no-words":  # which may be so because all were left out
            context.left_out.clear()
        if unsaid is not None and not verified_sender.was_meant(context, error, line, read):
            read, error = line, verified_sender.otherwise(context, line)
        part, echo = refusals.told(context, read, error)
        part = refusals.tried(context, part, _carried_out)
        _COMMAND.undo(context.connection)
        part = budget.count_refusal(context, part)
        _COMMAND.end(context.connection)
        return Answer((part,)), echo, "refused"
    _COMMAND.end(context.connection)
    return answer, read.echo, "done"


def _carried_out(context: CommandContext, line: Line) -> Answer:
    """What a line leads to that somebody else may be about to write."""
    unsaid = verified_sender.as_known(context, line)
    return _ask(context, unsaid or line)


def _ask(context: CommandContext, line: Line) -> Answer:
    """Find and call the handler of one command."""
    reply_address = context.reply_address
    if context.incoming.mail.unread and isinstance(line.asked, PlayerError):
        raise line.asked  # whatever letter it answers
    # At a board's address a line is what it says.
    if reply_address is not None and reply_address.purpose is not Purpose.BOARD:
        special = _by_purpose(context, line, reply_address)
        if special is not None:
            return special
    if isinstance(line.asked, PlayerError):
        raise line.asked
    if isinstance(line.asked, Yes):
        return _yes(context, line.asked, reply_address)
    if isinstance(line.asked, ReplyMove) and _only_thanks(line.asked):
        return queries.show_as(context, ShowAs(None, None))
    if isinstance(line.asked, TrayReply):
        unfolded = digest.unfold(context, line.asked)
        return handle(context, unfolded)
    if isinstance(line.asked, AtBoard) and line.asked.who is None:
        verified_sender.must_speak_of(context, line.asked)
    return handle(context, line.asked)


_THANKS = STOPS.union(
    ("thank you", "thank you very much", "many thanks", "thanks a lot", "thx", "ty", "cheers"),
    ("great", "cool", "nice", "perfect", "super", "wow", "got it", "danke", "gracias", "merci"),
)


def _only_thanks(asked: ReplyMove) -> bool:
    """Whether a reply asks for nothing: it is only a kind word, or a picture of a thumb."""
    if len(asked.lines) > 1:
        return False
    text = asked.lines[0].lower()
    if " ".join(text.strip(".!").split()) in _THANKS:
        return True
    return not text.isascii() and not any(map(str.isalnum, text))


def _by_purpose(context: CommandContext, line: Line, reply_address: ReplyAddress) -> Answer | None:
    """What a reply means because of the letter it answers; ``None`` = what it says."""
    asked = line.asked
    match reply_address.purpose:
        case one if one in _ONE_MEANING and _is_for(one, line):
            return _ONE_MEANING[reply_address.purpose](context, reply_address)
        case Purpose.CONFIRM if isinstance(asked, Reject):
            return account.refuse_signup(context, reply_address)
        case Purpose.CONFIRM | Purpose.ADDRESS | Purpose.BEGIN if _unclear(
            context, reply_address, asked
        ):
            part = asked.lines[0] if isinstance(asked, ReplyMove) else ""
            raise Refused("confirm-how", part=part)
        case Purpose.CONFIRM if isinstance(asked, Yes | ReplyMove):
            return account.confirm_by_reply(context, reply_address)
        case Purpose.RESET if isinstance(asked, ReplyMove | Yes):
            context.echo_hidden = True  # somebody may have written just the new password
            raise Refused("reset-how", example="password NEWPASSWORD")
        case Purpose.AWAY | Purpose.INVITED:
            by_words = _BY_WORDS[reply_address.purpose]
            return by_words(context, asked, reply_address)
        case Purpose.FOLLOW:
            return followers.by_reply(context, line, reply_address)
        case Purpose.TRAY if digest.names_no_board(asked) or isinstance(asked, Yes):
            return _about_many(context, line)
        case Purpose.PLAYER if isinstance(asked, ReplyMove | Yes):
            return _about_nothing(context, asked)
    return _confirmed(context, asked, reply_address)


def _is_for(purpose: Purpose, line: Line) -> bool:
    """Whether a line is of the one thing that mails to such an address are, and no command."""
    talks = isinstance(line.asked, Yes | Chat)
    return purpose in ENDINGS or (talks and line.who is None)


def _unclear(context: CommandContext, reply_address: ReplyAddress, asked: object) -> bool:
    """Whether a reply says something that is no yes: "Yes please!" is one, "No!" is not.

    One without any words is, as it came from that address; but not if it had words that may
    have been its writer's, however sure it looked that they were not.
    """
    if isinstance(asked, Yes):
        return asked.unsaid and context.incoming.left_out
    if reply_address.purpose is Purpose.BEGIN and _is_no(asked):
        return False
    return isinstance(asked, ReplyMove) and not says_yes(asked.lines[0])


def _about_many(context: CommandContext, line: Line) -> Answer:
    """Words without a board's number that answer a letter about several boards."""
    if isinstance(line.asked, Yes) or (
        isinstance(line.asked, ReplyMove) and _only_thanks(line.asked)
    ):
        return queries.games(context, Games(None, (), "active"))
    command = digest.only_board(context, line)
    return handle(context, command)


def _about_nothing(context: CommandContext, asked: ReplyMove | Yes) -> Answer:
    """Words that answer a letter which asks nothing: thanks are told how things are."""
    if isinstance(asked, ReplyMove) and not _only_thanks(asked):
        raise digest.without_number(context, asked)
    return queries.games(context, Games(None, (), "active"))


def _yes(context: CommandContext, asked: Yes, reply_address: ReplyAddress | None) -> Answer:
    if reply_address is None or reply_address.purpose is not Purpose.BOARD:
        return queries.help_on(context, Help())
    board, sitter = context.seat_at(None, None, None)
    if asked.unsaid:
        if sitter.accepted_at is None:
            raise Refused("accept-how")
        raise Refused("empty-reply")
    if queued_moves.may_confirm(context, board, sitter):
        return queued_moves.confirm(context, ConfirmMove(None, None, None))
    if board.status == "proposed" and sitter.accepted_at is None:
        return moves.accept(context, Accept(None, None, None, asked.below))
    if asked.below is not None:
        return moves.reply_move(context, asked.below)
    raise Refused("nothing-to-confirm")


def _is_no(asked: object) -> bool:
    """Whether a reply says no: by a command that does, or by its first word."""
    if isinstance(asked, Reject):
        return True
    if not isinstance(asked, model.ReplyMove):
        return False
    return asked.lines[0].partition(" ")[0].strip(".,;:!").lower() in _NO


def _confirmed(
    context: CommandContext, asked: object, reply_address: ReplyAddress
) -> Answer | None:
    """What the reply leads to; ``None`` when it is a command of its own.

    Raises:
        Refused: it is not clear, or it comes too late.
    """
    if reply_address.purpose in _LEAVING and _is_no(asked):
        return leaving.stay(context, reply_address)
    if reply_address.purpose is Purpose.BEGIN and _is_no(asked):
        return proposals.drop_unconfirmed(context, reply_address)
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
