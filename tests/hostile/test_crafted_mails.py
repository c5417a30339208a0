"""Mails made to be slow: little time, little memory, and no more than their size explains."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from examples import DEEP

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
SHARE = 1 if DEEP else 4
"""A usual run makes mails a quarter as long as allowed; `tests.hostile.crafted` whole ones."""
LENGTH = 2**20 // SHARE
MOST_CPU_S = 0.5 / SHARE
MOST_MEMORY = 64 * 2**20 // SHARE
MOST_GROWTH = 8  # for four times the mail


def test_a_long_mail_made_to_be_slow_costs_little_and_grows_with_its_size():
    # A process of its own, because only the most memory that one ever had can be asked for.
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile.crafted", str(LENGTH)],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=100,
    )  # fmt: skip
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(lines) >= 80
    for line in lines:
        quarter, full = line["seconds"]
        assert full <= MOST_CPU_S, line
        assert full <= MOST_GROWTH * quarter + 0.05, line
    assert lines[-1]["grown"] <= MOST_MEMORY, [line["grown"] for line in lines]
