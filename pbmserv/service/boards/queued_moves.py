"""Queued moves: plans of players, and the moves of them that are due."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pbmserv.commands.table.playing import Queue
from pbmserv.engine.plans import (
    Plan,
    Play,
    answering,
    checked_plan,
    parse_plan,
    play_due,
    print_plan,
    read_plan,
)
from pbmserv.engine.position import Position
from pbmserv.engine.record import WITHDRAW
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import Move, Seat
from pbmserv.errors import Illegal, MoveError, PlayerError, Refused
from pbmserv.mail.letter_kinds import kind_of
from pbmserv.service.boards import far_labels
from pbmserv.service.boards.finished_boards import refuse_finished
from pbmserv.service.boards.first_draws import refuse_before_draw
from pbmserv.service.boards.mover import mover_at
from pbmserv.service.boards.plies import log_ply, play_move
from pbmserv.service.core.budget import TooMuch, Work
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.said import UNSAID
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
    text = command.text.strip()
    if text.lower() in FORGET:
        moves.keep_plan(context.connection, board.id, sitter.seat, None)
        words = {"queued": "", "forgotten": sitter.plan or ""}
        return Answer((Part("queued", words, board.id, board.plies, sitter.seat),))
    if text.lower() == WITHDRAW:
        raise Refused("queue-resign", part=text, example=WITHDRAW)
    mover = mover_at(context, board, sitter)
    refuse_before_draw(mover)
    position = mover.position
    if position.is_out(sitter.seat):
        raise Refused("queue-out", part=text, board=board.id)
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


def play_queued_moves(context: CommandContext, answer: Answer) -> Answer:
    """Play the queued moves that are due after a command, and name those that wait.

    Each player at such a board gets one letter about all of them, in place of the letter about the
    move before them.
    """
    plans_by_board = dict(context.current.moved)
    for board_id, plans in plans_by_board.items():
        if plans:
            answer = _PlanRun(context, board_id, plans).play_into(answer)

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
    return replace(part, words={**part.words, "plan": {**_NO_NEWS, "waiting": plan}})


_NO_NEWS: Mapping[str, Any] = {
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
class _PlanRun:
    """A run of queued moves on one board.

    Attributes:
        plans: the waiting plans by seat, as in the database.
        plan_words: words about the plan in each seat's letter.
        newest_parts: the letters about the newest ply, by player id.
        other_letters: letters to people who are not at the board, and about other things.
    """

    context: CommandContext
    board_id: int
    plans: dict[Seat, str]
    plan_words: dict[Seat, dict[str, Any]] = field(default_factory=dict)
    newest_parts: dict[int, Part] = field(default_factory=dict)
    other_letters: list[Notification] = field(default_factory=list)

    def play_into(self, answer: Answer) -> Answer:
        """Play the due moves, and return the answer with letters about them."""
        board = self._locked_board()
        before = self.context.position(board)
        plies = 0
        while board.status in RUNNING and plies < MOST_PLIES:
            seat = self._due_seat(board)
            if seat is None:
                break
            plies += self._take_turn(board, seat)
            board = self._locked_board()
        if board.status == BoardStatus.FINISHED:
            moves.drop_plans(self.context.connection, board.id)
            self.plans.clear()
        elif plies == MOST_PLIES and (seat := self._due_seat(board)) is not None:
            self._add_words(seat, rests=plies)
        if not self.plan_words:
            return answer
        return self._with_last_letters(answer, board, before)

    def _locked_board(self) -> BoardRow:
        board = boards.lock(self.context.connection, self.board_id)
        assert board is not None
        return board

    def _due_seat(self, board: BoardRow) -> Seat | None:
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
        holds = _refuse_condition if judge is None else partial(judge.holds, view)
        play = play_due(plan, holds)
        if play is None:
            self._add_words(seat, unfit=self.plans[seat])
            self._keep_plan(seat, None)
            return 0
        try:
            if play.move == WITHDRAW:
                text = WITHDRAW
                after = mover.position.withdraw(seat)
                answer = log_ply(self.context, board, sitter, after, UNSAID)
            else:
                move, play = _move_of_turn(game, view, play)
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
            self._add_words(seat, dropped={"move": play.move, "refusal": why})
            self._keep_plan(seat, None)
            return 0
        self._add_words(seat, played=[*self.plan_words.get(seat, _NO_NEWS)["played"], text])
        self._keep_plan(seat, play.then)
        self._keep_newest_letters(board, sitter, answer)
        return 1

    def _keep_plan(self, seat: Seat, plan: Plan | None) -> None:
        if plan is None:
            self.plans.pop(seat)
        else:
            self.plans[seat] = print_plan(plan)
        moves.keep_plan(self.context.connection, self.board_id, seat, self.plans.get(seat))

    def _add_words(self, seat: Seat, **words: Any) -> None:
        self.plan_words[seat] = {**_NO_NEWS, **self.plan_words.get(seat, {}), **words}

    def _keep_newest_letters(self, board: BoardRow, mover: Sitter, answer: Answer) -> None:
        """Keep the newest letter to each player, and all letters to others."""
        seated = {sitter.player_id for sitter in board.sitters}
        for part in answer.parts:
            self.newest_parts[mover.player_id] = part
        for notification in answer.notifications:
            if notification.player_id in seated and kind_of(notification.part.letter).tells_turn:
                self.newest_parts[notification.player_id or 0] = notification.part
            else:
                self.other_letters.append(notification)

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
            new = self.newest_parts.get(sitter.player_id)
            if new is None and sitter.seat not in self.plan_words:
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
        return Answer(tuple(own), (*notifications, *self.other_letters))

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
        if sitter.seat in self.plan_words or sitter.seat in self.plans:
            plan = {**_NO_NEWS, **self.plan_words.get(sitter.seat, {})}
            words["plan"] = {**plan, "waiting": self.plans.get(sitter.seat, "")}
        letter = "result" if board.status == BoardStatus.FINISHED else "board"
        return Part(letter, words, board.id, board.plies, sitter.seat)


def _move_of_turn(game: AnyGame, view: Any, play: Play) -> tuple[Move, Play]:
    """Return the move of a play, and the play with what is left for later turns.

    Of a list of moves, "b2, a1", the game names the first one and the rest; it could not read them
    while its player had to wait.

    Raises:
        MoveError: the move cannot be played.
    """
    try:
        return game.parse(view, play.move), play
    except Illegal as error:
        values = error.refusal.values
        if "rest" not in values:
            raise
        first, rest = str(values["first"]), str(values["rest"])
        return game.parse(view, first), Play(first, Play(rest, play.then))


def _refuse_condition(_: str) -> bool:
    raise Refused("plan-no-conditions")
