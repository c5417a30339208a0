"""Time since a player's last sign of life, without absences and outages."""

from __future__ import annotations

from datetime import datetime, timedelta

from pbmserv.engine.time_spans import counted_time, merge_spans
from pbmserv.service.core.context import CommandContext
from pbmserv.store import heartbeats
from pbmserv.store.accounts import absences
from pbmserv.store.boards import moves


def last_sign(context: CommandContext, player_id: int, since: datetime) -> datetime:
    """Return the time of a player's last move after *since*; *since* if there is none."""
    return moves.last_move_at(context.connection, player_id, since) or since


def silent_time(context: CommandContext, player_id: int, since: datetime) -> timedelta:
    """Return the time since a moment, without the player's absences and outages of the server."""
    away = absences.away(context.connection, player_id, since)
    outages = heartbeats.outages_since(context.connection, since)
    return counted_time(since, context.now, merge_spans((*away, *outages)))
