"""How many examples a run of the tests takes.

``PBMSERV_TEST_EXAMPLES=deep`` takes two hundred times as many examples of properties, other ones in
each run. Otherwise the examples are few and always the same.
"""

from __future__ import annotations

import os

from hypothesis import settings
from hypothesis.internal.conjecture import providers

_TIMES = 200
_USUAL = 10
"""Examples of a property that names no number."""

DEEP = os.environ.get("PBMSERV_TEST_EXAMPLES") == "deep"

settings.register_profile("ci", max_examples=_USUAL, derandomize=True, deadline=None)
settings.register_profile("deep", max_examples=_USUAL * _TIMES, deadline=None)


def load_profile() -> None:
    """Load the profile that the environment asks for.

    Hypothesis also draws words and numbers from the source of every module that a process has
    loaded. So examples would depend on the tests before, and to read and sort the words takes some
    seconds of each worker: only a deep run draws them.
    """
    settings.load_profile("deep" if DEEP else "ci")
    if not DEEP:
        constants = providers._local_constants  # none yet
        providers._get_local_constants = lambda: constants


def examples(number: int) -> settings:
    """Return settings with a number of examples for a usual run."""
    return settings(max_examples=number * _TIMES if DEEP else number)
