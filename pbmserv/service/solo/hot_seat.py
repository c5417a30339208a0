"""Two people at one device: one hides the atoms by hand, and the other looks for them.

The box is a row that only the server reads. The address of its page has a random key. The page
shows the open box until it is closed, and then only facts that the player may know, to everybody.
Therefore neither the address nor the browser's history nor an older page can reveal the atoms.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, ClassVar, cast

from sqlalchemy import Connection

from pbmserv.engine.position import Position, opening
from pbmserv.engine.protocol import ManualSetup, RacingGame, races
from pbmserv.engine.record import GameRecord
from pbmserv.engine.registry import Registry
from pbmserv.errors import OptionError, PlayerError, Refusal, Refused
from pbmserv.service.core.job_result import Done
from pbmserv.service.core.page_form import PageForm
from pbmserv.service.core.services import Services
from pbmserv.service.solo.solo_page import (
    LONGEST_TAP,
    SoloLook,
    SoloPage,
    replayed,
    solo_fields,
    tapped_position,
)
from pbmserv.store import hot_seats
from pbmserv.store.core.database import Database
from pbmserv.views.texts import refusal_sentence

KEPT = timedelta(days=7)
"""The time for which a box is stored after its last change."""
MOST_BOXES = 5_000
MOST_MOVES = 200
MOST_WORDS, LONGEST_WORD = 5, 40
"""Options of a box, and characters of each."""


@dataclass(frozen=True, slots=True)
class HotSeat:
    """A box that somebody hides by hand, as stored in its row.

    Attributes:
        game: the key of the game.
        rules: the version of its rules.
        words: the option words of the board, which include the box once it is closed.
        spots: the hidden spots while it is filled.
        is_shut: whether it is closed and can be played.
        moves: the canonical moves of the player.
        turn: the number of changes. The form of an older page changes nothing.
        tap: the spot of the last tap.
    """

    game: str
    rules: int
    words: tuple[str, ...]
    spots: tuple[str, ...] = ()
    is_shut: bool = False
    moves: tuple[str, ...] = ()
    turn: int = 0
    tap: str = ""

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> HotSeat:
        """Return the box in a row."""
        lists = {name: tuple(row[name]) for name in ("words", "spots", "moves")}
        return cls(**{**row, **lists})


@dataclass(frozen=True, slots=True)
class BeginBox(PageForm[bool]):
    """Creates a box; the result is whether there was room for it."""

    name: ClassVar[str] = "begin_box"
    key: str
    box: HotSeat

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> BeginBox:
        return cls(values["key"], HotSeat.of_row(values["box"]))


@dataclass(frozen=True, slots=True)
class ChangeBox(PageForm[bool]):
    """Taps a spot of a box or closes it; the result is whether it was done.

    Attributes:
        turn: the turn of the box that the page showed.
    """

    name: ClassVar[str] = "change_box"
    key: str
    turn: int
    tap: str
    shuts: bool


@dataclass(frozen=True, slots=True)
class FillingPage:
    """The open box, while somebody hides atoms in it.

    Attributes:
        key: the key of the row, which is the last part of the page's address.
        view: the box with all hidden spots.
        turn: see `HotSeat`.
        count: number of hidden spots.
        trouble: the reason why a tap was refused; ``""`` for none.
        tap: the spot that was tapped last.
    """

    key: str
    game: str
    title: str
    view: Any
    turn: int
    count: int
    trouble: str = ""
    tap: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HotSeatPage(SoloPage):
    """The closed box, for the player who looks for the atoms.

    Attributes:
        key: the key of the row, which is the last part of the page's address.
        turn: see `HotSeat`.
    """

    key: str
    game: str
    title: str
    turn: int


class HotSeats:
    """The pages of boxes hidden by hand. Play carries out their changes.

    Args:
        ask: asks play to carry out a form.
    """

    def __init__(
        self,
        services: Services,
        database: Database,
        ask: Callable[[PageForm[bool]], Awaitable[bool]],
    ) -> None:
        self._services = services
        self._database = database
        self._ask = ask

    @property
    def game(self) -> str:
        """The key of the first game with boxes that can be hidden by hand, ``""`` for none."""
        return next((game.info.key for game in self._services.registry if _can_hide(game)), "")

    async def begin(self, words: Sequence[str]) -> str | Refusal:
        """Create an empty box with these options, and return its key or a refusal.

        Raises:
            TooMany: too many boxes were begun.
        """
        try:
            box = empty_box(self._services.registry, self.game, words)
        except OptionError as error:
            return error.refusal
        self._services.traffic.count("hidden box", "all")
        key = secrets.token_urlsafe(16)
        return key if await self._ask(BeginBox(key, box)) else Refusal("hides-full")

    async def page(self, key: str, look: SoloLook) -> FillingPage | HotSeatPage | None:
        """Return the page of a box; `None` if there is none, or no longer."""
        return await asyncio.to_thread(self._page, key, look)

    async def refusal(self, key: str, tap: str, *, shuts: bool) -> str | None:
        """Return the refusal of a tap or, if *shuts*, of closing the box.

        Return ``""`` if it is possible, `None` if there is no such box.

        Raises:
            TooMany: there were too many taps.
        """
        box = await asyncio.to_thread(self._load, key)
        if box is None:
            return None
        self._services.traffic.count("tap", key)
        return await asyncio.to_thread(self._refusal, box, tap, shuts)

    def _refusal(self, box: HotSeat, tap: str, shuts: bool) -> str:
        try:
            changed(self._services.registry, box, tap, shuts=shuts)
        except PlayerError as error:
            return refusal_sentence(error.refusal, on_page=True)
        return ""

    async def press(self, key: str, turn: int, tap: str, *, shuts: bool) -> None:
        """Carry out a tap or, if *shuts*, close the box.

        The form of an older page changes nothing.
        """
        await self._ask(ChangeBox(key, turn, tap, shuts))

    def _load(self, key: str) -> HotSeat | None:
        with self._database.reading.connect() as connection:
            row = hot_seats.load(connection, key)
        return None if row is None else HotSeat.of_row(row)

    def _page(self, key: str, look: SoloLook) -> FillingPage | HotSeatPage | None:
        box = self._load(key)
        if box is None:
            return None
        game = _game_of(self._services.registry, box)
        title, turn = game.info.title, box.turn
        if not box.is_shut:
            view = _manual(game).manual_view(game.options(box.words, 1), box.spots)
            return FillingPage(key, box.game, title, view, turn, len(box.spots), tap=box.tap)
        tap = "tool" if look.take else box.tap
        fields = solo_fields(position_of(game, box), look, tap)
        return HotSeatPage(**fields, key=key, game=box.game, title=title, turn=turn)


def begin_box(_: Services, form: BeginBox, now: datetime, connection: Connection) -> Done:
    """Store a new box; a job of play."""
    hot_seats.forget(connection, now - KEPT)
    if hot_seats.count(connection) >= MOST_BOXES:
        return Done(page_result=False)
    hot_seats.add(connection, form.key, asdict(form.box), now)
    return Done(page_result=True)


def change_box(services: Services, form: ChangeBox, now: datetime, connection: Connection) -> Done:
    """Change a box; a job of play."""
    row = hot_seats.lock(connection, form.key)
    if row is None or row["turn"] != form.turn:  # a form that was sent twice
        return Done(page_result=False)
    try:
        box = changed(services.registry, HotSeat.of_row(row), form.tap, shuts=form.shuts)
    except PlayerError:
        return Done(page_result=False)
    hot_seats.change(connection, form.key, asdict(box), now)
    return Done(page_result=True)


def empty_box(registry: Registry, key: str, words: Sequence[str]) -> HotSeat:
    """Return an empty box with these options.

    Raises:
        OptionError: an option is wrong, or the game has no such box.
    """
    game = registry.newest(key)
    box_words = [word[:LONGEST_WORD] for word in words[:MOST_WORDS]]
    options = game.options(("-race", *box_words), 1)
    return HotSeat(key, game.info.rules_version, game.describe(options))


def changed(registry: Registry, box: HotSeat, tap: str, *, shuts: bool) -> HotSeat:
    """Return the box after a tap or, if *shuts*, after closing it.

    Raises:
        PlayerError: the box cannot be closed, or the tap is not a legal move.
    """
    game, next_turn = _game_of(registry, box), box.turn + 1
    tap = tap[:LONGEST_TAP]
    if not box.is_shut:
        options = game.options(box.words, 1)
        if not shuts:
            spots = _manual(game).spots_after_tap(options, box.spots, tap)
            return replace(box, spots=spots, turn=next_turn, tap=tap)
        words = game.describe(_manual(game).manual_options(options, box.spots))
        return replace(box, words=words, spots=(), is_shut=True, turn=next_turn, tap="")
    position = position_of(game, box)
    if shuts or position.outcome is not None:
        return box
    after = tapped_position(game, position, tap)
    if position.number >= MOST_MOVES and after.outcome is None:
        raise Refused("hide-long", most=MOST_MOVES)
    assert after.ply is not None
    return replace(box, moves=(*box.moves, after.ply.text), turn=next_turn, tap=tap)


def position_of(game: RacingGame, box: HotSeat) -> Position:
    """Return the position after all moves on a closed box."""
    record = GameRecord(box.game, box.rules, 1, box.words, b"")
    return replayed(opening(game, record), box.moves)


def _can_hide(game: object) -> bool:
    return races(game) and isinstance(game, ManualSetup)


def _game_of(registry: Registry, box: HotSeat) -> RacingGame:
    game = registry.version(box.game, box.rules)
    assert races(game)
    return game


def _manual(game: RacingGame) -> ManualSetup:
    return cast("ManualSetup", game)
