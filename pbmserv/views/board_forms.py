"""The forms in which a board leaves the server without a letter or page around it.

Templates of letters and pages include ``scene.templates(form)``; `pictures` draws what `drawings`
returns.
"""

from __future__ import annotations

from typing import Any

from pbmserv.engine.position import Position
from pbmserv.engine.protocol import Drawable, Readable
from pbmserv.engine.types import Drawing, Seat
from pbmserv.views.board import BoardScene
from pbmserv.views.environment import environment, template_of


def board_text(scene: BoardScene) -> str:
    """Return the board as plain text."""
    template = environment().select_template(scene.templates("text"))
    return template.render(
        scene=scene, view=scene.view, names=scene.names, you=scene.you, board=scene.number
    )


def board_facts(scene: BoardScene) -> Any:
    """Return the board as a JSON-ready dataclass.

    Return `None` if its game has no such facts, or has still to draw them.
    """
    if scene.undrawn:
        return None
    return scene.game.facts(scene.view) if isinstance(scene.game, Readable) else None


def drawings(position: Position, end: Position | None, seats: int) -> tuple[Drawing, ...]:
    """Return a drawing of each seat's board for everybody; empty if the game draws nothing.

    Args:
        position: the board at the moment to draw.
        end: the board when it was over, if it is; then nothing in it is hidden.
        seats: number of seats.
    """
    game = position.game
    if not isinstance(game, Drawable):
        return ()
    public = game.view(position.state, None)
    last = None if end is None else game.view(end.state, None)
    by_seat = [
        game.drawing(public if last is None else game.view(position.state, seat), seat, last)
        for seat in map(Seat, range(seats))
    ]
    return tuple(drawing for drawing in by_seat if drawing is not None)


def drawing_label(scene: BoardScene, drawing: Drawing) -> str:
    """Return the words that describe a drawing to people who do not see it."""
    template = template_of(f"games/{scene.key}/drawing.j2")
    return template.render(drawing=drawing, names=scene.names).strip()
