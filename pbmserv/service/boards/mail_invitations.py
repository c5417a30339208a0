"""Invitations by mail address: one letter to somebody who may not be a player yet.

The inviter learns nothing about the address. Neither the answer nor the letter depends on whether a
player has it, or whether its owner refuses or has had enough of such letters. The board is made
when the owner says yes; before, nothing of it can be seen. `invitation_answers` has the replies.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from pbmserv.commands.table.command_types import VOUCHED, Credentials
from pbmserv.commands.table.starting import Challenge
from pbmserv.errors import Refused
from pbmserv.inbound.robots import is_role
from pbmserv.mail.mailboxes import mailbox_of
from pbmserv.service.boards.option_words import read_options
from pbmserv.service.boards.proposals import takes_challenges
from pbmserv.service.core import contact
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.free_userids import free_userid
from pbmserv.service.core.lookup import known_game, refuse_closed_game
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.said import UNSAID, Said
from pbmserv.service.core.words_for_others import words_for_others
from pbmserv.service.time.time_options import terms_of_challenge
from pbmserv.store.accounts import invitations, persons, players
from pbmserv.store.accounts.invitations import Invitation
from pbmserv.store.accounts.players import Player

VALID_FOR = timedelta(days=30)
"""Time in which an invitation can be answered, and its sender cannot invite the address again."""

MOST_TO_ADDRESS = 3
"""Most invitations to one address in `VALID_FOR`, from all players."""

LONGEST_ADDRESS = 254
LONGEST_NOTE = 300
"""Most characters of an inviter's words."""

_DAY = timedelta(days=1)
_LURES = re.compile(r"://|www\.|@|[\w-]\.[a-z]{2,}\b|(?:\d[ ./()-]*){7}", re.IGNORECASE)
"""Links, addresses and telephone numbers, for which spammers send mail to strangers."""

_DOMAIN = re.compile(r"(?:[a-z0-9_-]{1,63}\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})")


def invite(context: CommandContext, command: Challenge) -> Answer:
    """``game challenge [userid] [name] friend@example.org``: send an invitation there.

    The name is a userid for the friend.

    Raises:
        Refused: nothing proves who invites, or the inviter has invited too many. It says nothing
            about the address.
    """
    _refuse_no_address(context, command.address)
    sender, name = _inviter(context, command)
    game, address = known_game(context, command.game), command.address
    refuse_closed_game(context, game)
    terms = terms_of_challenge(command)
    line = f"{game.info.key} challenge {address}"
    options, _ = read_options(game, command.options, 2, address, line, command.times)
    _refuse_own_address(context, sender, address)
    marks = context.services.mail_domain.ring.marks(mailbox_of(address))
    _refuse_too_many_invitations(context, sender, address, marks)
    words_said = words_for_others(context)
    note = words_said if _is_harmless(words_said) else UNSAID
    owners = _players_at(context, address)
    invitation = Invitation(
        player_id=sender.id,
        mark=marks[0],
        sent=_may_go(context, sender, address, owners, marks),
        name=name,
        game=game.info.key,
        options=options,
        terms=terms,
        created_at=context.now,
    )
    number = invitations.add(context.connection, invitation)
    words: dict[str, Any] = {
        "invitation": number,
        "by": sender.userid,
        "name": free_userid(context, name, address),
        "title": game.info.title,
        "summary": game.info.summary,
        "days": VALID_FOR.days,
        "said": note if _reaches_all(context, sender, owners) else UNSAID,
    }
    notifications = (
        (Notification(address, None, Part("invitation", words)),) if invitation.sent else ()
    )
    context.current.speaker = sender
    answer = {
        "address": address,
        "title": game.info.title,
        "said": bool(note),
        "left": bool(words_said) and not note,
        "longest": LONGEST_NOTE,
    }
    return Answer((Part("invited", answer),), notifications)


def _refuse_no_address(context: CommandContext, address: str) -> None:
    """Refuse a word that cannot be a mail address; it may be a password with an "@"."""
    domain = mailbox_of(address).rpartition("@")[2]
    is_address = domain == context.services.mail_domain.domain or _DOMAIN.fullmatch(domain)
    if not is_address or len(address.encode()) > LONGEST_ADDRESS:
        context.current.echo_hidden = True
        raise Refused("invite-address")


def _inviter(context: CommandContext, command: Challenge) -> tuple[Player, str]:
    """Return the inviter, and the name for the friend."""
    if command.credentials is not None:
        sender = context.authenticate(command.credentials)
    else:
        sender = _proven(context, command)
    others = [userid for userid in command.userids if userid != sender.userid]
    if command.credentials is None and others and sender.userid in command.userids:
        context.current.echo_hidden = True  # it may be a password that is wrong
        raise Refused("invite-name", example=f"{command.game} challenge {command.address}")
    if len(others) > 1 or any(
        players.account_of(context.connection, other) is not None for other in others
    ):
        raise Refused("invites-one", example=f"{command.game} challenge {command.address}")
    return sender, others[0] if others else ""


def _proven(context: CommandContext, command: Challenge) -> Player:
    writers = context.known_writers()
    named = [writer for writer in writers if writer.userid in command.userids]
    if len(named) == 1 and not context.actor.speaks_for:
        return context.authenticate(Credentials(named[0].userid, VOUCHED))
    if writers:
        return context.speaker(None)
    for userid in command.userids:  # a password in another line of the mail
        player = players.active_by_userid(context.connection, userid)
        if player is not None and player.id in context.proofs.counted:
            return player
    context.current.echo_hidden = bool(command.userids)  # one may be a password that is wrong
    example = f"{command.game} challenge USERID PASSWORD {command.address}"
    raise Refused("invite-unproven", example=example)


def _refuse_own_address(context: CommandContext, sender: Player, address: str) -> None:
    mail_domain = context.services.mail_domain
    ours = mail_domain.is_ours(address) or mail_domain.is_postmaster(address)
    if ours or is_role(address):
        raise Refused("invite-nobody", part=address)
    own_ids = persons.ids_of_person(context.connection, sender.id)
    if mailbox_of(address) in persons.mailboxes_of(context.connection, own_ids):
        raise Refused("invite-self", part=address)


def _refuse_too_many_invitations(
    context: CommandContext, sender: Player, address: str, marks: list[str]
) -> None:
    if context.services.signup == "closed":
        raise Refused("invite-closed")
    players.lock(context.connection, sender.id)
    month_ago, day_ago = context.now - VALID_FOR, context.now - _DAY
    if invitations.has_invited(context.connection, sender.id, marks, month_ago):
        raise Refused("invited-already", part=address, days=VALID_FOR.days)
    most = context.services.invitations
    if invitations.by_player(context.connection, sender.id, day_ago) >= most:
        raise Refused("invites-many", most=most)


def _may_go(
    context: CommandContext, sender: Player, address: str, owners: list[Player], marks: list[str]
) -> bool:
    """Return whether the invitation is sent, and count it against the limits.

    The inviter does not learn that.
    """
    month_ago = context.now - VALID_FOR
    refused = invitations.are_refused(context.connection, marks)
    enough = invitations.sent_to(context.connection, marks, month_ago) >= MOST_TO_ADDRESS
    traffic, source, mailbox = context.services.traffic, context.actor.source, mailbox_of(address)
    asked_enough = traffic.count_questions([mailbox], source)
    if not asked_enough and not owners:
        asked_enough = traffic.count_letters_to_strangers([mailbox], source)
    return _is_wanted(context, sender, owners) and not (refused or enough or asked_enough)


def _is_wanted(context: CommandContext, sender: Player, owners: list[Player]) -> bool:
    """Return whether an owner of the address takes challenges, and none blocks the sender."""
    if not owners:
        return True
    pairs = contact.blocked_pairs(context, {sender.id, *(player.id for player in owners)})
    is_apart = any(sender.id in pair for pair in pairs)
    return not is_apart and any(map(takes_challenges, owners))


def _players_at(context: CommandContext, address: str) -> list[Player]:
    """Return the active players whose mail goes to the same mailbox as this address."""
    connection = context.connection
    owners = persons.owners_of(connection, mailbox_of(address))
    candidates = (players.by_id(connection, each) for each in sorted(owners))
    return [player for player in candidates if player is not None and player.active]


def _reaches_all(context: CommandContext, sender: Player, owners: list[Player]) -> bool:
    """Return whether the sender's words reach all owners of the address."""
    return all(contact.reaches(context, sender.id, player) for player in owners)


def _is_harmless(note: Said) -> bool:
    return len(note) <= LONGEST_NOTE and _LURES.search(note) is None
