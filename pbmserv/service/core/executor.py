"""Carries out a whole mail: a savepoint for each command, then the letters it leads to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pbmserv.commands.reading.yes_no import says_yes
from pbmserv.commands.table import model
from pbmserv.commands.table.catalogue import STOPS
from pbmserv.commands.table.model import Line
from pbmserv.errors import PlayerError, Refused
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.service.accounts import (
    address_changes,
    confirmations,
    leaving,
    out_of_office,
    preferences,
    signup,
    unsubscribe,
)
from pbmserv.service.auth import verified_sender
from pbmserv.service.boards import (
    followers,
    history,
    invitations,
    matching,
    moves,
    offers,
    previews,
    queries,
    queued_moves,
    undo,
)
from pbmserv.service.core import refusals, spending
from pbmserv.service.core.answers import Answer
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.results import CommandResult, answers_to, last_answer, told_letter
from pbmserv.service.core.words_for_others import WORDS
from pbmserv.service.delivery import digest, reachability
from pbmserv.service.limits import answer_limits
from pbmserv.service.limits.rates import Reply
from pbmserv.service.ratings import rating
from pbmserv.service.solo import daily_box, races, save_load, scores
from pbmserv.store.core.statements import Savepoint
from pbmserv.store.delivery.outbox import NewLetter
from pbmserv.store.tables import BoardStatus

_HANDLERS: Mapping[type, Callable[[CommandContext, Any], Answer]] = {
    model.Help: queries.help_on,
    model.ListGames: queries.list_games,
    model.Signup: signup.signup,
    model.ChangePassword: signup.change_password,
    model.Forgot: signup.forgot,
    model.Challenge: invitations.challenge,
    model.Accept: offers.accept,
    model.Reject: offers.reject,
    model.Queue: queued_moves.queue,
    model.Submit: previews.submit,
    model.ConfirmMove: previews.confirm,
    model.Preview: previews.preview,
    model.Check: previews.check,
    model.Undo: undo.undo,
    model.Solve: races.solve,
    model.Practise: races.practise,
    model.Replay: races.replay,
    model.Scores: scores.show_scores,
    model.Save: save_load.save,
    model.Load: save_load.load,
    model.Daily: daily_box.daily,
    model.Week: daily_box.week,
    model.MakeMove: moves.make_move,
    model.ReplyMove: moves.reply_move,
    model.Resign: moves.resign,
    model.Show: queries.show,
    model.ShowAs: queries.show_as,
    model.Games: queries.games,
    model.Chat: moves.chat,
    model.Rematch: invitations.rematch,
    model.Seek: matching.seek,
    model.Standings: rating.standings,
    model.Ratings: rating.explain,
    model.History: history.history,
    model.Record: history.record,
    model.Follow: followers.follow,
    model.Message: signup.message,
    model.Broadcast: signup.broadcast,
    model.ChangeAddress: address_changes.change,
    model.Prefs: preferences.prefs,
    model.Away: preferences.away,
    model.Back: preferences.back,
    model.SignOff: leaving.sign_off,
    model.Delete: leaving.delete,
    model.Export: leaving.export,
}

_COMMAND = Savepoint("command")
_ONE_MEANING: Mapping[Purpose, Callable[[CommandContext, ReplyAddress], Answer]] = {
    Purpose.MESSAGE: signup.message_by_reply,
    Purpose.UNSUBSCRIBE: unsubscribe.by_mail,
}
"""Addresses at which all of a mail is one thing, if it is no command."""


def carry_out(context: CommandContext) -> list[NewLetter]:
    """Do everything a mail asks for; the letters to queue come back.

    A refused command leaves nothing behind. Anything but a `PlayerError` is our fault and
    leaves this function, so that the mail is kept for the operator.
    """
    letters: list[NewLetter] = []
    said: list[CommandResult] = []
    told_before: set[Line] = set()
    lines = context.incoming.reading.lines
    if context.reply_address is not None and context.reply_address.purpose is Purpose.UNSUBSCRIBE:
        lines = lines[:1]  # all of such a mail is one thing, whatever its lines look like
    for line in lines:
        context.next_command()
        if isinstance(line.asked, model.NotTried):
            said.append(CommandResult(context.answer_to, line.echo, "not tried", (), line.asked))
            continue
        if context.budget.is_over:
            stopped = model.NotTried("budget")
            said.append(CommandResult(context.answer_to, line.echo, "not tried", (), stopped))
            continue
        answer, echo, status = _try(context, line)
        context.tally.done += status == "done"
        context.tally.refused += status == "refused"
        if status == "done":
            context.led_on |= answer_limits.leads_on(context, line, answer)
        # Whoever has left has no address any more.
        letters += [told_letter(context, told) for told in answer.told if told.recipient]
        said.append(CommandResult(context.answer_to, echo, status, answer.parts))
        said += _left_out(context, told_before)
    is_known = (
        bool(context.proven) or context.reply_address is not None
    )  # that answers a letter of ours
    context.carried_out = is_known and any(one.status == "done" for one in said)
    homes, welcome = _reached(context)
    if context.incoming.mail.automatic:
        return letters + welcome
    answers = _readdressed(answers_to(context, said), homes)
    if not context.led_on:
        done = any(one.status == "done" for one in said)
        found = answer_limits.outcome(context, lines, done=done, told=bool(letters))
        reply = answer_limits.goes_on(context, found, answers)
        if reply is Reply.NONE:  # not the words to somebody else either
            return [*welcome, *(one for one in letters if one.letter in answer_limits.UNHUSHED)]
        if reply is Reply.LAST:
            answers += [last_answer(context, letter) for letter in answers[:1]]
    return answers + welcome + letters  # before what queued moves led to


def _left_out(context: CommandContext, told_before: set[Line]) -> list[CommandResult]:
    """What of the words for others was not passed on, each of it told once in an answer."""
    new = [line for line in context.left_out if line not in told_before]
    told_before.update(new)
    return [
        CommandResult(
            context.answer_to,
            one.echo,
            "left out" if one.echo == WORDS else "not tried",
            (),
            one.asked,
        )
        for one in new
        if isinstance(one.asked, model.NotTried)
    ]


def _reached(context: CommandContext) -> tuple[Mapping[int, reachability.Home], list[NewLetter]]:
    """Where speakers who could not be reached are to be found now, and what that leads to."""
    homes = {
        player_id: reachability.come_back(context, player_id) for player_id in context.unreachable
    }
    return homes, [told_letter(context, told) for home in homes.values() for told in home.told]


def _readdressed(
    letters: list[NewLetter], homes: Mapping[int, reachability.Home]
) -> list[NewLetter]:
    """Answers to somebody who was given up go to where they can be reached now."""
    if not homes:
        return letters
    found = {player_id: home.address for player_id, home in homes.items() if home.address}
    return [
        replace(letter, recipient=found.get(letter.player_id or 0, letter.recipient))
        for letter in letters
    ]


def _try(context: CommandContext, line: Line) -> tuple[Answer, str, str]:
    """What became of one command: the answer, how it was read, and done or refused."""
    unsaid = verified_sender.without_password(context, line)
    read = unsaid or verified_sender.with_password(context, line) or line
    waiting, plies, known = len(context.bot_turns), len(context.tally.plies), dict(context.played)
    _COMMAND.begin(context.connection)
    try:
        spending.on_line(context, read)
        asked = _ask(context, read)
        answer_limits.must_not_reach_too_many(context, asked)
        answer = queued_moves.go_on(context, asked)
        spending.on_answer(context, answer)
    except PlayerError as error:
        _COMMAND.undo(context.connection)
        context.take_back(known)
        del context.bot_turns[waiting:]
        del context.tally.plies[plies:]
        if error.refusal.code != "no-words":  # which may be so because all were left out
            context.left_out.clear()
        if unsaid is not None and not verified_sender.was_meant(error):
            read, error = line, verified_sender.otherwise(context, line)
        part, echo = refusals.told(context, read, error)
        part = spending.on_refusal(context, part)
        _COMMAND.end(context.connection)
        return Answer((part,)), echo, "refused"
    _COMMAND.end(context.connection)
    return answer, read.echo, "done"


def _ask(context: CommandContext, line: Line) -> Answer:
    """Find and call the handler of one command."""
    reply_address = context.reply_address
    if context.incoming.mail.unread and isinstance(line.asked, PlayerError):
        raise line.asked  # whatever letter it answers
    if reply_address is not None:
        special = _by_purpose(context, line, reply_address)
        if special is not None:
            return special
    if isinstance(line.asked, PlayerError):
        raise line.asked
    if isinstance(line.asked, model.Yes):
        return _yes(context, line.asked, reply_address)
    if isinstance(line.asked, model.ReplyMove) and _only_thanks(line.asked):
        return queries.show_as(context, model.ShowAs(None, None))
    if isinstance(line.asked, model.TrayReply):
        unfolded = digest.unfold(context, line.asked)
        return _HANDLERS[type(unfolded)](context, unfolded)
    return _HANDLERS[type(line.asked)](context, line.asked)


def _only_thanks(asked: model.ReplyMove) -> bool:
    """Whether a reply asks for nothing: it is only a word that ends the reading elsewhere."""
    words = " ".join(asked.lines[0].lower().strip(".!").split())
    return len(asked.lines) == 1 and words in STOPS | {"thank you", "thx"}


def _by_purpose(context: CommandContext, line: Line, reply_address: ReplyAddress) -> Answer | None:
    """What a reply means because of the letter it answers; ``None`` = what it says."""
    asked = line.asked
    match reply_address.purpose:
        case Purpose.MESSAGE | Purpose.UNSUBSCRIBE if _is_for(reply_address.purpose, line):
            return _ONE_MEANING[reply_address.purpose](context, reply_address)
        case Purpose.CONFIRM if isinstance(asked, model.Reject):
            return signup.refuse_signup(context, reply_address)
        case Purpose.CONFIRM | Purpose.ADDRESS | Purpose.BEGIN if _unclear(
            context, reply_address, asked
        ):
            part = asked.lines[0] if isinstance(asked, model.ReplyMove) else ""
            raise Refused("confirm-how", part=part, example="yes")
        case Purpose.CONFIRM if isinstance(asked, model.Yes | model.ReplyMove):
            return signup.confirm_by_reply(context, reply_address)
        case Purpose.RESET if isinstance(asked, model.ReplyMove | model.Yes):
            context.echo_hidden = True  # somebody may have written just the new password
            raise Refused("reset-how", example="password NEWPASSWORD")
        case Purpose.AWAY:
            return out_of_office.answer(context, asked)
        case Purpose.FOLLOW:
            return followers.by_reply(context, line, reply_address)
        case Purpose.TRAY if digest.names_no_board(asked):
            command = digest.only_board(context, line)
            return _HANDLERS[type(command)](context, command)
        case Purpose.PLAYER if isinstance(asked, model.ReplyMove):
            raise digest.without_number(context, asked)
    return confirmations.answer(context, asked, reply_address)


def _is_for(purpose: Purpose, line: Line) -> bool:
    """Whether a line is of the one thing that mails to such an address are, and no command."""
    talks = isinstance(line.asked, model.Yes | model.Chat)
    return purpose is Purpose.UNSUBSCRIBE or (talks and line.who is None)


def _unclear(context: CommandContext, reply_address: ReplyAddress, asked: object) -> bool:
    """Whether a reply says something that is no yes: "Yes please!" is one, "No!" is not.

    One without any words is, as it came from that address; but not if it had words that may
    have been its writer's, however sure it looked that they were not.
    """
    if isinstance(asked, model.Yes):
        return asked.unsaid and context.incoming.left_out
    if reply_address.purpose is Purpose.BEGIN and confirmations.is_no(asked):
        return False
    return isinstance(asked, model.ReplyMove) and not says_yes(asked.lines[0])


def _yes(context: CommandContext, asked: model.Yes, reply_address: ReplyAddress | None) -> Answer:
    if reply_address is None or reply_address.purpose is not Purpose.BOARD:
        return queries.help_on(context, model.Help())
    board, sitter = context.seat_at(None, None, None)
    if asked.unsaid:
        if sitter.accepted_at is None:
            raise Refused("accept-how", example="accept")
        raise Refused("empty-reply", example=moves.example_of(context.position(board), sitter.seat))
    if previews.may_confirm(context, board, sitter):
        return previews.confirm(context, model.ConfirmMove(None, None, None))
    if board.status == BoardStatus.PROPOSED and sitter.accepted_at is None:
        return offers.accept(context, model.Accept(None, None, None, asked.below))
    if asked.below is not None:
        return moves.reply_move(context, asked.below)
    raise Refused(
        "nothing-to-confirm", example=moves.example_of(context.position(board), sitter.seat)
    )
