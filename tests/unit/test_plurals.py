"""Numbers with their nouns in sentences."""

from __future__ import annotations

from pbmserv.plurals import pluralize


def test_a_template_ends_a_word_by_its_number() -> None:
    assert ["guess" + pluralize(number, "", "es") for number in (0, 1, "1", "1-4")] == [
        "guesses",
        "guess",
        "guess",
        "guesses",
    ]
