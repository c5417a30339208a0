"""Every refusal has its sentence: a code without one is a fault, never an empty letter."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from rows import rows

import pbmserv
from pbmserv.errors import PlayerError, Refusal, ServerFault
from pbmserv.views.environment import environment
from pbmserv.views.texts import refusal_sentence

SOURCES = [
    path
    for room in ("commands", "engine", "inbound", "service", "views")
    for path in sorted((Path(pbmserv.__file__).parent / room).rglob("*.py"))
]
BUILT = ("mail-",)
"""Beginnings of codes that are put together of two words."""

CODE = re.compile(r"\A[a-z]+(?:-[a-z]+)*\Z")


def _words(tree: ast.AST) -> Iterator[str]:
    """Yield possible codes: texts of lower case words with hyphens."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from CODE.findall(node.value)


def _refused(tree: ast.AST) -> Iterator[str]:
    """The codes with which errors of players are made."""
    errors = {error.__name__ for error in _all_of(PlayerError)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Name):
            code = node.args[0]
            if node.func.id in errors and isinstance(code, ast.Constant):
                yield code.value


def _all_of(error: type[PlayerError]) -> Iterator[type[PlayerError]]:
    yield error
    for below in error.__subclasses__():
        yield from _all_of(below)


def test_every_code_in_the_source_has_a_sentence_and_no_sentence_is_idle() -> None:
    trees = [ast.parse(path.read_text("utf-8")) for path in SOURCES]
    raised = {code for tree in trees for code in _refused(tree)}
    words = {word for tree in trees for word in _words(tree)}
    written = {name.replace("_", "-") for name in environment().get_template("refusals.j2").blocks}
    assert len(raised) > 100
    # A record that cannot be read is for a terminal, which has its own words.
    assert {code for code in raised if "." not in code} - written == set()
    assert {code for code in written if not code.startswith(BUILT)} - words == set()


@rows("code", ["no-such-code", "blackbox.no-such-code"])
def test_a_code_without_a_sentence_is_our_fault(code: str) -> None:
    with pytest.raises(ServerFault, match=code):
        refusal_sentence(Refusal(code))
