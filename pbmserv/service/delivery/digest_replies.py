"""Reads replies to letters about several boards, in which a line begins with its board's number."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

from pbmserv.commands.grammar.examples import Sender
from pbmserv.commands.grammar.readings import Line
from pbmserv.commands.grammar.unknown_lines import not_a_command
from pbmserv.commands.grammar.words import words_of
from pbmserv.commands.reading.replies import read_reply
from pbmserv.commands.reading.reply_moves import may_act
from pbmserv.commands.table import command_types
from pbmserv.commands.table.looking import Follow, ShowAs
from pbmserv.commands.table.playing import Chat, MakeMove
from pbmserv.commands.table.starting import Accept
from pbmserv.errors import MoveError, PlayerError, Refused
from pbmserv.mail.reply_address import Purpose
from pbmserv.service.boards import moves
from pbmserv.service.boards.mover import mover_at
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import is_player
from pbmserv.store.boards import boards
from pbmserv.store.delivery import outbox
from pbmserv.store.tables.boards import BoardStatus

MOST_LOOKED_UP = 10
"""Most words of a line that are looked up as userids."""

_OF_A_BOARD = command_types.AboutBoard | Follow
"""Commands that name no board in a reply to a board's letter."""

_NUMBER_ALONE = re.compile(r"#?(\d{1,9})\s*[:.)]?", re.ASCII)


def unfold(context: CommandContext, reply: command_types.TrayReply) -> command_types.Command:
    """Return the command of a line such as ``412: 5``, as in a reply to that board's own letter.

    Raises:
        Refused: the answered letter is not about this board.
        PlayerError: the line cannot be read.
    """
    turns = _turns_by_board(context)
    if reply.board not in turns:
        numbers = sorted(turns)
        raise Refused(
            "tray-board",
            part=str(reply.board),
            boards=", ".join(map(str, numbers)),
            example=f"{numbers[0]}: show" if numbers else "games",
        )
    reading = read_reply(reply.text, context.services.registry.titles, allow_plain_words=True)
    command = reading.lines[0].meaning
    if isinstance(command, PlayerError):
        raise command
    context.current.line_words = reading.words if isinstance(command, Chat) else ""
    if isinstance(command, Chat) and not reading.words:
        example = f"{reply.board}: chat YOUR WORDS"
        raise Refused("tray-no-words", part=str(reply.board), example=example)
    if isinstance(command, command_types.ReplyMove):
        turn = turns[reply.board]
        return MakeMove(None, reply.board, None, command.lines[0], turn)
    if isinstance(command, command_types.Yes):
        return Accept(None, reply.board, None)
    if isinstance(command, ShowAs) and command.credentials is None and not command.boards:
        return replace(command, boards=(command_types.BoardRef(reply.board),))
    if isinstance(command, _OF_A_BOARD) and command.board is None:
        return replace(command, board=reply.board)
    return command


def names_no_board(command: object) -> bool:
    """Return whether a line of a reply needs a board's number and has none."""
    if isinstance(command, command_types.ReplyMove):
        return True
    if not isinstance(command, _OF_A_BOARD) or command.board is not None:
        return False
    return getattr(command, "credentials", None) is None


def only_board(context: CommandContext, line: Line) -> command_types.Command:
    """Return the command of a line without a board's number, for the only waiting board.

    Raises:
        Refused: several boards wait.
    """
    turns = _turns_by_board(context)
    waiting = [number for number, turn in turns.items() if turn is not None]
    text = line.meaning.lines[0] if isinstance(line.meaning, command_types.ReplyMove) else line.echo
    named = _NUMBER_ALONE.fullmatch(text)
    if named and int(named[1]) in turns:  # any other number may be a move
        board = int(named[1])
        is_move = len(waiting) == 1 and _is_move(context, waiting[0], named[1])
        also = f"{waiting[0]}: {board}" if is_move else ""
        raise Refused("tray-nothing", part=text, also=also, example=f"{board}: show")
    if len(waiting) != 1:
        first = first_board(context)
        example = f"{first}: {text}" if _is_move(context, first, text) else f"{first}: show"
        raise Refused("tray-which", part=text, example=example)
    return unfold(context, command_types.TrayReply(waiting[0], text))


def without_number(
    context: CommandContext, command: command_types.ReplyMove
) -> command_types.Command:
    """Return the command of a possible move in answer to a letter that is about no single board: a
    move on the only board that the writer plays.

    Raises:
        PlayerError: it is not a move, or several boards could be meant.
    """
    text = command.lines[0]
    running = sorted(_turns_by_board(context))
    if not running or not (may_act(text) or _is_newest_move(context, running[-1], command)):
        raise _no_command(context, text)
    if len(running) == 1:
        board = boards.load(context.connection, running[0])
        if board is not None and board.status == BoardStatus.ACTIVE:
            return MakeMove(None, running[0], None, text, None)
    raise Refused("tray-which", part=text, example=f"{running[-1]}: {text}")


def _no_command(context: CommandContext, text: str) -> PlayerError:
    """Return the refusal of a line that is no command, with the command that it may mean ("play
    bob")."""
    speaker = context.speaker(None)
    line = not_a_command(words_of(text)[:MOST_LOOKED_UP], context.services.registry.titles)
    assert line.for_sender is not None
    reread = line.for_sender(Sender(speaker.userid, 0, partial(is_player, context))).meaning
    assert isinstance(reread, PlayerError)
    refusal = reread.refusal
    return Refused(refusal.code, part=text, example=refusal.example, **refusal.values)


def first_board(context: CommandContext) -> int:
    """Return a board of the answered letter, for examples; a waiting one if possible.

    Raises:
        Refused: see `_turns_by_board`.
    """
    turns = _turns_by_board(context)
    waiting = [number for number, turn in turns.items() if turn is not None]
    return next(iter((*waiting, *sorted(turns))), 0)


def _is_move(context: CommandContext, number: int, text: str) -> bool:
    """Return whether a text is a move on a board of the speaker."""
    board, sitter = context.seat_at(number)
    position = context.position(board)
    try:
        position.game.parse(position.game.view(position.state, sitter.seat), text)
    except MoveError:
        return False
    return True


def _is_newest_move(context: CommandContext, number: int, command: command_types.ReplyMove) -> bool:
    """Return whether a line is a move on a board that it does not name.

    The focus must not show such a board.
    """
    focus = context.current.focus
    try:
        return moves.holds_move(mover_at(context, *context.seat_at(number)), command)
    except Refused:
        return False
    finally:
        context.current.focus = focus


def _turns_by_board(context: CommandContext) -> dict[int, int | None]:
    """Return the boards of the answered letter, each with the turn for which it waited.

    The turn is `None` if the board did not wait, or the letter does not say for which turn.

    Raises:
        Refused: it is about no boards, or its reply address is no longer valid.
    """
    reply_address = context.reply_address
    if reply_address is not None and reply_address.purpose is Purpose.BOARD:
        return {reply_address.about: reply_address.number}  # a letter about one board
    if context.actor.speaks_for:
        context.speaker(None)  # the letters of a player who has left have no words any more
    if reply_address is not None and reply_address.purpose is Purpose.PLAYER:
        # An answer about several boards, to which a reply names the board.
        return dict.fromkeys(boards.running_of(context.connection, reply_address.player))
    letter = None
    if reply_address is not None and reply_address.purpose is Purpose.TRAY:
        letter = outbox.letter(context.connection, reply_address.about)
    if letter is None or reply_address is None or letter.player_id != reply_address.player:
        raise Refused("tray-only", example="help replies")
    turns: dict[int, int | None] = dict.fromkeys(letter.words["more"])
    turns |= {news["board"]: None for news in letter.words["news"] if news["seat"] is not None}
    return turns | {entry["board"]: entry["turn"] for entry in letter.words["waiting"]}
