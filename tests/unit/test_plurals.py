"""Numbers with their nouns in sentences."""

from __future__ import annotations

import pytest

from pbmserv.plurals import counted, pluralize


@pytest.mark.parametrize(
    ("number", "words", "sentence"),
    [
        (0, ("letter",), "0 letters"),
        (1, ("letter",), "1 letter"),
        (2, ("letter",), "2 letters"),
        (1_200, ("letter",), "1,200 letters"),
        (1, ("address", "addresses"), "1 address"),
        (3, ("address", "addresses"), "3 addresses"),
        (1, ("row differs", "rows differ"), "1 row differs"),
    ],
)
def test_only_one_is_singular(number: int, words: tuple[str, ...], sentence: str) -> None:
    assert counted(number, *words) == sentence


def test_a_template_ends_a_word_by_its_number() -> None:
    assert ["guess" + pluralize(number, "", "es") for number in (0, 1, "1", "1-4")] == [
        "guesses",
        "guess",
        "guess",
        "guesses",
    ]
