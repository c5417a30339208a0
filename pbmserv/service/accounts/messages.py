"""Words from one player to others without a board, and from an operator to everybody."""

from __future__ import annotations

from pbmserv.commands.table.playing import Broadcast, Message
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.service.core import contact
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import active_player
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.said import Said, said_again
from pbmserv.service.core.words_for_others import required_words
from pbmserv.store import audit
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.audit import Entry
from pbmserv.store.delivery import outbox
from pbmserv.store.tables.accounts import PlayerState

LONGEST_KEPT = 500
"""Characters of a broadcast that the audit keeps."""


def message(context: CommandContext, command: Message) -> Answer:
    """Send words to other players, without a board and without showing an address."""
    try:
        sender = context.speaker(command.credentials)
    except Refused as error:
        writers = [player.userid for player in context.known_writers()]
        if command.credentials is None or not writers or command.credentials.userid in writers:
            raise
        raise Refused("message-behind") from error  # "message bob see you"
    words = required_words(context, "message")
    to: list[Player] = []
    for userid in command.userids:
        if userid in BOT_USERIDS:
            raise Refused("house-deaf", part=userid, example="help message")
        to.append(active_player(context, userid))
    return _send_words(context, sender, to, words)


def message_by_reply(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """Send a reply to a message to its writer."""
    sender = context.speaker(None)
    peer = players.by_id(context.connection, reply_address.about)
    if peer is None or not peer.active:
        part = "" if peer is None or peer.state == PlayerState.DELETED else peer.userid
        raise Refused("takes-no-messages", part=part, example="help message")
    return _send_words(context, sender, [peer], required_words(context, "message"))


def broadcast(context: CommandContext, command: Broadcast) -> Answer:
    """Ask an operator whether to send words to so many players."""
    sender = context.speaker(command.credentials)
    if sender.userid not in context.services.operators:
        raise Refused(
            "not-an-operator",
            part=sender.userid,
            example=f"message {sender.userid} PASSWORD FRIEND",
        )
    words = required_words(context, "broadcast")
    count = len(_listeners(context, sender))
    if not count:
        raise Refused("nobody-listens", part="broadcast", example="help broadcast")
    question = Part("broadcast-asked", {"count": count, "said": words})
    return Answer((), (Notification(sender.address, sender.id, question),))


def confirm_broadcast(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``yes`` to the question: send the words, once to each address.

    Raises:
        Refused: they were sent before, or the writer is no longer an operator.
    """
    sender = context.speaker(None)
    letter = outbox.lock(context.connection, reply_address.about)
    target = f"broadcast {reply_address.about}"
    if letter is None or letter.player_id != sender.id or letter.letter != "broadcast-asked":
        raise Refused("revoked-address", example=f"forgot {sender.userid}")
    if sender.userid not in context.services.operators:
        raise Refused("not-an-operator", part=sender.userid, example="help message")
    if audit.entries(context.connection, target, 1):
        raise Refused("broadcast-settled", part="yes", example="help broadcast")
    words = said_again(letter.words)["said"]
    part = Part("broadcast", {"by": sender.userid, "said": words})
    notifications = [
        Notification(to, player, part) for to, player in _listeners(context, sender).items()
    ]
    facts = {"addresses": len(notifications)}
    entry = Entry(context.now, sender.userid, "broadcast", target, words[:LONGEST_KEPT], facts)
    audit.add(context.connection, entry)
    return Answer(
        (Part("broadcast-sent", {"count": len(notifications), "said": words}),),
        tuple(notifications),
    )


def _listeners(context: CommandContext, sender: Player) -> dict[str, int]:
    """Return the addresses of all other players who want such words, each with a player."""
    player_by_address: dict[str, int] = {}
    for player in players.wanting_broadcasts(context.connection):
        if player.id != sender.id:
            player_by_address.setdefault(player.address, player.id)
    return player_by_address


def _send_words(context: CommandContext, sender: Player, to: list[Player], words: Said) -> Answer:
    for player in to:
        if not contact.reaches(context, sender.id, player):
            raise Refused("takes-no-messages", part=player.userid, example="help message")
    part = Part("message", {"by": sender.userid, "peer": sender.id, "said": words})
    notifications = tuple(
        Notification(p.address, p.id, part, p.digest_minute is not None) for p in to
    )
    answer = {
        "to": [p.userid for p in to],
        "unreachable": [p.userid for p in to if p.unreachable_since],
        "said": words,
    }
    return Answer((Part("message-sent", answer),), notifications)
