"""Deeds of operators about players: suspend, restore, reset, write to them again."""

from __future__ import annotations

from pbmserv.errors import OperatorError
from pbmserv.mail.reply_address import password_mark
from pbmserv.plurals import counted
from pbmserv.service.accounts.new_addresses import boards_again
from pbmserv.service.boards.bot_turns import is_bot
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.delivery.reachability import failure_words, note_reachable
from pbmserv.service.operators.boards import end_boards_of
from pbmserv.service.operators.deeds import Deed, Signature
from pbmserv.store.accounts import leaving, players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards
from pbmserv.store.delivery import bounces
from pbmserv.store.tables.accounts import PlayerState


def suspend(context: CommandContext, by: Signature, userid: str, *, end_games: bool) -> Deed:
    """Bar a player: the player can send no commands and gets no letters.

    Args:
        end_games: whether to end the player's running boards without a result. Else they go on
            without the player, as boards of events always do; see `end_boards_of`.

    Raises:
        OperatorError: there is no such player, or the player is not active.
    """
    player = human_named(context, userid)
    if player.state == PlayerState.BARRED:
        raise OperatorError(f"{userid} is suspended already")
    if not player.active:
        raise OperatorError(f"{userid} is {player.state}, so there is nothing to suspend")
    ended, letters = end_boards_of(context, by, player.id) if end_games else ([], [])
    home = player.address
    leaving.leave(context.connection, player, "the player is suspended", context.now)
    players.change(context.connection, player.id, {"state": PlayerState.BARRED})
    letters.append(Notification(home, None, account_part("suspended", userid, by)))
    ends = f"; {counted(len(ended), 'board')} ended" if end_games else ""
    summary = f"{userid} is suspended{ends}."
    facts = {"before": PlayerState.ACTIVE, "after": PlayerState.BARRED, "ended": ended}
    return Deed("suspend", f"user {userid}", summary, tuple(letters), facts)


def restore(context: CommandContext, by: Signature, userid: str) -> Deed:
    """Let a barred player play again; letters go to the address that was confirmed first.

    Raises:
        OperatorError: there is no such player, or the player is not barred.
    """
    player = human_named(context, userid)
    if player.state != PlayerState.BARRED:
        raise OperatorError(f"{userid} is {player.state}, not suspended")
    own = players.addresses_of(context.connection, player.id)
    leaving.come_back(context.connection, player, own[0])
    running = boards.running_of(context.connection, player.id)
    letter = Notification(own[0], player.id, account_part("restored", userid, by))
    letters = (letter, *boards_again(context, player.id, running))
    facts = {"before": PlayerState.BARRED, "after": PlayerState.ACTIVE}
    return Deed("restore", f"user {userid}", f"{userid} may play again.", letters, facts)


def reset(context: CommandContext, _: Signature, userid: str) -> Deed:
    """Revoke a player's reply addresses, and send a letter to set a new password.

    This helps if a mailbox was broken into, or if `forgot` cannot reach the player.

    Raises:
        OperatorError: there is no such player, or the player is not active.
    """
    player = human_named(context, userid)
    if not player.active:
        raise OperatorError(f"{userid} is {player.state}; you can reset only active accounts")
    players.change(context.connection, player.id, {"reply_epoch": player.reply_epoch + 1})
    words = {"userid": userid, "mark": password_mark(player.password_hash)}
    running = boards.running_of(context.connection, player.id)
    letter = Notification(player.address, player.id, Part("reset", words))
    letters = (letter, *boards_again(context, player.id, running))
    summary = (
        f"The reply addresses of {userid} are revoked; "
        "a letter to set a new password is on its way."
    )
    return Deed("reset", f"user {userid}", summary, letters, {})


def reachable(context: CommandContext, by: Signature, userid: str) -> Deed:
    """Send letters to a player's given-up addresses again, and forget the bounces from there.

    Raises:
        OperatorError: there is no such player, or none of the addresses is given up.
    """
    player = player_named(context, userid)
    own = players.addresses_of(context.connection, player.id)
    records = bounces.records_of(context.connection, own)
    given_up = [record for record in records if record.suspended_at is not None]
    if not player.active or not given_up:
        raise OperatorError(f"we have given no address of {userid} up; letters go there as always")
    reachable_again = note_reachable(context, player.id, by.why)
    bounces.forgive(context.connection, own)
    facts = {"addresses": [failure_words(record) for record in given_up]}
    names = ", ".join(record.address for record in given_up)
    summary = f"We send letters to {userid} again; we had given up {names}."
    return Deed("reachable", f"user {userid}", summary, reachable_again.notifications, facts)


def human_named(context: CommandContext, userid: str) -> Player:
    """Return the player of this userid, in any state.

    Raises:
        OperatorError: there is no such player, or it is a bot.
    """
    player = player_named(context, userid)
    if is_bot(player):
        raise OperatorError(
            f"{player.userid} is the server itself: it has no password and gets no letters. "
            "You can end its boards one by one: pbmserv board end NUMBER"
        )
    return player


def player_named(context: CommandContext, userid: str) -> Player:
    """Return the player or bot of this userid, in any state.

    Raises:
        OperatorError: there is no such player.
    """
    player = players.account_of(context.connection, userid.lower())
    if player is None:
        raise OperatorError(f"there is no player {userid}; `pbmserv user list` shows them all")
    return player


def account_part(event: str, userid: str, by: Signature, other: str = "") -> Part:
    """Return the letter that tells a player what happened to the account."""
    words = {"event": event, "userid": userid, "why": by.why, "other": other}
    return Part("operator-account", words)
