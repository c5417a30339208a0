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
import operator
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from threading import Lock
from types import BuiltinMethodType
from typing import Any, NamedTuple, cast

from markupsafe import Markup, escape

from pbmserv.letters.environment import LetterEnvironment, environment
from pbmserv.letters.tracing import (
    Drawn,
    Trace,
    Traced,
    Untraceable,
    as_html,
    as_text,
    called,
    dictionary,
    in_order,
    member,
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

_LONGEST = 1_000
"""Steps of a rendering that is traced; a board's letter has some five hundred. What a thousand
notes or fifty boards led to would not come again, and later letters would carry its expressions."""

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


class TooLong(Exception):
    """A letter that is drawn the plain way, since it would be no other's skeleton."""


class Expressions:
    """What was worked out in the traces of one letter, each once, behind the values it is given.

    Attributes:
        room: steps that the present trace may still take.
    """

    def __init__(self, given: int) -> None:
        self.given = given
        self.room = 0
        self.all: list[Expression] = []
        self._numbers: dict[Any, int] = {}

    def number(self, work: Callable[..., Any], parts: Sequence[Any]) -> int:
        """The number of *work* done with these parts: traced values, and constants of templates.

        Raises:
            TooLong: there is no more room.
        """
        self.room -= 1
        if self.room < 0:
            raise TooLong
        key = (work, *map(_identity, parts))
        known = self._numbers.get(key)
        if known is None:
            known = self._numbers[key] = self.given + len(self.all)
            numbers = tuple([part.number if isinstance(part, Traced) else part for part in parts])
            traced = tuple([isinstance(part, Traced) for part in parts])
            self.all.append(Expression(work, numbers, traced))
        return known

    def forget(self, kept: int) -> None:
        """What came behind the first *kept* is not there."""
        del self.all[kept:]
        beyond = self.given + kept
        self._numbers = {key: n for key, n in self._numbers.items() if n < beyond}


def _identity(part: Any) -> Any:
    """What tells a part of an expression from all others."""
    if isinstance(part, Traced):
        return (Traced, part.number)
    if isinstance(part, (tuple, list)):
        return (type(part), *map(_identity, part))
    if isinstance(part, dict):
        return (dict, *map(_identity, part.items()))
    if isinstance(part, BuiltinMethodType):
        return (_identity(part.__self__), part.__name__)
    if part is None or isinstance(part, (str, int)) or callable(part):
        return (type(part), part)
    return (id, id(part))  # the expression keeps it alive


@dataclass(slots=True, eq=False)
class Fork:
    """A question, and where the answers lead.

    Attributes:
        lines: code that works out all that is needed to ask it.
        stretch: from there on; ``None`` = to be written when it is needed.
    """

    lines: Sequence[str]
    asked: int
    ways: dict[Any, Fork | End] = field(default_factory=dict)
    stretch: _Stretch | None = None


@dataclass(slots=True, eq=False)
class End:
    """The texts of a letter; the last of the lines hands them back."""

    lines: Sequence[str]
    stretch: _Stretch | None = None


class _Stretch(NamedTuple):
    """The code of a part of a way: up to where it branches, or to its end.

    Attributes:
        run: of values by their numbers; hands back an answer, `_Left`, or at the end the texts.
        ways: where the answers lead; ``None`` at the end.
    """

    run: Callable[[list[Any]], Any]
    ways: dict[Any, Fork | End] | None


class _Left(NamedTuple):
    """Where a letter left all known ways: a fork, and the answer that leads on from there."""

    fork: int
    answer: Any


class Shapes:
    """All known ways through the templates of one letter."""

    def __init__(self, given: int) -> None:
        self.expressions = Expressions(given)
        self.begins: dict[Any, Fork | End] = {}
        self.constants: dict[str, Any] = dict(_CALLED)
        self._names: dict[Any, str] = {}

    def filled(self, values: Mapping[str, Any]) -> tuple[str, ...] | _Left:
        """The texts of a letter that goes a known way."""
        known: list[Any] = [*values.values(), *([None] * len(self.expressions.all))]
        ways, answer = self.begins, cast("Any", None)
        while (at := ways.get(answer)) is not None:
            run, onwards = at.stretch or self._written(at)
            answer = run(known)
            if onwards is None or type(answer) is _Left:
                return cast("tuple[str, ...] | _Left", answer)
            ways = onwards
        return _Left(id(ways), answer)

    def learn(self, draw: Draw, letter: str, values: Mapping[str, Any]) -> tuple[str, ...]:
        """The texts of a letter, whose way is known from now on.

        Raises:
            Untraceable: its templates cannot be followed.
            TooLong: it takes too many steps.
        """
        trace = Trace(self.expressions.number)
        self.expressions.room, kept = _LONGEST, len(self.expressions.all)
        try:
            texts = draw(tracing_environment(), letter, trace.given(values))
        except TooLong:
            self.expressions.forget(kept)
            raise
        ways, answer, done = self.begins, None, set(range(len(values)))
        for number, found in trace.asked.items():
            lines = self._worked_out(number, done)
            at = ways.get(answer)
            if at is None:
                at = ways[answer] = Fork(lines, number)
            if not isinstance(at, Fork) or at.asked != number:
                raise Untraceable  # it asks otherwise although all answers were the same
            at.stretch = None
            ways, answer = at.ways, found
        ways[answer] = End(self._joined(texts, done))
        return tuple([str(text.value) if isinstance(text, Traced) else text for text in texts])

    # -- the code ------------------------------------------------------------------------------

    def _worked_out(self, number: int, done: set[int]) -> list[str]:
        """A line for an expression, and before it for all that it needs and is not done."""
        if number in done:
            return []
        done.add(number)
        work, parts, is_traced = self.expressions.all[number - self.expressions.given]
        lines: list[str] = []
        told: list[str] = []
        for part, traced in zip(parts, is_traced, strict=True):
            lines += self._worked_out(part, done) if traced else ()
            told.append(f"v{part}" if traced else self._constant(part))
        if work is getattr and str(parts[1]).isidentifier():
            made = f"{told[0]}.{parts[1]}"
        elif work is called and parts[2] == {}:
            made = f"{told[0]}(*{told[1]})"
        elif work in _CODE:
            made = _CODE[work](*told)
        else:
            made = f"{self._constant(work)}({', '.join(told)})"
        return [*lines, f"v{number} = {made}"]

    def _joined(self, texts: Sequence[Any], done: set[int]) -> list[str]:
        """Lines that fill texts and hand them back."""
        lines: list[str] = []
        joined = []
        for text in texts:
            told: list[str] = []
            for is_hole, pieces in groupby(
                text.pieces if isinstance(text, Drawn) else [text],
                lambda piece: isinstance(piece, Traced),
            ):
                if is_hole:
                    for piece in pieces:
                        lines += self._worked_out(piece.number, done)
                        told.append(f"v{piece.number}")
                else:
                    told.append(self._constant("".join(pieces)))
            joined.append(f"''.join([{', '.join(told)}])")
        return [*lines, f"return {', '.join(joined)},"]

    def _written(self, begins: Fork | End) -> _Stretch:
        """The code from there on: Python does it quicker than when it is told step by step."""
        at: Fork | End = begins
        lines: list[str] = []
        while isinstance(at, Fork) and len(at.ways) == 1:
            answer, onwards = next(iter(at.ways.items()))
            left = self._constant(partial(_Left, id(at.ways)))
            asked = f"v{at.asked}"
            differs = f"{asked} != {self._constant(answer)}"
            if type(answer) is bool:
                differs = f"not {asked}" if answer else asked
            lines += [*at.lines, f"if {differs}: return {left}({asked})"]
            at = onwards
        lines += at.lines
        made = _MADE.findall("\n".join(lines))
        needed = set(_NAMED.findall("\n".join(lines))).difference(made)
        ways = None
        if isinstance(at, Fork):
            lines += [f"k[{number}] = v{number}" for number in made]
            needed |= {str(at.asked)}.difference(made)
            lines.append(f"return v{at.asked}")
            ways = at.ways
        known = [f"v{number} = k[{number}]" for number in needed]
        # The lines have numbers and names of attributes in them, nothing of a letter's.
        exec("\n    ".join(["def run(k):", *known, *lines]), self.constants)  # noqa: S102
        begins.stretch = _Stretch(self.constants.pop("run"), ways)
        return begins.stretch

    def _constant(self, value: Any) -> str:
        key = value if type(value) is str else id(value)  # ways have most of their texts in common
        name = self._names.get(key)
        if name is None:
            name = self._names[key] = f"c{len(self.constants)}"
            self.constants[name] = value
        return name


_SPECIAL = re.compile("""[&<>"']""").search
_SIGNS = {
    operator.eq: "==", operator.ne: "!=", operator.lt: "<", operator.le: "<=", operator.gt: ">",
    operator.ge: ">=", operator.add: "+", operator.sub: "-", operator.mul: "*",
}  # fmt: skip
_CALLED = {"Markup": Markup, "escape": escape, "member": member, "special": _SPECIAL}
_CODE: Mapping[Any, Callable[..., str]] = {
    **{work: f"{{}} {sign} {{}}".format for work, sign in _SIGNS.items()},
    operator.getitem: "{}[{}]".format,
    operator.contains: "{1} in {0}".format,
    bool: "not not {}".format,
    as_text: lambda *told: f"''.join(({', '.join(told)},))",
    as_html: lambda *told: f"Markup(''.join(({', '.join(told)},)))",
    dictionary: lambda keys, *told: f"dict(zip({keys}, ({', '.join(told)},)))",
    in_order: lambda kind, *told: f"{kind}(({', '.join(told)},))",
    escape: (
        "{0} if type({0}) is Markup or type({0}) is str and not special({0}) "
        "else str({0}) if type({0}) is int else escape({0})"
    ).format,
    member: "{0}[{1}] if type({0}) is dict and {1} in {0} else member({0}, {1})".format,
}
"""What Python has a sign for, or can be said on the spot, is quicker than a call."""
_MADE = re.compile(r"^v(\d+) = ", re.MULTILINE)
_NAMED = re.compile(r"\bv(\d+)\b")


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
            except TooLong:
                pass
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
