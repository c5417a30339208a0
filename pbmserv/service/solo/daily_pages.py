"""Pages of the boxes of the day: the guests' box, and the archive of the members'.

Guests play the guest box on its page, and the server stores nothing about them.

The page's form carries the moves so far, signed; each look plays them again. Going back in the
browser takes moves back, and nothing can prevent that. So the guest box is not the box of the
table: it has the same rules and other atoms, and nothing that guests find out helps there.
"""

from __future__ import annotations

import asyncio
import hmac
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, ClassVar, TypeAlias, TypeGuard

from pbmserv.clock import Clock
from pbmserv.engine.clocks import USUAL
from pbmserv.engine.position import Position, opening
from pbmserv.engine.protocol import Drawable, RacingGame, Tappable, races
from pbmserv.engine.record import GameRecord
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import Drawing, Rng, Seat
from pbmserv.errors import MoveError
from pbmserv.service.boards.score_keeping import grade_of
from pbmserv.service.core.context import CommandContext, Services
from pbmserv.service.core.lookup import races_of
from pbmserv.service.solo.daily_box import best_of_day, day_of, table
from pbmserv.service.solo.solo_page import (
    LONGEST_TAP,
    SOLO_SEAT,
    SoloLook,
    SoloPage,
    solo_fields,
    tapped_position,
)
from pbmserv.store import shared_boxes
from pbmserv.store.shared_boxes import EPOCH, number_of
from pbmserv.views.board import BoardScene, board_scene
from pbmserv.views.names import public_names
from pbmserv.views.public import DailyLine
from pbmserv.views.texts import refusal_sentence

Words: TypeAlias = Mapping[str, Any]

LONGEST_STATE = 6_000
"""Characters of what a form carries; a longer one is not ours."""
MOST_MOVES = 200
"""Rays, markers and guesses on one box; far more than it has ports and cells."""
KEPT_DAYS = 60
"""For how many days a game that was begun can be continued."""
KEPT_BOXES = 100
"""Boxes that stay in memory."""
DAYS = 60
"""Days of the archive's list; older ones have their pages, too."""
TABLE = 200
"""Lines of a day's table."""
_MAC = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestLook(SoloLook):
    """A guest's request for the box.

    Attributes:
        state: the form's field; ``""`` for a new game. It may be forged.
        tap: the spot that the guest taps; ``""`` for none.
        restart: the guest asks to begin again, and has not confirmed it yet.
    """

    state: str = ""
    tap: str = ""
    restart: bool = False

    @property
    def is_first(self) -> bool:
        """Whether the request asks for nothing special, so that everybody gets the same page."""
        return self == GuestLook()


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestPage(SoloPage):
    """The guest box as its page shows it.

    Attributes:
        number: the number of the day.
        day: the day in ISO 8601.
        state: the form's field, which holds the game so far. The page's address with it brings the
            game back.
        start: the state of the same box before the first move; ``""`` for today's box.
        is_today: whether the box is today's.
        shots: the results of the rays so far, one mark each.
        anew: the state of the request was invalid, so a new game begins.
        full: the state has room only for a move that ends the game.
        asks: the page asks whether to begin again.
    """

    number: int
    day: str
    state: str
    start: str = ""
    is_today: bool = True
    shots: tuple[str, ...] = ()
    anew: bool = False
    full: bool = False
    asks: bool = False


@dataclass(frozen=True, slots=True)
class Dailies:
    """A game's boxes of the day: (number, day, grade, how many have got it, have solved it)."""

    title: str
    key: str
    days: Sequence[tuple[int, str, str, int, int]]


@dataclass(frozen=True, slots=True)
class DailyTable:
    """One box of the day.

    Attributes:
        grade: how hard it is; "" = nobody knows.
        rows: the players who solved it, by points.
        unsolved: how many have come to an end without.
        running: how many still play it.
        is_today: somebody may get it yet.
        scene, drawing: the box, opened; ``None`` while it stays shut (or the game draws none).
        before, after: numbers of its neighbours in the archive; 0 for none.
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


class GuestBoxes:
    """Deals the guest box of each UTC day, to anybody.

    The box comes from a secret of the server and the day, so it is the same for all, nobody can
    know it before, and no table of the store has it.
    """

    def __init__(self, services: Services, clock: Clock) -> None:
        self._ring = services.mail_domain.ring
        self._clock = clock
        self._openings: dict[tuple[int, int], Position] = {}
        self._game = next((game for game in services.registry if _is_playable(game)), None)

    async def page(self, look: GuestLook) -> GuestPage | None:
        """Return the box after one more tap; ``None`` if no game here has a box of the day."""
        if self._game is None:
            return None
        opening = day_of(self._clock.now()), max(self._ring.keys)
        if opening in self._openings and look.is_first:
            return self._page(self._game, look)
        return await asyncio.to_thread(self._page, self._game, look)

    def _page(self, game: RacingGame, look: GuestLook) -> GuestPage:
        today = day_of(self._clock.now())
        carried = self._read(look.state, game.info.key, today)
        day, number, moves = carried or (today, max(self._ring.keys), ())
        position = self._opening(game, day, number)
        for text in moves:
            view = game.view(position.state, SOLO_SEAT)
            position = position.move(SOLO_SEAT, game.parse(view, text))
        trouble, anew = "", bool(look.state) and carried is None
        full = position.number >= MOST_MOVES or len(look.state) > LONGEST_STATE - LONGEST_TAP
        is_newest = look.step is None or look.step >= position.number
        if look.tap and is_newest and position.outcome is None and not anew:
            try:
                after = tapped_position(game, position, look.tap)
                if not full or after.outcome is not None:  # a last guess has room
                    position = after
            except MoveError as error:
                trouble = refusal_sentence(error.refusal, on_page=True)
        tap = look.tap or ("tool" if look.take else "")
        plies = position.after(0)
        written = partial(self._written, game.info.key, day, number)
        return GuestPage(
            **solo_fields(position, look, tap, trouble),
            number=number_of(day),
            day=f"{EPOCH + timedelta(days=day):%Y-%m-%d}",
            state=written([after.ply.text for after in plies if after.ply is not None]),
            start="" if day == today else written([]),
            is_today=day == today,
            shots=game.shots([note for after in plies for note in after.step.notes]),
            anew=anew,
            full=full,
            asks=look.restart and is_newest and position.number > 0,
        )

    def _opening(self, game: RacingGame, day: int, number: int) -> Position:
        """The box of a day, by one of the server's keys."""
        _, seed = self._ring.secret(f"guest box of {game.info.key}", number)
        box = self._openings.get((day, number))
        if box is None:  # to find a box as hard as the day's takes time
            words = game.describe(game.fixed(game.daily(day), Rng(seed, day)))
            record = GameRecord(game.info.key, game.info.rules_version, 1, words, seed)
            box = opening(game, record)
            newest = list(self._openings.items())[1 - KEPT_BOXES :]
            self._openings = {**dict(newest), (day, number): box}  # other threads read the old
        return box

    # -- what the form carries -------------------------------------------------------------

    def _written(self, key: str, day: int, number: int, moves: list[str]) -> str:
        """The moves, and what they belong to, signed."""
        packed = bytes((number,)) + zlib.compress("\n".join((key, str(day), *moves)).encode(), 9)
        return urlsafe_b64encode(packed + self._mac(packed)).decode("ascii")

    def _read(self, state: str, key: str, today: int) -> tuple[int, int, tuple[str, ...]] | None:
        """Return a state's day, the id of its key and its moves.

        ``None`` if the state is not one of ours, or more than `KEPT_DAYS` old.
        """
        if not state or len(state) > LONGEST_STATE or not state.isascii():
            return None
        try:
            signed = urlsafe_b64decode(state)
        except ValueError:
            return None
        packed = signed[:-_MAC]
        if len(packed) < 2 or packed[0] not in self._ring.keys:
            return None
        if urlsafe_b64encode(signed).decode("ascii") != state:  # only one spelling counts
            return None
        if not hmac.compare_digest(signed[-_MAC:], self._mac(packed)):
            return None
        game, day, *moves = zlib.decompress(packed[1:]).decode().split("\n")
        if game != key or not today - KEPT_DAYS <= int(day) <= today:
            return None
        return int(day), packed[0], tuple(moves)

    def _mac(self, packed: bytes) -> bytes:
        _, key = self._ring.secret("state of a guest", packed[0])
        return hmac.digest(key, packed, "sha256")[:_MAC]


def _is_playable(game: object) -> TypeGuard[RacingGame]:
    """Whether a game has a box of the day, and a page on which it is played."""
    return races(game) and isinstance(game, Tappable)


# -- boxes of the day ----------------------------------------------------------------------


def dailies(context: CommandContext) -> list[Dailies]:
    today = day_of(context.now)
    return [
        Dailies(
            game.info.title,
            game.info.key,
            [
                (number_of(day), _date(day), grade_of(game, words), count, solved)
                for day, words, count, solved in shared_boxes.days(
                    context.connection, game.info.key, today, DAYS
                )
            ],
        )
        for game in races_of(context, None)
    ]


def daily(context: CommandContext, number: int) -> DailyTable | None:
    """The first game that has dealt this box."""
    connection, today = context.connection, day_of(context.now)
    day = shared_boxes.day_of_number(number)
    for game in races_of(context, None):
        key = game.info.key
        box = shared_boxes.of_day(connection, key, day) if day <= today else None
        if box is None:
            continue
        boards = shared_boxes.boards_of_day(connection, key, day)
        best = best_of_day(context, key, day, TABLE)
        names = public_names(connection, {line.userid for line in best})
        is_shut = day == today or shared_boxes.is_played(connection, box.id)
        days = shared_boxes.neighbours(connection, key, day)
        scene = None if is_shut else _opened(game, box.options)
        return DailyTable(
            title=game.info.title,
            key=key,
            number=number,
            day=_date(day),
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


def _opened(game: AnyGame, words: Sequence[str]) -> BoardScene:
    """A box as nobody has touched it, its atoms shown."""
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
    return game.drawing(scene.view, SOLO_SEAT, scene.view)


def _date(day: int) -> str:
    return f"{EPOCH + timedelta(days=day):%Y-%m-%d}"
