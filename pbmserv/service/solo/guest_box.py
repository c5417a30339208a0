"""The guest box, a daily box that anybody plays on its page.

The server stores nothing about guests. The form of the page has the moves so far, signed, and each
request replays them. Guests can take back moves by going back in the browser, and nothing can
prevent that. Therefore the guest box is not the box of the day: it has the same rules but other
atoms, so that it does not help in the table of the day.
"""

from __future__ import annotations

import asyncio
import hmac
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, ClassVar, TypeAlias, TypeGuard

from pbmserv.clock import Clock
from pbmserv.engine.clocks import USUAL
from pbmserv.engine.position import Position, opening
from pbmserv.engine.protocol import RacingGame, Tappable, races
from pbmserv.engine.record import GameRecord
from pbmserv.engine.types import Rng, Seat
from pbmserv.errors import MoveError
from pbmserv.letters.scene import BoardScene, board_scene, foreseen, why
from pbmserv.service.boards.board_page import tool_of
from pbmserv.service.core.context import Services
from pbmserv.service.solo.daily_box import day_of
from pbmserv.store.solo import EPOCH, number_of

Words: TypeAlias = Mapping[str, Any]

LONGEST_STATE = 6_000
"""The longest state of a form, in characters; a longer one is forged."""
LONGEST_TAP = 200
MOST_MOVES = 200
"""The most moves on one box, far more than it has ports and cells."""
KEPT_DAYS = 60
"""The days for which a game can be continued."""
KEPT_BOXES = 100
"""The number of boxes in memory."""
_MAC = 16
_GUEST = Seat(0)


@dataclass(frozen=True, slots=True)
class GuestLook:
    """A guest's request for the box.

    Attributes:
        state: the state in the form, ``""`` at first; it may be forged.
        tap: the spot that was tapped, ``""`` for none.
        check: whether to show the results that the markers explain.
        tool: the effect of taps; see `tool_of`.
        take: the newly chosen tool, ``""`` for none.
        restart: the guest asked to restart the box, and did not confirm it yet.
        step: the number of moves after which to show the box, `None` for all.
    """

    state: str = ""
    tap: str = ""
    check: bool = False
    tool: str = ""
    take: str = ""
    restart: bool = False
    step: int | None = None

    @property
    def is_first(self) -> bool:
        """Whether this is the first look, for which everybody gets the same page."""
        return self == GuestLook()


@dataclass(frozen=True, slots=True)
class GuestPage:
    """The guest box as its page shows it.

    Attributes:
        scene: the box as the guest sees it.
        now: the view.
        number: the number of the day.
        day: the day in ISO 8601.
        state: the game so far for the form. The page's address with it also restores the game.
        start: the state of the same box before the first move, ``""`` for today's box.
        is_today: whether the box is today's.
        shots: the results of the rays so far, each as one mark.
        trouble: the refusal of the tap, ``""`` for none.
        anew: the state in the form could not be continued, so that the box is untouched.
        full: the form has no space for more moves except for one that ends the game.
        tap: the spot of the last tap, ``tool`` for a new tool, ``""`` for none.
        tool: see `tool_of`.
        asks: whether the page asks for confirmation of a restart.
        step: the number of moves after which the box is shown, `None` for all.
        steps: the number of moves.
    """

    scene: BoardScene
    now: Any
    number: int
    day: str
    state: str
    start: str = ""
    is_today: bool = True
    shots: tuple[str, ...] = ()
    trouble: str = ""
    anew: bool = False
    full: bool = False
    tap: str = ""
    tool: str = ""
    asks: bool = False
    step: int | None = None
    steps: int = 0

    draft: ClassVar[str] = ""
    at_once: ClassVar[bool] = True
    """Each tap is a move, so that there is no draft."""

    @property
    def is_running(self) -> bool:
        """Whether the guest can make a move now."""
        return self.scene.outcome is None and self.step is None


class GuestBoxes:
    """The guest boxes of each UTC day.

    A box is drawn from a secret of the server and the day. Therefore it is the same for all guests,
    nobody can know it before, and the store does not have it.
    """

    def __init__(self, services: Services, clock: Clock) -> None:
        self._ring = services.mail_domain.ring
        self._clock = clock
        self._openings: dict[tuple[int, int], Position] = {}
        self._game = next((game for game in services.registry if _is_playable(game)), None)

    async def page(self, look: GuestLook) -> GuestPage | None:
        """Return the box after a look, `None` if no game has a box of the day."""
        if self._game is None:
            return None
        opening_key = day_of(self._clock.now()), max(self._ring.keys)
        if opening_key in self._openings and look.is_first:
            return self._page(self._game, look)
        return await asyncio.to_thread(self._page, self._game, look)

    def _page(self, game: RacingGame, look: GuestLook) -> GuestPage:
        today = day_of(self._clock.now())
        continued = self._read_state(look.state, game.info.key, today)
        day, number, moves = continued or (today, max(self._ring.keys), ())
        position = self._opening(game, day, number)
        for text in moves:
            position = position.move(_GUEST, game.parse(_view(position), text))
        trouble, anew = "", bool(look.state) and continued is None
        full = position.number >= MOST_MOVES or len(look.state) > LONGEST_STATE - LONGEST_TAP
        step = look.step if look.step is not None and look.step < position.number else None
        if look.tap and step is None and position.outcome is None and not anew:
            try:
                after = tapped_position(game, position, look.tap)
                if not full or after.outcome is not None:  # the last guess always fits
                    position = after
            except MoveError as error:
                trouble = why(error.refusal)
        scene = solo_scene(position if step is None else position.at(step))
        checks = look.check and step is None and position.outcome is None
        if checks:
            try:
                scene = foreseen("check", {}, scene)
            except MoveError as error:
                trouble = why(error.refusal)
        plies = position.after(0)
        state_of = partial(self._write_state, game.info.key, day, number)
        return GuestPage(
            scene,
            scene.view,
            number_of(day),
            f"{EPOCH + timedelta(days=day):%Y-%m-%d}",
            state_of([position.ply.text for position in plies if position.ply is not None]),
            start="" if day == today else state_of([]),
            is_today=day == today,
            shots=game.shots([note for position in plies for note in position.step.notes]),
            trouble=trouble,
            anew=anew,
            full=full,
            tap="all" if look.check else look.tap or ("tool" if look.take else ""),
            tool=tool_of(look.tool, look.take),
            asks=look.restart and step is None and position.number > 0,
            step=step,
            steps=position.number,
        )

    def _opening(self, game: RacingGame, day: int, number: int) -> Position:
        """Return the box of a day, drawn with the server's key of this number."""
        _, seed = self._ring.secret(f"guest box of {game.info.key}", number)
        position = self._openings.get((day, number))
        if position is None:  # a box of the day's grade takes time to find
            words = game.describe(game.fixed(game.daily(day), Rng(seed, day)))
            record = GameRecord(game.info.key, game.info.rules_version, 1, words, seed)
            position = opening(game, record)
            newest = list(self._openings.items())[1 - KEPT_BOXES :]
            # Other threads read the old dictionary, so replace it.
            self._openings = {**dict(newest), (day, number): position}
        return position

    # -- the state in the form -------------------------------------------------------------

    def _write_state(self, key: str, day: int, number: int, moves: list[str]) -> str:
        """Return the signed state of a game."""
        packed = bytes((number,)) + zlib.compress("\n".join((key, str(day), *moves)).encode(), 9)
        return urlsafe_b64encode(packed + self._mac(packed)).decode("ascii")

    def _read_state(
        self, state: str, key: str, today: int
    ) -> tuple[int, int, tuple[str, ...]] | None:
        """Return the day of a state, the number of its key, and its moves.

        Return `None` if the state is forged or more than `KEPT_DAYS` old.
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
        if (
            urlsafe_b64encode(signed).decode("ascii") != state
        ):  # refuse other spellings of the same octets
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
    """Return whether a game has a box of the day and a page to play it."""
    return races(game) and isinstance(game, Tappable)


def _view(position: Position) -> Any:
    return position.game.view(position.state, _GUEST)


def tapped_position(game: RacingGame, position: Position, tap: str) -> Position:
    """Return the position after a tap, which is a whole move.

    Raises:
        MoveError: the tap is not a legal move.
    """
    view = _view(position)
    assert isinstance(game, Tappable)
    text = game.tapped(view, "", tap[:LONGEST_TAP])
    return position.move(_GUEST, game.parse(view, text))


def solo_scene(position: Position) -> BoardScene:
    """Return a box as its only player sees it, without accounts."""
    return board_scene(
        position,
        number=0,
        names=("guest",),
        options=(),
        rated=False,
        terms=USUAL,
        seat=_GUEST,
        own_move=True,
        daily=0,
    )
