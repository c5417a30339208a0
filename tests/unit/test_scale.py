"""The reckoning of docs/scaling.md: more mails want more cores, and nobody waits without need."""

from __future__ import annotations

import random
from statistics import median

import pytest

from benchmarks.scale import GIVEN, Plan, Pool, octets, read, simulated

pytestmark = pytest.mark.slow


def test_work_waits_for_the_first_free_core_of_its_node() -> None:
    pool = Pool.of(2, 2)
    assert [pool.served(0.0, 0, 3.0), pool.served(0.0, 0, 1.0)] == [3.0, 1.0]
    assert pool.served(0.5, 0, 1.0) == 2.0
    assert pool.served(0.5, 1, 1.0) == 1.5


def test_ten_times_the_mails_want_ten_times_the_cores_and_wait_no_longer() -> None:
    one, ten = (Plan(read(GIVEN, [f"mails={mails}"])) for mails in (1_000, 10_000))
    for name in ("door", "play", "post"):
        assert ten.pools[name][1] == pytest.approx(10 * one.pools[name][1], rel=0.5)
    for plan in (one, ten):
        chance = random.Random(1)
        answers, letters, busy = simulated(plan, chance)
        assert len(letters) == 2 * len(answers)
        assert max(busy.values()) < 0.75
        least = (plan.given["statements"][0] * plan.given["hop_ms"] + plan.given["commit_ms"]) / 1e3
        assert least < median(answers) < 4 * least


def test_cores_that_are_too_few_make_mails_wait() -> None:
    plan = Plan(read(GIVEN, ["mails=1000", "door=2"]))
    plan.pools["door"] = (1, 1)
    answers, _, _ = simulated(plan, random.Random(1))
    assert median(answers) > 0.1


def test_what_is_kept_follows_from_the_numbers_given() -> None:
    given = read(GIVEN, ["boards=10", "moves_of_a_board=5", "kept_for_good=100", "board_octets=1"])
    assert octets(given)["boards"] == 10 * 501
    with pytest.raises(SystemExit, match="no number"):
        read(GIVEN, ["moons=3"])
