"""`python -m benchmarks [--quick]`: measure what must not get worse, and print it as a table."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from benchmarks import beside, growth, heavy, kills, latency, memory, starting, throughput
from benchmarks.table import as_text


def main() -> int:
    """Measure everything and return 0, also if a limit is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="fewer rounds: some minutes, and less exact"
    )
    quick = parser.parse_args().quick
    begun = perf_counter()
    with tempfile.TemporaryDirectory(prefix="pbmserv-bench-") as name:
        folder = Path(name)
        lines = throughput.measure(folder, *((2, 300) if quick else (5, 1_000)))
        lines += latency.measure(folder, 50 if quick else 800)
        lines += heavy.measure("moves" if quick else "")
        lines += beside.measure(folder, 20 if quick else 40)
        lines += growth.measure(folder, 800 if quick else 4_000)
        lines += growth.compare(folder, *((10_000, 50) if quick else (1_000_000, 200)))
        lines += memory.measure(folder, 2_000 if quick else 10_000)
        lines += starting.measure(folder, 2 if quick else 5)
    lines += kills.measure(5 if quick else 50)
    print(as_text(lines))
    print(
        "\nB: bare aiosmtpd, which stores nothing, with the same mails from the same client.\n"
        f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores; "
        f"took {perf_counter() - begun:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
