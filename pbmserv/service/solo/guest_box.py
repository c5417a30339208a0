"""The guest box: a box for everybody without an account, about whom the server stores nothing.

The page's form carries the moves so far, signed; each request plays them again. Going back in the
browser takes moves back, and nothing can prevent that. So the guest box has the rules of the box of
the day, but other atoms: nothing that guests find out helps the players who are ranked there.
"""

from __future__ import annotations

import asyncio
import hmac
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TypeGuard

from pbmserv.clock import Clock
from pbmserv.engine.position import Position, opening
from pbmserv.engine.protocol import RacingGame, Tappable, races
from pbmserv.engine.record import GameRecord
from pbmserv.engine.rng import Rng
from pbmserv.errors import MoveError
from pbmserv.service.core.services import Services
from pbmserv.service.solo.daily_box import day_of
from pbmserv.service.solo.solo_page import (
    LONGEST_TAP,
    SoloLook,
    SoloPage,
    replayed,
    solo_fields,
    tapped_position,
)
from pbmserv.store.shared_boxes.day_numbers import date_of, number_of
from pbmserv.views.texts import refusal_sentence

LONGEST_STATE = 6_000
"""Most characters of a form's state."""
MOST_MOVES = 200
"""Most rays, markers and guesses on one box, which has far fewer ports and cells."""
KEPT_DAYS = 60
"""Days for which a game can be continued after its box was new."""
KEPT_BOXES = 100
"""Most boxes that are kept in memory."""
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
        """Whether the request is the same for all guests, so that they get the same page."""
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
        state_refused: the state of the request was invalid, so a new game begins.
        is_nearly_full: the state has room only for a move that ends the game.
        asks_to_restart: the page asks whether to begin again.
    """

    number: int
    day: str
    state: str
    start: str = ""
    is_today: bool = True
    shots: tuple[str, ...] = ()
    state_refused: bool = False
    is_nearly_full: bool = False
    asks_to_restart: bool = False


class GuestBoxes:
    """Deals the guest box of each UTC day, to anybody.

    The box comes from a secret of the server and the day, so it is the same for all, nobody can
    know it before, and no table of the store has it.
    """

    def __init__(self, services: Services, clock: Clock) -> None:
        self._ring = services.mail_domain.ring
        self._clock = clock
        self._game = next((game for game in services.registry if _is_playable(game)), None)

    async def page(self, look: GuestLook) -> GuestPage | None:
        """Return the page after one more tap, `None` if no game here has a box of the day."""
        if self._game is None:
            return None
        return await asyncio.to_thread(self._page, self._game, look)

    def _page(self, game: RacingGame, look: GuestLook) -> GuestPage:
        today = day_of(self._clock.now())
        carried = self._read(look.state, game.info.key, today)
        day, key_id, moves = carried or (today, max(self._ring.keys), ())
        _, seed = self._ring.secret(f"guest box of {game.info.key}", key_id)
        position = replayed(_opening(game, day, seed), moves)
        trouble, state_refused = "", bool(look.state) and carried is None
        is_nearly_full = (
            position.number >= MOST_MOVES or len(look.state) > LONGEST_STATE - LONGEST_TAP
        )
        is_newest = look.step is None or look.step >= position.number
        if look.tap and is_newest and position.outcome is None and not state_refused:
            try:
                after = tapped_position(game, position, look.tap)
                if not is_nearly_full or after.outcome is not None:  # a last guess has room
                    position = after
            except MoveError as error:
                trouble = refusal_sentence(error.refusal, on_page=True)
        tap = look.tap or ("tool" if look.take else "")
        plies = position.after(0)
        written = partial(self._written, game.info.key, day, key_id)
        return GuestPage(
            **solo_fields(position, look, tap, trouble),
            number=number_of(day),
            day=date_of(day),
            state=written([played.ply.text for played in plies if played.ply is not None]),
            start="" if day == today else written([]),
            is_today=day == today,
            shots=game.shots([note for played in plies for note in played.step.notes]),
            state_refused=state_refused,
            is_nearly_full=is_nearly_full,
            asks_to_restart=look.restart and is_newest and position.number > 0,
        )

    # -- what the form carries -------------------------------------------------------------

    def _written(self, game: str, day: int, key_id: int, moves: list[str]) -> str:
        """Return the signed state of a form: a game, a day, a key, and the moves so far."""
        packed = bytes((key_id,)) + zlib.compress("\n".join((game, str(day), *moves)).encode(), 9)
        return urlsafe_b64encode(packed + self._mac(packed)).decode("ascii")

    def _read(self, state: str, game: str, today: int) -> tuple[int, int, tuple[str, ...]] | None:
        """Return the day, the id of the key and the moves of a form's state.

        Returns:
            `None` if the state is forged, or more than `KEPT_DAYS` old.
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
        game_of_state, day, *moves = zlib.decompress(packed[1:]).decode().split("\n")
        if game_of_state != game or not today - KEPT_DAYS <= int(day) <= today:
            return None
        return int(day), packed[0], tuple(moves)

    def _mac(self, packed: bytes) -> bytes:
        _, key = self._ring.secret("state of a guest", packed[0])
        return hmac.digest(key, packed, "sha256")[:_MAC]


@lru_cache(maxsize=KEPT_BOXES)  # to find a box as hard as the day's takes time
def _opening(game: RacingGame, day: int, seed: bytes) -> Position:
    """Return the opening of a day's guest box, which the seed draws."""
    words = game.describe(game.fixed(game.daily(day), Rng(seed, day)))
    record = GameRecord(game.info.key, game.info.rules_version, 1, words, seed)
    return opening(game, record)


def _is_playable(game: object) -> TypeGuard[RacingGame]:
    """Return whether a game has a box of the day, and a page on which it is played."""
    return races(game) and isinstance(game, Tappable)
