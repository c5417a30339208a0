"""The box of the day: one for everybody who wants it, at their hour; streaks and a weekly table.

Days are UTC. Box number 1 is that of `FIRST`. What a day's box is, is drawn when the first player
gets it, so nobody can know it before; everybody's board of that day is made of the same words.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from pbmserv.commands.table.model import Daily, Week
from pbmserv.engine.clocks import USUAL
from pbmserv.engine.protocol import races
from pbmserv.engine.referee import Position
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.rng import Rng
from pbmserv.errors import Refused
from pbmserv.service.boards.game_options import read_options
from pbmserv.service.boards.proposals import Proposal, make_board
from pbmserv.service.core.answers import Answer, Part, Told
from pbmserv.service.core.context import Desk
from pbmserv.service.core.lookup import EPOCH, known_game, races_of
from pbmserv.service.time.localtime import next_local, zone
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.operators import audit
from pbmserv.store.solo import dailies
from pbmserv.store.solo.dailies import Reader

FIRST = date(2026, 1, 1)
"""The UTC day of box number 1."""

USUAL_MINUTE = 8 * 60
"""Minute of the local day at which the box comes where no time is named."""

_TIME = re.compile(r"@?([01]?[0-9]|2[0-3])[:.]([0-5][0-9])", re.ASCII)


def day_of(now: datetime) -> int:
    """The UTC day of a moment, as days since 1970."""
    return (now.astimezone(UTC).date() - EPOCH).days


def number_of(day: int) -> int:
    """The number of a day's box."""
    return day - (FIRST - EPOCH).days + 1


def daily(desk: Desk, command: Daily) -> Answer:
    """``game daily userid password [HH:MM|off]``: get the box of the day from now on, or no more.

    Raises:
        Refused: the game has none, or the time is none.
    """
    player = desk.speaker(command.who)
    game = known_game(desk, command.game)
    key = game.info.key
    if not races(game):
        raise Refused("no-daily", part=key, example="list")
    if command.when == "off":
        if not dailies.unsubscribe(desk.connection, player.id, key):
            raise Refused("daily-off", part="off", example=f"{key} daily {player.userid} PASSWORD")
        return Answer((Part("daily-set", {"title": game.info.title, "at": "", "game": key}),))
    minute = _minute(command.when, f"{key} daily {player.userid} PASSWORD 07:30")
    due = next_local(desk.now, zone(player.tz), minute)
    dailies.subscribe(desk.connection, Reader(player.id, key, minute, due))
    words = {
        "title": game.info.title,
        "game": key,
        "at": f"{minute // 60:02}:{minute % 60:02}",
        "tz": player.tz,
        "today": not dailies.has(desk.connection, player.id, key, day_of(desk.now)),
    }
    told: tuple[Told, ...] = ()
    if words["today"] and day_of(due) != day_of(desk.now):  # else this day's would be missed
        told = _give(desk, player, game, day_of(desk.now))
    return Answer((Part("daily-set", words | {"now": bool(told)}),), told)


def make(desk: Desk, player_id: int) -> Sequence[Told] | None:
    """Give a player whose hour has come the box of this UTC day; ``None`` = not ours to do."""
    due = dailies.claim(desk.connection, player_id, desk.now)
    if not due:
        return None
    player = players.by_id(desk.connection, player_id)
    told: list[Told] = []
    for reader in due:
        if player is None or not player.active or reader.game not in desk.rooms.registry:
            dailies.unsubscribe(desk.connection, player_id, reader.game)
            continue
        following = next_local(desk.now, zone(player.tz), reader.minute)
        dailies.set_due(desk.connection, reader, following)
        today = day_of(desk.now)
        away = player.away_until is not None and player.away_until > desk.now
        if away or player.unreachable_since is not None:
            continue
        if dailies.has(desk.connection, player_id, reader.game, today):
            continue
        told += _give(desk, player, known_game(desk, reader.game), today)
    return told


def ended(desk: Desk, board: BoardRow, after: Position) -> dict[str, Any]:
    """What the end of a day's box says; nothing for other boards."""
    game, outcome = after.game, after.outcome
    if board.seats != 1 or outcome is None or not races(game):
        return {}
    one = dailies.of_board(desk.connection, board.id)
    if one is None:
        return {}
    solved = outcome.reason == "solved"
    score = outcome.scores[0] if solved and outcome.scores else None
    dailies.settle(desk.connection, board.id, solved=solved, score=score)
    notes = [note for p in reversed(list(after.backwards())) for note in p.step.notes]
    return {
        "number": number_of(one.day),
        "solved": solved,
        "score": score,
        "shots": game.shots(notes),
        "streak": streak(desk, one.player_id, board.game, one.day) if solved else 0,
    }


def streak(desk: Desk, player_id: int, game: str, day: int) -> int:
    """How many boxes in a row a player has solved, up to and with this day's."""
    days = dailies.days_solved(desk.connection, player_id, game, day)
    return next((n for n, solved in enumerate(days) if solved != day - n), len(days))


def week(desk: Desk, command: Week) -> Answer:
    """``game week``: who has solved how many boxes of this UTC week, and in how many points.

    Most boxes first, then fewest points; equal ones share a place.
    """
    today = day_of(desk.now)
    monday = today - (EPOCH + timedelta(days=today)).weekday()
    parts = []
    for game in races_of(desk, command.game):
        sums: dict[str, tuple[int, int]] = {}
        ids: dict[str, int] = {}
        for one in dailies.between(desk.connection, game.info.key, monday, today):
            boxes, points = sums.get(one.userid, (0, 0))
            solved = (boxes + 1, points + (one.score or 0)) if one.solved else (boxes, points)
            sums[one.userid], ids[one.userid] = solved, one.player_id
        order = sorted(sums, key=lambda name: (-sums[name][0], sums[name][1], name))
        ranks = {name: (-sums[name][0], sums[name][1]) for name in order}
        rows = [
            {
                "rank": 1 + sum(other < ranks[name] for other in ranks.values()),
                "userid": name,
                "boxes": sums[name][0],
                "points": sums[name][1],
                "streak": max(
                    streak(desk, ids[name], game.info.key, day) for day in (today, today - 1)
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
            "number": number_of(today),
        }
        parts.append(Part("week", words))
    if not parts:
        raise Refused("no-daily", part=command.game or "", example="list")
    return Answer(tuple(parts))


def _give(desk: Desk, player: Player, game: AnyGame, day: int) -> tuple[Told, ...]:
    """A board with a day's box, and the letter that brings it."""
    key = game.info.key
    assert races(game)
    if audit.is_closed(desk.connection, key):
        return ()
    rng = Rng(secrets.token_bytes(32), day)
    fresh = game.describe(game.fixed(game.daily(day), rng))
    words = dailies.box(desk.connection, key, day, fresh)
    options, rated = read_options(game, words, 1, key, key)
    proposal = Proposal(game, options, rated, USUAL, (player,))
    board = make_board(desk, proposal, {player.id})
    dailies.given(desk.connection, player.id, key, day, board.id)
    about = {"number": number_of(day), "day": f"{EPOCH + timedelta(days=day):%Y-%m-%d}"}
    part = Part("daily", about, board.id, 0, board.sitters[0].seat, board.thread)
    return (replace(Told.sitter(board.sitters[0], part), digest=False),)


def _minute(text: str, example: str) -> int:
    if not text:
        return USUAL_MINUTE
    found = _TIME.fullmatch(text)
    if found is None:
        raise Refused("daily-time", part=text[:20], example=example)
    return int(found[1]) * 60 + int(found[2])
