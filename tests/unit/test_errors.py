"""The tree of exceptions at the top of `pbmserv.errors` is that of the classes below it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pbmserv import errors

_LINE = re.compile(r"^ {4}([│├└─ ]*)([A-Z]\w+)", re.MULTILINE)


def _shown() -> dict[str, str]:
    """Return each exception of the tree with the one above it."""
    above: list[str] = []
    parents: dict[str, str] = {}
    for indent, name in _LINE.findall(errors.__doc__ or ""):
        del above[len(indent) // 4 :]
        parents[name] = above[-1] if above else ""
        above.append(name)
    return parents


def _subclasses(cls: type) -> Iterator[type]:
    for child in cls.__subclasses__():
        if child.__module__ == errors.__name__:
            yield child
            yield from _subclasses(child)


def test_the_tree_of_exceptions_is_whole() -> None:
    classes = {cls.__name__: cls.__bases__[0].__name__ for cls in _subclasses(errors.PbmError)}
    assert _shown() == {"PbmError": "", **classes}
