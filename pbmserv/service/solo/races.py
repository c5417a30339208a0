"""Races and solo games: giving up, practice, a finished box once more; and any board as a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pbmserv.commands.table.looking import Record
from pbmserv.commands.table.model import Credentials
from pbmserv.commands.table.playing import Load, Practise, Save, Solve
from pbmserv.commands.table.starting import Replay
from pbmserv.engine.clocks import USUAL
from pbmserv.engine.position import Position, weight, without_seed
from pbmserv.engine.protocol import Saving, races
from pbmserv.engine.record import (
    HINT,
    REDO,
    RESTART,
    UNDO,
    WITHDRAW,
    GameRecord,
    Ply,
    Scoresheet,
    result_of,
    write_record,
)
from pbmserv.engine.types import Saved, Seat
from pbmserv.errors import Illegal, MoveError, OptionError, Refused
from pbmserv.mail.reply_address import Purpose
from pbmserv.service.boards.plies import log_ply, must_have_room, must_run, must_run_or_practise
from pbmserv.service.boards.proposals import Proposal, invite, read_options, sender_of
from pbmserv.service.core.budget import Work
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import (
    KNOWN_TO_PLAYERS,
    board_of,
    is_kept,
    is_shut,
    known_game,
    must_allow_copy,
    must_not_spoil,
    origin_of,
    spoils,
    unknown_player,
)
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.service.core.said import UNSAID
from pbmserv.service.core.words_for_others import words_for_others
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards, histories, moves
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.tables.boards import BoardStatus


def solve(context: CommandContext, command: Solve) -> Answer:
    """``game solve board userid password``: give up; the box is opened when all are done.

    Raises:
        Refused: the board is no race.
    """
    board, sitter = context.seat_at(command.board, command.game, command.who)
    must_run(context, board)
    position = context.position(board)
    if not position.apart:
        raise Refused("not-a-race", part="solve")
    if sitter.seat not in position.game.to_act(position.state):
        raise Refused("race-done", part="solve", example="show")
    return log_ply(
        context, board, sitter, position.withdraw(sitter.seat), words_for_others(context)
    )


def practise(context: CommandContext, command: Practise) -> Answer:
    """``game redo|restart board userid password``, on boards that are practice.

    Raises:
        Refused: this one is not, or nothing was taken back.
    """
    board, sitter = context.seat_at(command.board, command.game, command.who)
    position = must_run_or_practise(context, board)
    try:
        after = position.practise(sitter.seat, command.what)
    except Illegal as error:
        raise Refused(error.refusal.code, part=command.what, example="show") from error
    answer = log_ply(context, board, sitter, after, words_for_others(context))
    context.moved.clear()  # a plan is for turns that come
    return answer


def replay(context: CommandContext, command: Replay) -> Answer:
    """``game replay board userid``: a board of one's own with the box of a finished race.

    Raises:
        Refused: there is no such board, it was no race, or it still runs.
    """
    if command.board is None:
        board, sitter = context.seat_at(None, command.game, None)
        player, guard = _player_called(context, sitter.userid), must_allow_copy
    else:
        player, guard = _replayer(context, command), must_not_spoil
        board = board_of(context, command.board, command.game)
    game = known_game(context, board.game)
    if not races(game) or not game.is_race(game.options(board.options, board.seats)):
        raise Refused("not-raced", part=str(board.id), example=f"{board.game} show {board.id}")
    if board.status != BoardStatus.FINISHED:
        raise Refused("not-over", part=str(board.id), example=f"{board.game} show {board.id}")
    guard(context, board)
    example = f"{board.game} replay {board.id}"
    sender = player
    if command.who is None:
        sender = sender_of(context, (player,), f"{example} {{you}}")
    options, _ = read_options(game, board.options, 1, str(board.id), example)
    context.focus = None
    proposal = Proposal(game, options, False, board.terms, (player,), origin_of(board))
    return invite(context, sender, proposal, {"replay": board.id})


def _replayer(context: CommandContext, command: Replay) -> Player:
    """Return the player for whom a line asks for a replay."""
    if command.who is not None:
        return context.authenticate(command.who)
    return _player_called(context, command.userid or context.speaker(None).userid)


def _player_called(context: CommandContext, userid: str) -> Player:
    """Return the player of a userid.

    Raises:
        Refused: there is none; the word may be a password, so it is repeated only if it nearly is
            the userid of a player.
    """
    player = players.by_userid(context.connection, userid)
    if player is not None:
        return player
    unknown = unknown_player(context, userid)
    if unknown.refusal.values["suggestion"]:
        raise unknown
    context.echo_hidden = True
    raise Refused("no-such-player", place=1)


MOST_MOVES = 300
"""Moves that are made again when a file is loaded."""


def save(context: CommandContext, command: Save) -> Answer:
    """``game save board userid password``: the board as a file, with all that was taken back.

    As long as what is hidden in it must not be told, the file names the board instead. In practice
    it is a secret only while others have to solve the same box.

    Raises:
        Refused: it is no board of one player.
    """
    board, sitter = context.seat_at(command.board, command.game, command.who)
    game = context.services.registry.version(board.game, board.rules_version)
    if board.seats != 1 or not isinstance(game, Saving):
        raise Refused("save-alone", part=str(board.id), example=f"{board.game} record {board.id}")
    saved = written(moves.record(context.connection, board.id))
    practice = context.position(board).is_practice  # who plays may open the box at any time
    kept = spoils(context, board) not in KNOWN_TO_PLAYERS if practice else is_kept(context, board)
    named = board.id if kept else None
    spend = context.budget.spend_on_game
    files = game.save(game.options(board.options, 1), saved, named, spend)
    words = {"board": board.id, "files": files, "key": board.game, "running": kept}
    return Answer((Part("saved", words, board.id, board.plies, sitter.seat),))


def written(plies: Iterable[Ply]) -> Saved:
    """The moves of a record, those at the end that were taken back set apart."""
    done: list[str] = []
    undone: list[str] = []
    for ply in plies:
        if ply.text == UNDO:
            undone.append(done.pop())
        elif ply.text == REDO:
            done.append(undone.pop())
        else:
            done.append(ply.text)
            undone.clear()
    every = [text for text in (*done, *reversed(undone)) if text != HINT]  # which changes nothing
    return Saved((), tuple(every), sum(text != HINT for text in done))


def load(context: CommandContext, command: Load) -> Answer:
    """``game load userid password`` with the file attached, or its text below.

    Raises:
        Refused: there is no file, something in it is wrong, or its box is not open yet.
    """
    player = context.speaker(command.who)
    game = known_game(context, command.game)
    if not races(game) or not isinstance(game, Saving):
        raise Refused("no-save", part=command.game, example="list")
    text = _text(context, game.marks)
    if not any(mark in text for mark in game.marks):
        raise Refused("load-nothing", part="load", example=f"help {command.game}")

    origin: int | None = None

    def options_of(number: int) -> tuple[str, ...]:
        nonlocal origin
        board = boards.load(context.connection, number)
        if board is None or board.seats != 1 or board.sitter_of(player.id) is None:
            raise Refused("load-not-yours", part=f"board {number}", example="games")
        must_allow_copy(context, board)
        origin = origin_of(board)
        return board.options

    context.budget.spend(Work.TEXT, weight(len(text)))
    try:
        found = game.load(text, options_of, context.budget.spend_on_game)
        options, rated = read_options(game, found.options, 1, "load", "")
    except (MoveError, OptionError) as error:
        raise error.offering("help load") from error
    undone = len(found.moves) - found.done
    if len(found.moves) + undone > MOST_MOVES:
        raise Refused("load-long", part="load", most=MOST_MOVES, example="help load")
    context.focus = None
    proposal = Proposal(game, options, rated, USUAL, (player,), origin)
    answer = invite(context, player, proposal, {"loaded": True})
    number = answer.parts[0].board
    assert number is not None
    _replay(context, number, (*found.moves, *(UNDO,) * undone))
    after = boards.lock(context.connection, number)
    assert after is not None
    context.moved.clear()
    if after.status == "finished":
        words = {"event": "show", "undecided": [], "ratings": []}
        return Answer((Part("result", words, number, after.plies, Seat(0), after.thread),))
    part = answer.parts[0]
    return Answer((Part(part.letter, part.words, number, after.plies, Seat(0), after.thread),))


def _text(context: CommandContext, marks: Iterable[str]) -> str:
    """The file that came with the mail, else the mail's own text; it is looked for once."""
    for mark in marks:
        if mark not in context.attached:
            context.attached[mark] = context.submission.attachment(mark)
        if context.attached[mark]:
            return context.attached[mark]
    return context.submission.text


def _replay(context: CommandContext, number: int, texts: Sequence[str]) -> None:
    """Make the moves of a file on its new board.

    They are stored together, and only the last one ends the board if it does.

    Raises:
        Refused: one of them cannot be made where it stands.
        TooMuch: the mail has spent what it may.
    """
    board = boards.lock(context.connection, number)
    assert board is not None
    (sitter,) = board.sitters
    positions = [context.position(board)]
    for at, text in enumerate(texts, 1):
        after = _again(context, positions[-1], sitter.seat, text)
        if after is None:
            raise Refused("load-move", part=text[:40], number=at, example="help load")
        must_have_room(board, sitter, after)
        positions.append(after)
    if texts:
        before = [position.ply for position in positions[1:-1] if position.ply is not None]
        moves.log(context.connection, number, before, context.mail_id, context.now)
        context.tally.plies.extend((number, ply.number) for ply in before)
        log_ply(context, board, sitter, positions[-1], UNSAID)


def _again(context: CommandContext, position: Position, seat: Seat, text: str) -> Position | None:
    """Return the position after one move of a file; ``None`` if it cannot be made."""
    context.budget.spend(Work.ROW)
    context.budget.spend(Work.TEXT, weight(len(text)))
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


def record(context: CommandContext, command: Record) -> Answer:
    """``game record board``: a finished game as a text that can be played back."""
    if command.board is not None:
        board = board_of(context, command.board, command.game)
    else:
        reply_address = context.reply_address
        if reply_address is None or reply_address.purpose not in {Purpose.BOARD, Purpose.FOLLOW}:
            raise Refused("which-board", example="blackbox record 12")
        board = board_of(context, reply_address.about, command.game)
    example = f"{board.game} show {board.id}"
    if board.status == "declined":
        raise Refused("board-declined", part=str(board.id), example=example)
    outcome = board.outcome
    if board.status != "finished" or outcome is None:
        raise Refused("not-over", part=str(board.id), example=example)
    own, kept = _by_player_of(context, board, command.who), bool(spoils(context, board))
    if kept and (not own or is_shut(context, board)):
        must_not_spoil(context, board)
    game = context.services.registry.version(board.game, board.rules_version)
    full = GameRecord(
        board.game,
        board.rules_version,
        board.seats,
        board.options,
        board.seed,
        tuple(moves.record(context.connection, board.id)),
    )
    position = context.position(board)
    context.budget.replay(position.at(0), full.plies)  # once more, to do without the seed
    sheet = Scoresheet(
        without_seed(position, full),
        board.names,
        board.id,
        f"{histories.ended_at(context.connection, board.id):%Y-%m-%d}",
        result_of(board.names, outcome["places"], outcome["reason"]),
    )
    words = {
        "title": game.info.title,
        "board": board.id,
        "text": write_record(sheet),
        "look": "showas" if own else "show",
        "again": not kept
        and races(game)
        and game.is_race(game.options(board.options, board.seats)),
    }
    return Answer((Part("record", words),))


def _by_player_of(context: CommandContext, board: BoardRow, who: Credentials | None) -> bool:
    """Whether the record goes to a player of that board, who was told how it ended.

    The answer goes to that player's own address.
    """
    for player in context.readers(who):
        if board.sitter_of(player.id) is not None:
            context.player = player
            return True
    return False
