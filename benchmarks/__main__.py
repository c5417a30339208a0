"""`python -m benchmarks [--quick]`: measures, prints the table, and says whether the bar is met."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from benchmarks import (
    beside,
    crafted,
    floor,
    growth,
    heavy,
    latency,
    letters,
    one_process,
    others,
    rays,
    starting,
    sustained,
    throughput,
)
from benchmarks.table import printed


def main() -> int:
    """Run everything; 0 when every line that asks for something is met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="fewer rounds: a few minutes, and less exact"
    )
    quick = parser.parse_args().quick
    begun = perf_counter()
    with tempfile.TemporaryDirectory(prefix="pbmserv-bench-") as name:
        folder = Path(name)
        lines = throughput.measure(folder, *((1, 600) if quick else (5, 1_200)))
        lines += sustained.measure(folder, *((4.0, 1_000) if quick else (60.0,)))
        lines += letters.measure(folder, 3 if quick else 9, 100 if quick else 150)
        lines += others.measure(folder, *((2, 300) if quick else (5, 900)))
        lines += latency.measure(folder, 50 if quick else 800)
        lines += floor.measure(folder, *((1, 150) if quick else (3, 300)))
        lines += one_process.measure(100 if quick else 400)
        lines += growth.measure(folder, 800 if quick else 4_000)
        lines += starting.measure(folder, 2 if quick else 5)
        lines += crafted.measure(1 if quick else 3)
        lines += heavy.measure()
        lines += beside.measure(folder, 20 if quick else 40)
        lines += rays.measure(4_000 if quick else 20_000)
    print(printed(lines))
    print(f"\nB: bare aiosmtpd with as many sessions, same mails, same client, same moments.\n"
          f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores; "
          f"took {perf_counter() - begun:.0f} s")  # fmt: skip
    return 0  # it measures; what is not met the table says


if __name__ == "__main__":
    sys.exit(main())
