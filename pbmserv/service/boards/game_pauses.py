"""Games that cannot be played: stopped because their rules hung, or not installed.

Nothing of such a game is lost. Its mails and letters wait, its clocks stand still, and other games
go on.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Connection

from pbmserv.errors import GameAway
from pbmserv.service.core.actor import NOBODY
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.job_result import NOTHING, Done
from pbmserv.service.core.outbox_rows import queue_letters
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.core.services import Services
from pbmserv.store.accounts import notices
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import game_pauses
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.boards.game_pauses import Stop
from pbmserv.store.tables.downtime import PauseKind

MOST_STOPS = 2
"""Processes that may end in the rules of a game before the game is stopped."""
STOPS_COUNTED = timedelta(days=1)
"""Time in which those ends are counted: a machine without memory may end a process in any game."""
NOTICE_EVERY = timedelta(days=1)
"""Least time between two letters to a player about one game."""
LONGEST_KIND = 12
"""Most characters of the kind of a notice."""

log = logging.getLogger("pbmserv.games")


def note_stops(
    services: Services, stops: Sequence[Stop], now: datetime, connection: Connection
) -> Done:
    """Store that processes hung or died in the rules of games. Stop a game with several such
    processes, and tell its players.

    A process that is stored already does not count again.
    """
    context = CommandContext(services, connection, NOBODY, now)
    letters = 0
    for stop in stops:
        if not game_pauses.add_stop(connection, stop):
            continue
        if game_pauses.count_stops(connection, stop.game, now - STOPS_COUNTED) < MOST_STOPS:
            continue
        why = f"{stop.stage} was stopped {MOST_STOPS} times, last in {stop.place}"
        if game_pauses.begin(connection, stop.game, PauseKind.STOPPED, why, now):
            game_pauses.rest_bots(connection, stop.game)
            facts = {"game": stop.game, "package": services.registry.package_of(stop.game)}
            log.error("a game is stopped", extra={**facts, "why": why})
            letters += queue_letters(context, _letters(context, stop.game))
    return Done(letters=letters) if letters else NOTHING


def tell_writer(context: CommandContext, player: Player, away: GameAway) -> list[Notification]:
    """Return the letter that tells the writer of a mail that it waits; none twice a day."""
    if not _note_notice(context, player.id, away.game):
        return []
    part = _part(context, away.game, is_stopped=away.is_stopped)
    return [Notification(player.address, player.id, part)]


def _letters(context: CommandContext, game: str) -> list[Notification]:
    """Return the letters to the players of a stopped game, and note that they were told."""
    part = _part(context, game, is_stopped=True)
    return [
        Notification(address, player_id, part)
        for player_id, address in game_pauses.players_of(context.connection, game)
        if _note_notice(context, player_id, game)
    ]


def _note_notice(context: CommandContext, player_id: int, game: str) -> bool:
    """Note that a player is told now; return whether nothing was noted for `NOTICE_EVERY`."""
    kind = f"+{game}"[:LONGEST_KIND]
    return notices.note(context.connection, player_id, kind, context.now, NOTICE_EVERY)


def _part(context: CommandContext, game: str, *, is_stopped: bool) -> Part:
    title = context.services.registry.titles[game]
    return Part("game-stopped", {"title": title, "is_stopped": is_stopped})


def runs(context: CommandContext, board: BoardRow) -> bool:
    """Return whether the game of a board can be played now."""
    try:
        game_pauses.check_is_running(context.connection, board.game)
    except GameAway:
        return False
    return context.services.registry.has(board.game, board.rules_version)


def note_installed(services: Services, now: datetime, connection: Connection) -> None:
    """Begin the pauses of games that have running boards and are not installed, and end those of
    games that are installed again; called at the start of the server."""
    registry = services.registry
    running = game_pauses.running_versions(connection)
    gone = {game for game, version in running if not registry.has(game, version)}
    for game in sorted(gone):
        why = "not installed" if game not in registry else "an old version is not installed"
        if game_pauses.begin(connection, game, PauseKind.GONE, why, now):
            if game not in registry:
                game_pauses.rest_bots(connection, game)
            log.error("a game of running boards is gone", extra={"game": game, "why": why})
    for pause in game_pauses.present(connection):
        if pause.kind is PauseKind.GONE and pause.game not in gone:
            game_pauses.end(connection, pause.game, PauseKind.GONE, now)
            log.warning("a game is installed again", extra={"game": pause.game})
