"""What a ply does: it is logged, ends the board if it must, and everybody is told; and undo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pbmserv.commands.table.playing import Hint, Undo
from pbmserv.engine.position import Position, work_of
from pbmserv.engine.protocol import Aided, Forgiving, races
from pbmserv.engine.record import FORFEIT, WITHDRAW
from pbmserv.engine.table import OFFER
from pbmserv.engine.types import Move, Outcome
from pbmserv.errors import Illegal, Refused, ServerFault
from pbmserv.service.boards import reports
from pbmserv.service.boards.followers import news_to_followers, not_played
from pbmserv.service.bots import bot_moves
from pbmserv.service.core import contact
from pbmserv.service.core.budget import Work
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.results import Answer, Notification, Part
from pbmserv.service.core.words_for_others import UNSAID, Said
from pbmserv.service.ratings import rating
from pbmserv.service.solo import daily_box
from pbmserv.service.solo.daily_box import keep_scores
from pbmserv.service.time import clocks
from pbmserv.store.accounts import persons, players
from pbmserv.store.boards import boards, moves
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.delivery import kept_letters
from pbmserv.store.operators import operating
from pbmserv.store.tables.boards import RUNNING, BoardStatus

MOST_WEIGHT = 1_700
"""The work of the free moves of all players at a board together (`engine.position.work_of`).

With their turns a board has room for twice as much, which one mail can still have replayed
(`budget.ALLOWED`)."""


def play_move(
    context: CommandContext,
    board: BoardRow,
    sitter: Sitter,
    position: Position,
    move: Move,
    words: Said,
    typed: str = "",
) -> Answer:
    """Make a move that the game has read, and tell everybody.

    While the turn is another's, that is done of it which needs none.

    Args:
        typed: as its player has just written it, to tell how that was read where it is not plain.

    Raises:
        Refused: all of it uses a turn, and the turn is another's.
    """
    to_act = position.game.to_act(position.state)
    if not move.free and sitter.seat not in to_act:
        answer = _meanwhile(context, board, sitter, position, move, words)
    else:
        timed = position.apart and not move.free
        made = recorded(context, sitter, position, move) if timed else move
        answer = log_ply(context, board, sitter, position.move(sitter.seat, made), words)
    plain = "".join(typed.split()).upper().replace(";", ",")
    if typed and plain != "".join(move.text.split()).upper():
        answer = answer.saying(read_as=move.text)
    return answer


def _meanwhile(
    context: CommandContext,
    board: BoardRow,
    sitter: Sitter,
    position: Position,
    move: Move,
    words: Said,
) -> Answer:
    """Make what of a move needs no turn; the letter offers to queue the rest.

    Raises:
        Refused: all of it needs a turn.
    """
    game: Any = position.game
    waiting = ", ".join(board.names[seat] for seat in sorted(game.to_act(position.state)))
    view = game.view(position.state, sitter.seat)
    free, rest = None, move.text
    if isinstance(game, Forgiving):
        free, rest = game.meanwhile(view, move)
    if free is None:
        raise Refused(
            "not-your-turn",
            part=rest,
            waiting=waiting,
            aids=isinstance(game, Aided),
            example=f"queue {rest}",
        )
    answer = log_ply(context, board, sitter, position.move(sitter.seat, free), words)
    return answer.saying(held={"move": rest, "waiting": waiting})


def recorded(context: CommandContext, sitter: Sitter, position: Position, move: Move) -> Move:
    """A turn of a race as it is recorded: where time counts, with the moment it was made at."""
    game = position.game
    if not races(game) or not game.timed(position.state):
        return move
    begun = sitter.accepted_at or context.now
    return game.stamped(move, int((context.now - begun).total_seconds()))


def log_ply(
    context: CommandContext, board: BoardRow, sitter: Sitter, after: Position, words: Said
) -> Answer:
    """Log the ply that led to *after*, end the board if it did, and tell everybody."""
    ply = after.ply
    assert ply is not None
    must_have_room(board, sitter, after)
    if ply.text not in {WITHDRAW, FORFEIT}:
        must_meet_all(context, board, sitter)
    context.budget.spend(Work.PLY, work_of(after.game, after.state, ply.text))
    undecided = join(context, board, sitter) if board.status == BoardStatus.PROPOSED else ()
    times = clocks.times_at(context, board, after, undecided, () if ply.free else (ply.seat,))
    moves.append(context.connection, board.id, ply, context.mail_id, context.now, times)
    context.played[board.id] = after
    # What one player of a race does sets off no plan of another.
    mine = {sitter.seat: sitter.plan} if sitter.plan else {}
    context.moved[board.id] = mine if after.apart else dict(board.plans)
    context.tally.plies.append((board.id, ply.number))
    outcome = after.outcome
    if outcome is None and not undecided and board.bots:
        bot_moves.take_note(context, board, after)
    if board.status == BoardStatus.FINISHED and outcome is None:
        boards.reopen(context.connection, board.id)
    end = _ended(context, board, after, outcome, undecided) if outcome else _GOES_ON
    letter = "result" if outcome else "board"
    how = {"undecided": list(undecided), **end.words}
    said_to = words if board.seats - len(board.bots) > 1 else ""
    own_words = {"event": "moved", "said_to": said_to, **how, **end.own_words}
    own = Part(letter, own_words, board.id, after.number, sitter.seat)
    news = {"event": "news", "by": sitter.userid, "said": words, **how}
    told = []
    for other in board.sitters:
        if other.player_id == sitter.player_id or other.userid in undecided:
            continue
        is_news = after.is_news_for(other.seat) and (not ply.free or _is_offer(after))
        if outcome is not None or is_news:
            told.append(
                Notification.sitter(other, Part(letter, news, board.id, after.number, other.seat))
            )
        elif words:  # a free move is nobody's news, but what was said with it is
            said = {"by": sitter.userid, "said": words}
            told.append(
                Notification.sitter(other, Part("chat", said, board.id, after.number, other.seat))
            )
    if board.followed:
        unseen, is_over = ply.free or not after.is_news_for(None), outcome is not None
        told += news_to_followers(context, board, after.number, free=unseen, ended=is_over)
    return Answer((own,), tuple(told))


def _is_offer(after: Position) -> bool:
    """Whether a free ply asks the other player something, or answers."""
    return any(note.kind == OFFER for note in after.step.notes)


@dataclass(frozen=True, slots=True)
class _End:
    """What the end of a board leads to that its letters tell of.

    Attributes:
        words: for all: ``ratings`` as `rating.board_ended` words them; ``opening``, the turns that
            nobody had used yet who gave up, where the game was not played.
        own_words: for the player: ``daily``, what there is to learn of the day's box, if it was
            that.
    """

    words: Mapping[str, Any]
    own_words: Mapping[str, Any]


_GOES_ON = _End({"ratings": []}, {})


def _ended(
    context: CommandContext,
    board: BoardRow,
    after: Position,
    outcome: Outcome,
    undecided: Sequence[str],
) -> _End:
    """Write down that a board is over.

    Raises:
        ServerFault: the game says what cannot be told in any list.
    """
    _must_be_told(outcome, board.seats)
    early = board.rated and board.seats > 1 and after.given_up_early
    if early or (
        board.rated and not (_everybody_played(board, after) and _different_persons(context, board))
    ):
        operating.set_rated(context.connection, board.id, rated=False)
        board = replace(board, rated=False)
    ended = rating.board_ended(
        context.connection, board, outcome, undecided, context.now, after.game
    )
    boards.finish(context.connection, board.id, _as_json(outcome), ended.at)
    keep_scores(context, board, after, ended.at)
    daily = daily_box.ended(context, board, after)
    reports.promise(context, board, after)
    words: dict[str, Any] = {"ratings": ended.words}
    if early:
        words["opening"] = after.game.info.opening
    return _End(words, {"daily": daily} if daily else {})


def join(context: CommandContext, board: BoardRow, sitter: Sitter) -> tuple[str, ...]:
    """Note that *sitter* plays along (making a move says so too); who is still undecided."""
    if board.status != "proposed":
        return ()
    undecided = board.undecided
    if sitter.accepted_at is None:
        boards.accept(context.connection, board.id, sitter.player_id, context.now)
        undecided = tuple(userid for userid in undecided if userid != sitter.userid)
    if not undecided:
        boards.set_status(context.connection, board.id, "active")
    return undecided


def must_meet_all(context: CommandContext, board: BoardRow, sitter: Sitter) -> None:
    """Refuse to take up a board if there is a block between this player and another one there."""
    if sitter.accepted_at is not None:
        return
    ids = [one.player_id for one in board.sitters if one.player_id != sitter.player_id]
    others = [player for one in ids if (player := players.by_id(context.connection, one))]
    contact.must_meet(context, sitter.player_id, others, ())


def must_have_room(board: BoardRow, sitter: Sitter, after: Position) -> None:
    """Refuse a ply for which a board's record has no room: it is replayed for every look at it.

    Each seat has its share, so that nobody can use up another's; turns have as much again when
    markers and seals have used theirs up. Giving up is always possible.
    """
    ply = after.ply
    assert ply is not None
    share = MOST_WEIGHT // board.seats * (1 if ply.free else 2)
    if ply.text in {WITHDRAW, FORFEIT} or after.weight <= share:
        return
    if after.weight_of(sitter.seat) > share:
        code = "board-full-free" if ply.free else "board-full"
        raise Refused(code, part=str(board.id), seats=board.seats)


def _everybody_played(board: BoardRow, after: Position) -> bool:
    """Whether each player has shown to know of the board: From alone may have begun it, and
    whoever did that shall not be able to give ratings away in others' names."""
    present = {p.ply.seat for p in after.backwards() if p.ply and p.ply.text != FORFEIT}
    return len(present) == board.seats


def _different_persons(context: CommandContext, board: BoardRow) -> bool:
    """Whether no player of a board has another name at it."""
    ids = [sitter.player_id for sitter in board.sitters]
    return not persons.persons_of(context.connection, ids).repeated(ids)


def _must_be_told(outcome: Outcome, seats: int) -> None:
    """A wrong outcome would stay, and break all pages and letters that its board stands in."""
    places, scores, seat = outcome.places, outcome.scores, outcome.seat
    numbers = [*places, *scores, *(() if seat is None else (seat,))]
    if (
        any(type(one) is not int for one in numbers)
        or len(places) != seats
        or min(places, default=0) != 1
        or len(scores) not in {0, seats}
        or not (seat is None or 0 <= seat < seats)
    ):
        raise ServerFault(f"an outcome for {seats} seats that cannot be: {outcome}")


def _as_json(outcome: Outcome) -> Mapping[str, Any]:
    return {
        "places": list(outcome.places),
        "scores": list(outcome.scores),
        "reason": outcome.reason,
        "seat": outcome.seat,
    }


def decline(context: CommandContext, board: BoardRow, sitter: Sitter) -> Answer:
    """The board will not be played; it counts for nothing."""
    boards.set_status(context.connection, board.id, "declined")
    agreed = sitter.accepted_at is not None
    words = {
        "by": sitter.userid,
        "agreed": agreed,
        "players": list(board.names),
        "said": context.words,
    }
    told = tuple(
        Notification.sitter(other, Part("declined", words, board.id, board.plies, other.seat))
        for other in board.sitters
        if other.player_id != sitter.player_id
    )
    own = Part("declined", {**words, "said": ""}, board.id, board.plies, sitter.seat)
    return Answer((own,), told + not_played(context, board))


def must_run_or_practise(context: CommandContext, board: BoardRow) -> Position:
    """Refuse what only a board that is not over can be asked for, or one of practice, where the end
    is a step like any other."""
    position = context.position(board)
    if not (board.status == BoardStatus.FINISHED and position.is_practice):
        must_run(context, board)
    return position


def must_run(context: CommandContext, board: BoardRow) -> None:
    """Refuse what only a board that is not over can be asked for."""
    if board.status not in RUNNING:
        raise over(context, board)


def over(context: CommandContext, board: BoardRow) -> Refused:
    """Why a board that is over, or that was declined, cannot be asked for what only others can."""
    if board.status == BoardStatus.DECLINED:
        return Refused("board-declined", part=str(board.id))
    if context.position(board).is_practice:
        return Refused("practice-over", part=str(board.id), example="undo")
    return Refused("board-over", part=str(board.id), seats=board.seats)


def undo(context: CommandContext, command: Undo) -> Answer:
    """``game undo board userid password``: the board is as it was before one's last move.

    It must be the board's last move, must have told nobody anything hidden, and nobody else may
    have been sent a letter about it. Letters that still wait are dropped, but not the words of
    people in them.

    Raises:
        Refused: why it cannot be taken back.
    """
    board, sitter = context.seat_at(command.board, command.game, command.who)
    position = must_run_or_practise(context, board)
    try:
        before = position.undoable(sitter.seat)
    except Illegal as error:
        raise Refused(error.refusal.code, part="undo", example="show") from error
    if not (position.is_practice or position.apart):  # of which no other player is told
        _drop_news(context, board, sitter, position, before.number)
    answer = log_ply(context, board, sitter, position.undo(sitter.seat), context.words)
    context.moved.clear()  # a plan is for turns that come, not for those that are given back
    return answer


def hint(context: CommandContext, command: Hint) -> Answer:
    """``game hint board userid password``: a free move, whose letter waits for the coach. Until its
    player has done something else, the same hint comes again, and counts once.

    Raises:
        Refused: the board is over, or its game gives no hints.
        Illegal: its players have not agreed to hints, or there is nothing to solve now.
    """
    board, sitter = context.seat_at(command.board, command.game, command.who)
    must_run(context, board)
    position = context.position(board)
    try:
        after = position.hint(sitter.seat)
    except Illegal as error:
        raise error.offering("check") from error
    again = after.number <= position.number
    told = () if again else log_ply(context, board, sitter, after, UNSAID).told
    reports.ask_hint(context, board, after, sitter.seat)
    words = {"event": "show" if again else "moved", "asked": after.number}
    ply = position.number if again else after.number
    return Answer((Part("hint", words, board.id, ply, sitter.seat),), told)


def _drop_news(
    context: CommandContext, board: BoardRow, sitter: Sitter, position: Position, before: int
) -> None:
    """Drop the letters to others about what is taken back, if none of them is on its way."""
    letters = [
        letter
        for letter in kept_letters.unsent_about(context.connection, board.id, before, context.now)
        if letter.player_id != sitter.player_id
    ]
    told: set[int | None] = set()
    if any(p.ply is not None and not p.ply.free for p in position.after(before)):
        told = {s.player_id for s in board.sitters if s.accepted_at is not None}
        told |= {
            f.player_id
            for f in boards.followers_of(context.connection, board.id)
            if f.what == "all"
        }
        told.discard(sitter.player_id)
    if any(letter.begun for letter in letters) or told - {one.player_id for one in letters}:
        raise Refused("undo-seen", part="undo", example="show")
    kept_letters.drop_unsent(context.connection, letters)
