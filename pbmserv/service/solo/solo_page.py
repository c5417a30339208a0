"""The common part of two pages for one player: the guest box, and a box that was hidden by hand.

Nobody has an account there, and each tap is a move of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from pbmserv.engine.position import Position
from pbmserv.engine.protocol import RacingGame, Tappable
from pbmserv.engine.types import Seat
from pbmserv.errors import MoveError
from pbmserv.service.boards.board_page import tool_of
from pbmserv.views.board import BoardScene, board_scene, checked_scene
from pbmserv.views.texts import refusal_sentence

LONGEST_TAP = 200
"""Characters of a tap."""
SOLO_SEAT = Seat(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SoloLook:
    """A request for the page of one player.

    Attributes:
        tool: the tool of the page: see `tool_of`.
        take: the tool that the player chooses with this request; ``""`` for none.
        check: the player asks which results the markers explain.
        step: number of moves after which to show the box; `None` for the newest position.
    """

    tool: str = ""
    take: str = ""
    check: bool = False
    step: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SoloPage:
    """The page of one player.

    Attributes:
        scene: the box as the player sees it.
        trouble: the reason why a tap or a check was refused; ``""`` for none.
        tap: the spot that was tapped last; ``tool`` after a choice of tools, ``all`` after a check,
            ``""`` for none of these.
        tool: the tool for the next tap: see `tool_of`.
        step: number of moves after which the box is shown; `None` for the newest position.
        steps: number of all moves.
    """

    scene: BoardScene
    trouble: str = ""
    tap: str = ""
    tool: str = ""
    step: int | None = None
    steps: int = 0

    draft: ClassVar[str] = ""
    at_once: ClassVar[bool] = True
    """A tap is a move: there is no draft."""

    @property
    def now(self) -> Any:
        """The view."""
        return self.scene.view

    @property
    def is_running(self) -> bool:
        """Whether the player can go on from the position that is shown."""
        return self.scene.outcome is None and self.step is None


def solo_fields(position: Position, look: SoloLook, tap: str, trouble: str = "") -> dict[str, Any]:
    """Return the fields of a `SoloPage` for a request.

    Args:
        position: the newest position.
        tap: the spot that was tapped last; ``""`` for none.
        trouble: the reason why the tap was refused; ``""`` for none.
    """
    steps = position.number
    step = look.step if look.step is not None and look.step < steps else None
    scene = solo_scene(position if step is None else position.at(step))
    if look.check and step is None and scene.outcome is None:
        tap = "all"
        try:
            scene = checked_scene(scene)
        except MoveError as error:
            trouble = refusal_sentence(error.refusal, on_page=True)
    tool = tool_of(look.tool, look.take)
    return {
        "scene": scene,
        "trouble": trouble,
        "tap": tap,
        "tool": tool,
        "step": step,
        "steps": steps,
    }


def solo_scene(
    position: Position, name: str = "guest", seat: Seat | None = SOLO_SEAT
) -> BoardScene:
    """Return a box of one player that is not a board of the server.

    Args:
        name: of the player.
        seat: the reader's seat; `None` for a spectator.
    """
    return board_scene(
        position,
        number=0,
        names=(name,),
        options=(),
        seat=seat,
    )


def replayed(position: Position, moves: Iterable[str]) -> Position:
    """Return the position after canonical moves of the only player."""
    game = position.game
    for text in moves:
        view = game.view(position.state, SOLO_SEAT)
        position = position.move(SOLO_SEAT, game.parse(view, text))
    return position


def tapped_position(game: RacingGame, position: Position, tap: str) -> Position:
    """Return the position after a tap.

    Raises:
        MoveError: the tap is not a legal move.
    """
    assert isinstance(game, Tappable)
    view = position.game.view(position.state, SOLO_SEAT)
    text = game.tapped(view, "", tap[:LONGEST_TAP])
    return position.move(SOLO_SEAT, game.parse(view, text))
