"""Changes of mail address, which the new address confirms and the present one can stop."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from datetime import timedelta

from pbmserv.commands.table.accounts import ChangeAddress
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.flood_limits import refuse_too_many_questions
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.store.accounts import address_changes, players
from pbmserv.store.accounts.address_changes import AddressChange
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards, player_boards
from pbmserv.store.delivery import bounces, inbox
from pbmserv.store.tables.boards import RUNNING

UNCONFIRMED_DAYS = 7
"""Days for which a signup or a new address can be confirmed."""

BOARDS = 60
"""Most boards that are sent again to a new address."""


def change_address(context: CommandContext, command: ChangeAddress) -> Answer:
    """``change address userid password address…``: use these addresses once they are confirmed.

    Even a reply needs the password or a verified sender, since a forwarded letter must not be
    enough to take over an account. Each present address is told, and can stop the change.
    """
    player = context.speaker(command.credentials)
    if command.credentials is None and context.verified_as(player.userid) is None:
        example = "change address USERID PASSWORD NEWADDRESS"
        raise Refused("address-needs-password", example=example)
    wanted = list(dict.fromkeys(address.lower() for address in command.addresses))
    players.lock(context.connection, player.id)
    present = players.addresses_of(context.connection, player.id)
    new = [address for address in wanted if address not in present]
    if not new:
        return _fewer_addresses(context, player, wanted, present)
    refuse_too_many_questions(context, new)
    confirmed = [address for address in wanted if address in present]
    batch = secrets.token_hex(8)
    rows = address_changes.add(context.connection, player.id, wanted, confirmed, batch, context.now)
    notifications = [
        Notification(
            address,
            player.id,
            Part("address-confirm", _words(player, change=rows[address], days=UNCONFIRMED_DAYS)),
        )
        for address in new
    ]
    dropped = [address for address in present if address not in wanted]
    added = wanted[0] in present  # the first address is a confirmed one
    words = _words(player, new=new, dropped=dropped, change=rows[new[0]], added=added)
    notifications += [
        Notification(address, player.id, Part("address-asked", words)) for address in present
    ]
    return Answer((), tuple(notifications))


def confirm_address(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """Use a new address, which a reply has confirmed."""
    change, player = _waiting_change(context, reply_address)
    dropped = address_changes.confirm(context.connection, change, context.now)
    changed = players.by_id(context.connection, player.id)
    assert changed is not None
    context.current.speaker = changed
    context.proofs.add(changed.id, changed.unreachable_since)
    words = _words(player, address=change.address, dropped=dropped, letters_to=changed.address)
    part = Part("address-changed", words)
    boards_letters = boards_again(context, changed.id) if dropped else ()
    return Answer((part,), (*_farewells(changed, dropped), *boards_letters))


def refuse_address(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """Drop a change whose new address belongs to somebody else."""
    change, player = _waiting_change(context, reply_address)
    address_changes.forget(context.connection, change.id)
    return Answer((Part("address-refused", _words(player)),))


def keep_address(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``reject`` from a present address: stop the change."""
    player = context.speaker(None)
    change = address_changes.by_id(context.connection, reply_address.about)
    if change is None or change.confirmed_at is not None:
        raise Refused("address-settled")
    address_changes.stop(context.connection, player.id)
    return Answer((Part("address-stopped", _words(player)),))


def boards_again(
    context: CommandContext, player_id: int, numbers: Iterable[int] | None = None
) -> list[Notification]:
    """Return letters with running boards, for a player who cannot answer the earlier letters.

    Args:
        numbers: the boards; all if it is `None`.
    """
    if numbers is None:
        numbers = player_boards.of_player(context.connection, player_id, RUNNING, most=BOARDS)
    notifications = []
    for number in sorted(numbers):
        board = boards.load(context.connection, number)
        assert board is not None
        words = {"event": "show", "undecided": list(board.undecided)}
        notifications += [
            Notification.sitter(sitter, Part("board", words, number, board.plies, sitter.seat))
            for sitter in board.sitters
            if sitter.player_id == player_id
        ]
    return notifications


def _waiting_change(
    context: CommandContext, reply_address: ReplyAddress
) -> tuple[AddressChange, Player]:
    """Return the change that a reply is about, and its player, whose row is locked."""
    change = address_changes.by_id(context.connection, reply_address.about)
    if change is not None and context.now > change.created_at + timedelta(days=UNCONFIRMED_DAYS):
        change = None
    if change is not None:
        players.lock(context.connection, change.player_id)
        change = address_changes.by_id(context.connection, reply_address.about)
    player = players.by_id(context.connection, change.player_id) if change is not None else None
    if change is None or change.confirmed_at is not None or player is None or not player.active:
        raise Refused("address-settled")
    if context.mail_id is not None:
        inbox.set_player(context.connection, context.mail_id, player.id)
    return change, player


def _fewer_addresses(
    context: CommandContext, player: Player, wanted: list[str], present: list[str]
) -> Answer:
    """Drop the other addresses at once, since all wanted ones are confirmed."""
    if set(wanted) == set(present) and wanted[0] == player.address:
        example = f"change address {player.userid} PASSWORD NEWADDRESS"
        raise Refused("address-same", part=", ".join(wanted), example=example)
    address_changes.stop(context.connection, player.id)
    bounces.forgive(context.connection, wanted)  # their owner says that they work
    dropped = players.keep_addresses(context.connection, player.id, wanted)
    values: dict[str, str | int] = {"address": wanted[0]}
    if dropped:
        values["reply_epoch"] = player.reply_epoch + 1
    players.change(context.connection, player.id, values)
    changed = players.by_id(context.connection, player.id)
    assert changed is not None
    context.current.speaker = changed
    part = Part("address-changed", _words(player, address=wanted[0], dropped=dropped))
    boards_letters = boards_again(context, changed.id) if dropped else ()
    return Answer((part,), (*_farewells(changed, dropped), *boards_letters))


def _farewells(player: Player, dropped: list[str]) -> tuple[Notification, ...]:
    part = Part("address-moved", _words(player))
    return tuple(Notification(address, player.id, part) for address in dropped)


def _words(player: Player, **more: object) -> dict[str, object]:
    return {"userid": player.userid, **more}
