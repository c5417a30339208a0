"""Letters that came back: counted by address, until an address is given up.

Two hard ones give an address up, if they come at least `APART` from each other: a mail server that
is broken for an hour can refuse a whole evening's letters. A hard one is forgotten `HARD_LASTS`
after the last. A full mailbox (soft) gives its address up only after `MOST_SOFT` such days of
which none came more than `SOFT_LASTS` after the one before. Whatever is about the letter alone
(filters, size) counts nothing.

A letter that came back is sent once more a day later, as a new one: so nothing is lost by a mail
server's bad hour, and an address where nobody is shows itself even if few letters go there.

What is given up: no letter goes there any more. Letters to its player go to another confirmed
address; if there is none they wait, and each opponent is told once.

A player who cannot be reached counts as away for `AWAY`, out of the days of the year that everybody
has: nobody is to lose a game by a mailbox that was full for a week, nor to wait for ever for
somebody who will never be heard of again, and whoever fakes reports to gain time only spends
days that `away` would give for the asking.

Any mail that proves to be theirs is enough to reach them again, by a password or a reply address:
somebody who writes is there, and if letters come back again, they are counted again.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection

from pbmserv.mail.bounce_codes import Failure, Verdict, of_refusal
from pbmserv.mail.letter_kinds import kind_of
from pbmserv.service.accounts import absences
from pbmserv.service.boards import friends
from pbmserv.service.core.actor import CLOCK
from pbmserv.service.core.context import CommandContext, Services
from pbmserv.service.core.outbox_rows import outbox_row
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.delivery import digest
from pbmserv.store.accounts import leaving, players, preferences
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import Sitter
from pbmserv.store.delivery import bounces, inbox, kept_letters, outbox
from pbmserv.store.delivery.bounces import Posted, Standing
from pbmserv.store.delivery.outbox import NewLetter, QueuedLetter
from pbmserv.store.tables.mail import LetterState

MOST_HARD = 2
MOST_SOFT = 10
APART = timedelta(hours=18)
"""Less than a day, so that each of two digests counts."""
HARD_LASTS = timedelta(days=30)
SOFT_LASTS = timedelta(days=7)
TOO_LATE = timedelta(days=30)
"""A report about a letter that was sent longer ago means nothing: queues give up after days."""
AGAIN = timedelta(days=1)
"""When a letter is sent once more that came back from an address which is not given up."""
AWAY = timedelta(days=14)
"""For so long a player who cannot be reached counts as away, if days of the year are left."""
TOLD_EVERY = timedelta(days=7)
"""Opponents hear of one player at most once in so long, however often mail fails and works."""
ASTRAY_EVERY = timedelta(days=1)

log = logging.getLogger("pbmserv.service")


# -- what comes in ---------------------------------------------------------------------------


def receive(
    context: CommandContext, report: Sequence[Failure], *, is_away_note: bool
) -> list[NewLetter]:
    """Carry out a mail to the envelope sender of a letter; return the letters that it causes.

    The address speaks for nobody, so no command is carried out, and a report is never answered.

    Args:
        report: the failures that the mail reports.
        is_away_note: it looks like the note of somebody who is out of the office.
    """
    reply_address = context.reply_address
    letter = bounces.letter(context.connection, reply_address.about) if reply_address else None
    if context.mail_id is not None:
        if report or letter is None or letter.player_id is None:
            # A report quotes the letter, with reply addresses and other people's words; what it
            # says itself is noted with the letter.
            inbox.empty(context.connection, context.mail_id)
        else:
            inbox.spoken_by(context.connection, context.mail_id, letter.player_id)
    told = [] if letter is None else _received(context, letter, report, is_away_note)
    return [outbox_row(context, one) for one in told]


def _received(
    context: CommandContext, letter: Posted, report: Sequence[Failure], is_away_note: bool
) -> list[Notification]:
    if report:
        return _reported(context, letter, report)
    if is_away_note:
        return absences.ask_if_away(context, letter.player_id)
    if not context.submission.may_be_answered:
        return []
    return _astray(context, letter)


def refused(
    services: Services, connection: Connection, letter_id: int, error: str, now: datetime
) -> None:
    """A relay would not take a letter for its recipient: the same as a report about it. Of one that
    could not be made its reader is told."""
    letter = bounces.letter(connection, letter_id)
    if letter is None:
        return
    context = CommandContext(services, connection, CLOCK, now)
    failure = of_refusal(error, letter.recipient)
    told = _unmade(connection, letter) if failure is None else _take(context, letter, failure)
    outbox.add(connection, [outbox_row(context, one) for one in told], now)


def _unmade(connection: Connection, letter: Posted) -> list[Notification]:
    """What the reader of a letter about a board hears in its place, if it was never made."""
    row = outbox.letter(connection, letter.id)
    if row is None or row.board_id is None or row.player_id is None or not row.message_id:
        return []  # without a Message-ID it is one of long ago, which an operator wanted sent again
    player = players.by_id(connection, row.player_id)
    is_made = kept_letters.bytes_of(connection, row.id) is not None
    if is_made or player is None or not player.active or player.unreachable_since is not None:
        return []
    return [Notification(player.address, player.id, Part("unshown", {"board": row.board_id}))]


def _reported(
    context: CommandContext, letter: Posted, report: Sequence[Failure]
) -> list[Notification]:
    """What a report says of this letter's own recipient; of others it proves nothing."""
    is_out = letter.state in {LetterState.SENT, LetterState.QUEUED}
    if context.now - letter.since > TOO_LATE or not is_out:
        return []
    if letter.state == LetterState.SENT and letter.noted:
        return []  # one letter counts once
    failure = next((f for f in report if letter.recipient.lower() in f.recipients), None)
    if failure is None and len(report) == 1 and not _arrives_elsewhere(context, letter):
        (failure,) = report  # to where the letter was forwarded, or by another spelling
    return [] if failure is None else _take(context, letter, failure)


def _arrives_elsewhere(context: CommandContext, letter: Posted) -> bool:
    """Whether the letter's player has been heard of since it, or one before it, came back.

    Of two mailboxes to which an address forwards, one may be dead: letters that are answered
    are read. Whose report it is could be forged by the letter's reader only, who also knows the
    letter's own recipient, so to insist on that name would keep nobody out.
    """
    if letter.player_id is None:
        return True
    found = bounces.standings(context.connection, [letter.recipient.lower()])
    times = [letter.since, *(s.hard_at or s.soft_at or letter.since for s in found)]
    own = players.addresses_of(context.connection, letter.player_id)
    return inbox.heard_from(context.connection, letter.player_id, own, min(times))


def _astray(context: CommandContext, letter: Posted) -> list[Notification]:
    """The letter's reader has answered to where it would come back to: say where answers go."""
    if letter.player_id is None:
        return []
    player = players.by_id(context.connection, letter.player_id)
    sender = context.actor.address.lower()
    if player is None or not player.active:
        return []
    if sender not in players.addresses_of(context.connection, player.id):
        return []
    if not preferences.may_tell(context.connection, player.id, "astray", context.now, ASTRAY_EVERY):
        return []
    return [Notification(player.address, player.id, Part("astray", {"userid": player.userid}))]


# -- what it counts --------------------------------------------------------------------------


def counted(standing: Standing, failure: Failure, now: datetime) -> Standing:
    """What is known against an address after one more failure; the same if it counts nothing."""
    if failure.verdict is Verdict.HARD:
        number = _counted(standing.hard, standing.hard_at, now, HARD_LASTS)
        found = replace(standing, hard=number or standing.hard, hard_at=now)
    elif failure.verdict is Verdict.SOFT:
        number = _counted(standing.soft, standing.soft_at, now, SOFT_LASTS)
        found = replace(standing, soft=number or standing.soft, soft_at=now)
    else:
        return standing
    if not number:
        return standing
    given_up = found.hard >= MOST_HARD or found.soft >= MOST_SOFT
    return replace(
        found,
        status=failure.status,
        diagnostic=failure.diagnostic,
        suspended_at=now if given_up else None,
    )


def _counted(count: int, last: datetime | None, now: datetime, lasts: timedelta) -> int:
    """The count with this one, 0 if it comes too soon to count."""
    if last is None or now - last > lasts:
        return 1
    return count + 1 if now - last >= APART else 0


def _take(context: CommandContext, letter: Posted, failure: Failure) -> list[Notification]:
    """Count a failure, and see that its letter is not lost."""
    words = f"came back ({failure.verdict.value}): {failure.diagnostic}"
    bounces.note(context.connection, letter, words, context.now)
    log.info(
        "letter came back",
        extra={"letter": letter.id, "verdict": failure.verdict.value, "status": failure.status},
    )
    address = letter.recipient.lower()
    if letter.letter == "invitation":
        return list(friends.returned(context, letter))
    if failure.verdict is Verdict.REFUSED or not _is_theirs(context, letter, address):
        return []
    found = bounces.standings(context.connection, [address])
    before = found[0] if found else Standing(address)
    after = counted(before, failure, context.now) if before.suspended_at is None else before
    if after.suspended_at is not None:
        bounces.set_aside(context.connection, letter)
    elif not kind_of(letter.letter).always_tried:
        bounces.send_later(context.connection, letter, context.now + AGAIN, context.now)
    if after == before:
        return []
    bounces.write(context.connection, after)
    return [] if after.suspended_at is None else _give_up(context, after, letter)


def _give_up(context: CommandContext, standing: Standing, letter: Posted) -> list[Notification]:
    log.warning("an address is given up", extra={"letter": letter.id})
    told: list[Notification] = []
    for player in players.by_address(context.connection, standing.address):
        if player.address == standing.address:
            told += _without(context, player, standing)
    return told


def _is_theirs(context: CommandContext, letter: Posted, address: str) -> bool:
    """Whether the letter went to an address that is its player's own; their row is locked."""
    if letter.player_id is None:
        return False
    preferences.lock(context.connection, letter.player_id)
    player = players.by_id(context.connection, letter.player_id)
    if player is None or not player.active:
        return False
    return address in players.addresses_of(context.connection, player.id)


# -- what it leads to ------------------------------------------------------------------------


def _without(context: CommandContext, player: Player, given_up: Standing) -> list[Notification]:
    """A player whose address is given up: the next one, or none."""
    own = players.addresses_of(context.connection, player.id)
    dead = {s.address for s in bounces.standings(context.connection, own) if s.suspended_at}
    other = next((address for address in own if address not in dead), None)
    if other is None:
        return _unreachable(context, player)
    preferences.save(context.connection, player.id, {"address": other})
    bounces.redirect(context.connection, player.id, given_up.address, other)
    digests, _ = send_kept(context, player.id, other)
    words = {
        "event": "moved",
        "userid": player.userid,
        "other": other,
        "tz": player.tz,
        "failed": [told_of(given_up)],
    }
    parts = [Part("came-back", words), *digests]
    return [Notification(other, player.id, part) for part in parts]


def _unreachable(context: CommandContext, player: Player) -> list[Notification]:
    ends = absences.away_unasked(context, player, AWAY)
    preferences.save(context.connection, player.id, {"unreachable_since": context.now})
    if not preferences.may_tell(context.connection, player.id, "gone", context.now, TOLD_EVERY):
        return []
    until = None if ends is None else ends.isoformat()
    return opponents(context, player, {"event": "gone", "until": until})


MOST_BOARDS = 500
"""Boards of a player at which opponents are looked for."""


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
    sender = context.actor.address.lower()
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
    was_away = absences.no_longer_away(context, player, since)
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
    later = [one for one in kept if kind_of(one.letter).can_wait]
    stale = [one for one in kept if kind_of(one.letter).soon_stale]
    others = [one for one in kept if one not in later and one not in stale]
    bounces.out_of_date(context.connection, _ids(stale))
    bounces.send_again(context.connection, _ids(others), address, context.now)
    return digest.gathered(context, player_id, later), len(others)


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
            if sitter.player_id != player.id and sitter.state == "active":
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
