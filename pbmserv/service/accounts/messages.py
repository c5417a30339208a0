"""Words from one player to others without a board, and an operator's to everybody."""

from __future__ import annotations

from pbmserv.commands.table.playing import Broadcast, Message
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.service.core import contact
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import unknown_player
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.said import Said, said_again
from pbmserv.service.core.words_for_others import words_for_others
from pbmserv.store import audit
from pbmserv.store.accounts import players, preferences
from pbmserv.store.accounts.players import Player
from pbmserv.store.audit import Entry
from pbmserv.store.delivery import outbox

LONGEST_KEPT = 500
"""Characters of a broadcast that the audit keeps."""


def message(context: CommandContext, command: Message) -> Answer:
    """Words to other players, without a board and without showing anybody's address."""
    try:
        sender = context.speaker(command.who)
    except Refused as error:
        here = [player.userid for player in context.known_writers()]
        if command.who is None or not here or command.who.userid in here:
            raise
        raise Refused("message-behind") from error  # "message bob see you"
    if not words_for_others(context):
        raise Refused("no-words", part="message")
    to: list[Player] = []
    for userid in command.to:
        if userid in BOT_USERIDS:
            raise Refused("house-deaf", part=userid, example="help message")
        player = players.by_userid(context.connection, userid)
        if player is None:
            raise unknown_player(context, userid)
        to.append(player)
    return _send_words(context, sender, to, words_for_others(context))


def message_by_reply(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """A reply to a message goes back to who wrote it."""
    sender = context.speaker(None)
    peer = players.by_id(context.connection, reply_address.about)
    if peer is None or not peer.active:
        part = "" if peer is None or peer.state == "deleted" else peer.userid
        raise Refused("takes-no-messages", part=part, example="help message")
    if not words_for_others(context):
        raise Refused("no-words", part="message")
    return _send_words(context, sender, [peer], words_for_others(context))


def broadcast(context: CommandContext, command: Broadcast) -> Answer:
    """An operator's words to everybody who wants them: first a letter says how many that is."""
    sender = context.speaker(command.who)
    if sender.userid not in context.services.operators:
        raise Refused(
            "not-an-operator",
            part=sender.userid,
            example=f"message {sender.userid} PASSWORD FRIEND",
        )
    if not words_for_others(context):
        raise Refused("no-words", part="broadcast")
    count = len(_listeners(context, sender))
    if not count:
        raise Refused("nobody-listens", part="broadcast", example="help broadcast")
    asked = Part("broadcast-asked", {"count": count, "said": words_for_others(context)})
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
    said = said_again(letter.words)["said"]
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


def _send_words(context: CommandContext, sender: Player, to: list[Player], words: Said) -> Answer:
    for player in to:
        if not contact.reaches(context, sender.id, player):
            raise Refused("takes-no-messages", part=player.userid, example="help message")
    part = Part("message", {"by": sender.userid, "peer": sender.id, "said": words})
    told = tuple(Notification(p.address, p.id, part, p.digest_minute is not None) for p in to)
    answer = {
        "to": [p.userid for p in to],
        "unreachable": [p.userid for p in to if p.unreachable_since],
        "said": words,
    }
    return Answer((Part("message-sent", answer),), told)
