"""Sends the letters of players whose addresses are given up elsewhere, or keeps them.

No letter goes to an address that was given up. The player's letters go to another confirmed
address; if there is none, they wait, and each opponent is told once.

A player without a working address counts as away for `AWAY`, within the days of a year that each
player has. So nobody loses a game by a mailbox that was full for a week, and nobody waits for ever.
A forger of reports only spends days that ``away`` gives anyway.

A mail with a password, or to a reply address, ends that: its writer can be reached. The count of
returned letters then begins at 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pbmserv.mail.letter_kinds import kind_of
from pbmserv.service.accounts import absences
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.delivery import digest
from pbmserv.store.accounts import notices, players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import Sitter
from pbmserv.store.delivery import bounces
from pbmserv.store.delivery.bounces import BounceRecord
from pbmserv.store.delivery.outbox import QueuedLetter
from pbmserv.store.tables.accounts import PlayerState

AWAY = timedelta(days=14)
"""Time for which a player without a working address counts as away, if enough days are left."""
NEWS_EVERY = timedelta(days=7)
"""Least time between two letters to opponents about one player."""
MOST_BOARDS = 500
"""Most boards of a player whose opponents are told."""


def leave_address(
    context: CommandContext, player: Player, given_up: BounceRecord
) -> list[Notification]:
    """Send letters to a player's next address, or let them wait, since one address is given up."""
    own = players.addresses_of(context.connection, player.id)
    dead = {r.address for r in bounces.records_of(context.connection, own) if r.suspended_at}
    other = next((address for address in own if address not in dead), None)
    if other is None:
        return _unreachable(context, player)
    players.change(context.connection, player.id, {"address": other})
    bounces.redirect(context.connection, player.id, given_up.address, other)
    digests, _ = send_kept(context, player.id, other)
    words = {
        "event": "moved",
        "userid": player.userid,
        "other": other,
        "tz": player.tz,
        "failed": [failure_words(given_up)],
    }
    parts = [Part("came-back", words), *digests]
    return [Notification(other, player.id, part) for part in parts]


def _unreachable(context: CommandContext, player: Player) -> list[Notification]:
    ends = absences.presume_away(context, player, AWAY)
    players.change(context.connection, player.id, {"unreachable_since": context.now})
    if not notices.note(context.connection, player.id, "gone", context.now, NEWS_EVERY):
        return []
    until = None if ends is None else ends.isoformat()
    return letters_to_opponents(context, player, {"event": "gone", "until": until})


@dataclass(frozen=True, slots=True)
class Reachable:
    """A player who can be reached again.

    Attributes:
        address: the address to write to; ``""`` if the player was reachable all the time.
        notifications: letters about it.
    """

    address: str = ""
    notifications: tuple[Notification, ...] = ()


def note_reachable(context: CommandContext, player_id: int, why: str = "") -> Reachable:
    """Forget the failures of a player's addresses, since the player has written, or an operator
    asks.

    Letters go to the address that this mail comes from, if it is a confirmed one. Players who share
    an address with this one can be reached again, too.

    Args:
        why: an operator's reason, ``""`` if the player has written.
    """
    players.lock(context.connection, player_id)
    player = players.by_id(context.connection, player_id)
    if player is None or not player.active or player.unreachable_since is None:
        return Reachable()
    own = players.addresses_of(context.connection, player.id)
    failed = [r for r in bounces.records_of(context.connection, own) if r.suspended_at is not None]
    bounces.forgive(context.connection, own)
    sender = context.actor.address.lower()
    address = sender if sender in own else player.address
    notifications = _welcome(context, player, address, failed, why)
    for other in _sharing(context, own):
        shared = [record for record in failed if record.address == other.address]
        if other.id != player.id and shared:
            notifications += _welcome(context, other, other.address, shared, why)
    return Reachable(address, tuple(notifications))


def _sharing(context: CommandContext, own: Sequence[str]) -> list[Player]:
    """Return the players without a working address who have one of these addresses."""
    sharing: dict[int, Player] = {}
    for address in own:
        for player in players.by_address(context.connection, address):
            if player.unreachable_since is not None:
                sharing[player.id] = player
    return list(sharing.values())


def _welcome(
    context: CommandContext, player: Player, address: str, failed: Sequence[BounceRecord], why: str
) -> list[Notification]:
    since = player.unreachable_since
    assert since is not None
    columns = {"address": address, "unreachable_since": None}
    players.change(context.connection, player.id, columns)
    was_away = absences.end_presumed_absence(context, player, since)
    digests, again = send_kept(context, player.id, address)
    words = {
        "event": "back",
        "why": why,
        "userid": player.userid,
        "other": address,
        "tz": player.tz,
        "failed": [failure_words(record) for record in failed],
        "again": again,
        "away": was_away,
        "digest": bool(digests),
    }
    notifications = [Notification(address, player.id, Part("came-back", words))]
    notifications += [Notification(address, player.id, digest) for digest in digests]
    heard = notices.last(context.connection, player.id, "gone")
    if heard is not None and heard >= since:
        notifications += letters_to_opponents(context, player, {"event": "back", "why": why})
    return notifications


def send_kept(context: CommandContext, player_id: int, address: str) -> tuple[list[Part], int]:
    """Send the letters that waited for a player: one digest of the boards, more if players said
    very much, and the other letters as they were.

    Returns:
        The digests, and the number of the other letters.
    """
    kept = bounces.waiting(context.connection, player_id)
    later = [letter for letter in kept if kind_of(letter.letter).can_wait]
    stale = [letter for letter in kept if kind_of(letter.letter).soon_stale]
    others = [letter for letter in kept if letter not in later and letter not in stale]
    bounces.fail_outdated(context.connection, _ids(stale))
    bounces.send_again(context.connection, _ids(others), address, context.now)
    return digest.gathered(context, player_id, later), len(others)


def _ids(letters: Sequence[QueuedLetter]) -> list[int]:
    return [letter.id for letter in letters]


def failure_words(failed: BounceRecord) -> dict[str, str]:
    """Return the words about a failed address, for a letter to its owner."""
    at = max(moment for moment in (failed.hard_at, failed.soft_at) if moment is not None)
    return {"address": failed.address, "at": at.isoformat(), "said": failed.diagnostic}


def letters_to_opponents(
    context: CommandContext, player: Player, words: Mapping[str, Any]
) -> list[Notification]:
    """Return one letter to each opponent of a player, with the numbers of their running boards."""
    numbers_by_opponent: dict[int, tuple[Sitter, list[int]]] = {}
    for number in boards.running_of(context.connection, player.id)[:MOST_BOARDS]:
        board = boards.load(context.connection, number)
        for sitter in board.sitters if board is not None else ():
            if sitter.player_id != player.id and sitter.state == PlayerState.ACTIVE:
                numbers_by_opponent.setdefault(sitter.player_id, (sitter, []))[1].append(number)
    about = {"who": player.userid, **words}
    return [
        Notification(
            sitter.address,
            sitter.player_id,
            Part("unreachable", {**about, "boards": numbers, "tz": sitter.tz}),
        )
        for sitter, numbers in numbers_by_opponent.values()
    ]
