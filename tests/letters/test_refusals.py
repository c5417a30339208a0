"""Every refusal has its sentence: a code without one is a fault, never an empty letter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from rows import rows

import pbmserv
from pbmserv.errors import PlayerError, Refusal, ServerFault
from pbmserv.views.environment import environment, templates_root
from pbmserv.views.texts import refusal_sentence

SOURCES = [
    path
    for room in ("commands", "engine", "inbound", "service", "views")
    for path in sorted((Path(pbmserv.__file__).parent / room).rglob("*.py"))
]
BUILT = ("mail-",)
"""Beginnings of codes that are put together of two words."""


def _names_of(error: type[PlayerError]) -> Iterator[str]:
    yield error.__name__
    for below in error.__subclasses__():
        yield from _names_of(below)


def test_every_code_in_the_source_has_a_sentence_and_no_sentence_is_idle() -> None:
    source = "\n".join(path.read_text("utf-8") for path in SOURCES)
    errors = "|".join(_names_of(PlayerError))
    raised = set(re.findall(rf'\b(?:{errors})\(\s*"([a-z-]+)"', source))
    words = set(re.findall(r'"([a-z-]+)"', source))
    blocks = [
        name.replace("_", "-")
        for file in sorted((templates_root() / "refusals").iterdir())
        for name in environment().get_template(f"refusals/{file.name}").blocks
    ]
    written = set(blocks)
    assert len(blocks) == len(written), "a sentence is written twice"
    assert len(raised) > 100
    # A record that cannot be read is for a terminal, which has its own words.
    assert raised - written == set()
    assert {code for code in written if not code.startswith(BUILT)} - words == set()


@rows("code", ["no-such-code", "blackbox.no-such-code"])
def test_a_code_without_a_sentence_is_our_fault(code: str) -> None:
    with pytest.raises(ServerFault, match=code):
        refusal_sentence(Refusal(code))


@rows(
    ("code", "values", "words"),
    [
        ("reaches-many", {"count": 1}, "to one more player, and"),
        ("reaches-many", {"count": 12}, "to 12 more players, and"),
        ("blackbox.id-length", {"have": 1, "least": 8, "most": 8}, "has 1 digit after the colon"),
    ],
)
def test_a_count_of_one_is_singular(code: str, values: dict[str, int], words: str) -> None:
    assert words in " ".join(refusal_sentence(Refusal(code, "", values)).split())
