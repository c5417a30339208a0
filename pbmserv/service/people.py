"""Accounts: signing up, confirming, passwords, and messages between players."""

from __future__ import annotations

import secrets
from datetime import datetime

from sqlalchemy import Connection

from pbmserv.capability import Capability, Purpose, password_mark
from pbmserv.commands.model import ChangePassword, Forgot, Message, Signup
from pbmserv.errors import Refused
from pbmserv.service.answers import Answer, Part, Told
from pbmserv.service.desk import Desk
from pbmserv.store import players
from pbmserv.store.players import PendingSignup, Player


def signup(desk: Desk, command: Signup) -> Answer:
    """Ask each address to confirm; nothing is active before (unless signup is open)."""
    policy = desk.rooms.signup
    if policy == "closed":
        raise Refused("signup-closed", part=command.userid)
    if players.by_userid(desk.connection, command.userid) is not None:
        raise _taken(command.userid)
    addresses = command.addresses or (desk.post.mail.sender,)
    hashed = desk.rooms.passwords.hash(command.password.text)
    batch = secrets.token_hex(8)
    told = []
    for address in addresses:
        signup_id = players.add_signup(
            desk.connection, command.userid, hashed, address.lower(), batch, desk.now
        )
        if policy == "open":
            request = players.signup(desk.connection, signup_id)
            assert request is not None
            player = _activate(desk.connection, request, desk.now)
            told.append(Told(address, player.id, welcome(player.userid)))
        else:
            words = {"userid": command.userid, "signup": signup_id}
            told.append(Told(address, None, Part("confirm", words)))
    if policy == "open" or addresses == (desk.post.mail.sender,):
        return Answer((), tuple(told))
    words = {"userid": command.userid, "addresses": list(addresses)}
    return Answer((Part("signup-sent", words),), tuple(told))


def confirm(connection: Connection, signup_id: int, now: datetime) -> Player:
    """Activate an address; doing so twice changes nothing.

    Raises:
        Refused: the request is unknown, or somebody else was quicker with that userid.
    """
    request = players.signup(connection, signup_id)
    if request is None:
        raise Refused("confirm-unknown")
    return _activate(connection, request, now)


def confirm_by_reply(desk: Desk, capability: Capability) -> Answer:
    """A reply to a confirmation letter."""
    player = confirm(desk.connection, capability.about, desk.now)
    desk.player = player
    return Answer((welcome(player.userid),))


def refuse_signup(desk: Desk, capability: Capability) -> Answer:
    """Somebody says that this signup was not theirs: nothing is made of it."""
    request = players.signup(desk.connection, capability.about)
    if request is None or request.player_id is not None:
        raise Refused("confirm-unknown")
    return Answer((Part("signup-dropped", {"userid": request.userid}),))


def change_password(desk: Desk, command: ChangePassword) -> Answer:
    """Set a new password, proven by the old one or by a reset address."""
    desk.echo_hidden = command.who is None
    if command.who is not None:
        player = desk.authenticate(command.who)
    else:
        capability = desk.capability
        if capability is None or capability.purpose is not Purpose.RESET:
            raise Refused(
                "password-needs-old", example="change password USERID OLDPASSWORD NEWPASSWORD"
            )
        player = desk.speaker(None)
        if password_mark(player.password_hash) != capability.number:
            raise Refused("reset-used", example=f"forgot {player.userid}")
    hashed = desk.rooms.passwords.hash(command.new.text)
    players.set_password(desk.connection, player.id, hashed)
    return Answer((Part("password-changed", {"userid": player.userid}),))


def forgot(desk: Desk, command: Forgot) -> Answer:
    """Mail a reset address to the player's own address.

    Whoever asks from elsewhere gets the same answer for known and unknown userids.
    """
    player = players.by_userid(desk.connection, command.userid)
    told: tuple[Told, ...] = ()
    if player is not None:
        words = {"userid": player.userid, "mark": password_mark(player.password_hash)}
        told = (Told(player.address, player.id, Part("reset", words)),)
        if desk.post.mail.sender == player.address:
            return Answer((), told)
    return Answer((Part("reset-sent", {"userid": command.userid}),), told)


def message(desk: Desk, command: Message) -> Answer:
    """Words to other players, without a board and without showing anybody's address."""
    sender = desk.speaker(command.who)
    if not desk.words:
        raise Refused("no-words", part="message")
    to: list[Player] = []
    for userid in command.to:
        player = players.by_userid(desk.connection, userid)
        if player is None:
            raise Refused("no-such-player", part=userid)
        to.append(player)
    return _send_words(sender, to, desk.words)


def message_by_reply(desk: Desk, capability: Capability) -> Answer:
    """A reply to a message goes back to who wrote it."""
    sender = desk.speaker(None)
    peer = players.by_id(desk.connection, capability.about)
    if peer is None:
        raise Refused("no-such-player")
    words = desk.post.text[:4000].strip()
    if not words:
        raise Refused("no-words", part="message")
    return _send_words(sender, [peer], words)


def welcome(userid: str) -> Part:
    """The letter that greets a new player and says what to do next."""
    return Part("welcome", {"userid": userid})


def _send_words(sender: Player, to: list[Player], words: str) -> Answer:
    told = tuple(
        Told(
            p.address,
            p.id,
            Part("message", {"by": sender.userid, "peer": sender.id, "said": words}),
        )
        for p in to
    )
    return Answer((Part("message-sent", {"to": [p.userid for p in to], "said": words}),), told)


def _taken(userid: str) -> Refused:
    return Refused("userid-taken", part=userid, example=f"signup {userid[:17]}-2 PASSWORD")


def _activate(connection: Connection, request: PendingSignup, now: datetime) -> Player:
    owner_id = request.player_id or players.batch_owner(connection, request.batch)
    owner = players.by_id(connection, owner_id) if owner_id else None
    if owner is None:
        owner = players.create(
            connection, request.userid, request.password_hash, request.address, now
        )
        if owner is None:
            raise _taken(request.userid)
    else:
        players.add_address(connection, owner.id, request.address, now)
    players.settle_signup(connection, request.id, owner.id)
    return owner
