"""The box of the day, its streaks and its weekly table.

Days are UTC. Box number 1 is the one of `store.shared_boxes.day_numbers.FIRST`. A box is drawn when
the first player gets it, so that nobody can know it before.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from pbmserv.commands.grammar.word_forms import OFF
from pbmserv.commands.table.looking import Week
from pbmserv.commands.table.starting import Daily
from pbmserv.engine.clocks import USUAL
from pbmserv.engine.protocol import races
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.rng import Rng
from pbmserv.engine.time_spans import zone
from pbmserv.errors import Refused
from pbmserv.service.boards.score_keeping import grade_of, streak
from pbmserv.service.boards.shared_boards import deal
from pbmserv.service.core import contact
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game, races_asked_about
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.solo.ranks import ranks
from pbmserv.service.time.localtime import clock_time, minute_of_day, next_local
from pbmserv.store.accounts import absences as absence_rows
from pbmserv.store.accounts import persons, players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import closed_games, game_pauses
from pbmserv.store.shared_boxes import daily_boxes, daily_readers, day_numbers, shared_boxes
from pbmserv.store.shared_boxes.daily_readers import Reader
from pbmserv.store.shared_boxes.day_numbers import EPOCH, date_of
from pbmserv.store.shared_boxes.shared_boxes import SharedBoard

USUAL_MINUTE = 8 * 60
"""The minute of the local day at which the box comes by default."""

BEST_OF_DAY = 5
"""Players in the table of yesterday's box."""


def day_of(now: datetime) -> int:
    """Return the UTC day of a moment, in days since 1970."""
    return (now.astimezone(UTC).date() - EPOCH).days


def daily(context: CommandContext, command: Daily) -> Answer:
    """``game daily userid password [HH:MM|off]``: subscribe to the box of the day, or unsubscribe.

    Without a time, the previous time remains.

    Raises:
        Refused: the game has no box of the day, or the time is wrong.
    """
    player = context.speaker(command.credentials)
    game = known_game(context, command.game)
    key = game.info.key
    if not races(game):
        raise Refused("no-daily", part=key, example="list")
    before = daily_readers.minute_of(context.connection, player.id, key)
    if command.text in OFF:
        if before is None:
            raise Refused("daily-off", part="off", example=f"{key} daily {player.userid} PASSWORD")
        daily_readers.unsubscribe(context.connection, player.id, key)
        ended = {"title": game.info.title, "at": "", "before": clock_time(before)}
        return Answer((Part("daily-set", ended),))
    usual = USUAL_MINUTE if before is None else before
    example = f"{key} daily {player.userid} PASSWORD TIME"
    minute = _minute(command.text, example) if command.text else usual
    due = next_local(context.now, zone(player.tz), minute)
    daily_readers.subscribe(context.connection, Reader(player.id, key, minute, due))
    today = day_of(context.now)
    has_box = daily_boxes.first_try(context.connection, {player.id}, key, today) is not None
    has_tried = _has_tried(context, player, key, today)
    notifications: tuple[Notification, ...] = ()
    if not has_tried and day_of(due) != today:  # otherwise the player would miss today's box
        notifications = _give(context, player, game, today)
    words = {
        "title": game.info.title,
        "at": clock_time(minute),
        "tz": player.tz,
        "now": bool(notifications),
        "by_other_name": has_tried and not has_box,
    }
    return Answer((Part("daily-set", words),), notifications)


def give_due_boxes(context: CommandContext, player_id: int) -> Sequence[Notification] | None:
    """Give a player the due boxes of this UTC day. Return `None` if another process does it."""
    due = daily_readers.claim(context.connection, player_id, context.now)
    if not due:
        return None
    player = players.by_id(context.connection, player_id)
    notifications: list[Notification] = []
    for reader in due:
        if player is None or not player.active or reader.game not in context.services.registry:
            daily_readers.unsubscribe(context.connection, player_id, reader.game)
            continue
        following = next_local(context.now, zone(player.tz), reader.minute)
        daily_readers.set_due(context.connection, reader, following)
        today = day_of(context.now)
        absences = absence_rows.of_player(context.connection, player_id)
        is_away = absence_rows.at(absences, context.now) is not None
        if is_away or player.unreachable_since is not None:
            continue
        if _has_tried(context, player, reader.game, today):
            continue
        notifications += _give(context, player, known_game(context, reader.game), today)
    return notifications


def week(context: CommandContext, command: Week) -> Answer:
    """``game week``: show the solved boxes and the points of each player in this UTC week.

    Players with most boxes come first, then those with fewest points. Equal players share a place.
    """
    today = day_of(context.now)
    monday = today - (EPOCH + timedelta(days=today)).weekday()
    parts = []
    for game in races_asked_about(context, command.game):
        lines = _week_lines(context, game.info.key, monday, today)
        rows = [
            {
                "rank": rank,
                "userid": line.userid,
                "boxes": line.boxes,
                "points": line.points,
                "streak": max(
                    streak(context, line.player_id, game.info.key, day)
                    for day in (today, today - 1)
                ),
            }
            for rank, line in zip(ranks([line.standing for line in lines]), lines, strict=True)
        ]
        words = {
            "title": game.info.title,
            "game": game.info.key,
            "rows": rows,
            "first": date_of(monday),
            "number": day_numbers.number_of(today),
        }
        parts.append(Part("week", words))
    if not parts:
        raise Refused("no-daily", part=command.game or "", example="list")
    return Answer(tuple(parts))


@dataclass(slots=True)
class _WeekLine:
    """A player's line in the table of a week: the number of solved boxes, and their points."""

    player_id: int
    userid: str
    boxes: int = 0
    points: int = 0

    @property
    def standing(self) -> tuple[int, int]:
        """A value by which lines are sorted, the best player first."""
        return -self.boxes, self.points


def _week_lines(context: CommandContext, key: str, first: int, last: int) -> list[_WeekLine]:
    """Return the table of some days, the best player first, and one line of each person."""
    lines: dict[int, _WeekLine] = {}
    for row in daily_boxes.dailies_between(context.connection, key, first, last):
        line = lines.setdefault(row.player_id, _WeekLine(row.player_id, row.userid))
        if row.solved:
            line.boxes += 1
            line.points += row.score or 0
    ordered = sorted(lines.values(), key=lambda line: (line.standing, line.userid))
    return persons.each_once(context.connection, ordered)


def _has_tried(context: CommandContext, player: Player, key: str, day: int) -> bool:
    """Return whether a player had a day's box under any userid or address.

    Deleted userids and former addresses count as well.
    """
    own_ids = persons.ids_of_person(context.connection, player.id)
    return daily_boxes.has_tried(
        context.connection, own_ids, contact.marks_of(context, own_ids), key, day
    )


def best_of_day(context: CommandContext, key: str, day: int, most: int) -> list[SharedBoard]:
    """Return the best boards of a day's box, one of each person."""
    read = partial(daily_boxes.best_of_day, context.connection, key, day)
    return persons.first_each_once(context.connection, read, most)


def _give(
    context: CommandContext, player: Player, game: AnyGame, day: int
) -> tuple[Notification, ...]:
    """Create a player's board with a day's box, and return its letter."""
    key = game.info.key
    assert races(game)
    if closed_games.is_closed(context.connection, key) or key in game_pauses.stopped(
        context.connection
    ):
        return ()
    own_ids = persons.ids_of_person(context.connection, player.id)
    if not daily_boxes.try_daily(
        context.connection, key, day, contact.newest_marks_of(context, own_ids)
    ):
        return ()  # another userid of the same person got it first
    box = daily_boxes.of_day(context.connection, key, day)
    if box is None:
        rng = Rng(secrets.token_bytes(32), day)
        fresh = game.describe(game.fixed(game.daily(day), rng))
        box = shared_boxes.add(context.connection, key, fresh, day=day)
    board = deal(context, box, player, USUAL)
    shared_boxes.give(context.connection, box.id, [player.id], board.id)
    best = best_of_day(context, key, day - 1, BEST_OF_DAY)
    values = {
        "number": day_numbers.number_of(day),
        "day": date_of(day),
        "grade": grade_of(game, box.options),
        "best": [{name: row[name] for name in ("rank", "userid", "points")} for row in table(best)],
    }
    part = Part("daily", values, board.id, 0, board.sitters[0].seat, board.thread)
    return (replace(Notification.sitter(board.sitters[0], part), digest=False),)


def table(best: Sequence[SharedBoard]) -> list[dict[str, Any]]:
    """Return the lines of a day's table, the best first."""
    return [
        {
            "rank": rank,
            "userid": board.userid,
            "points": board.score,
            "board": board.board_id,
        }
        for rank, board in zip(ranks([board.score for board in best]), best, strict=True)
    ]


def _minute(text: str, example: str) -> int:
    minute = minute_of_day(text)
    if minute is None:
        raise Refused("daily-time", part=text[:20], example=example)
    return minute
