"""Playing: moves, resigning, and words to the opponent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pbmserv.commands.table.model import Chat, MakeMove, ReplyMove, Resign
from pbmserv.engine.protocol import races
from pbmserv.engine.record import FORFEIT, WITHDRAW
from pbmserv.engine.referee import Position
from pbmserv.engine.types import Move, Outcome, Seat
from pbmserv.errors import MoveError, NotUnderstood, Refused
from pbmserv.mail.reply_address import Purpose
from pbmserv.service.boards import followers
from pbmserv.service.boards.invitations import decline, join, must_run
from pbmserv.service.bots import bot_moves
from pbmserv.service.core.answers import Answer, Notification, Part
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.words_for_others import UNSAID, Said, pass_on
from pbmserv.service.ratings import rating
from pbmserv.service.solo import daily_box
from pbmserv.service.solo.scores import keep_scores
from pbmserv.service.time import clocks
from pbmserv.store.boards import boards, moves
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.operators import operating
from pbmserv.store.tables import BoardStatus

MOST_WEIGHT = 2_000
"""What the free moves of all players at a board may weigh together (`engine.record.weight`)."""

_NUMBER = re.compile(r"#\s*(\d{1,6})\s*$")


def make_move(context: CommandContext, command: MakeMove) -> Answer:
    """``game move board userid password move[#n]``, or ``move …`` in a reply."""
    board, sitter = context.seat_at(command.board, command.game, command.who)
    must_run(context, board)
    position = context.position(board)
    not_late(position, sitter.seat, meant_turn(context, board, command.number), [command.text])
    view = position.game.view(position.state, sitter.seat)
    move = position.game.parse(view, command.text)
    return play_move(context, board, sitter, position, move, context.words)


def reply_move(context: CommandContext, command: ReplyMove) -> Answer:
    """The first lines of a reply: the first one that is a move is played.

    Lines right below it that are moves too belong to it, because people press Enter between
    ``+b2`` and ``g``. What stands below is for the opponent.
    """
    board, sitter = context.seat_at(None, None, None)
    must_run(context, board)
    position = context.position(board)
    lines, number = _numbered(command.lines)
    not_late(position, sitter.seat, meant_turn(context, board, number), lines)
    view = position.game.view(position.state, sitter.seat)
    try:
        first, move = _first_move(position, view, lines)
    except NotUnderstood as error:
        if sitter.accepted_at is None:
            raise Refused("accept-how", part=lines[0], example="accept") from error
        if lines[0].partition(" ")[0].lower() == sitter.userid:
            context.echo_hidden = (
                True  # "alice secret g": what the password stood in front of before
            )
            raise Refused("no-password-needed", example=error.refusal.example) from error
        raise
    text, below = lines[first], command.after[first]
    for place in range(first + 1, len(lines)):
        if place in command.breaks or not _is_move(position, view, lines[place]):
            break
        text, below = f"{text},{lines[place]}", command.after[place]
        move = None
    move = move or position.game.parse(view, text)
    return play_move(context, board, sitter, position, move, pass_on(context, below))


def holds_move(context: CommandContext, command: ReplyMove) -> bool:
    """Whether a line of a reply is meant as a move, legal or not."""
    board, sitter = context.seat_at(None, None, None)
    position = context.position(board)
    view = position.game.view(position.state, sitter.seat)
    return any(_is_move(position, view, line) for line in _numbered(command.lines)[0])


def resign(context: CommandContext, command: Resign) -> Answer:
    """Give up; before one's own first move it declines, and the board counts for nothing."""
    board, sitter = context.seat_at(command.board, command.game, command.who)
    must_run(context, board)
    position = context.position(board)
    if position.apart and board.seats > 1:  # the others go on
        return log_ply(context, board, sitter, position.withdraw(sitter.seat), context.words)
    unplayed = all(p.ply is None or p.ply.seat != sitter.seat for p in position.backwards())
    # Nobody loses what not everybody has agreed to.
    if unplayed or board.status == BoardStatus.PROPOSED:
        return decline(context, board, sitter)
    return log_ply(context, board, sitter, position.withdraw(sitter.seat), context.words)


def forfeit(
    context: CommandContext,
    board: BoardRow,
    sitter: Sitter,
    position: Position,
    why: Mapping[str, Any],
) -> Answer:
    """*sitter* has taken too long; *why* goes into the letters."""
    answer = log_ply(context, board, sitter, position.forfeit(sitter.seat), UNSAID)

    zones = {one.player_id: one.tz for one in board.sitters}

    def with_reason(part: Part, player_id: int | None) -> Part:
        if part.seat is None:  # somebody who only watches
            return part
        reason = {**why, "tz": zones.get(player_id or 0, "UTC")}
        return replace(part, words={**part.words, "forfeit": reason})

    told = tuple(replace(t, part=with_reason(t.part, t.player_id)) for t in answer.told)
    return Answer(tuple(with_reason(part, sitter.player_id) for part in answer.parts), told)


def chat(context: CommandContext, command: Chat) -> Answer:
    """Words to everybody else at the board; nothing about the game changes."""
    board, sitter = context.seat_at(command.board, command.game, command.who)
    return say(board, sitter, context.words)


def say(board: BoardRow, sitter: Sitter, words: Said) -> Answer:
    """Pass *words* on to everybody else at the board."""
    bot_moves.must_listen(board, sitter)
    if not words:
        raise Refused("no-words", part="chat")
    others = [
        s for s in board.sitters if s.player_id != sitter.player_id and not bot_moves.is_house(s)
    ]
    said = {"by": sitter.userid, "said": words}
    return Answer(
        (
            Part(
                "chat-sent",
                {
                    "to": [s.userid for s in others],
                    "unreachable": [s.userid for s in others if s.unreachable_since],
                    "said": words,
                },
                board.id,
                board.plies,
                sitter.seat,
            ),
        ),
        tuple(
            Notification.sitter(s, Part("chat", said, board.id, board.plies, s.seat))
            for s in others
        ),
    )


def play_move(
    context: CommandContext,
    board: BoardRow,
    sitter: Sitter,
    position: Position,
    move: Move,
    words: Said,
) -> Answer:
    """Make a move that the game has read, and tell everybody.

    Raises:
        Refused: it uses a turn, and the turn is another's.
    """
    to_act = position.game.to_act(position.state)
    if not move.free and sitter.seat not in to_act:
        waiting = ", ".join(board.names[seat] for seat in sorted(to_act))
        raise Refused("not-your-turn", part=move.text, waiting=waiting)
    return log_ply(
        context,
        board,
        sitter,
        position.move(sitter.seat, recorded(context, sitter, position, move)),
        words,
    )


def recorded(context: CommandContext, sitter: Sitter, position: Position, move: Move) -> Move:
    """The move as the record has it: where time counts, with the moment it was made at."""
    game = position.game
    if move.free or not races(game) or not game.timed(position.state):
        return move
    begun = sitter.accepted_at or context.now
    return game.stamped(move, int((context.now - begun).total_seconds()))


def _everybody_played(board: BoardRow, after: Position) -> bool:
    """Whether each player has shown to know of the board: From alone may have begun it, and
    whoever did that shall not be able to give ratings away in others' names."""
    present = {p.ply.seat for p in after.backwards() if p.ply and p.ply.text != FORFEIT}
    return len(present) == board.seats


def log_ply(
    context: CommandContext, board: BoardRow, sitter: Sitter, after: Position, words: Said
) -> Answer:
    """Log the ply that led to *after*, end the board if it did, and tell everybody."""
    ply = after.ply
    assert ply is not None
    must_have_room(board, sitter, after)
    undecided = join(context, board, sitter)
    times = clocks.after_turn(context, board, after, undecided)
    moves.append(context.connection, board.id, ply, context.mail_id, context.now, times)
    context.played[board.id] = after
    context.moved.append(board.id)
    context.tally.plies.append((board.id, ply.number))
    outcome = after.outcome
    letter = "board"
    rated: list[dict[str, Any]] = []
    opening = 0
    of_the_day: dict[str, Any] = {}
    runs = outcome is None and not undecided
    bot_moves.take_note(context, board, after, runs=runs)
    if outcome is not None:
        early = board.rated and board.seats > 1 and after.given_up_early
        if early or (board.rated and not _everybody_played(board, after)):
            operating.set_rated(context.connection, board.id, rated=False)
            board = replace(board, rated=False)
        ended = rating.board_ended(context.connection, board, outcome, undecided, context.now)
        boards.finish(context.connection, board.id, _as_json(outcome), ended.at)
        keep_scores(context, board, after, ended.at)
        of_the_day = daily_box.ended(context, board, after)
        letter, rated = "result", ended.words
        opening = after.game.info.opening if early else 0
    said_to = words if len(bot_moves.people_of(board)) > 1 else ""
    own = Part(
        letter,
        {"event": "moved", "undecided": list(undecided), "said_to": said_to, "ratings": rated}
        | ({"daily": of_the_day} if of_the_day else {})
        | ({"opening": opening} if opening else {}),
        board.id,
        after.number,
        sitter.seat,
    )
    news: dict[str, Any] = {"event": "news", "by": sitter.userid, "said": words}
    news |= {"undecided": list(undecided), "ratings": rated}
    news |= {"opening": opening} if opening else {}
    told = []
    for other in board.sitters:
        if other.player_id == sitter.player_id or other.userid in undecided:
            continue
        if outcome is not None or (not ply.free and after.is_news_for(other.seat)):
            told.append(
                Notification.sitter(other, Part(letter, news, board.id, after.number, other.seat))
            )
        elif words:  # a free move is nobody's news, but what was said with it is
            said = {"by": sitter.userid, "said": words}
            told.append(
                Notification.sitter(other, Part("chat", said, board.id, after.number, other.seat))
            )
    unseen = ply.free or not after.is_news_for(None)
    told += followers.news(context, board, after.number, free=unseen, ended=outcome is not None)
    return Answer((own,), tuple(told))


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
        raise Refused(code, part=str(board.id), example="resign", seats=board.seats)


def bound_turn(context: CommandContext, board: BoardRow) -> int | None:
    """The turn that the letter which is being answered was written for."""
    reply_address = context.reply_address
    if (
        reply_address is not None
        and reply_address.purpose is Purpose.BOARD
        and reply_address.about == board.id
    ):
        return reply_address.number
    return None


@dataclass(frozen=True, slots=True)
class MeantTurn:
    """The turn that a move was meant for; `said` = what said so (``#7``), "" = a reply address."""

    number: int
    said: str


def meant_turn(context: CommandContext, board: BoardRow, number: int | None) -> MeantTurn | None:
    """The turn that a move was meant for: by the *number* behind it, else by the letter."""
    if number is not None:
        return MeantTurn(number, f"#{number}")
    bound = bound_turn(context, board)
    return None if bound is None else MeantTurn(bound, "")


def _numbered(lines: tuple[str, ...]) -> tuple[tuple[str, ...], int | None]:
    """The lines without the ``#n`` behind the first one, and n."""
    found = _NUMBER.search(lines[0])
    if found is None:
        return lines, None
    return (lines[0][: found.start()].rstrip(), *lines[1:]), int(found[1])


def not_late(
    position: Position, seat: Seat, meant: MeantTurn | None, lines: list[str] | tuple[str, ...]
) -> None:
    """Refuse a turn that was meant for another moment; free moves are never late."""
    turn = position.game.turn(position.state, seat)
    if meant is None or meant.number == turn:
        return
    view = position.game.view(position.state, seat)
    for line in lines:
        move = None
        try:
            move = position.game.parse(view, line)
        except NotUnderstood:
            continue
        except MoveError:
            pass
        if move is not None and move.free:
            return
        acts = seat in position.game.to_act(position.state)
        example = move.text if move is not None and acts else example_of(position, seat)
        part = meant.said or line
        raise Refused("stale", part=part, meant=meant.number, turn=turn, example=example)


def example_of(position: Position, seat: Seat) -> str:
    """A reply that would work now: some move, or a look at the board."""
    legal = position.game.legal(position.game.view(position.state, seat))
    return next(iter(legal or ()), "show")


def _first_move(position: Position, view: Any, lines: tuple[str, ...]) -> tuple[int, Move | None]:
    """Index of the first line that is a move of this game, and the move if it is legal."""
    refusal: NotUnderstood | None = None
    for index, line in enumerate(lines):
        try:
            return index, position.game.parse(view, line)
        except NotUnderstood as error:
            refusal = refusal or error
        except MoveError:
            return index, None
    raise refusal or Refused("empty-reply")


def _is_move(position: Position, view: Any, line: str) -> bool:
    try:
        position.game.parse(view, line)
    except NotUnderstood:
        return False
    except MoveError:
        return True
    return True


def _as_json(outcome: Outcome) -> Mapping[str, Any]:
    return {
        "places": list(outcome.places),
        "scores": list(outcome.scores),
        "reason": outcome.reason,
        "seat": outcome.seat,
    }
