"""Waiting moves: queued ones wait for their turn, submitted ones for ``confirm``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pbmserv.commands.table.playing import ConfirmMove, Queue, Submit
from pbmserv.engine.plans import (
    Plan,
    answering,
    checked_plan,
    parse_plan,
    play_due,
    print_plan,
    read_plan,
)
from pbmserv.engine.position import Position
from pbmserv.engine.record import WITHDRAW
from pbmserv.engine.types import Seat
from pbmserv.errors import MoveError, PlayerError, Refused
from pbmserv.mail.letter_kinds import kind_of
from pbmserv.service.boards import far_labels
from pbmserv.service.boards.finished_boards import refuse_finished
from pbmserv.service.boards.first_draws import refuse_before_draw
from pbmserv.service.boards.mover import mover_at
from pbmserv.service.boards.moves import not_late, read_move
from pbmserv.service.boards.plies import log_ply, play_move
from pbmserv.service.core.budget import TooMuch, Work
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.said import UNSAID
from pbmserv.service.core.words_for_others import words_for_others
from pbmserv.store.boards import boards, moves
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.tables.boards import RUNNING, BoardStatus

MOST_PLIES = 20
"""Most queued moves that one mail plays; two long plans could go on for ever."""

FORGET = frozenset({"-", "--", "none", "off"})


def queue(context: CommandContext, command: Queue) -> Answer:
    """``game queue board userid password plan``; ``-`` drops the plan.

    On the player's turn the plan begins at once.
    """
    board, sitter = context.seat_at(command.board, command.game, command.credentials)
    refuse_finished(context, board)
    text = command.plan.strip()
    if text.lower() in FORGET:
        moves.keep_plan(context.connection, board.id, sitter.seat, None)
        words = {"queued": "", "forgotten": sitter.plan or ""}
        return Answer((Part("queued", words, board.id, board.plies, sitter.seat),))
    if text.lower() == WITHDRAW:
        raise Refused("queue-resign", part=text, example=WITHDRAW)
    mover = mover_at(context, board, sitter)
    refuse_before_draw(mover)
    position = mover.position
    try:
        written = read_plan(text)
        plan = print_plan(checked_plan(position.game, mover.view, written))
    except MoveError as error:
        one_move = not any(sign in text for sign in ";(:")
        example = error.refusal.example if one_move else ""
        raise error.offering(example and f"queue {example}") from error
    far_labels.refuse_far_cells(context, mover, written, plan)
    moves.keep_plan(context.connection, board.id, sitter.seat, plan)
    if mover.is_to_act:
        others = {} if position.apart else board.plans
        context.current.moved[board.id] = {**others, sitter.seat: plan}
    words = {"queued": plan, "forgotten": ""}
    return Answer((Part("queued", words, board.id, board.plies, sitter.seat),))


def go_on(context: CommandContext, answer: Answer) -> Answer:
    """Play the queued moves that are due after a command, and name those that wait.

    Each player at such a board gets one letter about all of them, in place of the letter about the
    move before them.
    """
    plans_by_board = dict(context.current.moved)
    for board_id, plans in plans_by_board.items():
        if plans:
            answer = _Run(context, board_id, plans).into(answer)

    # Letters to players with waiting plans name the plans.
    for part in [*answer.parts, *[notification.part for notification in answer.notifications]]:
        number = part.board
        if number is not None and number not in plans_by_board and _names_plan(part):
            plans_by_board[number] = moves.plans(context.connection, number)
    if not any(plans_by_board.values()):
        return answer
    notifications = tuple(
        replace(notification, part=_naming(notification.part, plans_by_board))
        for notification in answer.notifications
    )
    return Answer(tuple(_naming(part, plans_by_board) for part in answer.parts), notifications)


def _names_plan(part: Part) -> bool:
    return part.letter == "board" and part.seat is not None and "plan" not in part.words


def _naming(part: Part, plans_by_board: dict[int, dict[Seat, str]]) -> Part:
    if not _names_plan(part) or part.board is None or part.seat is None:
        return part
    plan = plans_by_board[part.board].get(part.seat)
    if plan is None:
        return part
    return replace(part, words={**part.words, "plan": {**_NOTHING, "waiting": plan}})


_NOTHING: Mapping[str, Any] = {
    "played": [],
    "dropped": None,
    "unfit": "",
    "rests": 0,
    "waiting": "",
}
"""Words of a letter about its reader's plan: the `played` moves; the `dropped` move that could not
be played, and why; the `unfit` plan, of which no move fitted; `rests`, the number of queued moves
after which the plans had to rest; and the `waiting` plan."""


@dataclass
class _Run:
    """A run of queued moves on one board.

    Attributes:
        plans: the waiting plans by seat, as in the database.
        said: words about the plan in each seat's letter.
        parts: the letters about the newest ply, by player.
        others: letters to people who are not at the board.
    """

    context: CommandContext
    board_id: int
    plans: dict[Seat, str]
    said: dict[Seat, dict[str, Any]] = field(default_factory=dict)
    parts: dict[int, Part] = field(default_factory=dict)
    others: list[Notification] = field(default_factory=list)

    def into(self, answer: Answer) -> Answer:
        """Play the due moves, and return the answer with letters about them."""
        board = self._board()
        before = self.context.position(board)
        plies = 0
        while board.status in RUNNING and plies < MOST_PLIES:
            seat = self._due(board)
            if seat is None:
                break
            plies += self._take_turn(board, seat)
            board = self._board()
        if board.status == BoardStatus.FINISHED:
            moves.drop_plans(self.context.connection, board.id)
            self.plans.clear()
        elif plies == MOST_PLIES and (seat := self._due(board)) is not None:
            self._say(seat, rests=plies)
        if not self.said:
            return answer
        return self._with_last_letters(answer, board, before)

    def _board(self) -> BoardRow:
        board = boards.lock(self.context.connection, self.board_id)
        assert board is not None
        return board

    def _due(self, board: BoardRow) -> Seat | None:
        """Return the first seat that is to act and has a plan."""
        position = self.context.position(board)
        acting = position.game.to_act(position.state)
        return min((seat for seat in self.plans if seat in acting), default=None)

    def _take_turn(self, board: BoardRow, seat: Seat) -> int:
        """Play a seat's plan for this turn, or drop it; return the number of plies."""
        sitter = board.sitters[seat]
        mover = mover_at(self.context, board, sitter)
        self.context.budget.spend(Work.MOVE)
        plan = parse_plan(self.plans[seat])
        game, view = mover.position.game, mover.view
        judge = answering(game)
        holds = _never if judge is None else partial(judge.holds, view)
        play = play_due(plan, holds)
        if play is None:
            self._say(seat, unfit=self.plans[seat])
            self._keep(seat, None)
            return 0
        try:
            if play.move == WITHDRAW:
                text = WITHDRAW
                after = mover.position.withdraw(seat)
                answer = log_ply(self.context, board, sitter, after, UNSAID)
            else:
                move = game.parse(view, play.move)
                text = move.text
                answer = play_move(self.context, mover, move, UNSAID)
        except TooMuch:
            raise  # the budget of the mail is used up; the plan stays
        except PlayerError as error:
            refusal = error.refusal
            why = {
                "code": refusal.code,
                "part": refusal.part,
                "values": dict(refusal.values),
                "example": refusal.example,
            }
            self._say(seat, dropped={"move": play.move, "refusal": why})
            self._keep(seat, None)
            return 0
        self._say(seat, played=[*self.said.get(seat, _NOTHING)["played"], text])
        self._keep(seat, play.then)
        self._gather(board, sitter, answer)
        return 1

    def _keep(self, seat: Seat, plan: Plan | None) -> None:
        if plan is None:
            self.plans.pop(seat)
        else:
            self.plans[seat] = print_plan(plan)
        moves.keep_plan(self.context.connection, self.board_id, seat, self.plans.get(seat))

    def _say(self, seat: Seat, **words: Any) -> None:
        self.said[seat] = {**_NOTHING, **self.said.get(seat, {}), **words}

    def _gather(self, board: BoardRow, mover: Sitter, answer: Answer) -> None:
        """Keep the newest letter to each player, and all letters to others."""
        seated = {sitter.player_id for sitter in board.sitters}
        for part in answer.parts:
            self.parts[mover.player_id] = part
        for notification in answer.notifications:
            if notification.player_id in seated and kind_of(notification.part.letter).tells_turn:
                self.parts[notification.player_id or 0] = notification.part
            else:
                self.others.append(notification)

    def _with_last_letters(self, answer: Answer, board: BoardRow, before: Position) -> Answer:
        """Put one letter to each player into the answer, in place of the letters about single
        plies."""
        own, notifications = list(answer.parts), []
        replaced = {}
        for notification in answer.notifications:
            part = notification.part
            if part.board == board.id and kind_of(part.letter).tells_turn and part.seat is not None:
                replaced[notification.player_id] = part
            else:
                notifications.append(notification)
        for sitter in board.sitters:
            old = replaced.get(sitter.player_id)
            new = self.parts.get(sitter.player_id)
            if new is None and sitter.seat not in self.said:
                if old is not None:
                    notifications.append(Notification.sitter(sitter, old))
                continue
            part = self._part(board, sitter, before, old, new)
            queued_part = next(
                (p for p in own if p.letter == "queued" and p.seat == sitter.seat), None
            )
            if queued_part is not None and queued_part.board == board.id:
                own[own.index(queued_part)] = part
            else:
                notifications.append(Notification.sitter(sitter, part))
        return Answer(tuple(own), (*notifications, *self.others))

    def _part(
        self, board: BoardRow, sitter: Sitter, before: Position, old: Part | None, new: Part | None
    ) -> Part:
        words = {**(old.words if old else {}), **(new.words if new else {})}
        if old is not None and old.words.get("said"):
            words |= {"by": old.words["by"], "said": old.words["said"]}
        since = before.since(sitter.seat)
        words |= {
            "event": "run",
            "after": since[0].number - 1 if since else before.number,
            "undecided": list(board.undecided),
            "said_to": "",
        }
        if sitter.seat in self.said or sitter.seat in self.plans:
            plan = {**_NOTHING, **self.said.get(sitter.seat, {})}
            words["plan"] = {**plan, "waiting": self.plans.get(sitter.seat, "")}
        letter = "result" if board.status == BoardStatus.FINISHED else "board"
        return Part(letter, words, board.id, board.plies, sitter.seat)


def _never(_: str) -> bool:
    raise Refused("plan-no-conditions")


def submit(context: CommandContext, command: Submit) -> Answer:
    """``game submit board userid password move``: show a move, and play it on ``confirm``."""
    board, sitter = context.seat_at(command.board, command.game, command.credentials)
    refuse_finished(context, board)
    mover = mover_at(context, board, sitter)
    refuse_before_draw(mover)
    not_late(context, mover, command.number, [command.text])
    try:
        move = read_move(mover, command.text)
    except MoveError as error:
        example = error.refusal.example
        raise error.offering(example and f"submit {example}") from error
    cells = far_labels.doubtful_cells(context, mover, command.text)
    return far_labels.submitted(context, mover, move, command.text, cells)


def confirm(context: CommandContext, command: ConfirmMove) -> Answer:
    """``game confirm board userid password``: play the submitted move if the board has not
    changed."""
    board, sitter = context.seat_at(command.board, command.game, command.credentials)
    refuse_finished(context, board)
    waiting = moves.submitted(context.connection, board.id, sitter.seat)
    if waiting is None:
        raise Refused("nothing-submitted", part=str(board.id))
    mover = mover_at(context, board, sitter)
    meant, text = waiting
    turn = mover.turn
    if meant != turn or context.answered_turn(board.id) not in {None, turn}:
        again = f"submit {text}"
        raise Refused("submitted-stale", part=text, meant=meant, turn=turn, example=again)
    moves.drop_submitted(context.connection, board.id, sitter.seat)
    move = read_move(mover, text)
    far_labels.remember(context, mover, text)
    return play_move(context, mover, move, words_for_others(context))


def may_confirm(context: CommandContext, board: BoardRow, sitter: Sitter) -> bool:
    """Return whether a ``yes`` can mean the submitted move: there is one for the letter's turn."""
    waiting = moves.submitted(context.connection, board.id, sitter.seat)
    return waiting is not None and waiting[0] == context.answered_turn(board.id)
