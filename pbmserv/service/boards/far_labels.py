"""Cells that a move names by labels of the far sides of a board, mostly by mistake.

On a board of 7 by 7, ``H3`` is A3 by the label below column A, but a player may mean an eighth
column. So the move is submitted instead of played. "yes" plays it, and the player is not asked
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pbmserv.engine.plans import Plan, moves_of
from pbmserv.engine.protocol import TwiceLabelled, implements, previews
from pbmserv.engine.types import Move
from pbmserv.errors import Refused
from pbmserv.service.boards.mover import Mover
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.store.accounts import players
from pbmserv.store.boards import moves

BOTH = "both"
"""The preference of a player who names cells by the labels of both sides."""

FarCells = tuple[tuple[str, str], ...]


def far_cells(mover: Mover, text: str) -> FarCells:
    """Return the far cells of a text: see `TwiceLabelled.far_cells`."""
    game: Any = mover.position.game
    return game.far_cells(mover.view, text) if implements(game, TwiceLabelled) else ()


def doubtful_cells(context: CommandContext, mover: Mover, text: str) -> FarCells:
    """Return the far cells of a text that its writer must confirm."""
    cells = far_cells(mover, text)
    if not cells:
        return ()
    player = players.by_id(context.connection, mover.sitter.player_id)
    return () if player is not None and player.labels == BOTH else cells


def refuse_far_cells(context: CommandContext, mover: Mover, plan: Plan, canonical: str) -> None:
    """Refuse a plan with far cells, since nobody can be asked on its turn.

    Raises:
        Refused: it has far cells; the example is the same plan in canonical text.
    """
    for text in moves_of(plan):
        if cells := doubtful_cells(context, mover, text):
            raise far_cells_refused(cells, f"queue {canonical}")


def far_cells_refused(cells: Sequence[Sequence[str]], example: str) -> Refused:
    """Return the refusal of a move with far cells where no question can be asked."""
    (typed, meant), *_ = cells
    return Refused("far-cells", part=typed, meant=meant, example=example)


def ask_about_far_cells(
    context: CommandContext, mover: Mover, move: Move, text: str, *, with_words: bool
) -> Answer | None:
    """Submit a move and ask whether its far cells are meant; return `None` if it has none.

    Args:
        with_words: the mail has words for others, which also wait for the yes.
    """
    if text.upper() == move.text:  # canonical text has no far labels
        return None
    cells = doubtful_cells(context, mover, text)
    if not cells:
        return None
    return submit_move(context, mover, move, text, cells, with_words=with_words)


def submit_move(
    context: CommandContext,
    mover: Mover,
    move: Move,
    text: str,
    cells: FarCells,
    *,
    with_words: bool = False,
) -> Answer:
    """Keep a move until its player confirms it, and show what it would do."""
    board, seat = mover.board, mover.seat
    kept = text if cells else move.text  # so that "yes" can tell that far labels were used
    moves.submit(context.connection, board.id, seat, mover.turn, kept, context.now)
    words = {
        "move": move.text,
        "mover": seat,
        "now": move.free or mover.is_to_act,
        "shown": previews(mover.position.game),
        "far": [list(cell) for cell in cells],
        "with_words": with_words,
    }
    return Answer((Part("submitted", words, board.id, board.plies, seat),))


def note_far_labels(context: CommandContext, mover: Mover, text: str) -> None:
    """Note that a player uses far labels, if the confirmed move has one."""
    if far_cells(mover, text):
        players.change(context.connection, mover.sitter.player_id, {"labels": BOTH})
