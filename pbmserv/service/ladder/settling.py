"""Jobs of the scheduler for ladders: results move players, and the daily check.

Each is one transaction, and does nothing the second time. Results are carried out in the order in
which the games ended, also after the server was down.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from pbmserv.engine.record import FORFEIT
from pbmserv.engine.types import LAPSED, Seat
from pbmserv.service.boards.lateness import late_seats
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.ladder.ranks import SILENT, Result, result_of, shift_of
from pbmserv.service.time.silence import last_sign, silent_time
from pbmserv.store.accounts import players
from pbmserv.store.boards import boards, histories
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.ladders import ladder_challenges, ladder_places, ladder_reigns, ladders
from pbmserv.store.ladders.ladder_places import Place
from pbmserv.store.ladders.ladders import Ladder
from pbmserv.store.tables.boards import BoardStatus

DAILY = timedelta(days=1)


def carry_out_result(context: CommandContext, board_id: int) -> Sequence[Notification] | None:
    """Move the players of a finished game; return `None` if another process does it."""
    challenge = ladder_challenges.claim(context.connection, board_id, context.now)
    if challenge is None:
        return None
    ladder = ladders.lock_by_id(context.connection, challenge.ladder_id)
    board = boards.load(context.connection, board_id)
    assert board is not None
    ended = histories.ended_at(context.connection, board_id) or context.now
    pair = [
        ladder_places.of_player(context.connection, ladder.id, player_id)
        for player_id in (challenge.challenger_id, challenge.defender_id)
    ]
    ranked = sorted((place for place in pair if place is not None), key=lambda place: place.rank)
    result, letters = Result.NONE, []
    if len(ranked) == 2 and board.status == BoardStatus.FINISHED:
        upper, lower = ranked
        result = _result(context, board, lower, upper)
        letters = _shift(context, ladder, board, result, (lower, upper))
    ladder_challenges.end(context.connection, board_id, result, ended)
    ladder_reigns.note_first(context.connection, ladder.id, context.now)
    return letters


def _result(context: CommandContext, board: BoardRow, lower: Place, upper: Place) -> Result:
    """Return the effect of a finished board on the ladder."""
    outcome = board.outcome
    assert outcome is not None
    seats = [board.sitter_of(place.player_id) for place in (lower, upper)]
    if None in seats:  # an operator gave the seat to another player
        return Result.NONE
    if outcome["reason"] == LAPSED:
        return Result.NONE
    is_late = outcome["reason"] == FORFEIT
    if is_late and len(late_seats(context, board, Seat(outcome["seat"]))) == 2:
        return Result.NONE
    places = [outcome["places"][sitter.seat] for sitter in seats if sitter is not None]
    return result_of((places[0], places[1]), late=is_late)


def _shift(
    context: CommandContext,
    ladder: Ladder,
    board: BoardRow,
    result: Result,
    pair: tuple[Place, Place],
) -> list[Notification]:
    """Move the player whom the result moves, if any; return the letters to both players."""
    lower, upper = pair
    bottom = ladder_places.count(context.connection, ladder.id)
    shift = shift_of(result, upper.rank, lower.rank, bottom)
    if shift is None:
        return []
    mover = upper if shift.of_upper else lower
    ladder_places.move(
        context.connection, ladder.id, mover, shift.to, result, board.id, context.now
    )
    letters = []
    for place, other in ((lower, upper), (upper, lower)):
        after = ladder_places.of_player(context.connection, ladder.id, place.player_id)
        assert after is not None
        words = {
            "event": "moved",
            "other": other.userid,
            "before": place.rank,
            "after": after.rank,
            "result": result,
            "board": board.id,
        }
        letters += _news(context, ladder, place, words)
    return letters


def _news(
    context: CommandContext, ladder: Ladder, place: Place, words: dict[str, object]
) -> list[Notification]:
    """Return a letter about a ladder, if its reader wants such letters."""
    player = players.by_id(context.connection, place.player_id)
    if player is None or not player.active or not place.news:
        return []
    title = context.services.registry.titles.get(ladder.game, ladder.game)
    part = Part("ladder-news", {**words, "game": ladder.game, "title": title})
    wants_digest = player.digest_minute is not None
    return [Notification(player.address, player.id, part, digest=wants_digest)]


def check_ladder(context: CommandContext, ladder_id: int) -> Sequence[Notification] | None:
    """Carry out the daily check: remove silent players, and honour a long time at first place.

    Returns:
        The letters; `None` if another process does it.
    """
    ladder = ladders.claim(context.connection, ladder_id, context.now)
    if ladder is None:
        return None
    letters: list[Notification] = []
    for place in ladder_places.silent(context.connection, ladder.id, context.now - SILENT):
        if _has_been_silent(context, ladder, place):
            ladder_places.leave(
                context.connection, ladder.id, place.player_id, "silent", context.now
            )
            words: dict[str, object] = {"event": "silent", "days": SILENT.days}
            letters += _news(context, ladder, place, words)
    ladder_reigns.note_first(context.connection, ladder.id, context.now)
    player_id = ladder_reigns.honour(context.connection, ladder.id, context.now)
    first = ladder_places.places(context.connection, ladder.id, 1, 1)
    if player_id is not None and first:
        letters += _news(
            context, ladder, first[0], {"event": "fame", "days": ladder_reigns.FAME.days}
        )
    ladders.put_off(context.connection, ladder.id, context.now + DAILY)
    return letters


def _has_been_silent(context: CommandContext, ladder: Ladder, place: Place) -> bool:
    """Return whether a player has been silent for too long; absences and outages do not count."""
    last = last_sign(context, place.player_id, place.active_at)
    if last > place.active_at:
        ladder_places.note_active(context.connection, ladder.id, place.player_id, last)
    return silent_time(context, place.player_id, last) >= SILENT
