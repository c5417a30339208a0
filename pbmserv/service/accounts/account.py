"""Accounts: signing up, passwords, and changes of address."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from pbmserv.commands.grammar.arguments import mail_address
from pbmserv.commands.grammar.words import is_userid
from pbmserv.commands.table.accounts import ChangeAddress, ChangePassword, Forgot, Signup
from pbmserv.commands.table.model import Secret
from pbmserv.errors import Refused
from pbmserv.mail.envelope import Source
from pbmserv.mail.reply_address import Purpose, ReplyAddress, password_mark
from pbmserv.service.accounts import waiting_challenges
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.flood_limits import must_not_flood
from pbmserv.service.core.free_userids import free_userid, is_reserved_userid, signup_example
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.refusals import too_many_passwords
from pbmserv.store.accounts import address_changes, players, preferences, signups
from pbmserv.store.accounts.address_changes import AddressChange
from pbmserv.store.accounts.players import Player
from pbmserv.store.accounts.signups import PendingSignup, WaitingChallenge
from pbmserv.store.boards import boards
from pbmserv.store.delivery import bounces, inbox
from pbmserv.store.tables.accounts import PlayerState

SAMPLES = frozenset({"password", "newpassword"})
"""Words in the place of a password in our examples, in lower case; anybody would guess them."""

UNCONFIRMED_DAYS = 7
"""Days for which a signup or a new address can be confirmed."""

BOARDS = 60
"""Most boards that are sent again to a new address."""

NO_WORDS: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A confirmed signup.

    Attributes:
        welcome: the letter to the player.
        letters: after the first address of a signup the letters that ask the others, and those of
            the challenge that waited.
    """

    player: Player
    welcome: Part
    letters: tuple[Notification, ...]


def signup(context: CommandContext, command: Signup) -> Answer:
    """Ask the first address to confirm a signup. If signup is open, activate it at once.

    The other addresses are asked when the first one has answered, so that nobody can have letters
    sent to many strangers.
    """
    _must_be_possible(context, command.userid)
    _must_be_their_own(command.password, f"signup {command.userid} PASSWORD")
    sender = context.actor.address
    addresses = command.addresses or (sender,)
    if context.services.signup == "open":
        return _sign_up_at_once(context, command, addresses)
    first = sender if sender in addresses else addresses[0]
    must_not_flood(context, (first,))
    hashed, batch = _hashed(context, command.password), secrets.token_hex(8)
    question = _ask_to_confirm(context, command.userid, hashed, first, batch)
    others = [address for address in dict.fromkeys(addresses) if address != first]
    for address in others:
        signups.add(context.connection, command.userid, hashed, address.lower(), batch, context.now)
    if addresses == (sender,):
        return Answer((), (question,))
    words = {
        "userid": command.userid,
        "address": "" if context.may_be_forged([None]) else first,
        "others": len(others),
    }
    return Answer((Part("signup-sent", words),), (question,))


def signup_by_page(context: CommandContext, userid: str, address: str) -> Answer:
    """Ask an address to confirm a signup without a password, which came from a page.

    It always asks, since a page proves no address.
    """
    if not is_userid(userid) or userid.startswith("-"):
        raise Refused("signup-name")
    mail_domain, read = context.services.mail_domain, mail_address(address)
    if read is None or mail_domain.is_ours(read) or mail_domain.is_postmaster(read):
        raise Refused("signup-address")
    _must_be_possible(context, userid)
    must_not_flood(context, (read,))
    return Answer((), (_ask_to_confirm(context, userid, "", read, secrets.token_hex(8)),))


def ask_to_join(context: CommandContext) -> Part:
    """Return the letter for a stranger, to which a yes signs up, without a password.

    It takes the place of an answer, whose number is limited already. A challenge of the mail waits
    for the yes.
    """
    address = context.actor.address.lower()
    userid = free_userid(context, "", address)
    challenge = waiting_challenges.keep(context) or _waiting_challenge(context, address)
    signup_id = signups.add(
        context.connection, userid, "", address, secrets.token_hex(8), context.now, challenge
    )
    words = {"userid": userid, "signup": signup_id, "example": signup_example(context)}
    return Part("stranger", words | waiting_challenges.words_of(context, challenge))


def _ask_to_confirm(
    context: CommandContext, userid: str, hashed: str, address: str, batch: str
) -> Notification:
    """Store the request of an address for a userid; return the letter that asks for a yes."""
    challenge = _waiting_challenge(context, address.lower())
    signup_id = signups.add(
        context.connection, userid, hashed, address.lower(), batch, context.now, challenge
    )
    return _question(address, userid, signup_id, waiting_challenges.words_of(context, challenge))


def _waiting_challenge(context: CommandContext, address: str) -> WaitingChallenge | None:
    """Return the challenge that an earlier letter to this address has named."""
    since = context.now - timedelta(days=UNCONFIRMED_DAYS)
    return signups.challenge_of(context.connection, address, since)


def _must_be_possible(context: CommandContext, userid: str) -> None:
    """Refuse a signup if the server takes no players, or if nobody new can have the userid."""
    if context.services.signup == "closed":
        raise Refused("signup-closed", part=userid)
    if is_reserved_userid(context, userid):
        raise Refused("reserved-userid", part=userid, example=signup_example(context))
    if players.of_name(context.connection, userid) is not None:
        raise _taken(userid)


def _sign_up_at_once(context: CommandContext, command: Signup, addresses: Sequence[str]) -> Answer:
    """Create the player without asking the addresses."""
    must_not_flood(context, addresses)
    hashed, batch = _hashed(context, command.password), secrets.token_hex(8)
    notifications = []
    for address in addresses:
        signup_id = signups.add(
            context.connection, command.userid, hashed, address.lower(), batch, context.now
        )
        request = signups.by_id(context.connection, signup_id)
        assert request is not None
        player = _activate(context.connection, request, context.now)
        notifications.append(Notification(address, player.id, _welcome(player)))
    return Answer((), tuple(notifications))


def _question(
    address: str, userid: str, signup_id: int, more: Mapping[str, Any] = NO_WORDS
) -> Notification:
    """Return the letter that asks the owner of an address whether to sign up.

    Args:
        more: words about a waiting challenge.
    """
    words = {"userid": userid, "signup": signup_id, "days": UNCONFIRMED_DAYS, **more}
    return Notification(address, None, Part("confirm", words))


def waits(request: PendingSignup, now: datetime) -> bool:
    """Whether a signup can still be confirmed, or was confirmed already."""
    late = now > request.created_at + timedelta(days=UNCONFIRMED_DAYS)
    return request.player_id is not None or not late


def confirm(context: CommandContext, signup_id: int) -> Confirmed:
    """Activate an address, and issue the challenge that waits for it; doing so twice changes
    nothing.

    Raises:
        Refused: the signup is unknown or too old, or another player got the userid first.
    """
    request = signups.by_id(context.connection, signup_id)
    if request is None or not waits(request, context.now):
        raise Refused("confirm-unknown")
    is_first = request.player_id is None and not signups.batch_owner(
        context.connection, request.batch
    )
    player = _activate(context.connection, request, context.now)
    challenge = request.challenge if request.player_id is None else None
    welcome = _welcome(player, waiting_challenges.words_of(context, challenge))
    letters = _other_questions(context, request) if is_first else ()
    if challenge is not None:
        signups.forget_challenge(context.connection, request.address)
        letters += waiting_challenges.issue(context, player, challenge)
    return Confirmed(player, welcome, letters)


def _other_questions(context: CommandContext, confirmed: PendingSignup) -> tuple[Notification, ...]:
    """Return the questions to the other addresses of a signup after one has answered."""
    source, traffic = Source("", confirmed.address), context.services.traffic
    asked_requests = []
    for request in signups.of_batch(context.connection, confirmed.batch):
        address = [request.address]
        if traffic.count_questions(address, source):
            continue
        if not traffic.count_letters_to_strangers(address, source):
            asked_requests.append(request)
    numbers = [request.id for request in asked_requests]
    signups.note_questions(context.connection, numbers, context.now)
    return tuple(
        _question(request.address, request.userid, request.id) for request in asked_requests
    )


def confirm_by_reply(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """Confirm a signup by a reply to its question."""
    confirmed = confirm(context, reply_address.about)
    context.current.player = confirmed.player
    return Answer((confirmed.welcome,), confirmed.letters)


def refuse_signup(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """Drop a signup whose address belongs to somebody else."""
    request = signups.by_id(context.connection, reply_address.about)
    if request is None or request.player_id is not None:
        raise Refused("confirm-unknown")
    return Answer((Part("signup-dropped", {"userid": request.userid}),))


def change_password(context: CommandContext, command: ChangePassword) -> Answer:
    """Set a new password, proven by the old one or by a reset address.

    Each confirmed address is told. A waiting change of address is dropped, since a thief of the old
    password may have asked for it. A reset also revokes all reply addresses, since it helps players
    whose letters were read by others; the boards are sent again.
    """
    context.current.echo_hidden = command.who is None
    if command.who is not None:
        player = context.authenticate(command.who)
    else:
        reply_address = context.reply_address
        if reply_address is None or reply_address.purpose is not Purpose.RESET:
            raise Refused(
                "password-needs-old", example="change password USERID OLDPASSWORD NEWPASSWORD"
            )
        player = _resetting(context, reply_address)
    named = "password" if command.who is None else f"change password {player.userid} PASSWORD"
    _must_be_their_own(command.new, f"{named} NEWPASSWORD")
    hashed = _hashed(context, command.new)
    players.set_password(context.connection, player.id, hashed)
    context.services.memo.note(player.userid, hashed, command.new.text, right=True)
    address_changes.stop(context.connection, player.id)
    is_reset = command.who is None
    if is_reset:
        preferences.save(context.connection, player.id, {"reply_epoch": player.reply_epoch + 1})
    words = {"userid": player.userid, "left": not player.active, "reset": is_reset}
    part = Part("password-changed", words)
    answered, _ = context.reader()
    others = [a for a in players.addresses_of(context.connection, player.id) if a != answered]
    boards_letters = boards_again(context, player) if is_reset and player.active else ()
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
    player = players.of_name(context.connection, userid)
    notifications: tuple[Notification, ...] = ()
    sender = context.actor.address.lower()
    if player is not None and player.state != PlayerState.DELETED:
        to, own = player.address, players.addresses_of(context.connection, player.id)
        if not player.active and sender in own:
            to = sender
        is_proven = context.actor.is_verified and sender in own
        if not is_proven and not context.services.traffic.may_reset(player.id):
            # Anybody can ask for it, so a player gets a few a day, and they all work.
            return Answer((Part("reset-sent", {"userid": userid}),))
        words = {"userid": player.userid, "mark": password_mark(player.password_hash)}
        notifications = (Notification(to, player.id, Part("reset", words)),)
        if sender == to:
            return Answer((), notifications)
    return Answer((Part("reset-sent", {"userid": userid}),), notifications)


def _welcome(player: Player, more: Mapping[str, Any] = NO_WORDS) -> Part:
    """Return the letter that greets a new player and says what to do next.

    Args:
        more: words about the challenge that the signup issues.
    """
    words = {"userid": player.userid, "has_password": bool(player.password_hash), **more}
    return Part("welcome", words)


def _resetting(context: CommandContext, reply_address: ReplyAddress) -> Player:
    """Return the player of a reset address, who may have signed off."""
    player = players.by_id(context.connection, reply_address.player)
    if player is None or player.state == PlayerState.DELETED:
        raise Refused("reset-used", example="forgot USERID")
    if player.reply_epoch != reply_address.epoch:
        raise Refused("reset-used", example=f"forgot {player.userid}")
    if player.active:
        context.current.player = player
    if password_mark(player.password_hash) != reply_address.number:
        raise Refused("reset-used", example=f"forgot {player.userid}")
    context.proofs.add(player.id, player.unreachable_since)
    return player


def _must_be_their_own(password: Secret, example: str) -> None:
    """Refuse the sample passwords of our letters and pages."""
    if password.text.lower() in SAMPLES:
        raise Refused("sample-password", example=example)


def _hashed(context: CommandContext, password: Secret) -> str:
    """Return the hash of a new password, which was made before the mail reached the writer."""
    hashed = context.services.memo.new_hash(password.text)
    if hashed is None:
        context.current.echo_hidden = True
        raise too_many_passwords()
    return hashed


def _taken(userid: str) -> Refused:
    return Refused("userid-taken", part=userid, example=f"signup {userid[:17]}-2 PASSWORD")


def _activate(connection: Connection, request: PendingSignup, now: datetime) -> Player:
    owner_id = request.player_id or signups.batch_owner(connection, request.batch)
    owner = players.by_id(connection, owner_id) if owner_id else None
    if owner is None:
        owner = players.create(
            connection, request.userid, request.password_hash, request.address, now
        )
        if owner is None:
            raise _taken(request.userid)
    else:
        players.add_address(connection, owner.id, request.address, now)
    signups.settle(connection, request.id, owner.id)
    return owner


def change_address(context: CommandContext, command: ChangeAddress) -> Answer:
    """``change address userid password address…``: use these addresses once they are confirmed.

    Even a reply needs the password or a verified sender, since a forwarded letter must not be
    enough to take over an account. Each present address is told, and can stop the change.
    """
    player = context.speaker(command.who)
    if command.who is None and context.verified_as(player.userid) is None:
        example = "change address USERID PASSWORD NEWADDRESS"
        raise Refused("address-needs-password", example=example)
    wanted = list(dict.fromkeys(address.lower() for address in command.addresses))
    preferences.lock(context.connection, player.id)
    present = players.addresses_of(context.connection, player.id)
    new = [address for address in wanted if address not in present]
    if not new:
        return _fewer_addresses(context, player, wanted, present)
    must_not_flood(context, new)
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
    context.current.player = changed
    context.proofs.add(changed.id, changed.unreachable_since)
    words = _words(player, address=change.address, dropped=dropped, letters_to=changed.address)
    part = Part("address-changed", words)
    boards_letters = boards_again(context, changed) if dropped else ()
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


def boards_again(context: CommandContext, player: Player) -> tuple[Notification, ...]:
    """Return letters with the running boards, for a player whose earlier letters are revoked."""
    notifications = []
    numbers = boards.of_player(context.connection, player.id, ("proposed", "active"), None, BOARDS)
    for number in sorted(numbers):
        board = boards.load(context.connection, number)
        sitter = board.sitter_of(player.id) if board is not None else None
        if board is not None and sitter is not None:
            words = {"event": "show", "undecided": list(board.undecided)}
            part = Part("board", words, number, board.plies, sitter.seat)
            notifications.append(Notification.sitter(sitter, part))
    return tuple(notifications)


def _waiting_change(
    context: CommandContext, reply_address: ReplyAddress
) -> tuple[AddressChange, Player]:
    """Return the change that a reply is about, and its player, whose row is locked."""
    change = address_changes.by_id(context.connection, reply_address.about)
    if change is not None and context.now > change.created_at + timedelta(days=UNCONFIRMED_DAYS):
        change = None
    if change is not None:
        preferences.lock(context.connection, change.player_id)
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
    preferences.save(context.connection, player.id, values)
    changed = players.by_id(context.connection, player.id)
    assert changed is not None
    context.current.player = changed
    part = Part("address-changed", _words(player, address=wanted[0], dropped=dropped))
    boards_letters = boards_again(context, changed) if dropped else ()
    return Answer((part,), (*_farewells(changed, dropped), *boards_letters))


def _farewells(player: Player, dropped: list[str]) -> tuple[Notification, ...]:
    part = Part("address-moved", _words(player))
    return tuple(Notification(address, player.id, part) for address in dropped)


def _words(player: Player, **more: object) -> dict[str, object]:
    return {"userid": player.userid, **more}
