"""Games in files: ``save`` and ``load``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from pbmserv.commands.table.playing import Load, Save
from pbmserv.engine.clocks import USUAL
from pbmserv.engine.position import Position, work_of_text
from pbmserv.engine.protocol import Exporting, Saving, races
from pbmserv.engine.record import (
    HINT,
    JOIN,
    REDO,
    RESTART,
    UNDO,
    WITHDRAW,
    Ply,
)
from pbmserv.engine.types import Saved, Seat
from pbmserv.errors import MoveError, OptionError, Refused
from pbmserv.service.boards.new_boards import Proposal
from pbmserv.service.boards.option_words import read_options
from pbmserv.service.boards.plies import log_ply
from pbmserv.service.boards.proposals import propose
from pbmserv.service.core.budget import Work
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.service.core.said import UNSAID
from pbmserv.service.core.secret_boxes import (
    KNOWN_TO_PLAYERS,
    boxed_words,
    origin_of,
    refuse_secret_copy,
    spoils,
)
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards, moves
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.tables.boards import RUNNING, BoardStatus

MOST_MOVES = 300
"""The most moves of a file that are replayed."""


def save(context: CommandContext, command: Save) -> Answer:
    """``game save board userid password``: send a board as a file with all its moves.

    Raises:
        Refused: the game has no format for such a board.
    """
    board, sitter = context.seat_of(command)
    game = context.services.registry.version(board.game, board.rules_version)
    if board.seats == 1 and isinstance(game, Saving):
        options = game.options(boxed_words(context, board), 1)
        return _solo_files(context, board, sitter, options, game)
    if isinstance(game, Exporting):
        view = game.view(context.position(board).state, sitter.seat)
        day = board.created_at.date().isoformat()
        file = game.file(view, board.names, day)
        if file is not None:
            words = {"board": board.id, "files": [file], "key": board.game, "format": file[0]}
            return Answer((Part("saved", words, board.id, board.plies, sitter.seat),))
    raise Refused("save-alone", part=str(board.id), example=f"{board.game} record {board.id}")


def _solo_files(
    context: CommandContext, board: BoardRow, sitter: Sitter, options: Any, game: Saving
) -> Answer:
    """Return a letter with the files of a solo board.

    While the hidden box must stay secret, the file names the board instead. In practice, it is
    secret only while other players have to solve the same box.
    """
    saved = saved_moves(moves.record(context.connection, board.id))
    is_practice = context.position(board).is_practice  # its player may open the box at any time
    is_hidden = board.status in RUNNING and not is_practice
    is_secret = is_hidden or spoils(context, board) not in KNOWN_TO_PLAYERS
    shown_number = board.id if is_secret else None
    spend = partial(context.budget.spend, Work.GAME)
    files = game.save(options, saved, shown_number, spend)
    words = {
        "board": board.id,
        "files": files,
        "key": board.game,
        "running": is_secret,
        "format": "",
    }
    return Answer((Part("saved", words, board.id, board.plies, sitter.seat),))


def saved_moves(plies: Iterable[Ply]) -> Saved:
    """Return the moves of a record, with the moves that were taken back at the end."""
    done: list[str] = []
    undone: list[str] = []
    for ply in plies:
        if ply.text == UNDO:
            undone.append(done.pop())
        elif ply.text == REDO:
            done.append(undone.pop())
        elif ply.text != JOIN:
            done.append(ply.text)
            undone.clear()
    # A hint does not change the board.
    texts = [text for text in (*done, *reversed(undone)) if text != HINT]
    return Saved((), tuple(texts), sum(text != HINT for text in done))


def load(context: CommandContext, command: Load) -> Answer:
    """``game load userid password``: continue a game of an attached file or of the text below.

    Raises:
        Refused: there is no file, it is wrong, or its box is still hidden.
    """
    player = context.speaker(command.credentials)
    game = known_game(context, command.game)
    if not races(game) or not isinstance(game, Saving):
        raise Refused("no-save", part=command.game, example="list")
    text = _text(context, game.marks)
    if not any(mark in text for mark in game.marks):
        raise Refused("load-nothing", part="load", example=f"help {command.game}")

    boxes = _BoxesOfBoards(context, player)
    context.budget.spend(Work.TEXT, work_of_text(len(text)))
    try:
        saved = game.load(text, boxes.options_of, partial(context.budget.spend, Work.GAME))
        options, rated = read_options(game, saved.options, 1, "load", "")
    except (MoveError, OptionError) as error:
        raise error.offering("help load") from error
    undone = len(saved.moves) - saved.done
    if len(saved.moves) + undone > MOST_MOVES:
        raise Refused("load-long", part="load", most=MOST_MOVES, example="help load")
    context.current.focus = None
    proposal = Proposal(game, options, rated, USUAL, (player,), boxes.origin)
    answer = propose(context, player, proposal, {"loaded": True})
    number = answer.parts[0].board
    assert number is not None
    _replay(context, number, (*saved.moves, *(UNDO,) * undone))
    after = boards.lock(context.connection, number)
    assert after is not None
    context.current.moved.clear()
    if after.status == BoardStatus.FINISHED:
        words = {"event": "show", "undecided": [], "ratings": []}
        return Answer((Part("result", words, number, after.plies, Seat(0), after.thread),))
    part = answer.parts[0]
    return Answer((Part(part.letter, part.words, number, after.plies, Seat(0), after.thread),))


class _BoxesOfBoards:
    """The boxes of a player's boards, which a file may name by the number of the board.

    Attributes:
        origin: the board whose box the file continues; `None` if it names none.
    """

    def __init__(self, context: CommandContext, player: Player) -> None:
        self._context = context
        self._player = player
        self.origin: int | None = None

    def options_of(self, number: int) -> tuple[str, ...]:
        """Return the options of a board, with its box.

        Raises:
            Refused: the player does not play there alone, or the box is still hidden.
        """
        board = boards.load(self._context.connection, number)
        if board is None or board.seats != 1 or board.sitter_of(self._player.id) is None:
            raise Refused("load-not-yours", part=f"board {number}", example="games")
        refuse_secret_copy(self._context, board)
        self.origin = origin_of(board)
        return boxed_words(self._context, board)


def _text(context: CommandContext, marks: Iterable[str]) -> str:
    """Return the text of the attached file, else the text of the mail."""
    files = (context.submission.attachment(mark) for mark in marks)
    return next(filter(None, files), context.submission.text)


def _replay(context: CommandContext, number: int, texts: Sequence[str]) -> None:
    """Make the moves of a file on its new board.

    They are stored together. Only the last one can end the board.

    Raises:
        Refused: a move cannot be made in its place.
        TooMuch: the mail has used up its budget.
    """
    board = boards.lock(context.connection, number)
    assert board is not None
    (sitter,) = board.sitters
    positions = [context.position(board)]
    for place, text in enumerate(texts, 1):
        after = _after_move(context, positions[-1], sitter.seat, text)
        if after is None:
            raise Refused("load-move", part=text[:40], number=place, example="help load")
        positions.append(after)
    if texts:
        before = [position.ply for position in positions[1:-1] if position.ply is not None]
        moves.add(context.connection, number, before, context.mail_id, context.now)
        context.effects.plies.extend((number, ply.number) for ply in before)
        log_ply(context, board, sitter, positions[-1], UNSAID)


def _after_move(
    context: CommandContext, position: Position, seat: Seat, text: str
) -> Position | None:
    """Return the position after a move of a file, `None` if it cannot be made."""
    context.budget.spend(Work.ROW)
    context.budget.spend(Work.TEXT, work_of_text(len(text)))
    context.budget.replay(position, (Ply(position.number + 1, seat, text, free=True),))
    try:
        if text == RESTART:
            return position.practise(seat, RESTART)
        if text == UNDO:
            return position.undo(seat)
        if position.outcome is not None:
            return None
        if text == WITHDRAW:
            return position.withdraw(seat)
        move = position.game.parse(position.game.view(position.state, seat), text)
        return position.move(seat, move) if move.text == text else None
    except MoveError:
        return None
