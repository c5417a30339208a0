"""Renders a template so that what it asks about its values comes to light.

The templates of letters are compiled once more, and each value that they get is a `Traced`. That
has no text, no length and no truth of its own. What a template works out (a filter, a sum, an
attribute) becomes an expression; what it prints becomes a hole in its text; and where its way
depends on a value, the question and its answer are noted. So nothing of a value gets into the
text but through a hole or a noted answer. Whatever else is tried with one raises `Untraceable`.

`skeletons` keeps what comes of it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, wraps
from types import BuiltinMethodType
from typing import Any

import markupsafe
from jinja2 import Template, runtime
from jinja2.environment import TemplateModule
from jinja2.nodes import EvalContext
from jinja2.utils import Namespace

from pbmserv.letters.environment import LetterEnvironment, environment, environment_of


class Untraceable(Exception):
    """A template does with a value what cannot be written down as an expression."""


class Trace:
    """One rendering.

    Args:
        number: the number of an expression: *work* done with parts, of which at least one is
            traced, and all else constants of templates.

    Attributes:
        asked: the expressions that its way depends on, and what they were, in order.
    """

    def __init__(self, number: Callable[[Callable[..., Any], Sequence[Any]], int]) -> None:
        self.number = number
        self.asked: dict[int, Any] = {}

    def given(self, values: Mapping[str, Any]) -> dict[str, Traced]:
        """The values of a letter as its templates get them."""
        return {name: Traced(self, at, value) for at, (name, value) in enumerate(values.items())}


class Traced:
    """A value whose every use is noted.

    Attributes:
        value: what it is in this rendering; nothing that is kept may have it.
    """

    __slots__ = ("_number", "trace", "value")

    def __init__(self, trace: Trace, number: int, value: Any) -> None:
        self.trace = trace
        self._number = number
        self.value = value

    @property
    def number(self) -> int:
        """The number of the expression that it is."""
        return self._number

    def answer(self) -> Any:
        """The value itself: the way depends on it."""
        self.trace.asked.setdefault(self.number, self.value)
        return self.value

    def strip(self) -> Traced:
        """As of a text."""
        return made(str.strip, self)

    def __bool__(self) -> bool:
        known: bool = made(bool, self).answer()
        return known

    def __len__(self) -> int:
        known: int = made(len, self).answer()
        return known

    def __iter__(self) -> Iterator[Any]:
        every = made(list, self)
        return iter([made(operator.getitem, every, at) for at in range(len(every))])

    def __contains__(self, wanted: Any) -> bool:
        return bool(made(operator.contains, self, wanted))

    def __call__(self, *arguments: Any, **named: Any) -> Traced:
        return made(called, self, arguments, named)

    def _refuse(self, *_: Any) -> Any:
        raise Untraceable

    __str__ = __repr__ = __format__ = __bytes__ = __hash__ = _refuse
    __int__ = __float__ = __complex__ = __index__ = __round__ = _refuse


def _forwards(work: Callable[..., Any]) -> Callable[..., Traced]:
    return lambda *parts: made(work, *parts)


def _backwards(work: Callable[..., Any]) -> Callable[..., Traced]:
    return lambda right, left: made(work, left, right)


for _name in ("add", "sub", "mul", "floordiv", "truediv", "mod", "pow"):
    setattr(Traced, f"__{_name}__", _forwards(getattr(operator, _name)))
    setattr(Traced, f"__r{_name}__", _backwards(getattr(operator, _name)))
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "getitem"):
    setattr(Traced, f"__{_name}__", _forwards(getattr(operator, _name)))


class Drawn(Traced):
    """A text with holes.

    Attributes:
        pieces: its constant pieces, and what fills the holes between them, each a string.
        is_html: whether it is printed as it is where values are escaped.
    """

    __slots__ = ("is_html", "pieces")

    def __init__(self, trace: Trace, pieces: Sequence[Any], *, is_html: bool) -> None:
        whole = "".join([p.value if isinstance(p, Traced) else p for p in pieces])
        # Each of its pieces was escaped by itself.
        super().__init__(trace, -1, markupsafe.Markup(whole) if is_html else whole)  # noqa: S704
        self.pieces = pieces
        self.is_html = is_html

    @property
    def number(self) -> int:
        """Few are more than printed: only these are worked out as a whole."""
        if self._number < 0:
            work = as_html if self.is_html else as_text
            self._number = self.trace.number(work, self.pieces)
        return self._number

    def answer(self) -> str:
        """The text, by what stands in its holes: many texts have these in common."""
        for piece in self.pieces:
            if isinstance(piece, Traced):
                piece.answer()
        return str(self.value)


def as_text(*pieces: str) -> str:
    """A text of its pieces."""
    return "".join(pieces)


def as_html(*pieces: str) -> markupsafe.Markup:
    """The same of a text in HTML."""
    return markupsafe.Markup("".join(pieces))  # noqa: S704 - see `Drawn`


_NEW = (runtime.Macro, runtime.BlockReference)
_NO_CONSTANTS = (*_NEW, runtime.LoopContext, runtime.TemplateReference, Namespace, TemplateModule)
"""May have traced values in them that nobody sees from outside."""


def made(work: Callable[..., Any], *parts: Any) -> Traced:
    """What comes of *work* with these parts; one of them is traced, or has such in it."""
    gathered = [_gathered(part) for part in parts]
    trace: Trace = next(part.trace for part in gathered if isinstance(part, Traced))
    value = work(*[part.value if isinstance(part, Traced) else part for part in gathered])
    if isinstance(value, Iterator):
        return made(_listed(work), *parts)
    return Traced(trace, trace.number(work, gathered), value)


@cache
def _listed(work: Callable[..., Any]) -> Callable[..., list[Any]]:
    """What hands one thing out after the other would have none left at the second look."""
    return lambda *parts: list(work(*parts))


def _gathered(part: Any) -> Any:
    """A container with traced values in it as one value that is traced; all else as it is."""
    if isinstance(part, _NO_CONSTANTS):
        raise Untraceable
    if isinstance(part, Traced) or not _is_traced(part):
        return part
    if isinstance(part, dict):
        return made(dictionary, tuple(part), *part.values())
    if isinstance(part, slice):
        return made(slice, part.start, part.stop, part.step)
    return made(in_order, tuple if isinstance(part, tuple) else list, *part)


def _is_traced(part: Any) -> bool:
    """Whether it is a traced value, or there is one in it."""
    if isinstance(part, (list, tuple)):
        return any(map(_is_traced, part))
    if isinstance(part, dict):
        return any(map(_is_traced, part.values()))
    if isinstance(part, slice):
        return any(map(_is_traced, (part.start, part.stop, part.step)))
    return isinstance(part, Traced)


def in_order(kind: type[Any], *parts: Any) -> Any:
    """A tuple or a list of its parts."""
    return kind(parts)


def dictionary(keys: Sequence[Any], *values: Any) -> dict[Any, Any]:
    """A dictionary whose keys are constants."""
    return dict(zip(keys, values, strict=True))


def called(work: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """What a call hands back."""
    return work(*arguments, **named)


def member(of: Any, name: str) -> Any:
    """As templates look attributes up; what a dictionary has is there at the second look only."""
    if type(of) is dict and name in of:
        return of[name]
    return environment().getattr(of, name)


def text(value: Any) -> Any:
    """`str`: a value is printed."""
    if isinstance(value, Drawn):
        return value
    if isinstance(value, Traced):
        return Drawn(value.trace, (made(str, value),), is_html=False)
    return str(value)


def escape(value: Any) -> Any:
    """A value is printed in HTML."""
    if isinstance(value, Drawn) and value.is_html:
        return value
    if isinstance(value, Traced):
        return Drawn(value.trace, (made(markupsafe.escape, value),), is_html=True)
    return markupsafe.escape(value)


def markup(value: Any) -> Any:
    """What a template has printed is HTML."""
    if isinstance(value, Drawn):
        return Drawn(value.trace, value.pieces, is_html=True)
    if isinstance(value, Traced):
        return made(markupsafe.Markup, value)
    return markupsafe.Markup(value)  # noqa: S704


def joined(parts: Iterable[Any]) -> Any:
    """What was printed, in one text."""
    found = list(parts)
    trace = next((part.trace for part in found if isinstance(part, Traced)), None)
    if trace is None:
        return "".join(found)
    pieces: list[Any] = []
    for part in found:
        pieces += part.pieces if isinstance(part, Drawn) else (part,)
    return Drawn(trace, pieces, is_html=False)


def text_join(parts: Iterable[Any]) -> Any:
    """``~`` where nothing is escaped."""
    return joined(map(text, parts))


def markup_join(parts: Sequence[Any]) -> Any:
    """``~`` where values are escaped: what is not HTML is escaped as soon as something is."""
    if not _is_traced(parts):
        return runtime.markup_join(parts)
    if any(map(_is_html, parts)):
        return markup(joined(map(escape, parts)))
    return text_join(parts)


def _is_html(value: Any) -> bool:
    if isinstance(value, Drawn):
        return value.is_html
    if isinstance(value, Traced):
        return bool(made(hasattr, value, "__html__"))
    return hasattr(value, "__html__")


class TracedMacro(runtime.Macro):
    """A macro whose text may have holes."""

    def _invoke(self, arguments: list[Any], autoescape: bool) -> Any:
        found = self._func(*arguments)
        return markup(found) if autoescape else found


_LOOKS = {"count", "endswith", "find", "format", "get", "index", "join", "replace", "startswith"}
"""Methods of a template's own texts and containers that change nothing."""


class _Context(runtime.Context):
    def call(self, work: Any, *arguments: Any, **named: Any) -> Any:
        """A call that a template makes."""
        is_new = isinstance(work, _NEW) or work is Namespace
        if isinstance(work, Traced) or (not is_new and _is_traced((arguments, named))):
            may_change = isinstance(work, BuiltinMethodType) and work.__name__ not in _LOOKS
            if may_change or hasattr(work, "jinja_pass_arg"):
                raise Untraceable
            kept = {k: v for k, v in named.items() if k not in {"_loop_vars", "_block_vars"}}
            return made(called, work, arguments, kept)
        return super().call(work, *arguments, **named)


class TracingEnvironment(LetterEnvironment):
    """Compiles templates so that they can be traced."""

    context_class = _Context
    concat = staticmethod(joined)

    def markup(self, html: Any) -> Any:
        """See `LetterEnvironment`."""
        return markup(html)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """See Jinja."""
        if isinstance(obj, Traced):
            is_own = hasattr(obj.value, attribute) or hasattr(dict, attribute)
            return made(getattr if is_own else member, obj, attribute)
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """See Jinja."""
        if isinstance(obj, Traced) or _is_traced(argument):
            return made(environment().getitem, obj, argument)
        return super().getitem(obj, argument)

    def join_path(self, template: Any, parent: str) -> Any:  # noqa: ARG002 - Jinja's signature
        """The name of a piece, on which the way depends."""
        return template.answer() if isinstance(template, Traced) else template

    def get_or_select_template(self, template_name_or_list: Any, *others: Any) -> Template:
        """See Jinja."""
        if isinstance(template_name_or_list, Traced):
            template_name_or_list = template_name_or_list.answer()
        return super().get_or_select_template(template_name_or_list, *others)

    def _generate(self, *told: Any, **more: Any) -> str:
        code = super()._generate(*told, **more)
        first, _, rest = code.partition("\n")
        return f"{first}; {_OURS}\n{rest}"


_OURS = (
    f"from {__name__} import TracedMacro as Macro, markup as Markup, escape, text as str, "
    "text_join as str_join, markup_join"
)


@cache
def tracing_environment() -> TracingEnvironment:
    """The environment whose templates can be traced."""
    templates = environment_of(TracingEnvironment, environment().loader)
    templates.bytecode_cache = environment().bytecode_cache
    every: tuple[dict[str, Any], ...] = (templates.filters, templates.tests)
    for known in every:
        known.update({name: _traced(work) for name, work in known.items()})
    return templates


def _traced(work: Callable[..., Any]) -> Callable[..., Any]:
    """A filter or a test that takes traced values, too."""
    wants = getattr(work, "jinja_pass_arg", None)

    @wraps(work)
    def noted(*arguments: Any, **named: Any) -> Any:
        if not _is_traced((arguments[1:] if wants else arguments, named)):
            return work(*arguments, **named)
        if wants:
            arguments = (_stand_in(arguments[0]), *arguments[1:])
        return made(called, work, arguments, named) if named else made(work, *arguments)

    return noted


def _stand_in(passed: Any) -> Any:
    """What a filter is passed, with none of the letter's values in it."""
    if isinstance(passed, runtime.Context):
        return _bare(passed.eval_ctx.autoescape)[0]
    return _bare(passed.autoescape)[1] if isinstance(passed, EvalContext) else environment()


@cache
def _bare(autoescape: bool) -> tuple[runtime.Context, EvalContext]:
    context = runtime.Context(environment(), {}, "", {})
    context.eval_ctx.autoescape = autoescape
    return context, context.eval_ctx
