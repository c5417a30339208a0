"""Letters about refused lines, and the words that they may repeat.

A line is read without knowing its sender, so any word of it may be a password. Here it is known
which words are userids (which are no secret), who seems to write, and on which boards.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial

from pbmserv.commands.grammar.examples import Sender
from pbmserv.commands.grammar.game_names import game_in_front
from pbmserv.commands.grammar.readings import BLANK, Line
from pbmserv.commands.grammar.word_forms import is_userid
from pbmserv.commands.table.catalogue import WHICH
from pbmserv.commands.table.command_types import ReplyMove
from pbmserv.commands.table.starting import Challenge
from pbmserv.errors import MoveError, NotUnderstood, PlayerError, Refusal, Refused
from pbmserv.mail.reply_address import Purpose
from pbmserv.service.core.command_state import Focus, Speaker
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import is_player
from pbmserv.service.core.outcome import Part
from pbmserv.service.core.words_for_others import cells_in
from pbmserv.service.delivery import digest_replies
from pbmserv.store.accounts import players
from pbmserv.store.boards import player_boards
from pbmserv.store.tables.boards import RUNNING, BoardStatus

MOST_LOOKED_UP = 20
"""Words of a line that are looked up as userids."""

_NO_MOVE_CODES = (".not-a-move", "board-over", "board-declined")

_PLAIN_WORD = re.compile(r"\b[^\W\d_]{2,}\b")
_SIGN_OF_MOVE = re.compile(r"[+#=]|(?<!\w)[!/]\w")
"""A sign of a misspelt move: "+b2", "/b2", "!b2"."""

_OF_A_DIGEST = re.compile(r"(\d{1,9}): ", re.ASCII)


def refuses_move(error: PlayerError) -> bool:
    """Return whether a refused line was surely meant as a move."""
    is_late = error.refusal.code in {"not-your-turn", "stale", "which-move"}
    return is_late or (isinstance(error, MoveError) and not isinstance(error, NotUnderstood))


def explain(context: CommandContext, line: Line, error: PlayerError) -> Part:
    """Return the letter about a refused line; its word ``echo`` is the line as it may be
    repeated."""
    sender = _sender(context)
    refusal = error.refusal
    if line.meaning is error and line.for_sender is not None:
        line = line.for_sender(sender)
        assert isinstance(line.meaning, PlayerError)
        refusal = line.meaning.refusal
    echo = _echo(context, line, refusal, sender)
    example = _behind_number(context, line) or _example(context, refusal, echo, sender)
    talk = _as_chat(context, line, refusal, beside=bool(example))
    # A reply that cannot be read is still about the board of the answered letter.
    focus = (
        _unread_about(context, line)
        if isinstance(line.meaning, PlayerError)
        else context.current.focus
    )
    _find_speaker(context)
    if context.current.speaker is not None or context.known_writers():
        example = _without_credentials(example, sender)
    refusal = replace(refusal, example=example or talk)
    words = {
        "refusal": asdict(refusal),
        "echo": echo,
        "may_say": bool(example and talk) and talk == f"chat {echo}",
    }
    if focus is None or focus.board.status == BoardStatus.DECLINED:  # nobody is to move there
        return Part("refusal", words)
    return Part("refusal", words, focus.board.id, focus.board.plies, focus.seat)


def _echo(context: CommandContext, line: Line, refusal: Refusal, sender: Sender) -> str:
    """Return the line as it may be repeated."""
    if not context.current.echo_hidden:
        return line.echo
    if refusal.code == "no-such-player":
        return _with_blanks(context, line, sender.is_player)
    # A refusal for a wrong password must not show whether a userid exists.
    return _with_blanks(context, line, sender.userid.__eq__)


def _unread_about(context: CommandContext, line: Line) -> Focus | None:
    """Return the board of an unread line: of the number in front, or of the letter."""
    numbered = _OF_A_DIGEST.match(line.echo)
    if numbered is None:
        return _focus_of_letter(context)
    with suppress(Refused):
        context.seat_at(int(numbered[1]))
    return context.current.focus


def _find_speaker(context: CommandContext) -> None:
    """Let the answer go to the player of the reply address, if it is still valid."""
    if context.current.speaker is None and context.actor.speaks_for:
        with suppress(Refused):
            context.speaker(None)


def _sender(context: CommandContext) -> Sender:
    """Return the player who seems to write, by the reply address, else by the From address.

    That proves nothing, but the letter says nothing secret of the player, and goes there.
    """
    player: Speaker | None
    if context.current.speaker is not None:
        player = context.current.speaker
    elif context.actor.speaks_for:
        player = players.by_id(context.connection, context.actor.speaks_for)
    else:
        player = context.claimed_writer()
    is_name = partial(_is_player, context, {})
    if player is None:
        return Sender("", 0, is_name)
    return Sender(player.userid, _board_of(context, player), is_name)


def _board_of(context: CommandContext, player: Speaker) -> int:
    """Return a board of a player for examples, if possible of the answered letter; 0 for none."""
    reply_address = context.reply_address
    if reply_address is not None and reply_address.player == player.player_id:
        if reply_address.purpose is Purpose.BOARD:
            return reply_address.about
        if reply_address.purpose is Purpose.TRAY:
            with suppress(Refused):
                return digest_replies.first_board(context)
    newest = player_boards.of_player(context.connection, player.player_id, RUNNING, most=1)
    return next(iter(newest), 0)


def _is_player(context: CommandContext, looked_up: dict[str, bool], word: str) -> bool:
    """Return whether a word is a userid; only `MOST_LOOKED_UP` words of a line are looked up."""
    if word not in looked_up and len(looked_up) < MOST_LOOKED_UP and is_userid(word):
        looked_up[word] = is_player(context, word)
    return looked_up.get(word, False)


def _with_blanks(context: CommandContext, line: Line, may_show: Callable[[str], bool]) -> str:
    """Return a line with blanks for all words but its command, its board and some userids.

    Args:
        may_show: whether a userid may be repeated.
    """
    words = line.echo.split()
    if context.reply_address is not None and not isinstance(line.meaning, Challenge):
        return BLANK
    _, named = game_in_front(words, context.services.registry.titles)
    head = named + 1
    board = getattr(line.meaning, "board", None)
    shown = words[:head]
    for word in words[head:]:
        number = board is not None and word.lstrip("#") == str(board)
        if number or word.lower() in WHICH or may_show(word.lower().rstrip(",;")):
            shown.append(word)
            board = None if number else board
        elif shown[-1] != BLANK:
            shown.append(BLANK)
    return " ".join(shown) if len(words) > head else f"{' '.join(shown)} {BLANK}"


def _example(context: CommandContext, refusal: Refusal, echo: str, sender: Sender) -> str:
    """Return an example with the sender's own userid."""
    if refusal.code == "no-such-player":
        return _with_known_names(context, refusal, echo, sender)
    if refusal.code == "no-words":
        by_reply = "chat YOUR WORDS" if refusal.part == "chat" else ""
        return by_reply if context.reply_address is not None else echo.replace(BLANK, "PASSWORD")
    if refusal.code == "missing-address" and sender.userid:
        return f"change address {sender.userid} PASSWORD ADDRESS"
    if not sender.userid or refusal.example.startswith("signup "):
        return refusal.example
    words = refusal.example.split(" ")
    return " ".join(sender.userid if word == "USERID" else word for word in words)


def _behind_number(context: CommandContext, line: Line) -> str:
    """Return the move after a number that may be the board or a port: "12" of "1 12" on board 1;
    ``""`` if there is none."""
    if not isinstance(line.meaning, ReplyMove):
        return ""
    number, _, rest = line.meaning.lines[0].partition(" ")
    focus = _focus_of_letter(context) if rest else None
    if focus is None or number != str(focus.board.id):
        return ""
    position = context.position(focus.board)
    with suppress(MoveError):
        return str(position.game.parse(position.game.view(position.state, focus.seat), rest).text)
    return ""


def _focus_of_letter(context: CommandContext) -> Focus | None:
    """Return the board of the answered letter, and the reader's seat; `None` if there is none."""
    if context.answered_board is None:
        return None
    try:
        context.seat_at()
    except Refused:
        return None
    return context.current.focus


def _as_chat(context: CommandContext, line: Line, refusal: Refusal, *, beside: bool) -> str:
    """Return words that are no move as a command for the others at the board: "good game!".

    Args:
        beside: whether a move is offered, too.
    """
    command = line.meaning
    if not isinstance(command, ReplyMove) or context.current.echo_hidden:
        return ""
    if len(command.lines) > 1 or not refusal.code.endswith(_NO_MOVE_CODES):
        return ""
    focus = _focus_of_letter(context)
    if focus is None or focus.board.terms.alone:
        return ""
    text = command.lines[0]
    position = context.position(focus.board)
    may_hide = position.game.info.hidden and focus.seat not in position.moved()
    if may_hide and cells_in(text):  # the cells may be those that the writer hides
        return ""
    return f"chat {text}" if _is_talk(text, fewest_words=2 if beside else 3) else ""


def _is_talk(text: str, *, fewest_words: int) -> bool:
    """Return whether people may say a line to each other, in contrast to a misspelt move.

    Args:
        fewest_words: the fewest words of a line with numbers, such as "I have 2 kids".
    """
    if not _PLAIN_WORD.search(text) or _SIGN_OF_MOVE.search(text):
        return False
    has_numbers = any(map(str.isdigit, text))
    return not has_numbers or (text[0].isalpha() and len(text.split()) >= fewest_words)


def _without_credentials(example: str, sender: Sender) -> str:
    """Return an example without userid and password for a writer who is known. Commands that set a
    password or an address keep them."""
    if example.startswith(("change ", "signup ", "back ")):
        return example
    return example.replace(f" {sender.userid or 'USERID'} PASSWORD", "", 1)


def _with_known_names(context: CommandContext, refusal: Refusal, echo: str, sender: Sender) -> str:
    """Return the line with the name of an existing player, or another that helps to find one."""
    words = echo.split()
    key, _ = game_in_front(words, context.services.registry.titles)
    game = [key] if key else []
    suggestion = str(refusal.values.get("suggestion", ""))
    if not suggestion and "challenge" in words and sender.userid:
        return " ".join((*game, "challenge", sender.userid, "FRIEND"))
    if not refusal.part:  # the wrong word is not repeated
        return " ".join(word for word in words if word != BLANK)
    if not suggestion:
        return " ".join((*game, "standings"))
    wrong = refusal.part.lower()
    corrected = [suggestion if word.lower().rstrip(",;") == wrong else word for word in words]
    return " ".join("PASSWORD" if word == BLANK else word for word in corrected)
