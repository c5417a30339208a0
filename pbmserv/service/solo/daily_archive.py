"""The archive of the boxes of the day, for the public pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from pbmserv.engine.position import opening
from pbmserv.engine.protocol import Drawable
from pbmserv.engine.record import GameRecord
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import Drawing
from pbmserv.service.boards.score_keeping import grade_of
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import races_of
from pbmserv.service.solo.daily_box import best_of_day, day_of, table
from pbmserv.service.solo.solo_page import SOLO_SEAT, solo_scene
from pbmserv.store.shared_boxes import daily_boxes, day_numbers, shared_boxes
from pbmserv.store.shared_boxes.day_numbers import date_of, number_of
from pbmserv.views.board import BoardScene
from pbmserv.views.names import public_names
from pbmserv.views.public_facts import DailyLine

DAYS = 60
"""Days of the archive's list; older ones have their pages, too."""
TABLE = 200
"""Most lines of a day's table."""


class ArchivedBox(NamedTuple):
    """A line of the archive's list.

    Attributes:
        day: in ISO 8601.
        grade: how hard the box is; ``""`` if that is unknown.
        players: number of players who have got it.
        solved: number of players who have solved it.
    """

    number: int
    day: str
    grade: str
    players: int
    solved: int


@dataclass(frozen=True, slots=True)
class Dailies:
    """A game and its boxes of the day, the newest first."""

    title: str
    key: str
    days: Sequence[ArchivedBox]


@dataclass(frozen=True, slots=True)
class DailyTable:
    """One box of the day.

    Attributes:
        day: in ISO 8601.
        grade: how hard the box is; ``""`` if that is unknown.
        rows: the players who solved it, by points.
        unsolved: number of players who finished without solving it.
        running: number of players who still play it.
        is_today: whether players may still get it.
        scene: the opened box; `None` while it stays shut.
        before, after: numbers of the previous and the next box of the archive; 0 for none.
        drawing: of the opened box; `None` while it stays shut, or if the game draws none.
    """

    title: str
    key: str
    number: int
    day: str
    grade: str
    rows: Sequence[DailyLine]
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
        """The view."""
        return self.scene.view if self.scene else None


def dailies(context: CommandContext) -> list[Dailies]:
    """Return each game with its newest boxes of the day."""
    today = day_of(context.now)
    return [
        Dailies(
            game.info.title,
            game.info.key,
            [
                ArchivedBox(number_of(day), date_of(day), grade_of(game, words), players, solved)
                for day, words, players, solved in daily_boxes.days(
                    context.connection, game.info.key, today, DAYS
                )
            ],
        )
        for game in races_of(context, None)
    ]


def daily_table(context: CommandContext, number: int) -> DailyTable | None:
    """Return a box of the day, of the first game that has dealt it; `None` if none has."""
    connection, today = context.connection, day_of(context.now)
    day = day_numbers.day_of_number(number)
    for game in races_of(context, None):
        key = game.info.key
        box = daily_boxes.of_day(connection, key, day) if day <= today else None
        if box is None:
            continue
        boards = daily_boxes.boards_of_day(connection, key, day)
        best = best_of_day(context, key, day, TABLE)
        names = public_names(connection, {line.userid for line in best})
        is_shut = day == today or shared_boxes.is_played(connection, box.id)
        days = daily_boxes.neighbours(connection, key, day)
        scene = None if is_shut else _opened(game, box.options)
        return DailyTable(
            title=game.info.title,
            key=key,
            number=number,
            day=date_of(day),
            grade=grade_of(game, box.options),
            rows=[
                DailyLine(**{**line, "userid": names.of(line["userid"])}) for line in table(best)
            ],
            unsolved=boards.get(False, 0),
            running=boards.get(None, 0),
            is_today=day == today,
            scene=scene,
            drawing=_drawing(game, scene),
            before=number_of(days[0]) if days[0] is not None else 0,
            after=number_of(days[1]) if days[1] is not None else 0,
        )
    return None


def open_tables(context: CommandContext, most: int) -> list[DailyTable]:
    """Return the newest boxes of the day that are open, newest first, at most *most*."""
    numbers = [box.number for game in dailies(context) for box in game.days[: most + 1]]
    tables = (daily_table(context, number) for number in dict.fromkeys(numbers))
    return [table for table in tables if table is not None and table.scene is not None][:most]


def _opened(game: AnyGame, words: Sequence[str]) -> BoardScene:
    """Return an untouched box that shows its atoms."""
    record = GameRecord(game.info.key, game.info.rules_version, 1, tuple(words), b"")
    return solo_scene(opening(game, record).withdraw(SOLO_SEAT), "the box", seat=None)


def _drawing(game: AnyGame, scene: BoardScene | None) -> Drawing | None:
    if scene is None or not isinstance(game, Drawable):
        return None
    return game.drawing(scene.view, SOLO_SEAT, scene.view)
