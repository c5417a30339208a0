"""Playing: moves, resigning, and words to the opponent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pbmserv.capability import Purpose
from pbmserv.commands.model import Chat, MakeMove, ReplyMove, Resign
from pbmserv.engine.referee import Position
from pbmserv.engine.types import Move, Outcome, Seat
from pbmserv.errors import MoveError, NotUnderstood, Refused
from pbmserv.service.answers import Answer, Part, Told
from pbmserv.service.desk import Desk
from pbmserv.service.invitations import another_game, decline, join
from pbmserv.store import boards
from pbmserv.store.boards import BoardRow, Sitter

_NUMBER = re.compile(r"#\s*(\d{1,6})\s*$")


def make_move(desk: Desk, command: MakeMove) -> Answer:
    """``game move board userid password move[#n]``, or ``move …`` in a reply."""
    board, sitter = desk.seat_at(command.board, command.game, command.who)
    _must_run(board)
    position = desk.position(board)
    number = command.number if command.number is not None else _bound_turn(desk, board)
    _not_late(position, sitter.seat, number, [command.text])
    view = position.game.view(position.state, sitter.seat)
    move = position.game.parse(view, command.text)
    return _play(desk, board, sitter, position, move, desk.words)


def reply_move(desk: Desk, command: ReplyMove) -> Answer:
    """The first lines of a reply: the first one that is a move is played.

    Lines right below it that are moves too belong to it, because people press Enter between
    ``+b2`` and ``g``. What stands below is for the opponent.
    """
    board, sitter = desk.seat_at(None, None, None)
    _must_run(board)
    position = desk.position(board)
    lines, number = _numbered(command.lines)
    if number is None:
        number = _bound_turn(desk, board)
    _not_late(position, sitter.seat, number, lines)
    view = position.game.view(position.state, sitter.seat)
    try:
        first, move = _first_move(position, view, lines)
    except NotUnderstood as error:
        if sitter.accepted_at is None:
            raise Refused("accept-how", part=lines[0], example="accept") from error
        if lines[0].split(None, 1)[0].lower() == sitter.userid:
            desk.echo_hidden = True  # "alice secret g": what the password stood in front of before
            raise Refused("no-password-needed", example=error.refusal.example) from error
        raise
    text, words = lines[first], command.after[first]
    for line, after in zip(lines[first + 1 :], command.after[first + 1 :], strict=True):
        if not _is_move(position, view, line):
            break
        text, words = f"{text},{line}", after
        move = None
    return _play(desk, board, sitter, position, move or position.game.parse(view, text), words)


def resign(desk: Desk, command: Resign) -> Answer:
    """Give up; before one's own first move it declines, and the board counts for nothing."""
    board, sitter = desk.seat_at(command.board, command.game, command.who)
    _must_run(board)
    position = desk.position(board)
    if all(p.ply is None or p.ply.seat != sitter.seat for p in position.backwards()):
        return decline(desk, board, sitter)
    return _record(desk, board, sitter, position.withdraw(sitter.seat), desk.words)


def chat(desk: Desk, command: Chat) -> Answer:
    """Words to everybody else at the board; nothing about the game changes."""
    board, sitter = desk.seat_at(command.board, command.game, command.who)
    if not desk.words:
        raise Refused("no-words", part="chat")
    others = [s for s in board.sitters if s.player_id != sitter.player_id]
    said = {"by": sitter.userid, "said": desk.words}
    return Answer(
        (
            Part(
                "chat-sent",
                {"to": [s.userid for s in others], "said": desk.words},
                board.id,
                board.plies,
                sitter.seat,
            ),
        ),
        tuple(Told.sitter(s, Part("chat", said, board.id, board.plies, s.seat)) for s in others),
    )


def _play(
    desk: Desk, board: BoardRow, sitter: Sitter, position: Position, move: Move, words: str
) -> Answer:
    to_act = position.game.to_act(position.state)
    if not move.free and sitter.seat not in to_act:
        waiting = ", ".join(board.names[seat] for seat in sorted(to_act))
        raise Refused("not-your-turn", part=move.text, waiting=waiting)
    return _record(desk, board, sitter, position.move(sitter.seat, move), words)


def _record(desk: Desk, board: BoardRow, sitter: Sitter, after: Position, words: str) -> Answer:
    """Log the ply that led to *after*, end the board if it did, and tell everybody."""
    ply = after.ply
    assert ply is not None
    undecided = join(desk, board, sitter)
    boards.append(desk.connection, board.id, ply, desk.mail_id, desk.now)
    desk.played[board.id] = after
    outcome = after.game.outcome(after.state)
    letter = "board"
    if outcome is not None:
        boards.finish(desk.connection, board.id, _as_json(outcome), desk.now)
        letter = "result"
    own = Part(
        letter,
        {"event": "moved", "undecided": list(undecided), "said_to": words},
        board.id,
        after.number,
        sitter.seat,
    )
    news = {"event": "news", "by": sitter.userid, "undecided": list(undecided), "said": words}
    told = []
    for other in board.sitters:
        if other.player_id == sitter.player_id or other.userid in undecided:
            continue
        if not ply.free or outcome is not None:
            told.append(Told.sitter(other, Part(letter, news, board.id, after.number, other.seat)))
        elif words:  # a free move is nobody's news, but what was said with it is
            said = {"by": sitter.userid, "said": words}
            told.append(Told.sitter(other, Part("chat", said, board.id, after.number, other.seat)))
    return Answer((own,), tuple(told))


def _must_run(board: BoardRow) -> None:
    if board.status == "finished":
        raise Refused("board-over", part=str(board.id), example=another_game(board))
    if board.status == "declined":
        raise Refused("board-declined", part=str(board.id), example=another_game(board))


def _bound_turn(desk: Desk, board: BoardRow) -> int | None:
    """The turn that the letter which is being answered was written for."""
    capability = desk.capability
    if (
        capability is not None
        and capability.purpose is Purpose.BOARD
        and capability.about == board.id
    ):
        return capability.number
    return None


def _numbered(lines: tuple[str, ...]) -> tuple[tuple[str, ...], int | None]:
    """The lines without the ``#n`` behind the first one, and n."""
    found = _NUMBER.search(lines[0])
    if found is None:
        return lines, None
    return (lines[0][: found.start()].rstrip(), *lines[1:]), int(found[1])


def _not_late(
    position: Position, seat: Seat, number: int | None, lines: list[str] | tuple[str, ...]
) -> None:
    """Refuse a turn that was meant for another moment; free moves are never late."""
    if number is None or number == (turn := position.game.turn(position.state, seat)):
        return
    view = position.game.view(position.state, seat)
    for line in lines:
        try:
            if position.game.parse(view, line).free:
                return
        except NotUnderstood:
            continue
        except MoveError:
            pass
        raise Refused("stale", part=line, meant=number, turn=turn)


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
