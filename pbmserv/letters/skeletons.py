"""Letters as skeletons: a template is rendered once for each way through it, then filled.

Most letters differ in names, numbers, links and boards alone. `tracing` finds out what a
template asks about its values, and what it prints in between. What comes of one rendering is kept
as a way through a tree of questions, at whose end stand the constant texts with holes. A later
letter whose values give the same answers is the same texts with other values in the holes. What
has gone no known way is rendered by Jinja, and traced when it comes once more.

A skeleton has in it what the templates say, and answers: yes and no, lengths, a game's name.
Nothing of a letter that was traced stays.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple, cast

from pbmserv.letters.environment import LetterEnvironment, environment
from pbmserv.letters.tracing import (
    Drawn,
    Trace,
    Traced,
    Untraceable,
    tracing_environment,
)

log = logging.getLogger("pbmserv.send")

Draw = Callable[[LetterEnvironment, str, Mapping[str, Any]], Sequence[Any]]
"""Renders the texts of a letter with the templates of an environment, and nothing else: subject,
headline, text and HTML."""

_MOST = 1_000
"""Ways that are kept, of all letters together: some 15 kB each. Then all begins anew."""

_SPARE, _EACH = 100, 20
"""So many renderings are traced at once, and one in so many letters: tracing one takes as long as
to render it ten times, and people may write what never comes again."""

_TRIES = 3
"""A letter that could not be traced so often is drawn the plain way from then on."""


class Expression(NamedTuple):
    """How a value is worked out.

    Attributes:
        work: is called with the parts.
        parts: constants of templates, and where `is_traced` numbers of expressions.
    """

    work: Callable[..., Any]
    parts: tuple[Any, ...]
    is_traced: tuple[bool, ...]


class Expressions:
    """What was worked out in the traces of one letter, each once, behind the values it is given."""

    def __init__(self, given: int) -> None:
        self.given = given
        self.all: list[Expression] = []
        self._numbers: dict[Any, int] = {}

    def number(self, work: Callable[..., Any], parts: Sequence[Any]) -> int:
        """The number of *work* done with these parts: traced values, and constants of templates."""
        key = (work, *map(_identity, parts))
        known = self._numbers.get(key)
        if known is None:
            known = self._numbers[key] = self.given + len(self.all)
            numbers = tuple([part.number if isinstance(part, Traced) else part for part in parts])
            traced = tuple([isinstance(part, Traced) for part in parts])
            self.all.append(Expression(work, numbers, traced))
        return known


def _identity(part: Any) -> Any:
    """What tells a part of an expression from all others."""
    if isinstance(part, Traced):
        return (Traced, part.number)
    if isinstance(part, (tuple, list)):
        return (type(part), *map(_identity, part))
    if isinstance(part, dict):
        return (dict, *map(_identity, part.items()))
    if part is None or isinstance(part, (str, int)) or callable(part):
        return (type(part), part)
    return (id, id(part))  # the expression keeps it alive


Known = list[Any]
"""What has been worked out for one letter, by the number of its expression."""


@dataclass(slots=True)
class Fork:
    """A question, and where the answers lead. `run` works out all that is needed to ask it."""

    run: Callable[[Known], Any]
    asked: int
    ways: dict[Any, Fork | End] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class End:
    """The texts of a letter. `run` fills them."""

    run: Callable[[Known], tuple[str, ...]]


class _Left(NamedTuple):
    """Where a letter left all known ways: a fork, and the answer that leads on from there."""

    fork: int
    answer: Any


class Shapes:
    """All known ways through the templates of one letter."""

    def __init__(self, given: int) -> None:
        self.expressions = Expressions(given)
        self.begins: dict[Any, Fork | End] = {}

    def filled(self, values: Mapping[str, Any]) -> tuple[str, ...] | _Left:
        """The texts of a letter that goes a known way."""
        known: Known = [*values.values(), *([None] * len(self.expressions.all))]
        ways, answer = self.begins, cast("Any", None)
        while (at := ways.get(answer)) is not None:
            found = at.run(known)
            if isinstance(at, End):
                return tuple(found)
            ways, answer = at.ways, found
        return _Left(id(ways), answer)

    def learn(self, draw: Draw, letter: str, values: Mapping[str, Any]) -> tuple[str, ...]:
        """The texts of a letter, whose way is known from now on.

        Raises:
            Untraceable: its templates cannot be followed.
        """
        trace = Trace(self.expressions.number)
        texts = draw(tracing_environment(), letter, trace.given(values))
        ways, answer, done = self.begins, None, set(range(len(values)))
        for number, found in trace.asked.items():
            code = _Code(self.expressions, done)
            code.work_out(number)
            at = ways.get(answer)
            if at is None:
                at = ways[answer] = Fork(code.function([f"return k[{number}]"]), number)
            if not isinstance(at, Fork) or at.asked != number:
                raise Untraceable  # it asks otherwise although all answers were the same
            ways, answer = at.ways, found
        code = _Code(self.expressions, done)
        ways[answer] = End(code.function(code.texts(texts)))
        return tuple([str(text.value) if isinstance(text, Traced) else text for text in texts])


class _Code:
    """Writes a function that works expressions out, a line for each: Python does it quicker by
    itself than when it is told step by step.

    Args:
        done: what is known already.
    """

    def __init__(self, expressions: Expressions, done: set[int]) -> None:
        self._expressions = expressions
        self._done = done
        self._constants: dict[str, Any] = {}
        self._lines: list[str] = []

    def work_out(self, number: int) -> None:
        """An expression, and before it all that it needs."""
        if number in self._done:
            return
        self._done.add(number)
        work, parts, is_traced = self._expressions.all[number - self._expressions.given]
        for part, traced in zip(parts, is_traced, strict=True):
            if traced:
                self.work_out(part)
        told = [
            f"k[{part}]" if traced else self._constant(part)
            for part, traced in zip(parts, is_traced, strict=True)
        ]
        if work is getattr and str(parts[1]).isidentifier():
            made = f"{told[0]}.{parts[1]}"
        else:
            made = f"{self._constant(work)}({', '.join(told)})"
        self._lines.append(f"k[{number}] = {made}")

    def texts(self, texts: Sequence[Any]) -> list[str]:
        """Lines that join texts and hand them back."""
        lines: list[str] = []
        names: list[str] = []
        for text in texts:
            pieces = text.pieces if isinstance(text, Drawn) else [text]
            name = f"t{len(names)}"
            fixed = [None if isinstance(piece, Traced) else piece for piece in pieces]
            lines.append(f"{name} = {self._constant(fixed)}.copy()")
            for at, piece in enumerate(pieces):
                if isinstance(piece, Traced):
                    self.work_out(piece.number)
                    lines.append(f"{name}[{at}] = k[{piece.number}]")
            names.append(f"''.join({name})")
        return [*lines, f"return {', '.join(names)},"]

    def function(self, lines: Sequence[str]) -> Callable[[Known], Any]:
        """The function, which ends with *lines*."""
        source = "\n    ".join(["def run(k):", *self._lines, *lines])
        exec(source, self._constants)  # noqa: S102 - numbers and the names of attributes
        run: Callable[[Known], Any] = self._constants.pop("run")
        return run

    def _constant(self, value: Any) -> str:
        name = f"c{len(self._constants)}"
        self._constants[name] = value
        return name


class Skeletons:
    """The ways through the templates of all letters that were gone before.

    Attributes:
        filled: so many letters were filled in.
        failed: by letter, how often one could not be traced.
    """

    def __init__(self) -> None:
        self.filled = 0
        self.failed: Counter[str] = Counter()
        self._shapes: dict[Any, Shapes] = {}
        self._left: set[Any] = set()
        self._drawn = self._traced = self._kept = 0
        self._lock = Lock()

    def texts(self, draw: Draw, letter: str, values: Mapping[str, Any]) -> Sequence[str]:
        """What *draw* makes of a letter's values."""
        kind = (draw, letter, *values)
        shapes = self._shapes.get(kind)
        left: Any = None
        if shapes is not None:
            try:
                left = shapes.filled(values)
            except Exception:  # noqa: BLE001 - whatever it is, templates themselves say it better
                self._fail(letter)
            else:
                if type(left) is tuple:
                    self.filled += 1
                    return left
        self._drawn += 1
        if self._pays((kind, left), letter) and self._lock.acquire(blocking=False):
            try:
                return self._learnt(kind, draw, letter, values)
            except Exception:  # noqa: BLE001
                self._fail(letter)
            finally:
                self._lock.release()
        return draw(environment(), letter, values)

    def _pays(self, place: Any, letter: str) -> bool:
        """Whether to trace a letter: one like it was here before."""
        if place not in self._left:
            if len(self._left) > _MOST:
                self._left.clear()
            self._left.add(place)
            return False
        is_affordable = self._traced < _SPARE + (self._drawn + self.filled) // _EACH
        return is_affordable and self.failed[letter] < _TRIES

    def _learnt(
        self, kind: Any, draw: Draw, letter: str, values: Mapping[str, Any]
    ) -> tuple[str, ...]:
        if self._kept >= _MOST:
            self._shapes, self._kept = {}, 0
        self._traced += 1
        shapes = self._shapes.setdefault(kind, Shapes(len(values)))
        texts = shapes.learn(draw, letter, values)
        self._kept += 1
        return texts

    def _fail(self, letter: str) -> None:
        self.failed[letter] += 1
        if self.failed[letter] == _TRIES:
            log.info("a letter cannot be traced", extra={"kind": letter})


SKELETONS = Skeletons()
"""Of this process: its templates are the same all the while."""
