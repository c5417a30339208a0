"""The words that letters get from code, and the words that their templates name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from jinja2.nodes import Assign, Block, Call, Const, Getattr, Getitem, Name, Node, Template

from pbmserv.views.environment import environment, templates_root

Letter = tuple[str, Mapping[str, Any]]
"""The kind of a letter and its words."""


def letters_within(kind: str, words: Mapping[str, Any]) -> Iterator[Letter]:
    """Yield a letter, and the letters inside a summary or a digest."""
    yield kind, words
    parts = [part for line in words.get("lines", ()) for part in line["parts"]]
    for name in ("waiting", "news"):
        parts += [part for part in words.get(name, ()) if isinstance(part, dict)]
    for part in parts:
        yield from letters_within(part["letter"], part["words"])


@cache
def words_named(kind: str) -> frozenset[str]:
    """Return the words that the templates of a kind of letter name, with all that they include."""
    nodes = _nodes_in(_parsed(f"letters/{kind}.j2"))  # the blocks of both forms
    names = _attributes(nodes)
    for call in nodes:
        if isinstance(call, Call) and isinstance(call.node, Name) and call.node.name == "say":
            names |= _words_of_events()[_text(call.args[0])]
    return frozenset(names)


@cache
def _words_of_events() -> Mapping[str, set[str]]:
    """Return the words that ``events/say.j2`` may need, by the name of the block."""
    words: dict[str, set[str]] = {}
    for path in (templates_root() / "events").glob("*.j2"):
        for block in _parsed(f"events/{path.name}").find_all(Block):
            words.setdefault(block.name, set()).update(_attributes(_nodes_in(block)))
    return words


def _parsed(name: str) -> Template:
    shared = environment()
    assert shared.loader is not None
    return shared.parse(shared.loader.get_source(shared, name)[0])


def _nodes_in(node: Node) -> Sequence[Node]:
    """Return the nodes that may name words; to search a template takes long."""
    return list(node.find_all((Assign, Call, Getattr, Getitem)))


def _attributes(nodes: Sequence[Node]) -> set[str]:
    """Return the names in ``words.name``, ``words["name"]`` and ``words.get("name")``."""
    aliases = {"words"}
    for node in nodes:
        if (
            isinstance(node, Assign)
            and isinstance(node.node, Name)
            and node.node.name == "words"
            and isinstance(node.target, Name)
        ):
            aliases.add(node.target.name)

    def is_words(value: Node) -> bool:
        return isinstance(value, Name) and value.name in aliases

    names = set()
    for node in nodes:
        if isinstance(node, Getattr) and is_words(node.node):
            names.add(node.attr)
        elif isinstance(node, Getitem) and is_words(node.node):
            names.add(_text(node.arg))
        elif isinstance(node, Call) and isinstance(node.node, Getattr) and is_words(node.node.node):
            names.add(_text(node.args[0]))
    return names - {"get"}


def _text(node: Node) -> str:
    assert isinstance(node, Const)
    return str(node.value)
