"""Numbers with their nouns in sentences."""

from __future__ import annotations

from pbmserv.plurals import pluralize
from pbmserv.views.filters import lasting


def test_a_template_ends_a_word_by_its_number() -> None:
    assert ["guess" + pluralize(number, "", "es") for number in (0, 1, "1", "1-4")] == [
        "guesses",
        "guess",
        "guess",
        "guesses",
    ]


def test_a_length_of_time_below_an_hour_is_told_in_minutes() -> None:
    shown = {0: "no time", 59: "no time", 60: "1 minute", 3_599: "59 minutes", 3_600: "1 hour"}
    assert {seconds: lasting(seconds) for seconds in shown} == shown
    assert lasting(26 * 3_600 + 59) == "1 day and 2 hours"
