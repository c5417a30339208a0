"""Players who can be reached again: their letters are sent, and their opponents are told.

Any mail that proves to be theirs is enough, by a password or a reply address: somebody who writes
is there, and if letters come back again, they are counted again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pbmserv.letters.kinds import CAN_WAIT
from pbmserv.service.accounts import preferences as accounts
from pbmserv.service.core.answers import Notification, Part
from pbmserv.service.core.context import CommandContext
from pbmserv.service.delivery import digest as tray
from pbmserv.store.accounts import leaving, players, preferences
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import Sitter
from pbmserv.store.delivery import bounces, outbox
from pbmserv.store.delivery.bounces import Standing
from pbmserv.store.delivery.outbox import QueuedLetter
from pbmserv.store.tables import PlayerState

MOST_BOARDS = 500
"""Boards of a player at which opponents are looked for."""

_OUT_OF_DATE = frozenset({"reminder", "away-asked", *outbox.ALWAYS_TRIED})
"""Letters that nobody wants to read later."""


@dataclass(frozen=True, slots=True)
class Home:
    """Where a player can be reached, and letters that say so; no address = nothing was wrong."""

    address: str = ""
    told: tuple[Notification, ...] = ()


def come_back(context: CommandContext, player_id: int, why: str = "") -> Home:
    """The player speaks, or an operator for them: nothing is held against their addresses any more.

    Letters go to the address that this mail comes from, if it is a confirmed one. Who shares an
    address with them can be reached again as well.

    Args:
        why: an operator's reason, ``""`` where the player has written.
    """
    preferences.lock(context.connection, player_id)
    player = players.by_id(context.connection, player_id)
    if player is None or not player.active or player.unreachable_since is None:
        return Home()
    own = players.addresses_of(context.connection, player.id)
    failed = [s for s in bounces.standings(context.connection, own) if s.suspended_at is not None]
    bounces.forgive(context.connection, own)
    sender = context.incoming.mail.sender.lower()
    address = sender if sender in own else player.address
    told = _welcome(context, player, address, failed, why)
    for other in _sharing(context, own):
        shared = [s for s in failed if s.address == other.address]
        if other.id != player.id and shared:
            told += _welcome(context, other, other.address, shared, why)
    return Home(address, tuple(told))


def _sharing(context: CommandContext, own: Sequence[str]) -> list[Player]:
    """Players who cannot be reached and have one of these addresses."""
    found: dict[int, Player] = {}
    for address in own:
        for player in players.by_address(context.connection, address):
            if player.unreachable_since is not None:
                found[player.id] = player
    return list(found.values())


def _welcome(
    context: CommandContext, player: Player, address: str, failed: Sequence[Standing], why: str
) -> list[Notification]:
    since = player.unreachable_since
    assert since is not None
    columns = {"address": address, "unreachable_since": None}
    preferences.save(context.connection, player.id, columns)
    was_away = accounts.no_longer_away(context, player, since)
    digests, again = send_kept(context, player.id, address)
    words = {
        "event": "back",
        "why": why,
        "userid": player.userid,
        "other": address,
        "tz": player.tz,
        "failed": [told_of(one) for one in failed],
        "again": again,
        "away": was_away,
        "digest": bool(digests),
    }
    told = [Notification(address, player.id, Part("came-back", words))]
    told += [Notification(address, player.id, digest) for digest in digests]
    heard = preferences.last_told(context.connection, player.id, "gone")
    if heard is not None and heard >= since:
        told += opponents(context, player, {"event": "back", "why": why})
    return told


def send_kept(context: CommandContext, player_id: int, address: str) -> tuple[list[Part], int]:
    """Send what has waited for a player: the boards as they stand in one mail (more if very much
    was said), other letters as they were. These mails, and how many others are on their way."""
    kept = bounces.waiting(context.connection, player_id)
    later = [one for one in kept if one.letter in CAN_WAIT]
    stale = [one for one in kept if one.letter in _OUT_OF_DATE]
    others = [one for one in kept if one not in later and one not in stale]
    bounces.out_of_date(context.connection, _ids(stale))
    bounces.send_again(context.connection, _ids(others), address, context.now)
    return tray.gathered(context, player_id, later), len(others)


def _ids(letters: Sequence[QueuedLetter]) -> list[int]:
    return [letter.id for letter in letters]


def told_of(failed: Standing) -> dict[str, str]:
    """An address that failed, when, and what its mail server said, for a letter to its owner."""
    at = max(moment for moment in (failed.hard_at, failed.soft_at) if moment is not None)
    return {"address": failed.address, "at": at.isoformat(), "said": failed.diagnostic}


def opponents(
    context: CommandContext, player: Player, words: Mapping[str, Any]
) -> list[Notification]:
    """One letter to each opponent of a player's running boards, with the numbers of these."""
    found: dict[int, tuple[Sitter, list[int]]] = {}
    for number in leaving.running(context.connection, player.id)[:MOST_BOARDS]:
        board = boards.load(context.connection, number)
        for sitter in board.sitters if board is not None else ():
            if sitter.player_id != player.id and sitter.state == PlayerState.ACTIVE:
                found.setdefault(sitter.player_id, (sitter, []))[1].append(number)
    about = {"who": player.userid, **words}
    return [
        Notification(
            sitter.address,
            sitter.player_id,
            Part("unreachable", {**about, "boards": numbers, "tz": sitter.tz}),
        )
        for sitter, numbers in found.values()
    ]
