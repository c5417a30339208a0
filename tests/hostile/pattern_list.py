"""Collects every regular expression of the program, and the methods that the program calls."""

from __future__ import annotations

import ast
import builtins
import importlib
import pkgutil
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import BuiltinMethodType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

import pbmserv

SEARCHES = frozenset(("search", "findall", "finditer", "sub", "subn", "split"))
ASKS = SEARCHES | {"match", "fullmatch"}
_COMPILES = ASKS | {"compile"}
_CALLS = re.compile(rf"\.\s*(?:{'|'.join(sorted(_COMPILES))})\b")
"""Occurs in the text of each module that makes or asks a pattern; parsing takes 6 ms."""


@dataclass(frozen=True)
class Asked:
    """A pattern of the program.

    Attributes:
        places: modules with the name of a variable or the number of a line.
        asks: methods that are called; all of `ASKS` if no call is visible.
    """

    pattern: re.Pattern
    places: tuple[str, ...]
    asks: frozenset[str]


@dataclass(frozen=True)
class Source:
    """A module with its calls and attributes."""

    module: ModuleType
    calls: tuple[ast.Call, ...]
    attributes: tuple[ast.Attribute, ...]

    @classmethod
    def of(cls, module: ModuleType, text: str) -> Source:
        nodes = list(ast.walk(ast.parse(text)))
        calls = (node for node in nodes if isinstance(node, ast.Call))
        attributes = (node for node in nodes if isinstance(node, ast.Attribute))
        return cls(module, tuple(calls), tuple(attributes))


def sources() -> list[Source]:
    listed = []
    for info in pkgutil.walk_packages(pbmserv.__path__, "pbmserv."):
        if info.name.endswith("__main__"):
            continue
        module = importlib.import_module(info.name)
        assert module.__file__ is not None
        text = Path(module.__file__).read_text("utf-8")
        listed.append(Source.of(module, text if _CALLS.search(text) else ""))
    return listed


@cache
def all_patterns() -> tuple[list[Asked], list[str]]:
    """Return all patterns, and the places of calls whose pattern cannot be evaluated here."""
    places: dict[re.Pattern, set[str]] = defaultdict(set)
    asks: dict[re.Pattern, set[str]] = defaultdict(set)
    unclear: list[str] = []
    listed = sources()
    seen: set[int] = set()
    for source in listed:
        for place, pattern, method in _kept(source.module, seen):
            places[pattern].add(place)
            if method:
                asks[pattern].add(method)
        for line, pattern, method in _written(source):
            where = f"{source.module.__name__}:{line}"
            if pattern is None:
                unclear.append(where)
                continue
            places[pattern].add(where)
            if method != "compile":
                asks[pattern].add(method)
    for source in listed:
        for pattern, method in _used(source):
            asks[pattern].add(method)
    patterns = [
        Asked(pattern, tuple(sorted(names)), frozenset(asks[pattern] or ASKS))
        for pattern, names in places.items()
    ]
    return patterns, unclear


def _kept(module: ModuleType, seen: set[int]) -> Iterator[tuple[str, re.Pattern, str]]:
    """Yield patterns in a module's values at any depth: place, pattern, name of a bound method.

    Args:
        seen: ids of containers that were searched before; more are added.
    """
    stack: list[tuple[str, Any]] = [
        (f"{module.__name__}.{name}", value) for name, value in vars(module).items()
    ]
    while stack:
        place, value = stack.pop()
        if isinstance(value, re.Pattern):
            yield place, value, ""
        elif isinstance(value, (str, int, bytes)) or id(value) in seen:
            continue
        elif isinstance(value, BuiltinMethodType) and isinstance(value.__self__, re.Pattern):
            yield place, value.__self__, value.__name__
        else:
            seen.add(id(value))
            stack += [(place, inner) for inner in _inside(value)]


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return (*value.keys(), *value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        return value
    if isinstance(value, type):
        return vars(value).values() if value.__module__.startswith("pbmserv") else ()
    if type(value).__module__.startswith("pbmserv"):
        slots = (getattr(value, name, None) for name in getattr(type(value), "__slots__", ()))
        return (*getattr(value, "__dict__", {}).values(), *slots)
    return _inside_callable(value)


def _inside_callable(value: Any) -> Iterable[Any]:
    """The values that a function or one of its wrappers holds."""
    if isinstance(value, partial):
        return (value.func, *value.args, *value.keywords.values())
    if isinstance(value, MethodType):
        return (value.__self__, value.__func__)
    if isinstance(value, FunctionType):
        wrapped = (value.__wrapped__,) if hasattr(value, "__wrapped__") else ()
        named = (value.__kwdefaults__ or {}).values()
        return (*(value.__closure__ or ()), *(value.__defaults__ or ()), *named, *wrapped)
    if isinstance(value, CellType):
        try:
            return (value.cell_contents,)
        except ValueError:
            return ()
    if isinstance(value, property):
        return (value.fget,)
    return (value.__func__,) if isinstance(value, (classmethod, staticmethod)) else ()


def _written(source: Source) -> Iterator[tuple[int, re.Pattern | None, str]]:
    """Yield the calls of `re` in a module: line, pattern, name of the function."""
    for node in source.calls:
        if not (
            isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in _COMPILES
        ):
            continue
        text = node.args[0]
        if isinstance(text, ast.Attribute) and text.attr == "pattern":
            continue  # the text of another pattern, which is here or a library's
        yield node.lineno, _evaluated(node, source.module), node.func.attr


def _evaluated(call: ast.Call, module: ModuleType) -> re.Pattern | None:
    """Return the pattern of a call. Local variables in its text stand for the text "word"."""
    flags = [word.value for word in call.keywords if word.arg == "flags"]
    place = {"compile": 1, "split": 3, "sub": 4, "subn": 4}.get(call.func.attr, 2)
    flags += call.args[place : place + 1]
    names = {node.id for node in ast.walk(call.args[0]) if isinstance(node, ast.Name)}
    global_names = vars(module).keys() | vars(builtins).keys()
    local = dict.fromkeys(names - global_names, "word")

    def value(node: ast.expr) -> Any:
        code = compile(ast.Expression(node), "pattern", "eval")
        return eval(code, {**vars(module), **local})

    try:
        text = value(call.args[0])
        if isinstance(text, re.Pattern):
            return text
        return re.compile(text, value(flags[0]) if flags else 0)
    except (KeyError, TypeError, AttributeError, re.error):
        return None


def _used(source: Source) -> Iterator[tuple[re.Pattern, str]]:
    """Yield the methods that a module calls on patterns that have a global name."""
    for node in source.attributes:
        if node.attr in ASKS:
            pattern = _named(node.value, source.module)
            if isinstance(pattern, re.Pattern):
                yield pattern, node.attr


def _named(node: ast.expr, module: ModuleType) -> Any:
    if isinstance(node, ast.Name):
        return vars(module).get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(_named(node.value, module), node.attr, None)
    return None


def ways(used: Asked) -> Mapping[str, Callable[[Any], object]]:
    """Return functions that use a pattern as the program does; a search looks for all matches."""
    calls: dict[str, Callable[[Any], object]] = {}
    if not used.asks.isdisjoint(SEARCHES):
        calls["search"] = used.pattern.findall
    for name in ("match", "fullmatch"):
        if name in used.asks:
            calls[name] = getattr(used.pattern, name)
    return calls
