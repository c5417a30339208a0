"""Reads a move as people write it, and says more about a refused one than `legality` does.

A refusal gets the present possibilities, and an example if `examples` finds one.
"""

from __future__ import annotations

from collections.abc import Collection

from pbmserv.engine.types import Move
from pbmserv.errors import Illegal, MoveError, NotUnderstood, Refusal
from pbmserv.games.blackbox.examples import legal_parts, mentioned, with_unlock
from pbmserv.games.blackbox.geometry import in_ranges
from pbmserv.games.blackbox.legality import check
from pbmserv.games.blackbox.moves import Element, move_of
from pbmserv.games.blackbox.readings import ways_to_read
from pbmserv.games.blackbox.views import View

_NOT_HERE = frozenset({"pass", "swap", "propose", "accept", "reject"})
"""Moves of other games."""

_OF_SENTENCES = frozenset(
    f"blackbox.{code}" for code in ("guess-markers", "two-probes", "port-used", "done")
)
"""Refusals that show that a sentence was meant as a move, as its only reading."""


def read_move(view: View, text: str) -> Move:
    """Read a move; raises as `elements_of`."""
    return move_of(elements_of(view, text))


def elements_of(view: View, text: str) -> tuple[Element, ...]:
    """Return the elements of a move as `check` does, with more helpful refusals.

    Raises:
        NotUnderstood | Illegal: see `check`. The refusal also has the present possibilities, and
            the legal parts of the text as its example.
    """
    try:
        return check(view, text)
    except MoveError as error:
        raise _with_help(view, text, error) from None


def _with_help(view: View, text: str, error: MoveError) -> MoveError:
    """Return the refusal of a move with the present possibilities and an example."""
    if text.strip().lower() in _NOT_HERE and view.own is not None:
        error = Illegal("blackbox.no-such-turn", part=text.strip())
    refusal = _clearer(view, text, error.refusal)
    find_example = mentioned if isinstance(error, NotUnderstood) else legal_parts
    example = with_unlock(view, refusal) or find_example(view, text)
    values = {**possibilities(view), **refusal.values}
    return type(error)(refusal.code, part=refusal.part, example=example, **values)


def _clearer(view: View, text: str, refusal: Refusal) -> Refusal:
    """Return the refusal of a text's only reading in place of a vague refusal, else the refusal."""
    is_sentence = refusal.code == "blackbox.not-a-move"
    if not is_sentence and refusal.code != "blackbox.commas":
        return refusal
    for readings in ways_to_read(view, text):
        # After the end of a race every reading has the same refusal.
        candidates = readings[:1] if view.phase == "done" else readings
        of_reading = _refusal_of_reading(view, set(candidates))
        if of_reading is not None and (not is_sentence or of_reading.code in _OF_SENTENCES):
            return of_reading
    return refusal


def possibilities(view: View) -> dict[str, str]:
    """Return the values of a refusal about the position: the possible moves and the labels."""
    board, now = view.options.board, ""
    if view.own is not None and view.phase not in {"over", "done"}:
        now = "play" if view.may_act else "wait"
        now = now if view.has_hidden else "hide"
    return {
        "now": now,
        "free": in_ranges(board, view.unused_ports) if now in {"play", "wait"} else "",
        "columns": f"{board.top[0]} to {board.top[-1]}",
        "rows": f"{board.left[0]} to {board.left[-1]}",
        "wanted": view.options.atoms,
    }


def _refusal_of_reading(view: View, readings: Collection[str]) -> Refusal | None:
    """Return the refusal of a text's only reading, `None` if there are several or it is legal."""
    if len(readings) != 1:
        return None
    try:
        check(view, *readings)
    except MoveError as error:
        return error.refusal
    return None
