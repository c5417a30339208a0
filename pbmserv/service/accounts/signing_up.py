"""Signing up: by mail, by the front page, or by a yes to the letter for strangers."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from pbmserv.commands.grammar.arguments import mail_address
from pbmserv.commands.grammar.word_forms import is_userid
from pbmserv.commands.table.accounts import Signup
from pbmserv.errors import Refused
from pbmserv.mail.envelope import Source
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.service.accounts import waiting_challenges
from pbmserv.service.accounts.new_addresses import UNCONFIRMED_DAYS
from pbmserv.service.accounts.new_passwords import hash_of, refuse_sample
from pbmserv.service.core.answer_readers import may_be_forged
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.flood_limits import refuse_too_many_questions
from pbmserv.service.core.free_userids import free_userid, is_reserved_userid, signup_example
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.store.accounts import players, signups
from pbmserv.store.accounts.players import Player
from pbmserv.store.accounts.signups import PendingSignup, WaitingChallenge

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
    _refuse_impossible_signup(context, command.userid)
    refuse_sample(command.new, f"signup {command.userid} PASSWORD")
    sender = context.actor.address
    addresses = command.addresses or (sender,)
    if context.services.signup == "open":
        return _sign_up_at_once(context, command, addresses)
    first = sender if sender in addresses else addresses[0]
    refuse_too_many_questions(context, (first,))
    hashed, batch = hash_of(context, command.new), secrets.token_hex(8)
    question = _ask_to_confirm(context, command.userid, hashed, first, batch)
    others = [address for address in dict.fromkeys(addresses) if address != first]
    for address in others:
        signups.add(context.connection, command.userid, hashed, address.lower(), batch, context.now)
    if addresses == (sender,):
        return Answer((), (question,))
    words = {
        "userid": command.userid,
        "address": "" if may_be_forged(context, [None]) else first,
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
    _refuse_impossible_signup(context, userid)
    refuse_too_many_questions(context, (read,))
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


def _refuse_impossible_signup(context: CommandContext, userid: str) -> None:
    """Refuse a signup if the server takes no players, or if nobody new can have the userid."""
    if context.services.signup == "closed":
        raise Refused("signup-closed", part=userid)
    if is_reserved_userid(context, userid):
        raise Refused("reserved-userid", part=userid, example=signup_example(context))
    if players.account_of(context.connection, userid) is not None:
        raise _userid_taken(userid)


def _sign_up_at_once(context: CommandContext, command: Signup, addresses: Sequence[str]) -> Answer:
    """Create the player without asking the addresses."""
    refuse_too_many_questions(context, addresses)
    hashed, batch = hash_of(context, command.new), secrets.token_hex(8)
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


def can_be_confirmed(request: PendingSignup, now: datetime) -> bool:
    """Return whether a signup can still be confirmed, or was confirmed already."""
    late = now > request.created_at + timedelta(days=UNCONFIRMED_DAYS)
    return request.player_id is not None or not late


def confirm(context: CommandContext, signup_id: int) -> Confirmed:
    """Activate an address, and issue the challenge that waits for it; doing so twice changes
    nothing.

    Raises:
        Refused: the signup is unknown or too old, or another player got the userid first.
    """
    request = signups.by_id(context.connection, signup_id)
    if request is None or not can_be_confirmed(request, context.now):
        raise Refused("confirm-unknown")
    is_first = request.player_id is None and not signups.batch_owner(
        context.connection, request.batch
    )
    player = _activate(context.connection, request, context.now)
    letters = _other_questions(context, request) if is_first else ()
    challenge = request.challenge
    if challenge is None or request.player_id is not None:
        return Confirmed(player, _welcome(player), letters)
    signups.forget_challenge(context.connection, request.address)
    issued = waiting_challenges.issue(context, player, challenge)
    words = {} if issued.is_refused else waiting_challenges.words_of(context, challenge)
    return Confirmed(player, _welcome(player, words), (*letters, *issued.letters))


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
    context.current.speaker = confirmed.player
    return Answer((confirmed.welcome,), confirmed.letters)


def refuse_signup(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """Drop a signup whose address belongs to somebody else, and the challenge that waits for it."""
    request = signups.by_id(context.connection, reply_address.about)
    if request is None or request.player_id is not None:
        raise Refused("confirm-unknown")
    signups.forget_challenge(context.connection, request.address)
    return Answer((Part("signup-dropped", {"userid": request.userid}),))


def _welcome(player: Player, more: Mapping[str, Any] = NO_WORDS) -> Part:
    """Return the letter that greets a new player and says what to do next.

    Args:
        more: words about the challenge that the signup issues.
    """
    words = {"userid": player.userid, "has_password": bool(player.password_hash), **more}
    return Part("welcome", words)


def _userid_taken(userid: str) -> Refused:
    return Refused("userid-taken", part=userid, example=f"signup {userid[:17]}-2 PASSWORD")


def _activate(connection: Connection, request: PendingSignup, now: datetime) -> Player:
    owner_id = request.player_id or signups.batch_owner(connection, request.batch)
    owner = players.by_id(connection, owner_id) if owner_id else _present_owner(connection, request)
    if owner is None:
        owner = players.create(
            connection, request.userid, request.password_hash, request.address, now
        )
        if owner is None:
            raise _userid_taken(request.userid)
    else:
        players.add_address(connection, owner.id, request.address, now)
    signups.settle(connection, request.id, owner.id)
    return owner


def _present_owner(connection: Connection, request: PendingSignup) -> Player | None:
    """Return the player who has both the userid and the address of a request already.

    That player has said yes to another letter before. A password would be a reason to refuse this
    yes, since the player has another one.
    """
    owners = players.by_address(connection, request.address)
    named = [player for player in owners if player.userid == request.userid]
    return named[0] if named and not request.password_hash else None
