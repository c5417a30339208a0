"""Whether a mail proves to be a player's, and where that lets a password be left out of a line.

A proven sender may leave it out, and in a command that needs none a writer may add it behind the
own userid; which word is one is known only here, so such a line is read both ways. Where the mail
shows who writes, by its sender or its reply address, a line need not even name its writer.
Words that turn out to be neither are not repeated: one of them may be a password after all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from sqlalchemy import Connection

from pbmserv.commands.grammar.readings import Line
from pbmserv.commands.grammar.words import (
    BOARD,
    SETTING,
    SHORTEST_PASSWORD,
    is_date,
    looks_like_a_move,
)
from pbmserv.commands.table.catalogue import BY_NAME
from pbmserv.commands.table.model import VOUCHED, AtBoard, Credentials
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
    """Whether the mail proves to be this player's: by a reply address, a password in any of its
    lines, or a verified From. Everything else anybody can have written."""
    reply_address = context.reply_address
    if reply_address is not None and reply_address.player == sender.id:
        return True
    return sender.id in context.counted or context.verified_as(sender.userid) is not None


def seems_to_be(context: CommandContext) -> Player | None:
    """The one player whose address the mail has for its sender's, which proves nothing."""
    here = players.by_address(context.connection, context.incoming.mail.sender)
    return here[0] if len(here) == 1 else None


def as_known(context: CommandContext, line: Line) -> Line | None:
    """The line without what the mail itself shows: a password, or also who writes."""
    found = _without_password(context, line)
    if found is not None:
        return found
    other = _with_own_name(context, line) or _unnamed(context, line)
    return other if other is not None and _may_speak_of(context, other) else None


def _without_password(context: CommandContext, line: Line) -> Line | None:
    """The line as one without a password, if that is what its proven sender has written."""
    said = line.who
    if line.without_password is None or not context.incoming.verdict.passed:
        return None
    if said is not None and said.password == VOUCHED:
        return None
    other = line.without_password()
    player = context.verified_as(other.who.userid) if other is not None and other.who else None
    if player is None:
        return None
    if said is not None and _is_right(context, said, player):
        return None
    return other


def _unnamed(context: CommandContext, line: Line) -> Line | None:
    """The line as one that names nobody, if it makes sense like that and the mail shows who writes.

    A line that begins with somebody's userid has named somebody; so what is behind it may be a
    password.
    """
    if line.without_writer is None:
        return None
    said = line.who
    if line.userid_word and _is_userid(context.connection, line.userid_word):
        to_many = isinstance(line.meaning, Message) and said is not None
        if not (to_many and said is not None and is_player(context.connection, said)):
            return None
    if context.known():
        return line.without_writer()
    # A challenge proves nothing, whoever it names: it only asks the others, or who seems to write.
    other = line.without_writer() if isinstance(line.meaning, PlayerError) else None
    if other is None or not isinstance(other.meaning, Challenge):
        return None
    writer = seems_to_be(context)
    return other if writer is not None and writer.userid not in other.meaning.userids else None


def _with_own_name(context: CommandContext, line: Line) -> Line | None:
    """A line of a reply that has its writer's userid in it, though the address says it, too."""
    if line.without_password is None or line.who is not None:
        return None
    other = line.without_password()
    asked = other.meaning if other is not None else None
    named = other.who.userid if other is not None and other.who is not None else ""
    if other is None or named not in {player.userid for player in context.known()}:
        return None
    return replace(other, meaning=replace(cast("Any", asked), who=None))


_OF_ALL_BOARDS = frozenset({Purpose.PLAYER, Purpose.TRAY})
"""Letters to a reply to which a number says which board is meant."""


def must_speak_of(context: CommandContext, asked: AtBoard) -> None:
    """Refuse a command of a reply, without a password, that is about another board than the letter.

    A letter is passed on more easily than a password.

    Raises:
        Refused: it is, and nothing else in the mail proves its writer.
    """
    if not _may_speak_of(context, Line("", asked)):
        raise Refused("other-board", part=str(asked.board))


def _may_speak_of(context: CommandContext, line: Line) -> bool:
    """Whether a line that is not proven by itself may be about its board: in a reply to the letter
    of one board, only about that one, unless the mail proves its sender."""
    board, reply_address = getattr(line.meaning, "board", None), context.reply_address
    if board is None or reply_address is None or not reply_address.player:
        return True
    own = reply_address.purpose in _OF_ALL_BOARDS or (
        reply_address.purpose is Purpose.BOARD and reply_address.about == board
    )
    return own or any(context.verified_as(player.userid) for player in context.known())


def _is_userid(connection: Connection, word: str) -> bool:
    return word in BOT_USERIDS or players.of_name(connection, word) is not None


def with_password(context: CommandContext, line: Line) -> Line | None:
    """Return a line that needs no password as one in which its writer has added one.

    The word behind a player's userid is the password if it is right. If the line makes no sense
    without it, it is read as a wrong password, and refused as such; a challenge is not, since the
    word may be the misspelt name of an opponent.
    """
    other = line.with_proof() if line.with_proof is not None else None
    said = other.who if other is not None else None
    if said is None or said not in context.incoming.checked or is_player(context.connection, said):
        return None
    player = players.of_name(context.connection, said.userid)
    if player is None or other is None:
        return None
    if isinstance(line.meaning, PlayerError) and not isinstance(other.meaning, Challenge):
        return other
    source = context.incoming.source
    open_to_guesses = lockout.may_try(context.connection, said.userid, source, context.now)
    if not open_to_guesses and context.verified_as(said.userid) is None:
        return None
    return other if _is_right(context, said, player) else None


def is_player(connection: Connection, said: Credentials) -> bool:
    """Whether the word in a password's place is somebody's userid, and so none."""
    return _is_userid(connection, said.password.text.lower())


def was_meant(context: CommandContext, error: PlayerError, line: Line, read: Line) -> bool:
    """Whether a refusal shows that every word of a *line* was what it seemed to be.

    Args:
        read: the line as `as_known` has read it.
    """
    if isinstance(error, Illegal):
        return True
    if read.who is None:
        return line.without_password is None or all(
            _is_plain(context, w) for w in read.echo.split()[1:]
        )
    # A number or a date is no word that somebody took for a password.
    return isinstance(error, Refused) and not any(char.isalpha() for char in error.refusal.part)


def _is_plain(context: CommandContext, word: str) -> bool:
    """Whether a word can be no password that somebody wrote where none belongs."""
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
    """Why a line is refused as well where it is read with a password."""
    context.echo_hidden = True
    if isinstance(line.meaning, PlayerError):
        return line.meaning
    said = line.who
    looked_up = (
        said is not None
        and isinstance(line.meaning, Message)
        and is_player(context.connection, said)
    )
    if said is not None and said not in context.incoming.checked and not looked_up:
        return too_many_passwords()
    return Refused("bad-credentials", example=f"forgot {said.userid if said else 'USERID'}")


def _is_right(context: CommandContext, said: Credentials, player: Player) -> bool:
    """Whether a word was found to be the password."""
    found = context.services.memo.right(said.userid, player.password_hash, said.password.text)
    return said in context.incoming.checked and found is True
