"""Whether a mail proves to be a player's, and where that lets a password be left out of a line.

A proven sender may leave it out, and who challenges may put it behind the first userid; which word
is one is known only here, so such a line is read both ways.
Words that turn out to be neither are not repeated: one of them may be a password after all.
"""

from __future__ import annotations

from sqlalchemy import Connection

from pbmserv.commands.table.model import VOUCHED, Credentials, Line
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.errors import Illegal, PlayerError, Refused
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


def without_password(context: CommandContext, line: Line) -> Line | None:
    """The line as one without a password, if that is what its proven sender has written."""
    said = line.who
    if line.unsaid is None or not context.incoming.verdict.passed:
        return None
    if said is not None and said.password == VOUCHED:
        return None
    other = line.unsaid()
    player = context.verified_as(other.who.userid) if other is not None and other.who else None
    if player is None:
        return None
    if said is not None and _is_right(context, said, player):
        return None
    return other


def with_password(context: CommandContext, line: Line) -> Line | None:
    """A challenge whose second word is no player but the password of the first one."""
    other = line.proving() if line.proving is not None else None
    said = other.who if other is not None else None
    if said is None or said not in context.incoming.checked or is_player(context.connection, said):
        return None
    open_to_guesses = context.services.lockout.may_try(said.userid, context.incoming.source)
    if not open_to_guesses and context.verified_as(said.userid) is None:
        return None
    player = players.of_name(context.connection, said.userid)
    return other if player is not None and _is_right(context, said, player) else None


def is_player(connection: Connection, said: Credentials) -> bool:
    """Whether the word in a password's place is somebody's userid, and so none."""
    word = said.password.text.lower()
    return word in BOT_USERIDS or players.of_name(connection, word) is not None


def was_meant(error: PlayerError) -> bool:
    """Whether a refusal shows that every word of a line was what it seemed to be."""
    if isinstance(error, Illegal):
        return True
    # A number or a date is no word that somebody took for a password.
    return isinstance(error, Refused) and not any(char.isalpha() for char in error.refusal.part)


def otherwise(context: CommandContext, line: Line) -> PlayerError:
    """Why a line is refused as well where it is read with a password."""
    context.echo_hidden = True
    if isinstance(line.asked, PlayerError):
        return line.asked
    said = line.who
    if said is not None and said not in context.incoming.checked:
        return too_many_passwords()
    return Refused("bad-credentials", example=f"forgot {said.userid if said else 'USERID'}")


def _is_right(context: CommandContext, said: Credentials, player: Player) -> bool:
    """Whether a word was found to be the password."""
    found = context.services.memo.right(said.userid, player.password_hash, said.password.text)
    return said in context.incoming.checked and found is True
