"""Every regular expression of the program answers in a time that is linear in its text's length.

`test_scanners` promises the same of whole readers. Neither test holds what the other one does:

* Here each pattern is found by itself, so that a new one is asked without anybody's thinking of it,
  and with texts made for it, which lead into each of its repetitions. In a reader, words in front
  of a pattern may hide a slow repetition from all texts that `test_scanners` repeats.
* There, loops without a pattern are asked, too, and patterns that are quick for one line and are
  asked again for each line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import pytest
from examples import DEEP
from growth import SHORTER, patience, steepness
from pattern_list import Asked, all_patterns, ways
from regex_text import texts
from rows import rows

pytestmark = pytest.mark.slow

LENGTH = 1_000
QUICK_S = 0.000_05
"""Seconds of processor time below which a text of `LENGTH` is no reason to ask with a longer one. A
quadratic pattern takes 0.3 to 0.8 ms for it here, and less on quicker machines."""


def slowness(used: Asked) -> str:
    """Describe the text for which a pattern is slow; ``""`` if there is none.

    A pattern like ``[a-z]{1,64}@`` is quadratic up to its limit, and linear for longer texts. So a
    text that seems hard is compared with a longer one, too.
    """
    is_text = isinstance(used.pattern.pattern, str)

    @cache
    def texts_of(length: int) -> list[str | bytes]:
        return [text if is_text else text.encode() for text in texts(used.pattern, length)]

    for way, ask in ways(used).items():
        for number, hard in enumerate(texts_of(LENGTH)):
            growth = steepness(ask, hard, lambda: texts_of(LENGTH // SHORTER)[number], QUICK_S)  # noqa: B023
            if growth and steepness(ask, texts_of(LENGTH * SHORTER)[number], lambda: hard):  # noqa: B023
                places = ", ".join(used.places)
                return f"{way} of {used.pattern.pattern!r} in {places}: {growth}"
    return ""


def test_no_pattern_grows_faster_than_its_text() -> None:
    patterns, unclear = all_patterns()
    assert unclear == [], "write these so that their text can be read from the code"
    assert len(patterns) > 200
    with patience():
        slow = [reason for used in patterns if (reason := slowness(used))]
    assert not slow, "\n".join(slow)


SLOW: Sequence[tuple[str | bytes, str]] = (
    (r"exceed\w* (?:\w+ )?quota", "search"),
    (r"\s*,\s*", "sub"),
    (r"(?m)^(\s*box:\s*)board ([0-9]{1,9})\s*$", "sub"),
    (r'"(?:[^"\\]|\\.)*"|[^",]+|,|"', "findall"),
    (r"(?:<!--.*?-->)*x", "search"),
    (r"\S*@\S*", "search"),
    (r"(.*?)[,;]?\s+as\s+(\w+)", "fullmatch"),
    (rb"(?i)[ \t]*received:", "search"),
    (r"(a+)+$", "match"),
)
"""Quadratic patterns and an exponential one; each takes a second, so a usual run asks one."""


@rows(("pattern", "method"), SLOW if DEEP else SLOW[:1])
def test_slow_patterns_are_found(pattern: str | bytes, method: str) -> None:
    asked = Asked(re.compile(pattern), ("here",), frozenset((method,)))
    with patience():  # a busy machine may hide a slow pattern once
        assert slowness(asked) or slowness(asked) or slowness(asked)


def test_no_pattern_is_possessive() -> None:
    """Python 3.11.2, which Debian 12 has, matches possessive groups wrongly."""
    patterns, _ = all_patterns()
    one_of = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]")
    possessive = re.compile(r"[)\]}][*+?]\+|\(\?>")
    wrong = []
    for used in patterns:
        text = used.pattern.pattern
        text = text.decode("latin-1") if isinstance(text, bytes) else text
        if possessive.search(one_of.sub("[]", text.replace(r"\\", "").replace(r"\)", ""))):
            wrong.append((used.places, text))
    assert not wrong
