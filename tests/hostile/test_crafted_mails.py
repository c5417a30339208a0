"""Mails made to be slow: little time, little memory, and no more than their size explains."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from examples import DEEP
from fork_server import run
from growth import allowed

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
SHARE = 1 if DEEP else 16
"""A usual run makes mails a 16th as long as allowed; `tests.hostile.crafted` whole ones."""
LENGTH = 2**20 // SHARE
MOST_CPU_S = 0.5 if DEEP else 0.125
MOST_MEMORY = (64 if DEEP else 16) * 2**20
MOST_GROWTH = 8  # for four times the mail


def measured() -> list[dict[str, Any]]:
    """Read all crafted mails in a process of its own, whose highest use of memory is known."""
    program = "from tests.hostile.crafted import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = run(["-c", program, str(LENGTH)], environment, timeout=100)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def slow_mails() -> tuple[list[dict[str, Any]], dict[str, list[float]]]:
    """Return all mails as `measured` does, and the times of slow ones, for a quarter of their
    length and for all of it.

    The speed of the machine may change meanwhile, so it is looked at before and afterwards.
    """
    limit = allowed(MOST_CPU_S)
    mails = measured()
    limit = max(limit, allowed(MOST_CPU_S))
    slow = {
        mail["name"]: mail["seconds"]
        for mail in mails
        if mail["seconds"][1] > min(limit, MOST_GROWTH * mail["seconds"][0] + 0.05)
    }
    return mails, slow


def test_a_long_mail_made_to_be_slow_costs_little_and_grows_with_its_size():
    mails, slow = slow_mails()
    assert len(mails) >= 60
    assert mails[-1]["grown"] <= MOST_MEMORY, [mail["grown"] for mail in mails]
    if slow:  # a busy machine is slow now and then, a slow reader each time
        _, again = slow_mails()
        assert not slow.keys() & again.keys(), (slow, again)
