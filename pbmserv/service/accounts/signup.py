"""People: signing up, confirming, passwords, and words from one to others."""

from __future__ import annotations

import secrets
from datetime import datetime

from sqlalchemy import Connection

from pbmserv.commands.grammar.reserved_userids import is_reserved
from pbmserv.commands.grammar.spelling import is_userid
from pbmserv.commands.table.model import Broadcast, ChangePassword, Forgot, Message, Secret, Signup
from pbmserv.engine.types import HOUSE
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import Capability, Purpose, password_mark
from pbmserv.service.accounts.address_changes import boards_anew
from pbmserv.service.core.answers import Answer, Part, Told
from pbmserv.service.core.context import Desk
from pbmserv.service.core.lookup import unknown_player
from pbmserv.service.core.may_speak import too_many_passwords
from pbmserv.service.core.words_for_others import Said, again
from pbmserv.service.limits.answer_limits import must_not_flood
from pbmserv.store.accounts import addresses, players, preferences
from pbmserv.store.accounts.players import PendingSignup, Player
from pbmserv.store.delivery import outbox
from pbmserv.store.operators import audit
from pbmserv.store.operators.audit import Entry

LONGEST_KEPT = 500
"""Characters of a broadcast that the audit keeps."""


def signup(desk: Desk, command: Signup) -> Answer:
    """Ask each address to confirm; nothing is active before (unless signup is open)."""
    policy = desk.rooms.signup
    if policy == "closed":
        raise Refused("signup-closed", part=command.userid)
    if _is_reserved(desk, command.userid):
        raise Refused("reserved-userid", part=command.userid, example=_free_signup(desk))
    if players.of_name(desk.connection, command.userid) is not None:
        raise _taken(command.userid)
    addresses = command.addresses or (desk.post.mail.sender,)
    must_not_flood(desk, addresses)
    hashed = _hashed(desk, command.password)
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
    """Set a new password, proven by the old one or by a reset address.

    Every confirmed address is told, and a change of address that still waits is dropped: who
    asked for it may have known the old password. A reset also ends all reply addresses so far,
    since it is the way out for somebody whose letters were read; the boards come anew.
    """
    desk.echo_hidden = command.who is None
    if command.who is not None:
        player = desk.authenticate(command.who)
    else:
        capability = desk.capability
        if capability is None or capability.purpose is not Purpose.RESET:
            raise Refused(
                "password-needs-old", example="change password USERID OLDPASSWORD NEWPASSWORD"
            )
        player = _resetting(desk, capability)
    hashed = _hashed(desk, command.new)
    players.set_password(desk.connection, player.id, hashed)
    desk.rooms.memo.note(player.userid, hashed, command.new.text, right=True)
    addresses.stop(desk.connection, player.id)
    is_reset = command.who is None
    if is_reset:
        preferences.save(desk.connection, player.id, {"reply_epoch": player.reply_epoch + 1})
    words = {"userid": player.userid, "left": not player.active, "reset": is_reset}
    part = Part("password-changed", words)
    answered = desk.answer_to[0]
    others = [a for a in players.addresses_of(desk.connection, player.id) if a != answered]
    anew = boards_anew(desk, player) if is_reset and player.active else ()
    return Answer((part,), (*(Told(address, player.id, part) for address in others), *anew))


def forgot(desk: Desk, command: Forgot) -> Answer:
    """Mail a reset address to the player's own address.

    Whoever asks from elsewhere gets the same answer for known and unknown userids. Players who
    have signed off get the letter only if the mail comes from an address of their own, as any
    mail from there would be answered.
    """
    player = players.of_name(desk.connection, command.userid)
    told: tuple[Told, ...] = ()
    sender = desk.post.mail.sender.lower()
    if player is not None and player.state != "deleted":
        to, own = player.address, players.addresses_of(desk.connection, player.id)
        if not player.active and sender in own:
            to = sender
        is_proven = desk.post.verdict.passed and sender in own
        if not is_proven and not desk.rooms.traffic.may_reset(player.id):
            # Anybody can ask for it, so a player gets a few a day, and they all work.
            return Answer((Part("reset-sent", {"userid": command.userid}),))
        words = {"userid": player.userid, "mark": password_mark(player.password_hash)}
        told = (Told(to, player.id, Part("reset", words)),)
        if sender == to:
            return Answer((), told)
    return Answer((Part("reset-sent", {"userid": command.userid}),), told)


def message(desk: Desk, command: Message) -> Answer:
    """Words to other players, without a board and without showing anybody's address."""
    sender = desk.speaker(command.who)
    if not desk.words:
        raise Refused("no-words", part="message")
    to: list[Player] = []
    for userid in command.to:
        if userid in HOUSE:
            raise Refused("house-deaf", part=userid, example="help message")
        player = players.by_userid(desk.connection, userid)
        if player is None:
            raise unknown_player(desk, userid)
        to.append(player)
    return _send_words(desk, sender, to, desk.words)


def message_by_reply(desk: Desk, capability: Capability) -> Answer:
    """A reply to a message goes back to who wrote it."""
    sender = desk.speaker(None)
    peer = players.by_id(desk.connection, capability.about)
    if peer is None or not peer.active:
        part = "" if peer is None or peer.state == "deleted" else peer.userid
        raise Refused("takes-no-messages", part=part, example="help message")
    if not desk.words:
        raise Refused("no-words", part="message")
    return _send_words(desk, sender, [peer], desk.words)


def broadcast(desk: Desk, command: Broadcast) -> Answer:
    """An operator's words to everybody who wants them: first a letter says how many that is."""
    sender = desk.speaker(command.who)
    if sender.userid not in desk.rooms.operators:
        raise Refused(
            "not-an-operator",
            part=sender.userid,
            example=f"message {sender.userid} PASSWORD USERID",
        )
    if not desk.words:
        raise Refused("no-words", part="broadcast")
    count = len(_listeners(desk, sender))
    if not count:
        raise Refused("nobody-listens", part="broadcast", example="help broadcast")
    asked = Part("broadcast-asked", {"count": count, "said": desk.words})
    return Answer((), (Told(sender.address, sender.id, asked),))


def broadcast_confirmed(desk: Desk, capability: Capability) -> Answer:
    """``yes`` to the letter that asked: the words go out, once to each address and only once.

    Raises:
        Refused: they have gone out before, or the writer is no operator any more.
    """
    sender = desk.speaker(None)
    letter = outbox.locked(desk.connection, capability.about)
    target = f"broadcast {capability.about}"
    if letter is None or letter.player_id != sender.id or letter.letter != "broadcast-asked":
        raise Refused("revoked-address", example=f"forgot {sender.userid}")
    if sender.userid not in desk.rooms.operators:
        raise Refused("not-an-operator", part=sender.userid, example="help message")
    if audit.entries(desk.connection, target, 1):
        raise Refused("broadcast-settled", part="yes", example="help broadcast")
    said = again(letter.words)["said"]
    part = Part("broadcast", {"by": sender.userid, "said": said})
    told = [Told(to, player, part) for to, player in _listeners(desk, sender).items()]
    facts = {"addresses": len(told)}
    entry = Entry(desk.now, sender.userid, "broadcast", target, said[:LONGEST_KEPT], facts)
    audit.add(desk.connection, entry)
    return Answer((Part("broadcast-sent", {"count": len(told), "said": said}),), tuple(told))


def _listeners(desk: Desk, sender: Player) -> dict[str, int]:
    """The addresses, each with a player, of everybody but the sender who wants such words."""
    found: dict[str, int] = {}
    for player in preferences.wanting_broadcasts(desk.connection):
        if player.id != sender.id:
            found.setdefault(player.address, player.id)
    return found


def welcome(userid: str) -> Part:
    """The letter that greets a new player and says what to do next."""
    return Part("welcome", {"userid": userid})


def _resetting(desk: Desk, capability: Capability) -> Player:
    """Whose password a reset address changes; also somebody's who has signed off."""
    player = players.by_id(desk.connection, capability.player)
    if player is None or player.state == "deleted":
        raise Refused("reset-used", example="forgot USERID")
    if player.reply_epoch != capability.epoch:
        raise Refused("reset-used", example=f"forgot {player.userid}")
    if player.active:
        desk.player = player
    if password_mark(player.password_hash) != capability.number:
        raise Refused("reset-used", example=f"forgot {player.userid}")
    desk.heard(player.id, player.unreachable_since)
    return player


def _send_words(desk: Desk, sender: Player, to: list[Player], words: Said) -> Answer:
    for player in to:
        if preferences.blocks_player(desk.connection, player.id, sender.id):
            raise Refused("takes-no-messages", part=player.userid, example="help message")
    part = Part("message", {"by": sender.userid, "peer": sender.id, "said": words})
    told = tuple(Told(p.address, p.id, part, p.digest_minute is not None) for p in to)
    answer = {
        "to": [p.userid for p in to],
        "unreachable": [p.userid for p in to if p.unreachable_since],
        "said": words,
    }
    return Answer((Part("message-sent", answer),), told)


def _hashed(desk: Desk, password: Secret) -> str:
    """The hash of a new password; it was made before the mail came to the desk."""
    made = desk.rooms.memo.new_hash(password.text)
    if made is None:
        desk.echo_hidden = True
        raise too_many_passwords()
    return made


def _is_reserved(desk: Desk, userid: str) -> bool:
    games = [name for game in desk.rooms.registry for name in (game.info.key, game.info.title)]
    return is_reserved(userid, games, desk.rooms.house.address)


def _free_signup(desk: Desk) -> str:
    """A signup that works: by the name in the sender's address if that can be had."""
    own = desk.post.mail.sender.partition("@")[0].lower()[:18]
    names = (own, *(f"{name}-{number}" for name in (own, "alice") for number in range(2, 10)))
    free = (
        name
        for name in names
        if is_userid(name)
        and not name.startswith("-")
        and not _is_reserved(desk, name)
        and players.of_name(desk.connection, name) is None
    )
    return f"signup {next(free, 'USERID')} PASSWORD"


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
