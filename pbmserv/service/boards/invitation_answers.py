"""Answers to invitations by mail address: yes, no, never, and the bounce of the letter.

`mail_invitations` sends the letters. The inviter hears of a yes, a no and a bounce; a "never" looks
like a no.
"""

from __future__ import annotations

import re

from pbmserv.commands.grammar.consent import begins_with_no, consent_in, says_yes
from pbmserv.commands.table.command_types import ReplyMove, Yes
from pbmserv.commands.table.starting import Accept, Reject
from pbmserv.errors import PlayerError, Refused
from pbmserv.mail.mailboxes import mailbox_of
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.service.boards.mail_invitations import VALID_FOR
from pbmserv.service.boards.new_boards import Proposal, make_board
from pbmserv.service.boards.option_words import read_options
from pbmserv.service.core import contact
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.free_userids import free_userid, is_free
from pbmserv.service.core.lookup import known_game, refuse_closed_game
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.words_for_others import words_for_others
from pbmserv.store.accounts import invitations, persons, players
from pbmserv.store.accounts.invitations import Invitation
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.delivery import inbox, outbox
from pbmserv.store.delivery.bounces import BouncedLetter
from pbmserv.store.tables.accounts import InvitationState

_AS = re.compile(
    r"(.*?)[,;]?(?<!\s)\s+as\s+[\"'<]?([\w-]{1,40})[\"'>]?"
    r"(?:,?\s(?:please|thanks|thank you))?\s*[.!]?",
    re.IGNORECASE,
)
_NEVER = frozenset({"never", "unsubscribe", "stop", "remove"})


def answer(context: CommandContext, command: object, reply_address: ReplyAddress) -> Answer | None:
    """Carry out a reply to an invitation: yes, no, or never; return `None` for another command.

    Raises:
        Refused: the reply is unclear, from another address, or too late.
    """
    first = next((line.strip() for line in context.submission.text.split("\n") if line.strip()), "")
    word = first.partition(" ")[0].strip(".,;:!").lower()
    if word in _NEVER:
        return never(context, reply_address)
    if isinstance(command, Reject) or begins_with_no(first):
        return _decline(context, reply_address)
    match = _AS.fullmatch(first)
    consent_words, name = (match[1], match[2].lower()) if match else (first, "")
    if word in {"accept", "yes"} and (match or isinstance(command, Accept)):
        return _accept(context, reply_address, name)
    if says_yes(consent_words) or (isinstance(command, Yes) and not command.is_empty):
        return _accept(context, reply_address, name)
    if isinstance(command, Yes | ReplyMove | PlayerError):
        consent = consent_in(context.submission.text)
        if consent is None or not context.submission.may_be_answered:  # a machine may have written
            raise Refused("invite-how", part=first[:60])
        if consent.is_yes:
            return _accept(context, reply_address, "")
        return _decline(context, reply_address)
    return None


def _accept(context: CommandContext, reply_address: ReplyAddress, name: str) -> Answer:
    """Begin the board, and create an account if the friend has none."""
    number = reply_address.about
    invitation = invitations.lock(context.connection, number)
    if invitation is None or context.now > invitation.created_at + VALID_FOR:
        raise _too_late()
    # The letter may have been forwarded, so only a mail from the invited address says yes.
    sender = context.actor.address.lower()
    if invitation.mark not in context.services.mail_domain.ring.marks(mailbox_of(sender)):
        raise Refused("invite-not-yours", part=sender, example="signup USERID PASSWORD")
    if invitation.state is InvitationState.ACCEPTED:
        raise Refused("invite-taken", part=str(invitation.board_id), example="help")
    inviter = players.by_id(context.connection, invitation.player_id)
    if inviter is None or not inviter.active:
        raise _too_late()
    player = _owner(context, invitation, name)
    if persons.persons_of(context.connection, {player.id, inviter.id}).same(player.id, inviter.id):
        raise Refused("invite-self", part=context.actor.address)
    game = known_game(context, invitation.game)
    refuse_closed_game(context, game)
    contact.refuse_blocked_players(context, player.id, [inviter])
    options, rated = read_options(game, invitation.options, 2, invitation.game, invitation.game)
    proposal = Proposal(game, options, rated, invitation.terms, (inviter, player), sender=inviter)
    board = make_board(context, proposal, {inviter.id, player.id})
    invitations.settle(context.connection, number, InvitationState.ACCEPTED, board.id)
    context.current.speaker = player
    context.proofs.add(player.id, None)  # only the owner of the address got the letter
    if context.mail_id is not None:
        inbox.set_player(context.connection, context.mail_id, player.id)
    return _begun(context, board, player)


def _begun(context: CommandContext, board: BoardRow, player: Player) -> Answer:
    """Return the letters about the board of an invitation that a player has accepted."""
    theirs, own = board.sitters
    words = {"by": player.userid, "undecided": []}
    accepted = {**words, "event": "accepted", "said": words_for_others(context)}
    joined = {**words, "event": "joined", "said_to": words_for_others(context)}
    their_board = Part("board", accepted, board.id, 0, theirs.seat, board.thread)
    own_board = Part("board", joined, board.id, 0, own.seat, board.thread)
    inviter_letter = Notification.sitter(theirs, their_board)
    if player.password_hash:
        return Answer((own_board,), (inviter_letter,))
    # A newcomer is welcomed before the board comes.
    greeting = Part("welcome", {"userid": player.userid, "has_password": False})
    welcome = Notification(player.address, player.id, greeting)
    return Answer((), (inviter_letter, welcome, Notification.sitter(own, own_board)))


def _owner(context: CommandContext, invitation: Invitation, name: str) -> Player:
    """Return the player with the invited address, which is this mail's; create one if needed."""
    sender = context.actor.address.lower()
    owners = players.by_address(context.connection, sender)
    chosen = [player for player in owners if player.userid == name] or owners
    if chosen:
        context.proofs.add(chosen[0].id, chosen[0].unreachable_since)
        return chosen[0]
    if context.services.signup == "closed":
        raise Refused("invite-closed")
    if name and not is_free(context, name):
        free = free_userid(context, name, sender)
        raise Refused("invite-name-taken", part=name, example=f"yes as {free}")
    userid = name or free_userid(context, invitation.name, sender)
    player = players.create(context.connection, userid, "", sender, context.now)
    if player is None:  # another player got it first
        free = free_userid(context, "", sender)
        raise Refused("invite-name-taken", part=userid, example=f"yes as {free}")
    return player


def _too_late() -> Refused:
    """Return the refusal of an answer to an invitation that has lapsed or is no longer stored."""
    return Refused("invite-late", days=VALID_FOR.days, example="help")


def _decline(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """Decline an invitation, and tell the inviter.

    Raises:
        Refused: it was accepted before.
    """
    invitation = invitations.lock(context.connection, reply_address.about)
    if invitation is not None and invitation.state is InvitationState.ACCEPTED:
        raise Refused("invite-taken", part=str(invitation.board_id), example="help")
    notifications = _closed(context, reply_address.about, invitation)
    return Answer((Part("invitation-closed", {"event": "declined"}),), notifications)


def never(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """Refuse all later invitations, too. The inviter sees a plain no.

    Raises:
        Refused: the invitation is no longer stored.
    """
    invitation = invitations.lock(context.connection, reply_address.about)
    if invitation is None:
        raise _too_late()
    invitations.refuse_all(context.connection, invitation.mark, context.now)
    notifications = _closed(context, reply_address.about, invitation)
    return Answer((Part("invitation-closed", {"event": "never"}),), notifications)


def _closed(
    context: CommandContext, number: int, invitation: Invitation | None
) -> tuple[Notification, ...]:
    if invitation is None or invitation.state is not InvitationState.OPEN:
        return ()
    invitations.settle(context.connection, number, InvitationState.DECLINED)
    return _notify_inviter(context, invitation, "declined", "")


def inviter_of(context: CommandContext, reply_address: ReplyAddress) -> str | None:
    """Return the inviter's userid, for the page that ends invitations; `None` if the invitation is
    no longer stored."""
    invitation = invitations.by_id(context.connection, reply_address.about)
    player = (
        players.by_id(context.connection, invitation.player_id) if invitation is not None else None
    )
    return None if player is None else player.userid


def tell_inviter(context: CommandContext, letter: BouncedLetter) -> tuple[Notification, ...]:
    """Tell the inviter that the letter came back; it is not sent again."""
    row = outbox.letter(context.connection, letter.id)
    number = row.words.get("invitation") if row is not None else None
    invitation = invitations.lock(context.connection, number) if number is not None else None
    if invitation is None or number is None or invitation.state is not InvitationState.OPEN:
        return ()
    invitations.settle(context.connection, number, InvitationState.RETURNED)
    return _notify_inviter(context, invitation, "returned", letter.recipient)


def _notify_inviter(
    context: CommandContext, invitation: Invitation, event: str, address: str
) -> tuple[Notification, ...]:
    player = players.by_id(context.connection, invitation.player_id)
    if player is None or not player.active:
        return ()
    words = {
        "event": event,
        "title": context.services.registry.titles[invitation.game],
        "since": invitation.created_at.isoformat(),
        "tz": player.tz,
        "address": address,
        "game": invitation.game,
        "userid": player.userid,
    }
    return (Notification(player.address, player.id, Part("invitation-answered", words)),)
