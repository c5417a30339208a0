"""Carries out the commands of a mail or press, each in a savepoint, and answers them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pbmserv.commands.grammar.readings import Line, NotTried
from pbmserv.commands.table.accounts import Forgot, Signup
from pbmserv.commands.table.events import TeamChat
from pbmserv.commands.table.playing import Chat, Message
from pbmserv.errors import GameAway, PlayerError
from pbmserv.mail.letter_kinds import kind_of
from pbmserv.mail.reply_address import ENDINGS, OF_TALK
from pbmserv.service.auth import lockout
from pbmserv.service.boards import plan_runs
from pbmserv.service.core import contact
from pbmserv.service.core.answer_readers import reader_of_answer
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.flood_limits import refuse_too_many_letters
from pbmserv.service.core.handler import Handlers
from pbmserv.service.core.lookup import game_away_refusal
from pbmserv.service.core.outbox_rows import outbox_row, outbox_rows
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.service.core.words_for_others import ECHO_OF_WORDS
from pbmserv.service.delivery import reachability
from pbmserv.service.limits.rates import Idle, Reply
from pbmserv.service.mails import (
    idle_mails,
    letter_costs,
    line_readings,
    refusal_letters,
    reply_meanings,
    strangers,
)
from pbmserv.service.mails.answers import CommandResult, Status, answers_to, last_answer
from pbmserv.service.mails.working_examples import with_working_example
from pbmserv.store.core.prepared import Savepoint
from pbmserv.store.delivery.outbox import NewLetter

_COMMAND = Savepoint("command")


@dataclass(frozen=True, slots=True)
class CarriedOut:
    """The result of a mail or press.

    Attributes:
        letters: the outbox rows to queue.
        is_proven: a command was carried out, and its speaker was proven.
        has_effect: a command has begun or moved a game, or told somebody else something.
        done, refused: numbers of commands.
    """

    letters: list[NewLetter]
    is_proven: bool = False
    has_effect: bool = False
    done: int = 0
    refused: int = 0


def run_commands(context: CommandContext, handlers: Handlers) -> CarriedOut:
    """Carry out all commands of a mail or press, and return the result.

    A refused command leaves nothing behind.

    Args:
        handlers: the function for each type of command.

    Raises:
        Exception: our code failed, in contrast to a `PlayerError`.
    """
    run = _Run(context, handlers)
    run.carry_out_lines()
    proofs = context.proofs
    for userid in sorted(proofs.right_passwords):  # also those of refused commands
        lockout.note_right(context.connection, userid, context.actor.source, context.now)
    # A reply address answers a letter of ours.
    is_proven = bool(proofs.players) or context.reply_address is not None
    return CarriedOut(
        run.all_letters(),
        is_proven=is_proven and run.done > 0,
        has_effect=run.has_effect,
        done=run.done,
        refused=run.refused,
    )


@dataclass(slots=True)
class _Run:
    """Carries out the lines of one mail or press.

    Attributes:
        letters: letters to others than the speaker.
        results: a result for each line and each withheld passage.
        withheld: the withheld passages that have a result.
        has_effect, done, refused: see `CarriedOut`.
        talks: a line carries only words to other players.
        tried_move: a known player's line was a move, and it was refused.
    """

    context: CommandContext
    handlers: Handlers
    letters: list[NewLetter] = field(default_factory=list)
    results: list[CommandResult] = field(default_factory=list)
    withheld: set[Line] = field(default_factory=set)
    has_effect: bool = False
    done: int = 0
    refused: int = 0
    talks: bool = False
    tried_move: bool = False

    def carry_out_lines(self) -> None:
        """Carry out the lines in their order."""
        context = self.context
        for line in _lines(context):
            if self.results:
                context.next_command()
            self.talks |= _talks(context, line)
            stopped = _why_not_tried(context, line)
            if stopped is not None:
                self._add_result(line.echo, "not tried", (), stopped)
            else:
                self._try(line)
                self._report_withheld()

    def _add_result(
        self, echo: str, status: Status, parts: tuple[Part, ...], stopped: NotTried | None = None
    ) -> None:
        reader = reader_of_answer(self.context)
        self.results.append(CommandResult(reader, echo, status, parts, stopped))

    def _report_withheld(self) -> None:
        """Add a result for each withheld passage of words for others, each of them once."""
        new = [line for line in self.context.current.left_out if line not in self.withheld]
        self.withheld.update(new)
        for line in new:
            if isinstance(line.meaning, NotTried):
                status: Status = "left out" if line.echo == ECHO_OF_WORDS else "not tried"
                self._add_result(line.echo, status, (), line.meaning)

    def _try(self, line: Line) -> None:
        """Carry out one command, or undo it and explain the refusal."""
        context = self.context
        choice = line_readings.choose(context, line)
        before = context.effects.copy()
        _COMMAND.begin(context.connection)
        try:
            answer = self._carry_out(choice.line)
        except PlayerError as error:
            is_known = bool(context.proofs.counted or context.known_writers())
            self.tried_move |= is_known and refusal_letters.refuses_move(error)
            _COMMAND.undo(context.connection)
            context.take_back(before)
            refusal = self._explain(choice, error)
            _COMMAND.end(context.connection)
            self.refused += 1
            self._add_result(refusal.words["echo"], "refused", (refusal,))
        else:
            _COMMAND.end(context.connection)
            self._note_done(line, choice.line.echo, answer)

    def _note_done(self, line: Line, echo: str, answer: Answer) -> None:
        """Add the answer to a command, and its letters to others, to those of the lines before."""
        context = self.context
        self.done += 1
        # Two programs can talk for ever, and anybody can sign up, or forget a password, in any
        # name.
        if not (_talks(context, line) or isinstance(line.meaning, Forgot | Signup)):
            self.has_effect |= context.current.changes_game or bool(answer.notifications)
        readable = contact.without_blocked_words(context, answer.notifications)
        self.letters += outbox_rows(context, readable)
        self._add_result(echo, "done", answer.parts)

    def _carry_out(self, line: Line) -> Answer:
        """Carry out a line within the limits, and the queued moves that it sets off.

        Raises:
            PlayerError: it is refused, or exceeds a limit.
        """
        context = self.context
        context.budget.begin(line)
        answer = self._answer(context, line)
        refuse_too_many_letters(context, answer.notifications)
        answer = plan_runs.play_queued_moves(context, answer)
        letter_costs.charge(context, answer.parts, answer.notifications)
        return answer

    def _explain(self, choice: line_readings.Choice, error: PlayerError) -> Part:
        """Return the letter about a refused line.

        To see whether the example of the letter works, it is carried out and undone.
        """
        context = self.context
        if not error.refusal.values.get("withheld"):
            context.current.left_out.clear()
        read, refusal = line_readings.refused_reading(context, choice, error)
        part = refusal_letters.explain(context, read, refusal)
        part = with_working_example(context, part, self._answer_either_way)
        _COMMAND.undo(context.connection)
        return letter_costs.affordable_refusal(context, part)

    def _answer_either_way(self, trial: CommandContext, line: Line) -> Answer:
        """Carry out a line that somebody else may write, with or without a password."""
        return self._answer(trial, line_readings.reading_without_proof(trial, line) or line)

    def _answer(self, context: CommandContext, line: Line) -> Answer:
        """Carry out one line.

        Raises:
            PlayerError: it is refused.
            GameAway: it must wait until its game can be played.
        """
        try:
            meaning = reply_meanings.meaning_of(context, line)
            if isinstance(meaning, Answer):
                return meaning
            return self.handlers[type(meaning)](context, meaning)
        except GameAway as away:
            if context.submission.can_wait:
                raise  # the whole mail waits
            context.current.focus = None  # a refusal must not show the board
            raise game_away_refusal(context, away) from away

    def all_letters(self) -> list[NewLetter]:
        """Return the letters to others, the answers, and a welcome to players who can be reached
        again.

        Without an effect, the answer may be silence.
        """
        context, letters, results = self.context, self.letters, self.results
        reachable = _note_reachable(context)
        welcome = [
            outbox_row(context, notification)
            for again in reachable.values()
            for notification in again.notifications
        ]
        if not context.submission.may_be_answered:
            return letters + welcome
        if context.reply_address is None and not context.proofs.players:
            results = strangers.greet_if_lost(context, results)
        answers = _readdressed(answers_to(context, results), reachable)
        if not self.has_effect:
            reply = idle_mails.decide_reply(context, self._idle, answers)
            if reply is Reply.NONE:  # nor are words passed on
                return [
                    *welcome,
                    *(letter for letter in letters if kind_of(letter.letter).never_hushed),
                ]
            if reply is Reply.LAST:
                answers += [last_answer(context, answer) for answer in answers[:1]]
        return answers + welcome + letters

    @property
    def _idle(self) -> Idle:
        """The kind of the mail for `idle_mails.decide_reply`, if it had no effect."""
        if self.letters and self.talks:
            return "talk"
        if self.tried_move:
            return "move"
        return "answered" if self.done else "refused"


def _lines(context: CommandContext) -> Sequence[Line]:
    """Return the lines to carry out. A mail that ends a subscription has one, whatever its other
    lines look like."""
    lines = context.submission.reading.lines
    reply_address = context.reply_address
    ends = reply_address is not None and reply_address.purpose in ENDINGS
    return lines[:1] if ends else lines


def _talks(context: CommandContext, line: Line) -> bool:
    """Return whether a line carries only words to other players."""
    reply_address = context.reply_address
    is_message = reply_address is not None and reply_address.purpose in OF_TALK
    return is_message or isinstance(line.meaning, Chat | Message | TeamChat)


def _why_not_tried(context: CommandContext, line: Line) -> NotTried | None:
    if isinstance(line.meaning, NotTried):
        return line.meaning
    return NotTried("budget") if context.budget.is_over else None


def _note_reachable(context: CommandContext) -> dict[int, reachability.Reachable]:
    """Note that proven players whose letters came back can be reached again."""
    return {
        player_id: reachability.note_reachable(context, player_id)
        for player_id, unreachable_since in context.proofs.players.items()
        if unreachable_since is not None
    }


def _readdressed(
    answers: list[NewLetter], reachable: Mapping[int, reachability.Reachable]
) -> list[NewLetter]:
    """Send answers to players whose letters came back to where they can be reached now."""
    addresses = {
        player_id: again.address for player_id, again in reachable.items() if again.address
    }
    return [
        replace(answer, recipient=addresses.get(answer.player_id or 0, answer.recipient))
        for answer in answers
    ]
