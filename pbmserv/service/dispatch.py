"""Carries out a whole mail: a savepoint for each command, then the letters it leads to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pbmserv.capability import Capability, Purpose
from pbmserv.commands import model
from pbmserv.commands.assent import says_yes
from pbmserv.commands.catalogue import STOPS
from pbmserv.commands.model import Line
from pbmserv.errors import PlayerError, Refused
from pbmserv.service import (
    absence,
    accounts,
    addresses,
    archive,
    confirming,
    daily,
    drafts,
    following,
    invitations,
    leaving,
    matching,
    offers,
    people,
    plans,
    play,
    racing,
    rating,
    refusing,
    returning,
    saving,
    scoring,
    silence,
    spending,
    tray,
    undoing,
    unsubscribing,
    vouching,
    watch,
)
from pbmserv.service.answers import Answer
from pbmserv.service.desk import Desk
from pbmserv.service.passing_on import WORDS
from pbmserv.service.rates import Reply
from pbmserv.service.results import CommandResult, answers_to, last_answer, told_letter
from pbmserv.store.outbox import NewLetter
from pbmserv.store.savepoint import Savepoint

_HANDLERS: Mapping[type, Callable[[Desk, Any], Answer]] = {
    model.Help: watch.help_on,
    model.ListGames: watch.list_games,
    model.Signup: people.signup,
    model.ChangePassword: people.change_password,
    model.Forgot: people.forgot,
    model.Challenge: invitations.challenge,
    model.Accept: offers.accept,
    model.Reject: offers.reject,
    model.Queue: plans.queue,
    model.Submit: drafts.submit,
    model.ConfirmMove: drafts.confirm,
    model.Preview: drafts.preview,
    model.Check: drafts.check,
    model.Undo: undoing.undo,
    model.Solve: racing.solve,
    model.Practise: racing.practise,
    model.Replay: racing.replay,
    model.Scores: scoring.show_scores,
    model.Save: saving.save,
    model.Load: saving.load,
    model.Daily: daily.daily,
    model.Week: daily.week,
    model.MakeMove: play.make_move,
    model.ReplyMove: play.reply_move,
    model.Resign: play.resign,
    model.Show: watch.show,
    model.ShowAs: watch.show_as,
    model.Games: watch.games,
    model.Chat: play.chat,
    model.Rematch: invitations.rematch,
    model.Seek: matching.seek,
    model.Standings: rating.standings,
    model.Ratings: rating.explain,
    model.History: archive.history,
    model.Record: archive.record,
    model.Follow: following.follow,
    model.Message: people.message,
    model.Broadcast: people.broadcast,
    model.ChangeAddress: addresses.change,
    model.Prefs: accounts.prefs,
    model.Away: accounts.away,
    model.Back: accounts.back,
    model.SignOff: leaving.sign_off,
    model.Delete: leaving.delete,
    model.Export: leaving.export,
}

_COMMAND = Savepoint("command")
_ONE_MEANING: Mapping[Purpose, Callable[[Desk, Capability], Answer]] = {
    Purpose.MESSAGE: people.message_by_reply,
    Purpose.UNSUBSCRIBE: unsubscribing.by_mail,
}
"""Addresses at which all of a mail is one thing, if it is no command."""


def carry_out(desk: Desk) -> list[NewLetter]:
    """Do everything a mail asks for; the letters to queue come back.

    A refused command leaves nothing behind. Anything but a `PlayerError` is our fault and
    leaves this function, so that the mail is kept for the operator.
    """
    letters: list[NewLetter] = []
    said: list[CommandResult] = []
    told_before: set[Line] = set()
    lines = desk.post.reading.lines
    if desk.capability is not None and desk.capability.purpose is Purpose.UNSUBSCRIBE:
        lines = lines[:1]  # all of such a mail is one thing, whatever its lines look like
    for line in lines:
        desk.next_command()
        if isinstance(line.asked, model.NotTried):
            said.append(CommandResult(desk.answer_to, line.echo, "not tried", (), line.asked))
            continue
        if desk.budget.is_over:
            stopped = model.NotTried("budget")
            said.append(CommandResult(desk.answer_to, line.echo, "not tried", (), stopped))
            continue
        answer, echo, status = _try(desk, line)
        desk.tally.done += status == "done"
        desk.tally.refused += status == "refused"
        if status == "done":
            desk.led_on |= silence.leads_on(desk, line, answer)
        # Whoever has left has no address any more.
        letters += [told_letter(desk, told) for told in answer.told if told.recipient]
        said.append(CommandResult(desk.answer_to, echo, status, answer.parts))
        said += _left_out(desk, told_before)
    is_known = bool(desk.proven) or desk.capability is not None  # that answers a letter of ours
    desk.carried_out = is_known and any(one.status == "done" for one in said)
    homes, welcome = _reached(desk)
    if desk.post.mail.automatic:
        return letters + welcome
    answers = _readdressed(answers_to(desk, said), homes)
    if not desk.led_on:
        done = any(one.status == "done" for one in said)
        found = silence.outcome(desk, lines, done=done, told=bool(letters))
        reply = silence.goes_on(desk, found, answers)
        if reply is Reply.NONE:  # not the words to somebody else either
            return [*welcome, *(one for one in letters if one.letter in silence.UNHUSHED)]
        if reply is Reply.LAST:
            answers += [last_answer(desk, letter) for letter in answers[:1]]
    return answers + welcome + letters  # before what queued moves led to


def _left_out(desk: Desk, told_before: set[Line]) -> list[CommandResult]:
    """What of the words for others was not passed on, each of it told once in an answer."""
    new = [line for line in desk.left_out if line not in told_before]
    told_before.update(new)
    return [
        CommandResult(
            desk.answer_to,
            one.echo,
            "left out" if one.echo == WORDS else "not tried",
            (),
            one.asked,
        )
        for one in new
        if isinstance(one.asked, model.NotTried)
    ]


def _reached(desk: Desk) -> tuple[Mapping[int, returning.Home], list[NewLetter]]:
    """Where speakers who could not be reached are to be found now, and what that leads to."""
    homes = {player_id: returning.come_back(desk, player_id) for player_id in desk.unreachable}
    return homes, [told_letter(desk, told) for home in homes.values() for told in home.told]


def _readdressed(letters: list[NewLetter], homes: Mapping[int, returning.Home]) -> list[NewLetter]:
    """Answers to somebody who was given up go to where they can be reached now."""
    if not homes:
        return letters
    found = {player_id: home.address for player_id, home in homes.items() if home.address}
    return [
        replace(letter, recipient=found.get(letter.player_id or 0, letter.recipient))
        for letter in letters
    ]


def _try(desk: Desk, line: Line) -> tuple[Answer, str, str]:
    """What became of one command: the answer, how it was read, and done or refused."""
    unsaid = vouching.without_password(desk, line)
    read = unsaid or vouching.with_password(desk, line) or line
    waiting, plies, known = len(desk.house), len(desk.tally.plies), dict(desk.played)
    _COMMAND.begin(desk.connection)
    try:
        spending.on_line(desk, read)
        asked = _ask(desk, read)
        silence.must_not_reach_too_many(desk, asked)
        answer = plans.go_on(desk, asked)
        spending.on_answer(desk, answer)
    except PlayerError as error:
        _COMMAND.undo(desk.connection)
        desk.take_back(known)
        del desk.house[waiting:]
        del desk.tally.plies[plies:]
        if error.refusal.code != "no-words":  # which may be so because all were left out
            desk.left_out.clear()
        if unsaid is not None and not vouching.was_meant(error):
            read, error = line, vouching.otherwise(desk, line)
        part, echo = refusing.told(desk, read, error)
        part = spending.on_refusal(desk, part)
        _COMMAND.end(desk.connection)
        return Answer((part,)), echo, "refused"
    _COMMAND.end(desk.connection)
    return answer, read.echo, "done"


def _ask(desk: Desk, line: Line) -> Answer:
    """Find and call the handler of one command."""
    capability = desk.capability
    if desk.post.mail.unread and isinstance(line.asked, PlayerError):
        raise line.asked  # whatever letter it answers
    if capability is not None:
        special = _by_purpose(desk, line, capability)
        if special is not None:
            return special
    if isinstance(line.asked, PlayerError):
        raise line.asked
    if isinstance(line.asked, model.Yes):
        return _yes(desk, line.asked, capability)
    if isinstance(line.asked, model.ReplyMove) and _only_thanks(line.asked):
        return watch.show_as(desk, model.ShowAs(None, None))
    if isinstance(line.asked, model.TrayReply):
        unfolded = tray.unfold(desk, line.asked)
        return _HANDLERS[type(unfolded)](desk, unfolded)
    return _HANDLERS[type(line.asked)](desk, line.asked)


def _only_thanks(asked: model.ReplyMove) -> bool:
    """Whether a reply asks for nothing: it is only a word that ends the reading elsewhere."""
    words = " ".join(asked.lines[0].lower().strip(".!").split())
    return len(asked.lines) == 1 and words in STOPS | {"thank you", "thx"}


def _by_purpose(desk: Desk, line: Line, capability: Capability) -> Answer | None:
    """What a reply means because of the letter it answers; ``None`` = what it says."""
    asked = line.asked
    match capability.purpose:
        case Purpose.MESSAGE | Purpose.UNSUBSCRIBE if _is_for(capability.purpose, line):
            return _ONE_MEANING[capability.purpose](desk, capability)
        case Purpose.CONFIRM if isinstance(asked, model.Reject):
            return people.refuse_signup(desk, capability)
        case Purpose.CONFIRM | Purpose.ADDRESS | Purpose.BEGIN if _unclear(desk, capability, asked):
            part = asked.lines[0] if isinstance(asked, model.ReplyMove) else ""
            raise Refused("confirm-how", part=part, example="yes")
        case Purpose.CONFIRM if isinstance(asked, model.Yes | model.ReplyMove):
            return people.confirm_by_reply(desk, capability)
        case Purpose.RESET if isinstance(asked, model.ReplyMove | model.Yes):
            desk.echo_hidden = True  # somebody may have written just the new password
            raise Refused("reset-how", example="password NEWPASSWORD")
        case Purpose.AWAY:
            return absence.answer(desk, asked)
        case Purpose.FOLLOW:
            return following.by_reply(desk, line, capability)
        case Purpose.TRAY if tray.names_no_board(asked):
            command = tray.only_board(desk, line)
            return _HANDLERS[type(command)](desk, command)
        case Purpose.PLAYER if isinstance(asked, model.ReplyMove):
            raise tray.without_number(desk, asked)
    return confirming.answer(desk, asked, capability)


def _is_for(purpose: Purpose, line: Line) -> bool:
    """Whether a line is of the one thing that mails to such an address are, and no command."""
    talks = isinstance(line.asked, model.Yes | model.Chat)
    return purpose is Purpose.UNSUBSCRIBE or (talks and line.who is None)


def _unclear(desk: Desk, capability: Capability, asked: object) -> bool:
    """Whether a reply says something that is no yes: "Yes please!" is one, "No!" is not.

    One without any words is, as it came from that address; but not if it had words that may
    have been its writer's, however sure it looked that they were not.
    """
    if isinstance(asked, model.Yes):
        return asked.unsaid and desk.post.left_out
    if capability.purpose is Purpose.BEGIN and confirming.is_no(asked):
        return False
    return isinstance(asked, model.ReplyMove) and not says_yes(asked.lines[0])


def _yes(desk: Desk, asked: model.Yes, capability: Capability | None) -> Answer:
    if capability is None or capability.purpose is not Purpose.BOARD:
        return watch.help_on(desk, model.Help())
    board, sitter = desk.seat_at(None, None, None)
    if asked.unsaid:
        if sitter.accepted_at is None:
            raise Refused("accept-how", example="accept")
        raise Refused("empty-reply", example=play.example_of(desk.position(board), sitter.seat))
    if drafts.may_confirm(desk, board, sitter):
        return drafts.confirm(desk, model.ConfirmMove(None, None, None))
    if board.status == "proposed" and sitter.accepted_at is None:
        return offers.accept(desk, model.Accept(None, None, None, asked.below))
    if asked.below is not None:
        return play.reply_move(desk, asked.below)
    raise Refused("nothing-to-confirm", example=play.example_of(desk.position(board), sitter.seat))
