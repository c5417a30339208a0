"""The archive of the boxes of the day: a list of days, and the table of each day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, TypeAlias

from pbmserv.engine.clocks import USUAL
from pbmserv.engine.position import opening
from pbmserv.engine.protocol import Drawable
from pbmserv.engine.record import GameRecord
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import Drawing, Seat
from pbmserv.letters.scene import BoardScene, board_scene
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import races_of
from pbmserv.service.solo.daily_box import best_of_day, day_of, grade_of, table
from pbmserv.store import solo
from pbmserv.store.solo import EPOCH, number_of

Words: TypeAlias = Mapping[str, Any]

DAYS = 60
"""Days in the list of the archive. Older days also have pages."""

TABLE = 200
"""The most lines of a day's table."""


@dataclass(frozen=True, slots=True)
class Dailies:
    """The boxes of the day of a game.

    Attributes:
        title, key: title and key of the game.
        days: number, day, grade, and the numbers of players and of solvers of each box.
    """

    title: str
    key: str
    days: Sequence[tuple[int, str, str, int, int]]


@dataclass(frozen=True, slots=True)
class DailyTable:
    """One box of the day.

    Attributes:
        title, key: title and key of the game.
        number: the number of the box.
        day: the day in ISO 8601.
        grade: the grade, ``""`` for none.
        rows: rank, userid, points and board of each solver, by points.
        unsolved: the number of finished boards without a solution.
        running: the number of running boards.
        is_today: whether players can still get the box.
        scene, drawing: the opened box, `None` while it is hidden or if the game has no drawings.
        before, after: the numbers of its neighbours in the archive, 0 for none.
    """

    title: str
    key: str
    number: int
    day: str
    grade: str
    rows: Sequence[Words]
    unsolved: int
    running: int
    is_today: bool
    scene: BoardScene | None
    before: int
    after: int
    drawing: Drawing | None = None

    draft: ClassVar[str] = ""
    at_once: ClassVar[bool] = False
    is_running: ClassVar[bool] = False

    @property
    def now(self) -> Any:
        """The view of the opened box, `None` while it is hidden."""
        return self.scene.view if self.scene else None


def dailies(context: CommandContext) -> list[Dailies]:
    """Return the boxes of the last days of each game."""
    today = day_of(context.now)
    return [
        Dailies(
            game.info.title,
            game.info.key,
            [
                (number_of(day), _date(day), grade_of(game, words), count, solved)
                for day, words, count, solved in solo.days(
                    context.connection, game.info.key, today, DAYS
                )
            ],
        )
        for game in races_of(context, None)
    ]


def daily(context: CommandContext, number: int) -> DailyTable | None:
    """Return the box with a number in the first game that had it, `None` if there is none."""
    connection, today = context.connection, day_of(context.now)
    day = solo.day_of_number(number)
    for game in races_of(context, None):
        key = game.info.key
        words = solo.box_of(connection, key, day) if day <= today else None
        if words is None:
            continue
        boards = solo.boards_of_day(connection, key, day)
        best = best_of_day(context, key, day, TABLE)
        is_shut = day == today or solo.still_run(connection, key, day)
        days = solo.neighbours(connection, key, day)
        scene = None if is_shut else _opened(game, words)
        return DailyTable(
            title=game.info.title,
            key=key,
            number=number,
            day=_date(day),
            grade=grade_of(game, words),
            rows=table(best),
            unsolved=boards.get(False, 0),
            running=boards.get(None, 0),
            is_today=day == today,
            scene=scene,
            drawing=_drawing(game, scene),
            before=number_of(days[0]) if days[0] is not None else 0,
            after=number_of(days[1]) if days[1] is not None else 0,
        )
    return None


def _opened(game: AnyGame, words: Sequence[str]) -> BoardScene:
    """Return an untouched box with its hidden facts shown."""
    record = GameRecord(game.info.key, game.info.rules_version, 1, tuple(words), b"")
    return board_scene(
        opening(game, record).withdraw(Seat(0)),
        number=0,
        names=("the box",),
        options=(),
        rated=False,
        terms=USUAL,
        seat=None,
        own_move=True,
        daily=0,
    )


def _drawing(game: AnyGame, scene: BoardScene | None) -> Drawing | None:
    if scene is None or not isinstance(game, Drawable):
        return None
    return game.drawing(scene.view, Seat(0), scene.view)


def _date(day: int) -> str:
    return f"{EPOCH + timedelta(days=day):%Y-%m-%d}"
