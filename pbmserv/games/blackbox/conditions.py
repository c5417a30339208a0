"""What a plan may make a move depend on: results that the player has seen."""

from __future__ import annotations

from pbmserv.errors import Illegal, NotUnderstood
from pbmserv.games.blackbox.state import HIT_MARK, REFLECTION_MARK
from pbmserv.games.blackbox.views import View

DETOUR = "detour"

MEANINGS = (
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
    """Read ``#``, ``detour``, ``9`` (of the last probe) or ``a=#`` (of a port).

    Raises:
        NotUnderstood: it is no condition.
        Illegal: it names a port that this board has not.
    """
    body = "".join(text.split()).upper()
    port, equals, result = body.partition("=")
    if not equals:
        return _result(view, text, body)
    label = _port(view, text, port)
    result = _result(view, text, result)
    return f"{label}={REFLECTION_MARK if result == label else result}"


def holds(view: View, condition: str) -> bool:
    """Whether a canonical condition is true; of a port without a mark nothing is."""
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


def example_plan(view: View) -> str:
    """A plan that could be queued now."""
    ports = [port.lower() for port in view.unused_ports]
    if view.own is None or not view.has_hidden:
        return view.examples.placement
    if len(ports) < 3:
        return view.examples.probe
    return f"{ports[0]} if #: {ports[1]} else {ports[2]}"


def _result(view: View, text: str, word: str) -> str:
    return _WORDS.get(word) or _port(view, text, word)


def _port(view: View, text: str, label: str) -> str:
    board = view.options.board
    plain = str(int(label)) if label.isdecimal() and label.isascii() else label
    if board.port(plain) is not None:
        return plain
    example = f"queue {example_plan(view)}"
    if _is_label(label):
        raise Illegal("blackbox.condition-port", part=text, example=example, label=label)
    raise NotUnderstood(
        "blackbox.condition-unknown", part=text, example=example, port=board.ports[0].lower()
    )


def _is_label(label: str) -> bool:
    most = 3 if label.isdigit() else 2 if label.isalpha() else 0
    return label.isascii() and 0 < len(label) <= most
