"""Every regular expression of the program answers in a time that is linear in its text's length."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from time import thread_time
from typing import Any

import pytest
from pattern_list import Asked, all_patterns, ways
from regex_text import texts
from rows import rows

pytestmark = pytest.mark.slow

LENGTHS = (30, 300, 8_000)
FLOOR_S = 0.003
"""Seconds of processor time below which growth is not measured."""
MOST_GROWTH = 3.0
"""Limit of the time for a text in proportion to the time for half of it: 2 is linear growth, 4 is
quadratic growth."""
PATIENCE_S = 0.4
"""Seconds of processor time after which a pattern is interrupted."""


class _TooLong(Exception):
    """A pattern has not answered within `PATIENCE_S`."""


@contextmanager
def patience() -> Iterator[None]:
    """Let `seconds` interrupt a pattern, for which `re` has to run in the main thread."""

    def interrupt(*_: object) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGVTALRM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGVTALRM, before)


def seconds(ask: Callable[[Any], object], text: str | bytes) -> float:
    """Return the processor time that an answer takes; infinite if it was interrupted."""
    # The clock of the process becomes coarse while its timer runs; that of the thread does not.
    begun = thread_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE_S)
    try:
        ask(text)
    except _TooLong:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return thread_time() - begun


def slowness(asked: Asked) -> str:
    """Describe the text for which a pattern is slow; ``""`` if there is none."""
    is_text = isinstance(asked.pattern.pattern, str)

    def hard_text(length: int, number: int) -> str | bytes:
        text = next(islice(texts(asked.pattern, length), number, None))
        return text if is_text else text.encode()

    for way, ask in ways(asked).items():
        for length in LENGTHS:
            for number, text in enumerate(texts(asked.pattern, length)):
                hard = text if is_text else text.encode()
                took = seconds(ask, hard)
                if took <= FLOOR_S:
                    continue
                half = hard_text(length // 2, number)
                took = min(took, *(seconds(ask, hard) for _ in range(2)))
                before = min(seconds(ask, half) for _ in range(3))
                if took > FLOOR_S and took > MOST_GROWTH * before:
                    return (
                        f"{way}, {length} characters like {text[:30]!r}: {1000 * took:.0f} ms, "
                        f"half of them: {1000 * before:.1f} ms. {asked.pattern.pattern!r} in "
                        f"{', '.join(asked.places)}"
                    )
    return ""


def test_no_pattern_grows_faster_than_its_text() -> None:
    patterns, unclear = all_patterns()
    assert unclear == [], "write these so that their text can be read from the code"
    assert len(patterns) > 200
    with patience():
        found = [slowness(asked) for asked in patterns]
    assert not any(found), "\n".join(filter(None, found))


@rows(
    ("pattern", "method"),
    [
        (r"\s*,\s*", "sub"),
        (r"(?m)^(\s*box:\s*)board ([0-9]{1,9})\s*$", "sub"),
        (r'"(?:[^"\\]|\\.)*"|[^",]+|,|"', "findall"),
        (r"(a+)+$", "match"),
        (r"(?:<!--.*?-->)*x", "search"),
        (r"\S*@\S*", "search"),
        (r"(.*?)[,;]?\s+as\s+(\w+)", "fullmatch"),
        (r"exceed\w* (?:\w+ )?quota", "search"),
        (rb"(?i)[ \t]*received:", "search"),
    ],
)
def test_slow_patterns_are_found(pattern: str | bytes, method: str) -> None:
    with patience():
        assert slowness(Asked(re.compile(pattern), ("here",), frozenset((method,))))


@rows(
    ("pattern", "method"),
    [
        (r"(?<!\s)\s+,\s*|,\s*", "sub"),
        (r"\s*,\s*", "match"),
        (r"[a-z]{1,30}@[a-z]{1,30}", "search"),
        (r"<[^<>]*>", "sub"),
    ],
)
def test_linear_patterns_are_not_found(pattern: str, method: str) -> None:
    with patience():
        assert slowness(Asked(re.compile(pattern), ("here",), frozenset((method,)))) == ""


def test_patterns_are_found_wherever_they_are_kept() -> None:
    patterns, _ = all_patterns()
    places = {place for asked in patterns for place in asked.places}
    assert "pbmserv.letters.skeletons._CALLED" in places  # a method of a pattern
    assert "pbmserv.letters.environment._BLOCKS_OF_THE_OTHER" in places  # in a dictionary
    assert any(place.startswith("pbmserv.service.accounts.account:") for place in places)  # a call
