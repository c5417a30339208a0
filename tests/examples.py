"""How many examples a property is held against: few and the same ones each time, or very many.

``PBMSERV_TEST_EXAMPLES=deep`` is for a search that may take its time: a hundred times as many, and
others in each run.
"""

from __future__ import annotations

import os

from hypothesis import settings

_TIMES = 100
_USUAL = 30
"""For properties that say nothing else."""

DEEP = os.environ.get("PBMSERV_TEST_EXAMPLES") == "deep"

settings.register_profile("ci", max_examples=_USUAL, derandomize=True, deadline=None)
settings.register_profile("deep", max_examples=_USUAL * _TIMES, deadline=None)


def load_profile() -> None:
    """Use the profile that is asked for, in every test that says nothing else."""
    settings.load_profile("deep" if DEEP else "ci")


def examples(number: int) -> settings:
    """So many examples in a usual run; for properties that are dear, or need more."""
    return settings(max_examples=number * _TIMES if DEEP else number)
