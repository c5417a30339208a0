"""Writes texts for which a badly written regular expression is slow.

Hypothesis writes texts that match (`from_regex`), but by chance: to reach each repetition takes ten
times as long, and a pattern with a lookahead at its end gets no text. The libraries that look for
slow patterns need another language. The parser is that of the standard library; it is private, but
its trees have had the same form for decades, and what it may break is this test alone.

The pattern `(a|b)x{3,}` becomes a `Sequel` of a `Choice` and a `Repeat`. `pumps` pairs each
repetition with the shortest text in front of it, "x" with "a", and `texts` repeats it: "axxxx".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import islice
from typing import Any

from examples import DEEP

parser: Any = import_module("re._parser")
compiler: Any = import_module("re._compiler")

LONG = 40
"""A repetition with at least this bound is pumped like one without a bound."""
_PROBES = "a1 \n\t_-é"
_MOST_SAMPLES = 8 if DEEP else 4
_ENDS = ("", "\0")
"""Ends of a pumped text: none, or a character that hardly any pattern accepts there."""


@dataclass(frozen=True)
class Chars:
    """One character. *samples*: characters of several kinds that match."""

    samples: tuple[str, ...]


@dataclass(frozen=True)
class Nothing:
    """A node that is written as nothing: an anchor, a lookaround, a back reference."""


@dataclass(frozen=True)
class Sequel:
    """Several nodes in a row."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class Choice:
    """One of several nodes."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """A repeated node."""

    node: Node
    least: int
    most: int


Node = Chars | Nothing | Sequel | Choice | Repeat


class Reader:
    """Makes nodes of what the standard library has parsed."""

    def __init__(self, pattern: re.Pattern) -> None:
        text = pattern.pattern
        self._text = text if isinstance(text, str) else text.decode("latin-1")
        self._flags = re.RegexFlag(pattern.flags) & (re.IGNORECASE | re.DOTALL | re.VERBOSE)
        signs = {char for char in self._text if not char.isalnum()}
        own = "".join(char for char in self._text if char.isalnum())
        self._probes = "".join(dict.fromkeys(_PROBES + "".join(sorted(signs)) + own))

    def read(self) -> Node:
        return self._sequel(parser.parse(self._text, self._flags))

    def _sequel(self, parsed: Any) -> Node:
        return Sequel(tuple(self._node(kind, value, parsed.state) for kind, value in parsed))

    def _node(self, kind: Any, value: Any, state: Any) -> Node:
        match str(kind):
            case "LITERAL":
                return Chars((chr(value),))
            case "ANY" | "IN" | "NOT_LITERAL":
                return self._chars(parser.SubPattern(state, [(kind, value)]))
            case "BRANCH":
                return Choice(tuple(map(self._sequel, value[1])))
            case "SUBPATTERN":
                return self._sequel(value[-1])
            case "ATOMIC_GROUP":
                return self._sequel(value)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, repeated = value
                return Repeat(self._sequel(repeated), least, most)
            case "GROUPREF_EXISTS":
                return self._sequel(value[1])
            case "AT" | "ASSERT" | "ASSERT_NOT" | "GROUPREF":
                return Nothing()
        raise AssertionError(f"no text for {kind} of {self._text}")

    def _chars(self, parsed: Any) -> Node:
        pattern = compiler.compile(parsed, self._flags)
        candidates = dict.fromkeys((*self._probes, *map(chr, range(256))))
        samples = tuple(islice(filter(pattern.fullmatch, candidates), _MOST_SAMPLES))
        return Chars(samples or (next(filter(pattern.fullmatch, map(chr, range(0x30000)))),))


@cache
def tree_of(pattern: re.Pattern) -> Node:
    return Reader(pattern).read()


def is_long(node: Repeat) -> bool:
    return node.most >= LONG


def written(node: Node, times: int = 0, sample: int = 0) -> str:
    """Return a text that matches.

    Args:
        times: repetitions of each node that may be long; 0 for the shortest text.
        sample: number of the character or branch that is taken where there are several.
    """
    if isinstance(node, Chars):
        return node.samples[sample % len(node.samples)]
    if isinstance(node, Sequel):
        return "".join([written(inner, times, sample) for inner in node.nodes])
    if isinstance(node, Choice):
        return written(node.nodes[sample % len(node.nodes)], times, sample)
    if isinstance(node, Repeat):
        count = max(node.least, min(times, node.most)) if is_long(node) else max(node.least, 0)
        inner = 0 if times > LONG else times
        return written(node.node, inner, sample) * int(count)
    return ""


def loops(node: Node, front: str = "") -> Iterator[tuple[str, Node]]:
    """Yield the nodes that may be repeated often, each with the shortest text in front of it."""
    if isinstance(node, Sequel):
        for place, inner in enumerate(node.nodes):
            yield from loops(inner, front + written(Sequel(node.nodes[:place])))
    elif isinstance(node, Choice):
        for inner in node.nodes:
            yield from loops(inner, front)
    elif isinstance(node, Repeat):
        if is_long(node):
            yield front, node.node
        yield from loops(node.node, front)


@cache
def pumps(pattern: re.Pattern) -> list[tuple[str, str]]:
    """Return pairs of a text and a second text that is to be repeated behind it."""
    tree = tree_of(pattern)
    pumped: dict[tuple[str, str], None] = {}
    whole = [written(tree, 1, sample) for sample in range(_MOST_SAMPLES)]
    units = {text: None for text in whole if text}
    for front, node in loops(tree):
        bodies = [written(node, 1, sample) for sample in range(_MOST_SAMPLES)]
        for body in filter(None, bodies):
            pumped[front, body] = None
            units[body] = units[front + body] = None
        if front:
            units[front] = None
    pumped.update({("", unit): None for unit in units})
    return list(pumped)


def texts(pattern: re.Pattern, length: int) -> Iterator[str]:
    """Yield texts of about this length for which the pattern may be slow."""
    tree = tree_of(pattern)
    for front, unit in pumps(pattern):
        body = front + unit * (length // len(unit))
        yield from (body + end for end in _ENDS)
    several: Sequence[tuple[str, Node]] = list(loops(tree))
    if len(several) > 1:
        for sample in range(_MOST_SAMPLES):
            body = written(tree, length // len(several), sample)
            yield from (body + end for end in _ENDS)
