"""The box of the day, its streaks and weekly table; and the scores of races and solo games.

Days are UTC. Box number 1 is that of `pbmserv.store.solo.FIRST`. What a day's box is, is drawn when
the first player gets it, so nobody can know it before; everybody's board of that day is made of the
same words.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from pbmserv.commands.grammar.words import OFF
from pbmserv.commands.table.looking import Scores, Week
from pbmserv.commands.table.starting import Daily
from pbmserv.engine.clocks import USUAL, zone
from pbmserv.engine.protocol import races
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import Rng
from pbmserv.errors import OptionError, Refused
from pbmserv.service.boards.proposals import Proposal, make_board, read_options
from pbmserv.service.boards.score_keeping import grade_of, streak
from pbmserv.service.core import contact
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game, races_of
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.time.localtime import minute_of_day, next_local
from pbmserv.store import solo
from pbmserv.store.accounts import persons, players, preferences
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import closed_games
from pbmserv.store.solo import EPOCH, Reader

USUAL_MINUTE = 8 * 60
"""Minute of the local day at which the box comes where no time is named."""


def day_of(now: datetime) -> int:
    """The UTC day of a moment, as days since 1970."""
    return (now.astimezone(UTC).date() - EPOCH).days


def daily(context: CommandContext, command: Daily) -> Answer:
    """``game daily userid password [HH:MM|off]``: get the box of the day from now on, or no more.

    Without an hour it comes when it came before.

    Raises:
        Refused: the game has none, or the time is none.
    """
    player = context.speaker(command.who)
    game = known_game(context, command.game)
    key = game.info.key
    if not races(game):
        raise Refused("no-daily", part=key, example="list")
    before = solo.minute_of(context.connection, player.id, key)
    if command.when in OFF:
        if before is None:
            raise Refused("daily-off", part="off", example=f"{key} daily {player.userid} PASSWORD")
        solo.unsubscribe(context.connection, player.id, key)
        ended = {"title": game.info.title, "at": "", "game": key, "before": _clock(before)}
        return Answer((Part("daily-set", ended),))
    usual = USUAL_MINUTE if before is None else before
    example = f"{key} daily {player.userid} PASSWORD TIME"
    minute = _minute(command.when, example) if command.when else usual
    due = next_local(context.now, zone(player.tz), minute)
    solo.subscribe(context.connection, Reader(player.id, key, minute, due))
    today = day_of(context.now)
    has_box = solo.has_daily(context.connection, player.id, key, today)
    has_tried = _has_tried(context, player, key, today)
    told: tuple[Notification, ...] = ()
    if not has_tried and day_of(due) != today:  # else this day's would be missed
        told = _give(context, player, game, today)
    words = {
        "title": game.info.title,
        "game": key,
        "at": _clock(minute),
        "tz": player.tz,
        "now": bool(told),
        "by_other_name": has_tried and not has_box,
    }
    return Answer((Part("daily-set", words),), told)


def make(context: CommandContext, player_id: int) -> Sequence[Notification] | None:
    """Give a player whose hour has come the box of this UTC day; ``None`` = not ours to do."""
    due = solo.claim_dailies(context.connection, player_id, context.now)
    if not due:
        return None
    player = players.by_id(context.connection, player_id)
    told: list[Notification] = []
    for reader in due:
        if player is None or not player.active or reader.game not in context.services.registry:
            solo.unsubscribe(context.connection, player_id, reader.game)
            continue
        following = next_local(context.now, zone(player.tz), reader.minute)
        solo.set_daily_due(context.connection, reader, following)
        today = day_of(context.now)
        absences = preferences.absences_of(context.connection, player_id)
        is_away = preferences.absence_at(absences, context.now) is not None
        if is_away or player.unreachable_since is not None:
            continue
        if _has_tried(context, player, reader.game, today):
            continue
        told += _give(context, player, known_game(context, reader.game), today)
    return told


def week(context: CommandContext, command: Week) -> Answer:
    """``game week``: who has solved how many boxes of this UTC week, and in how many points.

    Most boxes first, then fewest points; equal ones share a place.
    """
    today = day_of(context.now)
    monday = today - (EPOCH + timedelta(days=today)).weekday()
    parts = []
    for game in races_of(context, command.game):
        sums: dict[str, tuple[int, int]] = {}
        ids: dict[str, int] = {}
        for one in solo.dailies_between(context.connection, game.info.key, monday, today):
            boxes, points = sums.get(one.userid, (0, 0))
            solved = (boxes + 1, points + (one.score or 0)) if one.solved else (boxes, points)
            sums[one.userid], ids[one.userid] = solved, one.player_id
        ordered = sorted(sums, key=lambda name: (-sums[name][0], sums[name][1], name))
        lines = [_WeekLine(ids[name], name) for name in ordered]
        order = [line.userid for line in persons.each_once(context.connection, lines)]
        ranks = {name: (-sums[name][0], sums[name][1]) for name in order}
        rows = [
            {
                "rank": 1 + sum(other < ranks[name] for other in ranks.values()),
                "userid": name,
                "boxes": sums[name][0],
                "points": sums[name][1],
                "streak": max(
                    streak(context, ids[name], game.info.key, day) for day in (today, today - 1)
                ),
            }
            for name in order
        ]
        first = EPOCH + timedelta(days=monday)
        words = {
            "title": game.info.title,
            "game": game.info.key,
            "rows": rows,
            "first": f"{first:%Y-%m-%d}",
            "number": solo.number_of(today),
        }
        parts.append(Part("week", words))
    if not parts:
        raise Refused("no-daily", part=command.game or "", example="list")
    return Answer(tuple(parts))


@dataclass(frozen=True, slots=True)
class _WeekLine:
    """A name in the table of a week."""

    player_id: int
    userid: str


def _has_tried(context: CommandContext, player: Player, key: str, day: int) -> bool:
    """Whether a player has got a day's box, under whatever name or address.

    A name that has been deleted, or has another address since, has had its try as well.
    """
    names = persons.names_of(context.connection, player.id)
    return solo.has_tried(context.connection, names, contact.marks_of(context, names), key, day)


def best_of_day(context: CommandContext, key: str, day: int, most: int) -> list[solo.DayBoard]:
    """Return the best boards of a day's box, one of each person."""
    read = partial(solo.best_of_day, context.connection, key, day)
    return persons.first_each_once(context.connection, read, most)


def _give(
    context: CommandContext, player: Player, game: AnyGame, day: int
) -> tuple[Notification, ...]:
    """A board with a day's box, and the letter that brings it."""
    key = game.info.key
    assert races(game)
    if closed_games.is_closed(context.connection, key):
        return ()
    names = persons.names_of(context.connection, player.id)
    if not solo.try_daily(context.connection, key, day, contact.newest_marks_of(context, names)):
        return ()  # another name of the same person was quicker
    words = solo.box_of(context.connection, key, day)
    if words is None:
        rng = Rng(secrets.token_bytes(32), day)
        fresh = game.describe(game.fixed(game.daily(day), rng))
        words = solo.daily_box(context.connection, key, day, fresh)
    options, rated = read_options(game, words, 1, key, key)
    proposal = Proposal(game, options, rated, USUAL, (player,))
    board = make_board(context, proposal, {player.id})
    solo.give_daily(context.connection, player.id, key, day, board.id)
    best = best_of_day(context, key, day - 1, BEST_OF_DAY)
    about = {
        "number": solo.number_of(day),
        "day": f"{EPOCH + timedelta(days=day):%Y-%m-%d}",
        "grade": grade_of(game, words),
        "best": [{name: row[name] for name in ("rank", "userid", "points")} for row in table(best)],
    }
    part = Part("daily", about, board.id, 0, board.sitters[0].seat, board.thread)
    return (replace(Notification.sitter(board.sitters[0], part), digest=False),)


def table(best: Sequence[solo.DayBoard]) -> list[dict[str, Any]]:
    """Lines of a day's table, the best first; equal points share a rank."""
    return [
        {
            "rank": 1 + sum(better.score != one.score for better in best[:at]),
            "userid": one.userid,
            "points": one.score,
            "board": one.board_id,
        }
        for at, one in enumerate(best)
    ]


def _clock(minute: int) -> str:
    """A minute of the day as people write it."""
    return f"{minute // 60:02}:{minute % 60:02}"


def _minute(text: str, example: str) -> int:
    minute = minute_of_day(text)
    if minute is None:
        raise Refused("daily-time", part=text[:20], example=example)
    return minute


BEST = 20
"""Lines of a list."""

BEST_OF_DAY = 5
"""Players in the table of yesterday's box."""

KINDS = 5
"""Kinds of boards whose scores are listed in an answer to who names none."""

NAMED = 30
"""Kinds of boards that such an answer names."""


def show_scores(context: CommandContext, command: Scores) -> Answer:
    """``game scores [kind]``: the best of one kind of board, or of those most played."""
    parts = []
    for game in races_of(context, command.game):
        key = game.info.key
        try:
            wanted = game.read_kind(command.kind) if command.kind else ""
        except OptionError as error:
            example = f"{key} scores {error.refusal.example}"
            context.echo_hidden = not command.kind[:1].isdigit()  # "scores alice secret"
            part = "" if context.echo_hidden else command.kind
            raise OptionError(
                error.refusal.code, part=part, example=example, **error.refusal.values
            ) from error
        there = [] if wanted else solo.score_kinds(context.connection, key, NAMED)
        kinds = [wanted] if wanted else [kind for kind, _ in there[:KINDS]]
        lists = [
            {
                "kind": kind,
                "rows": [
                    {
                        "rank": rank,
                        "userid": line.userid,
                        "score": line.score,
                        "board": line.board,
                        "ended": f"{line.ended_at:%Y-%m-%d}",
                    }
                    for rank, line in _ranked(solo.best_scores(context.connection, key, kind, BEST))
                ],
            }
            for kind in kinds
        ]
        words = {
            "game": key,
            "title": game.info.title,
            "kind": wanted,
            "lists": lists,
            "kinds": [{"kind": kind, "count": count} for kind, count in there],
        }
        parts.append(Part("scores", words))
    if not parts:
        raise Refused("no-scores", part=command.game or "", example="list")
    return Answer(tuple(parts))


def _ranked(lines: list[solo.ScoreLine]) -> list[tuple[int, solo.ScoreLine]]:
    """Places, equal scores sharing one."""
    return [
        (1 + sum(other.score < line.score for other in lines[:place]), line)
        for place, line in enumerate(lines)
    ]
