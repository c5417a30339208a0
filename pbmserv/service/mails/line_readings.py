"""Chooses how to read a line in which a password, or the writer's name, may be missing.

A writer with a verified address may leave the password out, and may add one to a command that needs
none. Whether a word is a password is known only here, so such a line is read both ways. If the
reply address or the sender shows who writes, a line need not name its writer either. Words that
are neither are not repeated, because one of them may be a password.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

from sqlalchemy import Connection

from pbmserv.commands.grammar.dates import is_date
from pbmserv.commands.grammar.game_names import game_in_front
from pbmserv.commands.grammar.readings import Line
from pbmserv.commands.grammar.word_forms import BOARD, SETTING, SHORTEST_PASSWORD, looks_like_a_move
from pbmserv.commands.table.catalogue import BY_NAME
from pbmserv.commands.table.command_types import VOUCHED, AtBoard, Command, Credentials
from pbmserv.commands.table.playing import Message
from pbmserv.commands.table.starting import Challenge
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.errors import Illegal, PlayerError, Refused
from pbmserv.mail.reply_address import Purpose
from pbmserv.service.auth import lockout
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.refusals import too_many_passwords
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player


@dataclass(frozen=True, slots=True)
class Choice:
    """The choice of a reading.

    Attributes:
        written: the line as it stands.
        line: the reading to carry out.
        without_proof: this reading has no password, or no writer's name, since the mail itself
            proves these.
    """

    written: Line
    line: Line
    without_proof: bool = False


def choose(context: CommandContext, line: Line) -> Choice:
    """Choose how to read a line."""
    if not line.is_ambiguous:  # as nearly all lines
        return Choice(line, line)
    proven_line = reading_without_proof(context, line)
    if proven_line is not None:
        return Choice(line, proven_line, without_proof=True)
    return Choice(line, _with_password(context, line) or line)


def refused_reading(
    context: CommandContext, choice: Choice, error: PlayerError
) -> tuple[Line, PlayerError]:
    """Return the reading to explain after a refusal, and its refusal.

    If a word may have been a password after all, the line is explained as one with a password, or
    it is not repeated.
    """
    if choice.without_proof and not _was_meant(context, error, choice):
        return choice.written, _refusal_with_password(context, choice.written)
    if choice.without_proof and choice.line.credentials is not None:
        is_plain = isinstance(error, Illegal) or _has_plain_words(context, choice.line)
        context.current.echo_hidden |= not is_plain
    return choice.line, error


def reading_without_proof(context: CommandContext, line: Line) -> Line | None:
    """Return the reading of a line without a password, or also without its writer's name, if the
    mail itself proves these; else `None`."""
    reading = _without_password(context, line)
    if reading is not None:
        return reading
    other = _with_own_name(context, line) or _without_writer(context, line)
    return other if other is not None and _may_speak_of(context, other.meaning) else None


def _without_password(context: CommandContext, line: Line) -> Line | None:
    """Return the reading without a password, if the line's player wrote the mail and no word of it
    is the right password."""
    credentials = line.credentials
    if line.without_password is None or not context.actor.is_verified:
        return None
    if credentials is not None and credentials.password == VOUCHED:
        return None
    other = line.without_password()
    if other is None or other.credentials is None:
        return None
    player = context.verified_as(other.credentials.userid)
    if player is None:
        return None
    if credentials is not None and _is_right(context, credentials, player):
        return None
    return other


def _without_writer(context: CommandContext, line: Line) -> Line | None:
    """Return the reading that names no writer, if the mail shows who writes.

    A line that begins with a userid names its writer, so the next word may be a password.
    """
    if line.without_writer is None:
        return None
    credentials = line.credentials
    if line.userid_word and _is_userid(context.connection, line.userid_word):
        if credentials is None or not isinstance(line.meaning, Message):
            return None
        if not password_is_userid(context.connection, credentials):
            return None
    if context.known_writers():
        return line.without_writer()
    # A challenge needs no proof: it only asks the others, or the player who seems to write.
    other = line.without_writer() if isinstance(line.meaning, PlayerError) else None
    if other is None or not isinstance(other.meaning, Challenge):
        return None
    writer = context.claimed_writer()
    return other if writer is not None and writer.userid not in other.meaning.userids else None


def _with_own_name(context: CommandContext, line: Line) -> Line | None:
    """Return the reading of a reply's line that repeats the userid of its known writer."""
    if line.without_password is None or line.credentials is not None:
        return None
    other = line.without_password()
    command = other.meaning if other is not None else None
    named = other.credentials.userid if other is not None and other.credentials is not None else ""
    if other is None or named not in {player.userid for player in context.known_writers()}:
        return None
    return replace(other, meaning=replace(cast("Any", command), credentials=None))


_OF_ALL_BOARDS = frozenset({Purpose.PLAYER, Purpose.TRAY})
"""Purposes of letters whose replies name a board by its number."""


def refuse_other_board(context: CommandContext, command: AtBoard) -> None:
    """Refuse a command without a password that is about another board than the answered letter.

    A letter is passed on more easily than a password.

    Raises:
        Refused: it is, and nothing else in the mail proves who wrote it.
    """
    if not _may_speak_of(context, command):
        raise Refused("other-board", part=str(command.board))


def _may_speak_of(context: CommandContext, command: Command | PlayerError) -> bool:
    """Return whether a command without a password may be about its board.

    A reply to the letter of one board is only about that board, unless the sender is verified.
    """
    board, reply_address = getattr(command, "board", None), context.reply_address
    if board is None or reply_address is None or not reply_address.player:
        return True
    own = reply_address.purpose in _OF_ALL_BOARDS or (
        reply_address.purpose is Purpose.BOARD and reply_address.about == board
    )
    return own or any(context.verified_as(player.userid) for player in context.known_writers())


def _is_userid(connection: Connection, word: str) -> bool:
    return word in BOT_USERIDS or players.account_of(connection, word) is not None


def _with_password(context: CommandContext, line: Line) -> Line | None:
    """Return the reading with a password of a line that needs none; `None` if it has none.

    The word after a player's userid is the password if it is right. A line that makes no sense
    without it is read as one with a wrong password. A challenge is not, since the word may be the
    misspelt name of an opponent.
    """
    other = line.with_proof() if line.with_proof is not None else None
    credentials = other.credentials if other is not None else None
    if (
        credentials is None
        or credentials not in context.actor.passwords
        or password_is_userid(context.connection, credentials)
    ):
        return None
    player = players.account_of(context.connection, credentials.userid)
    if player is None or other is None:
        return None
    if isinstance(line.meaning, PlayerError) and not isinstance(other.meaning, Challenge):
        return other
    source = context.actor.source
    open_to_guesses = lockout.may_try(context.connection, credentials.userid, source, context.now)
    if not open_to_guesses and context.verified_as(credentials.userid) is None:
        return None
    return other if _is_right(context, credentials, player) else None


def password_is_userid(connection: Connection, credentials: Credentials) -> bool:
    """Return whether the word in the place of the password is a userid."""
    return _is_userid(connection, credentials.password.text.lower())


def _was_meant(context: CommandContext, error: PlayerError, choice: Choice) -> bool:
    """Return whether the refusal of a reading without proof shows that no word was a password."""
    if isinstance(error, Illegal):
        return True
    if choice.line.credentials is None:
        return choice.written.without_password is None or _has_plain_words(context, choice.line)
    # Nobody takes a number or a date for a password.
    return isinstance(error, Refused) and not any(char.isalpha() for char in error.refusal.part)


def _has_plain_words(context: CommandContext, line: Line) -> bool:
    """Return whether no word after the game, or else the command, of a line can be a password."""
    words = line.echo.split()
    _, named = game_in_front(words, context.services.registry.titles)
    return all(_is_plain(context, word) for word in words[named or 1 :])


def _is_plain(context: CommandContext, word: str) -> bool:
    """Return whether a word cannot be a password in a wrong place."""
    text = word.rstrip(",;")
    return (
        len(text) < SHORTEST_PASSWORD
        or text in BY_NAME
        or looks_like_a_move(text)
        or is_date(text)
        or BOARD.fullmatch(text) is not None
        or SETTING.fullmatch(text) is not None
        or _is_userid(context.connection, text.lower())
    )


def _refusal_with_password(context: CommandContext, line: Line) -> PlayerError:
    """Return the refusal of a line if it is read with a password."""
    context.current.echo_hidden = True
    if isinstance(line.meaning, PlayerError):
        return line.meaning
    credentials = line.credentials
    if credentials is not None and credentials not in context.actor.passwords:
        return too_many_passwords()
    userid = "USERID" if credentials is None else credentials.userid
    return Refused("bad-credentials", example=f"forgot {userid}")


def _is_right(context: CommandContext, credentials: Credentials, player: Player) -> bool:
    """Return whether a word is known to be the password."""
    is_right = context.services.memo.right(
        credentials.userid, player.password_hash, credentials.password.text
    )
    return credentials in context.actor.passwords and is_right is True
