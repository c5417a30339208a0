"""Deeds of operators for players who lost their mailbox, and so cannot prove who they are.

The operator has found out in another way that the player asks.
"""

from __future__ import annotations

from pbmserv.commands.grammar.word_forms import is_userid
from pbmserv.errors import MailError, OperatorError
from pbmserv.inbound.from_field import one_mailbox
from pbmserv.plurals import counted
from pbmserv.service.accounts.leaving import erase_data
from pbmserv.service.accounts.own_data import home_of
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.free_userids import is_free
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.operators.boards import end_boards_of
from pbmserv.service.operators.deeds import Deed, Signature
from pbmserv.service.operators.people import account_part, human_named
from pbmserv.store import audit
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.tables.accounts import PlayerState


def erase(context: CommandContext, by: Signature, userid: str) -> Deed:
    """Delete all personal data of a player, as the command ``delete`` does.

    Running boards outside events end without a result.

    Raises:
        OperatorError: there is no such player, or nothing is left to delete.
    """
    player = _kept_player(context, userid)
    home = home_of(context, player)
    ended, letters = end_boards_of(context, by, player.id)
    neutral, others = erase_data(context, player, letters)
    farewell = Part("deleted", {"neutral": neutral})
    ends = f"{counted(len(ended), 'board')} ended"
    summary = f"The personal data of {player.userid} are deleted; {ends}."
    facts = {"ended": ended}
    return Deed(
        "erase", f"user {neutral}", summary, (*others, Notification(home, None, farewell)), facts
    )


def export(context: CommandContext, _: Signature, userid: str, to: str) -> Deed:
    """Send all data of a player to an address that need not be the player's.

    Raises:
        OperatorError: there is no such player, or the address is wrong.
    """
    player = _kept_player(context, userid)
    try:
        address = one_mailbox(to.strip())
    except MailError:
        raise OperatorError(f"{to[:80]!r} is not an address") from None
    letter = Notification(address, player.id, Part("export", {"userid": player.userid}))
    summary = f"All data of {player.userid} are on their way to {address}."
    return Deed("export", f"user {player.userid}", summary, (letter,), {})


def rename(context: CommandContext, by: Signature, userid: str, new: str) -> Deed:
    """Give a player another userid. Nobody else can have the old one.

    Raises:
        OperatorError: there is no such player, or the new userid cannot be had.
    """
    player = _kept_player(context, userid)
    new = new.strip().lower()
    if not is_userid(new):
        raise OperatorError(
            f"{new[:40]!r} cannot be a userid, which has 2 to 20 letters a to z, digits, _ or -"
        )
    if not is_free(context, new):
        raise OperatorError(f"nobody can have the userid {new[:40]!r}; it is taken or reserved")
    connection = context.connection
    players.change(connection, player.id, {"userid": new})
    audit.retarget(connection, player.userid, new)
    players.reserve(connection, player.userid, context.now)
    letters = []
    if player.active:
        part = account_part("renamed", new, by, other=player.userid)
        letters.append(Notification(player.address, player.id, part))
    summary = f"{player.userid} is called {new} now."
    # `erase` finds former names by such entries, as it does after a merge.
    return Deed("rename", f"user {player.userid}", summary, tuple(letters), {"into": new})


def _kept_player(context: CommandContext, userid: str) -> Player:
    """Return a player whose personal data are kept.

    Raises:
        OperatorError: there is no such player.
    """
    player = human_named(context, userid)
    if player.state == PlayerState.DELETED:
        raise OperatorError(f"{player.userid} is deleted; nothing is kept but finished games")
    return player
