"""A kind of event is one class and one file of words."""

from __future__ import annotations

import pytest
from jinja2 import nodes

from pbmserv.service.events.kinds.registry import PLAYER_KINDS, SERVER_KINDS
from pbmserv.views.environment import environment
from pbmserv.views.overrides import shipped_text


def _blocks(name: str) -> set[str]:
    tree = environment().parse(shipped_text(f"events/{name}.j2"))
    return {block.name for block in tree.find_all(nodes.Block)}


@pytest.mark.parametrize("word", sorted({*SERVER_KINDS, *PLAYER_KINDS}))
def test_each_kind_has_words_that_are_used(word: str) -> None:
    assert _blocks(word) <= _blocks("kind")  # a misspelt block would never be printed
