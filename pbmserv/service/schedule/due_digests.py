"""Makes due digests, which also remind of boards that are due before the next one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from pbmserv.engine.time_spans import next_daytime, zone
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.delivery import digest
from pbmserv.service.delivery.waiting_boards import MOST_DRAWN, Due, Waiting, waiting_for
from pbmserv.service.events.pages import weekly_tables
from pbmserv.service.schedule.deadlines import remind_in_digest
from pbmserv.service.time.localtime import local_date, next_local
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.delivery import digests as digest_rows
from pbmserv.store.delivery import unsent_letters
from pbmserv.store.tables.accounts import PlayerState

LATE = timedelta(hours=1)
"""A digest that is later than this, since the server was down, is sent neither at night nor on a
day with a digest of its own."""


def handle_due_digest(context: CommandContext, player_id: int) -> Sequence[Notification] | None:
    """Return the due digest of a player; `None` if another process makes it.

    It is empty if there are no news and no board waits for the player; tables alone make none.
    """
    due = digest_rows.claim(context.connection, player_id, context.now)
    if due is None:
        return None
    player = players.by_id(context.connection, player_id)
    if player is None or player.digest_minute is None or player.state != PlayerState.ACTIVE:
        digest_rows.set_due(context.connection, player_id, None)
        return []
    following = next_local(context.now, zone(player.tz), player.digest_minute)
    later_at = _put_off(context, player, due, following)
    digest_rows.set_due(context.connection, player_id, later_at or following)
    if later_at is not None:
        return []
    waiting = waiting_for(context, player_id)
    reminded = _reminded(context, player_id, waiting, following)
    news = unsent_letters.for_digest(context.connection, player_id)
    digests = digest.digests_of(context, player_id, news, waiting, reminded)
    if digests:
        tables = weekly_tables(context, player)
        digests[-1]["news"] += [digest.entry_of_table(table) for table in tables]
    return [Notification(player.address, player_id, Part("tray", words)) for words in digests]


def _put_off(
    context: CommandContext, player: Player, due: datetime, following: datetime
) -> datetime | None:
    """Return when a due digest is sent instead of now; `None` if it is sent now.

    Args:
        following: when the next digest of the player is due.
    """
    if player.unreachable_since is not None:
        return following  # the news go into the first one that can be sent
    if context.now - due > LATE:
        local = zone(player.tz)
        morning = next_daytime(context.now, local)
        if local_date(following, local) == local_date(morning, local):
            return following  # that day has a digest of its own
        if morning > context.now:
            return morning
    return None


def _reminded(
    context: CommandContext, player_id: int, waiting: Sequence[Waiting], following: datetime
) -> dict[int, Due]:
    """Return the boards of which a digest reminds, by number; at most those that it draws.

    Args:
        following: when the next digest is made.
    """
    ahead = following - context.now
    reminded: dict[int, Due] = {}
    for entry in sorted(waiting, key=lambda entry: entry.since):
        if len(reminded) == MOST_DRAWN:
            break
        due = remind_in_digest(context, entry.board.id, player_id, ahead)
        if due is not None:
            reminded[entry.board.id] = due
    return reminded
