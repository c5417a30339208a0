"""`python -m benchmarks.scale`: what many boards and mails a second would cost, by simulation.

From measured costs and stated assumptions (`scale.toml`; `--set mails=2000` changes one) it reckons
how many cores, hosts, database nodes and octets are needed, and lets some seconds of the busiest
hour run: mails come at random, each step waits for a free core of its pool, and takes a random time
with the measured mean. It knows of no failure, no network that is full, and no hot board.
"""

from __future__ import annotations

import argparse
import random
import tomllib
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush, heapreplace
from math import ceil
from pathlib import Path
from statistics import quantiles
from typing import Any

GIVEN = Path(__file__).with_name("scale.toml")
SIMULATED_S = 4.0
MOST_MAILS = 40_000
HOURS = 730


@dataclass(slots=True)
class Pool:
    """Cores that do one kind of work, each in one node; work that has a node waits for that.

    Attributes:
        nodes: of each node, when each of its cores is free.
        busy_s: how long they have worked.
    """

    cores: int
    nodes: list[list[float]]
    busy_s: float = 0.0

    @classmethod
    def of(cls, nodes: int, cores: int) -> Pool:
        """So many nodes with so many cores each."""
        return cls(nodes * cores, [[0.0] * cores for _ in range(nodes)])

    def served(self, now: float, node: int, seconds: float) -> float:
        """When work that comes now is done."""
        cores = self.nodes[node]
        begins = max(now, cores[0])
        heapreplace(cores, begins + seconds)
        self.busy_s += seconds
        return begins + seconds


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that is done about a mail: mean seconds of a core, then a wait for no core."""

    pool: str
    work_s: float
    wait_s: float = 0.0


@dataclass(slots=True)
class Plan:
    """What is needed.

    Attributes:
        pools: nodes and cores of each, by name.
        mail_most: mails a second that one database node could queue.
    """

    given: dict[str, Any]
    pools: dict[str, tuple[int, int]] = field(default_factory=dict)
    mail_most: float = 0.0

    def __post_init__(self) -> None:
        of, rate = self.given, self.given["mails"]
        for name in ("door", "play", "post"):
            cores = ceil(rate * of[name] / 1000 / of["busy"])
            self.pools[name] = (1, cores)
        for name in ("database_mail", "database_board"):
            cores = max(4, ceil(rate * of[name] / 1000 / of["busy"]))
            nodes = ceil(cores / of["node_cores"])
            self.pools[name] = (nodes, ceil(cores / nodes))
        self.mail_most = of["node_cores"] * of["busy"] / (of["database_mail"] / 1000)

    def steps(self) -> tuple[list[Step], int, int]:
        """What is done about a mail in turn; after how many steps its 250 goes out, and from which
        on there are two letters."""
        of = {name: value / 1000 for name, value in self.given.items() if _is_number(value)}
        stored, played, posted = self.given["mail_shares"]
        first, second, third = (one * of["hop_ms"] for one in self.given["statements"])
        mail = of["database_mail"]
        return (
            [
                Step("door", of["door"]),
                Step("database_mail", mail * stored, first + of["commit_ms"]),
                Step("play", of["play"], second),
                Step("database_board", of["database_board"]),
                Step("database_mail", mail * played, of["commit_ms"] + of["two_nodes_ms"]),
                Step("post", of["post"] / 2, third),
                Step("database_mail", mail * posted / 2, 0.0),
            ],
            2,
            5,
        )


def simulated(
    plan: Plan, chance: random.Random
) -> tuple[list[float], list[float], dict[str, float]]:
    """Seconds to the 250, and to the first letter at the relay; and how busy each pool was."""
    rate = plan.given["mails"]
    count = min(MOST_MAILS, int(rate * SIMULATED_S))
    pools = {name: Pool.of(*sizes) for name, sizes in plan.pools.items()}
    steps, taken_after, letters_from = plan.steps()
    events: list[tuple[float, int, int]] = []
    now = 0.0
    came = []
    for mail in range(count):
        now += chance.expovariate(rate)
        came.append(now)
        events.append((now, mail, 0))
    heapify(events)
    answers, letters = [], []
    while events:
        now, mail, at = heappop(events)
        if at == taken_after:
            answers.append(now - came[mail])
        if at == len(steps):
            letters.append(now - came[mail])
            continue
        step = steps[at]
        pool = pools[step.pool]
        # A mail's queue and its board are each on one node, whatever is done about it.
        node = hash((mail, step.pool)) % len(pool.nodes)
        done = pool.served(now, node, chance.expovariate(1 / step.work_s))
        heappush(events, (done + step.wait_s, mail, at + 1))
        if at + 1 == letters_from:  # one for each player
            heappush(events, (done + step.wait_s, mail, at + 1))
    busy = {name: pool.busy_s / pool.cores / came[-1] for name, pool in pools.items()}
    return answers, letters, busy


def octets(given: dict[str, Any]) -> dict[str, float]:
    """What is kept: of all boards once they are played, and of a day."""
    mean = given["mails"] / given["peak_to_mean"]
    of_board = given["board_octets"] + given["moves_of_a_board"] * given["kept_for_good"]
    return {
        "boards": given["boards"] * of_board,
        "a day": mean * 86_400 * given["kept_for_good"],
        "letters": mean * 86_400 * given["letters_kept_days"] * 2 * given["letter_octets"],
    }


def report(given: dict[str, Any], chance: random.Random) -> str:
    """All of it, for people."""
    plan = Plan(given)
    answers, letters, busy = simulated(plan, chance)
    kept = octets(given)
    stage_cores = sum(plan.pools[name][1] for name in ("door", "play", "post"))
    node_cores = sum(
        nodes * cores for name, (nodes, cores) in plan.pools.items() if name.startswith("database")
    )
    lines = [f"{given['boards']:,} boards, {given['mails']:,} mails a second"]
    for name, (nodes, cores) in plan.pools.items():
        lines.append(f"  {name:16} {nodes:3} x {cores:4} cores, {busy[name]:4.0%} busy")
    hosts = ceil(stage_cores / given["host_cores"])
    lines += [
        f"  hosts for stages {hosts:5} of {given['host_cores']} cores",
        f"  one mail node carries {plan.mail_most:,.0f} mails a second",
        f"  250 after        {_shown(answers)}",
        f"  letter after     {_shown(letters)}",
    ]
    total = kept["boards"] + kept["letters"]
    boards, day = kept["boards"] / 1e12, kept["a day"] / 1e9
    days = given["letters_kept_days"]
    lines += [
        f"  kept of boards   {boards:8.2f} TB; {day:,.0f} GB of that are a day's moves",
        f"  letters kept     {kept['letters'] / 1e12:8.2f} TB ({days} days)",
    ]
    cores = stage_cores + node_cores * given["copies"]
    money = cores * given["core_hour"] * HOURS
    disks = total * given["copies"] / 1e9 * given["gigabyte_month"]
    lines.append(f"  a month          {money:,.0f} for {cores:,} cores, {disks:,.0f} for disks")
    return "\n".join(lines)


def read(path: Path, changes: list[str]) -> dict[str, Any]:
    """What the file gives, and what is changed of it (``name=value``).

    Raises:
        SystemExit: there is no such name.
    """
    sections = tomllib.loads(path.read_text())
    given = {**sections["measured"], **sections["assumed"]}
    for change in changes:
        name, _, value = change.partition("=")
        if not _is_number(given.get(name)):
            raise SystemExit(f"{name}: no number of {path.name}")
        given[name] = type(given[name])(float(value))
    return given


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float))


def _shown(seconds: list[float]) -> str:
    cuts = quantiles(seconds, n=100)
    return f"{cuts[49] * 1000:7.1f} ms, one in a hundred {cuts[98] * 1000:7.1f} ms"


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--given", type=Path, default=GIVEN)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    asked = parser.parse_args()
    print(report(read(asked.given, asked.set), random.Random(1)))


if __name__ == "__main__":
    main()
