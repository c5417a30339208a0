"""Collects every regular expression of the program, and the methods that the program calls."""

from __future__ import annotations

import ast
import builtins
import importlib
import pkgutil
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import BuiltinMethodType, ModuleType
from typing import Any

import pbmserv

SEARCHES = frozenset(("search", "findall", "finditer", "sub", "subn", "split"))
ASKS = SEARCHES | {"match", "fullmatch"}
_COMPILES = ASKS | {"compile"}
_CALL = re.compile(rf"\bre\.(?:{'|'.join(sorted(_COMPILES))})\(")
"""Occurs in the text of each module that makes a pattern; parsing takes 6 ms."""
_USE = re.compile(rf"(?<![\w.])(\w+(?:\.\w+)?)\s*\.\s*({'|'.join(sorted(ASKS))})\b")


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


def _modules() -> list[tuple[ModuleType, str]]:
    """Return the modules of the program with their texts."""
    listed = []
    for info in pkgutil.walk_packages(pbmserv.__path__, "pbmserv."):
        if info.name.endswith("__main__"):
            continue
        module = importlib.import_module(info.name)
        assert module.__file__ is not None
        listed.append((module, Path(module.__file__).read_text("utf-8")))
    return listed


@cache
def all_patterns() -> tuple[list[Asked], list[str]]:
    """Return all patterns, and the places of calls whose pattern cannot be evaluated here."""
    places: dict[re.Pattern, set[str]] = defaultdict(set)
    asks: dict[re.Pattern, set[str]] = defaultdict(set)
    unclear: list[str] = []
    modules = _modules()
    for module, text in modules:
        for name, pattern, method in _kept(module):
            places[pattern].add(f"{module.__name__}.{name}")
            if method:
                asks[pattern].add(method)
        for line, pattern, method in _written(module, text):
            where = f"{module.__name__}:{line}"
            if pattern is None:
                unclear.append(where)
                continue
            places[pattern].add(where)
            if method != "compile":
                asks[pattern].add(method)
    for module, text in modules:
        for pattern, method in _used(module, text):
            asks[pattern].add(method)
    patterns = [
        Asked(pattern, tuple(sorted(names)), frozenset(asks[pattern] or ASKS))
        for pattern, names in places.items()
    ]
    return patterns, unclear


def _kept(module: ModuleType) -> Iterator[tuple[str, re.Pattern, str]]:
    """Yield patterns among a module's values: name, pattern, name of a bound method.

    Functions of the program put some of them together, so they are written nowhere as a whole.
    """
    for name, value in vars(module).items():
        several = list(value.values()) if isinstance(value, dict) else value
        for inner in several if isinstance(several, (list, tuple)) else [value]:
            if isinstance(inner, re.Pattern):
                yield name, inner, ""
            elif isinstance(inner, BuiltinMethodType) and isinstance(inner.__self__, re.Pattern):
                yield name, inner.__self__, inner.__name__


def _written(module: ModuleType, text: str) -> Iterator[tuple[int, re.Pattern | None, str]]:
    """Yield the calls of `re` in a module: line, pattern, name of the function."""
    for node in ast.walk(ast.parse(text)) if _CALL.search(text) else ():
        if not (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in _COMPILES
        ):
            continue
        argument = node.args[0]
        if isinstance(argument, ast.Attribute) and argument.attr == "pattern":
            continue  # the text of another pattern, which is here or a library's
        yield node.lineno, _evaluated(node, module), node.func.attr


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


def _used(module: ModuleType, text: str) -> Iterator[tuple[re.Pattern, str]]:
    """Yield the methods that a module calls on patterns that have a global name."""
    for name, method in set(_USE.findall(text)):
        value: Any = module
        for part in name.split("."):
            value = getattr(value, part, None)
        if isinstance(value, re.Pattern):
            yield value, method


def ways(used: Asked) -> Mapping[str, Callable[[Any], object]]:
    """Return functions that use a pattern as the program does; a search looks for all matches."""
    calls: dict[str, Callable[[Any], object]] = {}
    if not used.asks.isdisjoint(SEARCHES):
        calls["search"] = used.pattern.findall
    for name in ("match", "fullmatch"):
        if name in used.asks:
            calls[name] = getattr(used.pattern, name)
    return calls
