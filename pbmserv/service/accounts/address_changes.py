"""Changes of address: asked for with the password, confirmed at the new, stopped at the old."""

from __future__ import annotations

import secrets

from pbmserv.commands.table.model import ChangeAddress
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.service.core.answers import Answer, Notification, Part
from pbmserv.service.core.context import CommandContext
from pbmserv.service.limits.answer_limits import must_not_flood
from pbmserv.store.accounts import players, preferences
from pbmserv.store.accounts.players import AddressChange, Player
from pbmserv.store.boards import boards
from pbmserv.store.delivery import bounces, inbox
from pbmserv.store.tables import RUNNING

BOARDS = 60
"""Most boards that are sent anew to a new address."""


def change(context: CommandContext, command: ChangeAddress) -> Answer:
    """``change address userid password address…``: from now on these, once they are confirmed.

    It needs the password also in a reply: a letter that was passed on must not be enough to
    take an account over. Each address so far is told, and can stop it.
    """
    if command.who is None:
        example = "change address USERID PASSWORD NEWADDRESS"
        raise Refused("address-needs-password", example=example)
    player = context.authenticate(command.who)
    wanted = list(dict.fromkeys(address.lower() for address in command.addresses))
    preferences.lock(context.connection, player.id)
    present = players.addresses_of(context.connection, player.id)
    new = [address for address in wanted if address not in present]
    if not new:
        return _fewer(context, player, wanted, present)
    must_not_flood(context, new)
    confirmed = [address for address in wanted if address in present]
    batch = secrets.token_hex(8)
    rows = players.ask_change(context.connection, player.id, wanted, confirmed, batch, context.now)
    told = [
        Notification(
            address, player.id, Part("address-confirm", _words(player, change=rows[address]))
        )
        for address in new
    ]
    dropped = [address for address in present if address not in wanted]
    words = _words(player, new=new, dropped=dropped, change=rows[new[0]])
    told += [Notification(address, player.id, Part("address-asked", words)) for address in present]
    return Answer((), tuple(told))


def confirm(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """A reply from a new address: it is used from now on."""
    found, player = _waiting(context, reply_address)
    dropped = players.confirm_change(context.connection, found, context.now)
    changed = players.by_id(context.connection, player.id)
    assert changed is not None
    context.player = changed
    context.heard(changed.id, changed.unreachable_since)
    part = Part("address-changed", _words(player, address=found.address, dropped=dropped))
    anew = boards_anew(context, changed) if dropped else ()
    return Answer((part,), (*_farewells(changed, dropped), *anew))


def reject(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """A new address says that it is none of that player's."""
    found, player = _waiting(context, reply_address)
    players.forget_change(context.connection, found.id)
    return Answer((Part("address-refused", _words(player)),))


def stop(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``reject`` from an address so far: nothing changes."""
    player = context.speaker(None)
    found = players.address_change(context.connection, reply_address.about)
    if found is None or found.confirmed_at is not None:
        raise Refused("address-settled")
    players.stop_change(context.connection, player.id)
    return Answer((Part("address-stopped", _words(player)),))


def boards_anew(context: CommandContext, player: Player) -> tuple[Notification, ...]:
    """The running boards once more, for a player whose earlier letters are dead."""
    told = []
    numbers = boards.of_player(context.connection, player.id, RUNNING, None, BOARDS)
    for number in sorted(numbers):
        board = boards.load(context.connection, number)
        sitter = board.sitter_of(player.id) if board is not None else None
        if board is not None and sitter is not None:
            words = {"event": "show", "undecided": list(board.undecided)}
            part = Part("board", words, number, board.plies, sitter.seat)
            told.append(Notification.sitter(sitter, part))
    return tuple(told)


def _waiting(context: CommandContext, reply_address: ReplyAddress) -> tuple[AddressChange, Player]:
    """The change that a reply from the new address is about, its player's row locked."""
    found = players.address_change(context.connection, reply_address.about)
    if found is not None:
        preferences.lock(context.connection, found.player_id)
        found = players.address_change(context.connection, reply_address.about)
    player = players.by_id(context.connection, found.player_id) if found is not None else None
    if found is None or found.confirmed_at is not None or player is None or not player.active:
        raise Refused("address-settled")
    if context.mail_id is not None:
        inbox.spoken_by(context.connection, context.mail_id, player.id)
    return found, player


def _fewer(
    context: CommandContext, player: Player, wanted: list[str], present: list[str]
) -> Answer:
    """All of them are confirmed already: the others go at once."""
    if set(wanted) == set(present) and wanted[0] == player.address:
        example = f"change address {player.userid} PASSWORD NEWADDRESS"
        raise Refused("address-same", part=", ".join(wanted), example=example)
    players.stop_change(context.connection, player.id)
    bounces.forgive(context.connection, wanted)  # their owner says that they work
    dropped = players.keep_addresses(context.connection, player.id, wanted)
    values: dict[str, str | int] = {"address": wanted[0]}
    if dropped:
        values["reply_epoch"] = player.reply_epoch + 1
    preferences.save(context.connection, player.id, values)
    changed = players.by_id(context.connection, player.id)
    assert changed is not None
    context.player = changed
    part = Part("address-changed", _words(player, address=wanted[0], dropped=dropped))
    anew = boards_anew(context, changed) if dropped else ()
    return Answer((part,), (*_farewells(changed, dropped), *anew))


def _farewells(player: Player, dropped: list[str]) -> tuple[Notification, ...]:
    part = Part("address-moved", _words(player))
    return tuple(Notification(address, player.id, part) for address in dropped)


def _words(player: Player, **more: object) -> dict[str, object]:
    return {"userid": player.userid, **more}
