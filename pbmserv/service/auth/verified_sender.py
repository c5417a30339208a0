"""Proof that a mail is a player's, and lines of proven senders that leave out the password.

A proven sender may leave out the password. In a command that needs none, a sender may add it after
the own userid. Only this module knows which word is a password, so such a line is read both ways.
If the sender's address or a reply address shows who writes, a line need not name its writer at all.
Words that are neither a password nor a name are not repeated in answers: one may be a password.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from sqlalchemy import Connection

from pbmserv.commands.grammar.words import (
    BOARD,
    SETTING,
    SHORTEST_PASSWORD,
    is_date,
    looks_like_a_move,
)
from pbmserv.commands.table.catalogue import BY_NAME
from pbmserv.commands.table.model import VOUCHED, AtBoard, Credentials, Line
from pbmserv.commands.table.playing import Message
from pbmserv.commands.table.starting import Challenge
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.errors import Illegal, PlayerError, Refused
from pbmserv.mail.reply_address import Purpose
from pbmserv.service.auth import lockout
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import too_many_passwords
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player


def is_proven(context: CommandContext, sender: Player) -> bool:
    """Return whether the mail proves to be this player's.

    A reply address, a password in any of its lines, or a verified From prove that. Anybody can have
    written everything else.
    """
    reply_address = context.reply_address
    if reply_address is not None and reply_address.player == sender.id:
        return True
    return sender.id in context.counted or context.verified_as(sender.userid) is not None


def seems_to_be(context: CommandContext) -> Player | None:
    """Return the only player with the sender's address, which proves nothing."""
    owners = players.by_address(context.connection, context.incoming.mail.sender)
    return owners[0] if len(owners) == 1 else None


def as_known(context: CommandContext, line: Line) -> Line | None:
    """Return the line without a password, or without its writer, if the mail proves them."""
    unproven_line = _without_password(context, line)
    if unproven_line is not None:
        return unproven_line
    other = _with_own_name(context, line) or _unnamed(context, line)
    return other if other is not None and _may_speak_of(context, other) else None


def _without_password(context: CommandContext, line: Line) -> Line | None:
    """Return the line as one without a password, if its proven sender left it out."""
    credentials = line.who
    if line.unsaid is None or not context.incoming.verdict.passed:
        return None
    if credentials is not None and credentials.password == VOUCHED:
        return None
    other = line.unsaid()
    player = context.verified_as(other.who.userid) if other is not None and other.who else None
    if player is None:
        return None
    if credentials is not None and _is_right(context, credentials, player):
        return None
    return other


def _unnamed(context: CommandContext, line: Line) -> Line | None:
    """Return the line as one without its writer, if it makes sense and the mail shows who writes.

    If the line begins with a userid, it names its writer, and the next word may be a password.
    """
    if line.unnamed is None:
        return None
    credentials = line.who
    if line.named and _is_userid(context.connection, line.named):
        to_many = isinstance(line.asked, Message) and credentials is not None
        if not (to_many and credentials is not None and is_player(context.connection, credentials)):
            return None
    if context.known():
        return line.unnamed()
    # A challenge needs no proof: it only asks the opponents, or the player who seems to write.
    other = line.unnamed() if isinstance(line.asked, PlayerError) else None
    if other is None or not isinstance(other.asked, Challenge):
        return None
    writer = seems_to_be(context)
    return other if writer is not None and writer.userid not in other.asked.userids else None


def _with_own_name(context: CommandContext, line: Line) -> Line | None:
    """Return a line of a reply that names its writer although the reply address does."""
    if line.unsaid is None or line.who is not None:
        return None
    other = line.unsaid()
    asked = other.asked if other is not None else None
    named = other.who.userid if other is not None and other.who is not None else ""
    if other is None or named not in {player.userid for player in context.known()}:
        return None
    return replace(other, asked=replace(cast("Any", asked), who=None))


_OF_ALL_BOARDS = frozenset({Purpose.PLAYER, Purpose.TRAY})
"""Reply addresses of letters about all boards: in replies, a number names the board."""


def must_speak_of(context: CommandContext, command: AtBoard) -> None:
    """Refuse a command in a reply to the letter of one board that is about another board.

    Letters are passed on more easily than passwords.

    Raises:
        Refused: the command is about another board, and the mail does not prove its sender.
    """
    if not _may_speak_of(context, Line("", command)):
        raise Refused("other-board", part=str(command.board))


def _may_speak_of(context: CommandContext, line: Line) -> bool:
    """Return whether a line without a password may be about its board.

    In a reply to the letter of one board, it may only be about that board, unless the mail proves
    its sender.
    """
    board, reply_address = getattr(line.asked, "board", None), context.reply_address
    if board is None or reply_address is None or not reply_address.player:
        return True
    is_about_own = reply_address.purpose in _OF_ALL_BOARDS or (
        reply_address.purpose is Purpose.BOARD and reply_address.about == board
    )
    return is_about_own or any(context.verified_as(player.userid) for player in context.known())


def _is_userid(connection: Connection, word: str) -> bool:
    return word in BOT_USERIDS or players.of_name(connection, word) is not None


def with_password(context: CommandContext, line: Line) -> Line | None:
    """Return a line that needs no password as one in which its writer has added it.

    The word after a player's userid is the password if it is right. If the line makes no sense
    without it, it is read as a wrong password and refused. A challenge is not: the word may be the
    misspelt name of an opponent.
    """
    other = line.proving() if line.proving is not None else None
    credentials = other.who if other is not None else None
    if (
        credentials is None
        or credentials not in context.incoming.checked
        or is_player(context.connection, credentials)
    ):
        return None
    player = players.of_name(context.connection, credentials.userid)
    if player is None or other is None:
        return None
    if isinstance(line.asked, PlayerError) and not isinstance(other.asked, Challenge):
        return other
    source = context.incoming.source
    open_to_guesses = lockout.may_try(context.connection, credentials.userid, source, context.now)
    if not open_to_guesses and context.verified_as(credentials.userid) is None:
        return None
    return other if _is_right(context, credentials, player) else None


def is_player(connection: Connection, credentials: Credentials) -> bool:
    """Return whether the word in the place of a password is a userid."""
    return _is_userid(connection, credentials.password.text.lower())


def was_meant(context: CommandContext, error: PlayerError, line: Line, read: Line) -> bool:
    """Return whether a refusal shows that every word of a *line* was what it seemed to be.

    Args:
        read: the line as `as_known` has read it.
    """
    if isinstance(error, Illegal):
        return True
    if read.who is None:
        return line.unsaid is None or all(_is_plain(context, w) for w in read.echo.split()[1:])
    # A number or a date is not a password in the wrong place.
    return isinstance(error, Refused) and not any(char.isalpha() for char in error.refusal.part)


def _is_plain(context: CommandContext, word: str) -> bool:
    """Return whether a word cannot be a password in the wrong place."""
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


def otherwise(context: CommandContext, line: Line) -> PlayerError:
    """Return why a line is also refused if it is read with a password."""
    context.echo_hidden = True
    if isinstance(line.asked, PlayerError):
        return line.asked
    credentials = line.who
    is_name = (
        credentials is not None
        and isinstance(line.asked, Message)
        and is_player(context.connection, credentials)
    )
    if credentials is not None and credentials not in context.incoming.checked and not is_name:
        return too_many_passwords()
    return Refused(
        "bad-credentials", example=f"forgot {credentials.userid if credentials else 'USERID'}"
    )


def _is_right(context: CommandContext, credentials: Credentials, player: Player) -> bool:
    """Return whether the password was checked and is right."""
    verdict = context.services.memo.right(
        credentials.userid, player.password_hash, credentials.password.text
    )
    return credentials in context.incoming.checked and verdict is True
