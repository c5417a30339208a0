"""Parses regular expressions and writes texts for which a badly written one is slow.

The parser of the standard library is private, and the libraries that look for slow patterns use it
or need another language. Hypothesis writes texts that match (`from_regex`), but by chance: to reach
each repetition takes ten times as long, and a pattern with a lookahead at its end gets no text.
This parser reads the syntax of `re` as far as it is needed to write texts that match, or nearly
match.

The pattern `(a|b)x{3,}` becomes a `Sequel` of a `Choice` and a `Repeat`. `pumps` pairs each
repetition with the shortest text in front of it, "x" with "a", and `texts` repeats it: "axxxx".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

LONG = 40
"""A repetition with at least this bound is pumped like one without a bound."""
_PROBES = "a1 \n\t_-é"
_MOST_SAMPLES = 8
_ENDS = ("", "\0")
"""Ends of a pumped text: none, or a character that hardly any pattern accepts there."""
_INLINE_FLAGS = re.compile(r"\(\?[aiLmsux]+\)")
_ZERO_WIDTH = frozenset("AbBZ")


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
    most: float


Node = Chars | Nothing | Sequel | Choice | Repeat


class Reader:
    """A parser for one pattern."""

    def __init__(self, pattern: re.Pattern) -> None:
        text = pattern.pattern
        self._text = text if isinstance(text, str) else text.decode("latin-1")
        self._text = _INLINE_FLAGS.sub("", self._text)
        self._flags = re.RegexFlag(pattern.flags) & (re.IGNORECASE | re.DOTALL)
        self._is_verbose = bool(pattern.flags & re.VERBOSE)
        signs = {char for char in self._text if not char.isalnum()}
        self._probes = "".join(dict.fromkeys(_PROBES + "".join(sorted(signs))))
        self._at = 0

    def read(self) -> Node:
        node = self._choice()
        assert self._at == len(self._text), (self._text, self._at)
        return node

    def _choice(self) -> Node:
        nodes = [self._sequel()]
        while self._peek() == "|":
            self._at += 1
            nodes.append(self._sequel())
        return nodes[0] if len(nodes) == 1 else Choice(tuple(nodes))

    def _sequel(self) -> Node:
        nodes: list[Node] = []
        while self._peek() not in {"", "|", ")"}:
            if self._is_verbose and self._skip_blank():
                continue
            nodes.append(self._quantified(self._atom()))
        return Sequel(tuple(nodes))

    def _skip_blank(self) -> bool:
        comment = re.compile(r"\s+|#[^\n]*").match(self._text, self._at)
        self._at = comment.end() if comment else self._at
        return comment is not None

    def _quantified(self, node: Node) -> Node:
        while True:
            quantifier = re.compile(r"([*+?])|\{(\d*)(,?)(\d*)\}").match(self._text, self._at)
            if quantifier is None:
                return node
            self._at = quantifier.end()
            if self._peek() in {"?", "+"}:
                self._at += 1
            if quantifier[1]:
                least, most = {"*": (0, float("inf")), "+": (1, float("inf")), "?": (0, 1)}[
                    quantifier[1]
                ]
            else:
                least = int(quantifier[2] or 0)
                most = (
                    float(quantifier[4])
                    if quantifier[4]
                    else float("inf")
                    if quantifier[3]
                    else least
                )
            node = Repeat(node, least, most)

    def _atom(self) -> Node:
        char = self._peek()
        if char == "(":
            return self._group()
        start = self._at
        if char == "[":
            self._at = self._end_of_class()
        elif char == "\\":
            rest = self._text[start + 1 :]
            code = re.match(
                r"u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|[1-9]\d?|.", rest, re.DOTALL
            )
            assert code is not None
            self._at += 1 + code.end()
            if code[0] in _ZERO_WIDTH or code[0][0] in "123456789":
                return Nothing()
        else:
            self._at += 1
            if char in "^$":
                return Nothing()
        return self._chars(self._text[start : self._at])

    def _chars(self, text: str) -> Node:
        if len(text) == 1 and text != ".":
            return Chars((text,))
        pattern = re.compile(text, self._flags)
        own = [char for char in text if char.isalnum()] if text[0] == "[" else []
        candidates = dict.fromkeys((*self._probes, *own, *map(chr, range(256))))
        samples = tuple(islice(filter(pattern.fullmatch, candidates), _MOST_SAMPLES))
        if not samples:
            samples = (next(filter(pattern.fullmatch, map(chr, range(0x30000)))),)
        return Chars(samples)

    def _end_of_class(self) -> int:
        at = self._at + 1
        at += self._text[at] == "^"
        at += self._text[at] == "]"
        while self._text[at] != "]":
            at += 2 if self._text[at] == "\\" else 1
        return at + 1

    def _group(self) -> Node:
        head = re.compile(
            r"\(\?(?:(?P<look>[=!]|<[=!])|P<\w+>|:|>|[aiLmsux]*(?:-[imsx]+)?:"
            r"|(?P<same>P=\w+)|(?P<comment>#)|(?P<open>\(\w+\)))|\("
        ).match(self._text, self._at)
        assert head is not None, self._text[self._at :]
        self._at = head.end()
        inside = self._choice()
        assert self._peek() == ")", (self._text, self._at)
        self._at += 1
        return Nothing() if head["look"] or head["same"] or head["comment"] else inside

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]


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
