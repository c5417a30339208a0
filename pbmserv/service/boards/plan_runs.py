"""Runs of queued moves: playing those that are due, and the letters about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from pbmserv.engine.plans import Plan, Play, parse_plan, play_due, print_plan
from pbmserv.engine.position import Position
from pbmserv.engine.record import WITHDRAW
from pbmserv.engine.types import Move, Seat
from pbmserv.errors import Illegal, PlayerError
from pbmserv.mail.letter_kinds import kind_of
from pbmserv.service.boards.mover import Mover, mover_at
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


@dataclass(slots=True)
class PlanNews:
    """The words of a letter about its reader's plan.

    Attributes:
        played: the moves that were played.
        dropped: the move that could not be played, and why.
        unfit: the plan of which no move fitted.
        rests: number of queued moves after which the plans had to rest.
        waiting: the plan that waits.
    """

    played: list[str] = field(default_factory=list)
    dropped: Mapping[str, Any] | None = None
    unfit: str = ""
    rests: int = 0
    waiting: str = ""


def play_queued_moves(context: CommandContext, answer: Answer) -> Answer:
    """Play the queued moves that are due after a command, and name those that wait.

    Each player at such a board gets one letter about all of them, in place of the letter about the
    move before them.
    """
    plans_by_board = dict(context.current.moved)
    for board_id, plans in list(plans_by_board.items()):
        if plans:
            run = _Run(context, board_id, plans)
            run.play()
            answer = run.with_letters(answer)
            plans_by_board[board_id] = run.plans

    def with_plan(part: Part) -> Part:
        """Return a letter that names the plan of its reader."""
        board_id, seat = part.board, part.seat
        if part.letter != "board" or board_id is None or seat is None or "plan" in part.words:
            return part
        if board_id not in plans_by_board:
            plans_by_board[board_id] = moves.plans(context.connection, board_id)
        plan = plans_by_board[board_id].get(seat)
        if plan is None:
            return part
        return replace(part, words={**part.words, "plan": asdict(PlanNews(waiting=plan))})

    return Answer(
        tuple(map(with_plan, answer.parts)),
        tuple(replace(letter, part=with_plan(letter.part)) for letter in answer.notifications),
    )


class _Run:
    """A run of queued moves on one board.

    Attributes:
        plans: the plans that wait, by seat, as in the database.
    """

    def __init__(self, context: CommandContext, board_id: int, plans: Mapping[Seat, str]) -> None:
        self.plans = dict(plans)
        self._context = context
        self._board = self._locked(board_id)
        self._before = context.position(self._board)
        self._news: dict[Seat, PlanNews] = {}
        self._answers: list[tuple[int, Answer]] = []  # player and answer of each move

    def _locked(self, board_id: int) -> BoardRow:
        board = boards.lock(self._context.connection, board_id)
        assert board is not None
        return board

    # -- moves -----------------------------------------------------------------------------

    def play(self) -> None:
        """Play the moves that are due."""
        while self._board.status in RUNNING and (seat := self._due_seat()) is not None:
            if len(self._answers) == MOST_PLIES:
                self._news_for(seat).rests = MOST_PLIES
                return
            self._take_turn(seat)
            self._board = self._locked(self._board.id)
        if self._board.status == BoardStatus.FINISHED:
            moves.drop_plans(self._context.connection, self._board.id)
            self.plans.clear()

    def _due_seat(self) -> Seat | None:
        """Return the first seat that is to act and has a plan."""
        position = self._context.position(self._board)
        acting = position.game.to_act(position.state)
        return min((seat for seat in self.plans if seat in acting), default=None)

    def _take_turn(self, seat: Seat) -> None:
        """Play a seat's plan for this turn, or drop it."""
        mover = mover_at(self._context, self._board, self._board.sitters[seat])
        self._context.budget.spend(Work.MOVE)
        game: Any = mover.position.game
        view, news = mover.view, self._news_for(seat)
        play = play_due(parse_plan(self.plans[seat]), lambda fact: game.holds(view, fact))
        if play is None:
            news.unfit = self.plans[seat]
            self._keep_plan(seat, None)
            return
        try:
            move, rest = _move_of_turn(mover, play)
            if move is None:
                after = mover.position.withdraw(seat)
                answer = log_ply(self._context, self._board, mover.sitter, after, UNSAID)
            else:
                answer = play_move(self._context, mover, move, UNSAID)
        except TooMuch:
            raise  # the budget of the mail is used up; the plan stays
        except PlayerError as error:
            news.dropped = {"move": play.move, "refusal": asdict(error.refusal)}
            self._keep_plan(seat, None)
            return
        news.played.append(WITHDRAW if move is None else move.text)
        self._keep_plan(seat, rest)
        self._answers.append((mover.sitter.player_id, answer))

    def _news_for(self, seat: Seat) -> PlanNews:
        return self._news.setdefault(seat, PlanNews())

    def _keep_plan(self, seat: Seat, plan: Plan | None) -> None:
        if plan is None:
            del self.plans[seat]
        else:
            self.plans[seat] = print_plan(plan)
        moves.keep_plan(self._context.connection, self._board.id, seat, self.plans.get(seat))

    # -- letters ---------------------------------------------------------------------------

    def with_letters(self, answer: Answer) -> Answer:
        """Return the answer to the command with one letter to each player about the whole run, in
        place of the letters about single plies."""
        if not self._news:
            return answer
        replaced, letters = self._divided(answer.notifications)
        newest: dict[int, Part] = {}
        others: list[Notification] = []
        for player_id, of_move in self._answers:
            for part in of_move.parts:
                newest[player_id] = part
            parts, rest = self._divided(of_move.notifications)
            newest |= parts
            others += rest
        own = list(answer.parts)
        for sitter in self._board.sitters:
            old, new = replaced.get(sitter.player_id), newest.get(sitter.player_id)
            if new is None and sitter.seat not in self._news:
                letters += [] if old is None else [Notification.sitter(sitter, old)]
                continue
            part = self._part(sitter, old, new)
            queued = [n for n, own_part in enumerate(own) if self._is_queued(own_part, sitter)]
            if queued:
                own[queued[0]] = part
            else:
                letters.append(Notification.sitter(sitter, part))
        return Answer(tuple(own), (*letters, *others))

    def _divided(
        self, letters: Iterable[Notification]
    ) -> tuple[dict[int, Part], list[Notification]]:
        """Return the letters that tell players of this board about a turn, and all others."""
        parts: dict[int, Part] = {}
        others: list[Notification] = []
        for letter in letters:
            part, player_id = letter.part, letter.player_id
            is_seated = part.board == self._board.id and part.seat is not None
            if is_seated and player_id is not None and kind_of(part.letter).tells_turn:
                parts[player_id] = part
            else:
                others.append(letter)
        return parts, others

    def _is_queued(self, part: Part, sitter: Sitter) -> bool:
        """Return whether a part only says that a plan of this player waits."""
        return (part.letter, part.board, part.seat) == ("queued", self._board.id, sitter.seat)

    def _part(self, sitter: Sitter, old: Part | None, new: Part | None) -> Part:
        """Return the letter to a player about the run.

        Args:
            old: the letter about the move before it, whose words from the opponent stay.
            new: the letter about the newest move.
        """
        board, seat = self._board, sitter.seat
        words = {**(old.words if old else {}), **(new.words if new else {})}
        if old is not None and old.words.get("said"):
            words |= {"by": old.words["by"], "said": old.words["said"]}
        words |= {
            "event": "run",
            "after": _last_known(self._before, seat),
            "undecided": list(board.undecided),
            "said_to": "",
        }
        if seat in self._news or seat in self.plans:
            news = self._news_for(seat)
            news.waiting = self.plans.get(seat, "")
            words["plan"] = asdict(news)
        letter = "result" if board.status == BoardStatus.FINISHED else "board"
        return Part(letter, words, board.id, board.plies, seat)


def _last_known(before: Position, seat: Seat) -> int:
    """Return the number of the newest ply that a player knew of before the run."""
    since = before.since(seat)
    return since[0].number - 1 if since else before.number


def _move_of_turn(mover: Mover, play: Play) -> tuple[Move | None, Plan | None]:
    """Return the move of a play, `None` to give the game up, and the plan for later turns.

    Of a list of moves, "b2, a1", the game names the first one and the rest; it could not read them
    while its player had to wait.

    Raises:
        MoveError: the move cannot be played.
    """
    if play.move == WITHDRAW:
        return None, play.then
    game, view = mover.position.game, mover.view
    try:
        return game.parse(view, play.move), play.then
    except Illegal as error:
        values = error.refusal.values
        if "rest" not in values:
            raise
        return game.parse(view, str(values["first"])), Play(str(values["rest"]), play.then)
