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
from pbmserv.mail.reply_address import Purpose, ReplyAddress, password_mark
from pbmserv.service.accounts.address_changes import boards_anew
from pbmserv.service.core.answers import Answer, Notification, Part
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import unknown_player
from pbmserv.service.core.may_speak import too_many_passwords
from pbmserv.service.core.words_for_others import Said, again
from pbmserv.service.limits.answer_limits import must_not_flood
from pbmserv.store.accounts import players, preferences
from pbmserv.store.accounts.players import PendingSignup, Player
from pbmserv.store.delivery import outbox
from pbmserv.store.operators import audit
from pbmserv.store.operators.audit import Entry
from pbmserv.store.tables import PlayerState

LONGEST_KEPT = 500
"""Characters of a broadcast that the audit keeps."""


def signup(context: CommandContext, command: Signup) -> Answer:
    """Ask each address to confirm; nothing is active before (unless signup is open)."""
    policy = context.services.signup
    if policy == "closed":
        raise Refused("signup-closed", part=command.userid)
    if _is_reserved(context, command.userid):
        raise Refused("reserved-userid", part=command.userid, example=_free_signup(context))
    if players.of_name(context.connection, command.userid) is not None:
        raise _taken(command.userid)
    addresses = command.addresses or (context.incoming.mail.sender,)
    must_not_flood(context, addresses)
    hashed = _hashed(context, command.password)
    batch = secrets.token_hex(8)
    told = []
    for address in addresses:
        signup_id = players.add_signup(
            context.connection, command.userid, hashed, address.lower(), batch, context.now
        )
        if policy == "open":
            request = players.signup(context.connection, signup_id)
            assert request is not None
            player = _activate(context.connection, request, context.now)
            told.append(Notification(address, player.id, welcome(player.userid)))
        else:
            words = {"userid": command.userid, "signup": signup_id}
            told.append(Notification(address, None, Part("confirm", words)))
    if policy == "open" or addresses == (context.incoming.mail.sender,):
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


def confirm_by_reply(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """A reply to a confirmation letter."""
    player = confirm(context.connection, reply_address.about, context.now)
    context.player = player
    return Answer((welcome(player.userid),))


def refuse_signup(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """Somebody says that this signup was not theirs: nothing is made of it."""
    request = players.signup(context.connection, reply_address.about)
    if request is None or request.player_id is not None:
        raise Refused("confirm-unknown")
    return Answer((Part("signup-dropped", {"userid": request.userid}),))


def change_password(context: CommandContext, command: ChangePassword) -> Answer:
    """Set a new password, proven by the old one or by a reset address.

    Every confirmed address is told, and a change of address that still waits is dropped: who
    asked for it may have known the old password. A reset also ends all reply addresses so far,
    since it is the way out for somebody whose letters were read; the boards come anew.
    """
    context.echo_hidden = command.who is None
    if command.who is not None:
        player = context.authenticate(command.who)
    else:
        reply_address = context.reply_address
        if reply_address is None or reply_address.purpose is not Purpose.RESET:
            raise Refused(
                "password-needs-old", example="change password USERID OLDPASSWORD NEWPASSWORD"
            )
        player = _resetting(context, reply_address)
    hashed = _hashed(context, command.new)
    players.set_password(context.connection, player.id, hashed)
    context.services.memo.note(player.userid, hashed, command.new.text, right=True)
    players.stop_change(context.connection, player.id)
    is_reset = command.who is None
    if is_reset:
        preferences.save(context.connection, player.id, {"reply_epoch": player.reply_epoch + 1})
    words = {"userid": player.userid, "left": not player.active, "reset": is_reset}
    part = Part("password-changed", words)
    answered = context.answer_to[0]
    others = [a for a in players.addresses_of(context.connection, player.id) if a != answered]
    anew = boards_anew(context, player) if is_reset and player.active else ()
    return Answer((part,), (*(Notification(address, player.id, part) for address in others), *anew))


def forgot(context: CommandContext, command: Forgot) -> Answer:
    """Mail a reset address to the player's own address.

    Whoever asks from elsewhere gets the same answer for known and unknown userids. Players who
    have signed off get the letter only if the mail comes from an address of their own, as any
    mail from there would be answered.
    """
    player = players.of_name(context.connection, command.userid)
    told: tuple[Notification, ...] = ()
    sender = context.incoming.mail.sender.lower()
    if player is not None and player.state != PlayerState.DELETED:
        to, own = player.address, players.addresses_of(context.connection, player.id)
        if not player.active and sender in own:
            to = sender
        is_proven = context.incoming.verdict.passed and sender in own
        if not is_proven and not context.services.traffic.may_reset(player.id):
            # Anybody can ask for it, so a player gets a few a day, and they all work.
            return Answer((Part("reset-sent", {"userid": command.userid}),))
        words = {"userid": player.userid, "mark": password_mark(player.password_hash)}
        told = (Notification(to, player.id, Part("reset", words)),)
        if sender == to:
            return Answer((), told)
    return Answer((Part("reset-sent", {"userid": command.userid}),), told)


def message(context: CommandContext, command: Message) -> Answer:
    """Words to other players, without a board and without showing anybody's address."""
    sender = context.speaker(command.who)
    if not context.words:
        raise Refused("no-words", part="message")
    to: list[Player] = []
    for userid in command.to:
        if userid in HOUSE:
            raise Refused("house-deaf", part=userid, example="help message")
        player = players.by_userid(context.connection, userid)
        if player is None:
            raise unknown_player(context, userid)
        to.append(player)
    return _send_words(context, sender, to, context.words)


def message_by_reply(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """A reply to a message goes back to who wrote it."""
    sender = context.speaker(None)
    peer = players.by_id(context.connection, reply_address.about)
    if peer is None or not peer.active:
        part = "" if peer is None or peer.state == PlayerState.DELETED else peer.userid
        raise Refused("takes-no-messages", part=part, example="help message")
    if not context.words:
        raise Refused("no-words", part="message")
    return _send_words(context, sender, [peer], context.words)


def broadcast(context: CommandContext, command: Broadcast) -> Answer:
    """An operator's words to everybody who wants them: first a letter says how many that is."""
    sender = context.speaker(command.who)
    if sender.userid not in context.services.operators:
        raise Refused(
            "not-an-operator",
            part=sender.userid,
            example=f"message {sender.userid} PASSWORD USERID",
        )
    if not context.words:
        raise Refused("no-words", part="broadcast")
    count = len(_listeners(context, sender))
    if not count:
        raise Refused("nobody-listens", part="broadcast", example="help broadcast")
    asked = Part("broadcast-asked", {"count": count, "said": context.words})
    return Answer((), (Notification(sender.address, sender.id, asked),))


def broadcast_confirmed(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``yes`` to the letter that asked: the words go out, once to each address and only once.

    Raises:
        Refused: they have gone out before, or the writer is no operator any more.
    """
    sender = context.speaker(None)
    letter = outbox.locked(context.connection, reply_address.about)
    target = f"broadcast {reply_address.about}"
    if letter is None or letter.player_id != sender.id or letter.letter != "broadcast-asked":
        raise Refused("revoked-address", example=f"forgot {sender.userid}")
    if sender.userid not in context.services.operators:
        raise Refused("not-an-operator", part=sender.userid, example="help message")
    if audit.entries(context.connection, target, 1):
        raise Refused("broadcast-settled", part="yes", example="help broadcast")
    said = again(letter.words)["said"]
    part = Part("broadcast", {"by": sender.userid, "said": said})
    told = [Notification(to, player, part) for to, player in _listeners(context, sender).items()]
    facts = {"addresses": len(told)}
    entry = Entry(context.now, sender.userid, "broadcast", target, said[:LONGEST_KEPT], facts)
    audit.add(context.connection, entry)
    return Answer((Part("broadcast-sent", {"count": len(told), "said": said}),), tuple(told))


def _listeners(context: CommandContext, sender: Player) -> dict[str, int]:
    """The addresses, each with a player, of everybody but the sender who wants such words."""
    found: dict[str, int] = {}
    for player in preferences.wanting_broadcasts(context.connection):
        if player.id != sender.id:
            found.setdefault(player.address, player.id)
    return found


def welcome(userid: str) -> Part:
    """The letter that greets a new player and says what to do next."""
    return Part("welcome", {"userid": userid})


def _resetting(context: CommandContext, reply_address: ReplyAddress) -> Player:
    """Whose password a reset address changes; also somebody's who has signed off."""
    player = players.by_id(context.connection, reply_address.player)
    if player is None or player.state == PlayerState.DELETED:
        raise Refused("reset-used", example="forgot USERID")
    if player.reply_epoch != reply_address.epoch:
        raise Refused("reset-used", example=f"forgot {player.userid}")
    if player.active:
        context.player = player
    if password_mark(player.password_hash) != reply_address.number:
        raise Refused("reset-used", example=f"forgot {player.userid}")
    context.heard(player.id, player.unreachable_since)
    return player


def _send_words(context: CommandContext, sender: Player, to: list[Player], words: Said) -> Answer:
    for player in to:
        if preferences.blocks_player(context.connection, player.id, sender.id):
            raise Refused("takes-no-messages", part=player.userid, example="help message")
    part = Part("message", {"by": sender.userid, "peer": sender.id, "said": words})
    told = tuple(Notification(p.address, p.id, part, p.digest_minute is not None) for p in to)
    answer = {
        "to": [p.userid for p in to],
        "unreachable": [p.userid for p in to if p.unreachable_since],
        "said": words,
    }
    return Answer((Part("message-sent", answer),), told)


def _hashed(context: CommandContext, password: Secret) -> str:
    """The hash of a new password; it was made before the mail came to the desk."""
    made = context.services.memo.new_hash(password.text)
    if made is None:
        context.echo_hidden = True
        raise too_many_passwords()
    return made


def _is_reserved(context: CommandContext, userid: str) -> bool:
    games = [
        name for game in context.services.registry for name in (game.info.key, game.info.title)
    ]
    return is_reserved(userid, games, context.services.mail_domain.address)


def _free_signup(context: CommandContext) -> str:
    """A signup that works: by the name in the sender's address if that can be had."""
    own = context.incoming.mail.sender.partition("@")[0].lower()[:18]
    names = (own, *(f"{name}-{number}" for name in (own, "alice") for number in range(2, 10)))
    free = (
        name
        for name in names
        if is_userid(name)
        and not name.startswith("-")
        and not _is_reserved(context, name)
        and players.of_name(context.connection, name) is None
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
