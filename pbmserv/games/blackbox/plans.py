"""Plans of moves: their conditions, and the view at the turn after a planned move."""

from __future__ import annotations

from dataclasses import replace

from pbmserv.engine.types import Move
from pbmserv.errors import Illegal, NotUnderstood
from pbmserv.games.blackbox.legality import check
from pbmserv.games.blackbox.moves import Kind
from pbmserv.games.blackbox.previews import with_elements
from pbmserv.games.blackbox.rays import HIT_MARK, REFLECTION_MARK
from pbmserv.games.blackbox.views import FIRED, View

DETOUR = "detour"

CONDITIONS = (
    ("#", "your last probe was a hit (or: hit)"),
    ("%", "your last probe was a reflection (or: reflection)"),
    (DETOUR, "your last probe came out at another port"),
    ("9", "your last probe came out at port 9"),
    ("a=#", "port a shows a hit; a=% and a=detour likewise"),
    ("a=9", "the ray into port a came out at port 9"),
)

_WORDS = {
    HIT_MARK: HIT_MARK,
    "HIT": HIT_MARK,
    REFLECTION_MARK: REFLECTION_MARK,
    "REFLECTION": REFLECTION_MARK,
    "DETOUR": DETOUR,
}


def read_condition(view: View, text: str) -> str:
    """Read a condition: ``#``, ``detour``, ``9`` (of the last probe) or ``a=#`` (of a port).

    Raises:
        NotUnderstood: the text is not a condition.
        Illegal: it names a port that the board does not have.
    """
    body = "".join(text.split()).upper()
    port, equals, result = body.partition("=")
    if not equals:
        return _result(view, text, body)
    label = _port(view, text, port)
    result = _result(view, text, result)
    return f"{label}={REFLECTION_MARK if result == label else result}"


def holds(view: View, condition: str) -> bool:
    """Return whether a canonical condition is true. It is false for a port without a mark."""
    own = view.own
    if own is None:
        return False
    label, equals, wanted = condition.rpartition("=")
    port = view.options.board.port(label) if equals else own.fired
    if port is None:
        return False
    result = own.result(port)
    if wanted == DETOUR:
        return result not in {"", HIT_MARK, REFLECTION_MARK}
    return result == wanted


def _result(view: View, text: str, word: str) -> str:
    return _WORDS.get(word) or _port(view, text, word)


def _port(view: View, text: str, label: str) -> str:
    board = view.options.board
    plain = str(int(label)) if label.isdecimal() and label.isascii() else label
    if board.port(plain) is not None:
        return plain
    if _is_label(label):
        raise Illegal("blackbox.condition-port", part=text, label=label)
    raise NotUnderstood("blackbox.condition-unknown", part=text, port=board.ports[0].lower())


def _is_label(label: str) -> bool:
    most = 3 if label.isdigit() else 2 if label.isalpha() else 0
    return label.isascii() and 0 < len(label) <= most


def expect(view: View, move: Move) -> View:
    """Return the mover's view at the next turn, in which ports of this move are used."""
    elements = check(view, move.text)
    after, _ = with_elements(view, elements)
    own = after.own
    if own is None:
        return after
    marks = list(own.marks)
    left = own.guesses_left
    fired = own.fired
    for element in elements:
        if element.kind == Kind.PROBE:
            marks[element.port] = FIRED
            fired = element.port
        elif element.kind == Kind.GUESS:
            left -= 1
    return after.with_box(replace(own, marks=tuple(marks), guesses_left=left, fired=fired))
