"""Passwords: changing, forgetting and resetting them."""

from __future__ import annotations

from pbmserv.commands.table.accounts import ChangePassword, Forgot
from pbmserv.commands.table.command_types import Secret
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import Purpose, ReplyAddress, password_mark
from pbmserv.service.accounts.new_addresses import boards_again
from pbmserv.service.core.answer_readers import reader_of_answer
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.refusals import too_many_passwords
from pbmserv.store.accounts import address_changes, players
from pbmserv.store.accounts.players import Player
from pbmserv.store.tables.accounts import PlayerState

SAMPLES = frozenset({"password", "newpassword"})
"""Words in the place of a password in our examples, in lower case; anybody would guess them."""


def change_password(context: CommandContext, command: ChangePassword) -> Answer:
    """Set a new password, proven by the old one or by a reset address.

    Each confirmed address is told. A waiting change of address is dropped, since a thief of the old
    password may have asked for it. A reset also revokes all reply addresses, since it helps players
    whose letters were read by others; the boards are sent again.
    """
    context.current.echo_hidden = command.credentials is None
    if command.credentials is not None:
        player = context.authenticate(command.credentials)
    else:
        reply_address = context.reply_address
        if reply_address is None or reply_address.purpose is not Purpose.RESET:
            raise Refused(
                "password-needs-old", example="change password USERID OLDPASSWORD NEWPASSWORD"
            )
        player = _player_of_reset(context, reply_address)
    is_reset = command.credentials is None
    command_line = "password" if is_reset else f"change password {player.userid} PASSWORD"
    refuse_sample(command.new, f"{command_line} NEWPASSWORD")
    hashed = hash_of(context, command.new)
    players.change(context.connection, player.id, {"password_hash": hashed})
    context.services.memo.note(player.userid, hashed, command.new.text, right=True)
    address_changes.stop(context.connection, player.id)
    if is_reset:
        players.change(context.connection, player.id, {"reply_epoch": player.reply_epoch + 1})
    words = {"userid": player.userid, "left": not player.active, "reset": is_reset}
    part = Part("password-changed", words)
    answered, _ = reader_of_answer(context)
    others = [a for a in players.addresses_of(context.connection, player.id) if a != answered]
    boards_letters = boards_again(context, player.id) if is_reset and player.active else ()
    return Answer(
        (part,), (*(Notification(address, player.id, part) for address in others), *boards_letters)
    )


def forgot(context: CommandContext, command: Forgot) -> Answer:
    """Mail a reset address to the player's own address.

    A writer from another address gets the same answer for known and unknown userids. Players who
    have signed off get the letter only if the mail comes from an address of their own, to which
    any mail would be answered.
    """
    userid = command.userid or context.speaker(None).userid
    player = players.account_of(context.connection, userid)
    notifications: tuple[Notification, ...] = ()
    sender = context.actor.address.lower()
    if player is not None and player.state != PlayerState.DELETED:
        to, own = player.address, players.addresses_of(context.connection, player.id)
        if not player.active and sender in own:
            to = sender
        is_proven = context.actor.is_verified and sender in own
        if not is_proven and not context.services.traffic.may("reset", str(player.id)):
            # Anybody can ask for it, so a player gets a few a day, and they all work.
            return Answer((Part("reset-sent", {"userid": userid}),))
        words = {"userid": player.userid, "mark": password_mark(player.password_hash)}
        notifications = (Notification(to, player.id, Part("reset", words)),)
        if sender == to:
            return Answer((), notifications)
    return Answer((Part("reset-sent", {"userid": userid}),), notifications)


def _player_of_reset(context: CommandContext, reply_address: ReplyAddress) -> Player:
    """Return the player of a reset address, who may have signed off."""
    player = players.by_id(context.connection, reply_address.player)
    if player is None or player.state == PlayerState.DELETED:
        raise Refused("reset-used", example="forgot USERID")
    if player.reply_epoch != reply_address.epoch:
        raise Refused("reset-used", example=f"forgot {player.userid}")
    if player.active:
        context.current.speaker = player
    if password_mark(player.password_hash) != reply_address.number:
        raise Refused("reset-used", example=f"forgot {player.userid}")
    context.proofs.add(player.id, player.unreachable_since)
    return player


def refuse_sample(password: Secret, example: str) -> None:
    """Refuse the sample passwords of our letters and pages."""
    if password.text.lower() in SAMPLES:
        raise Refused("sample-password", example=example)


def hash_of(context: CommandContext, password: Secret) -> str:
    """Return the hash of a new password, which was made before the mail reached the writer."""
    hashed = context.services.memo.new_hash(password.text)
    if hashed is None:
        context.current.echo_hidden = True
        raise too_many_passwords()
    return hashed
