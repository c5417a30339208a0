"""Each test runs once, in one of the forked processes; one that ends its process has failed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

TESTS = """
import os
from pathlib import Path
import pytest

@pytest.mark.parametrize("number", range(30))
def test_one(number, tmp_path, capfd):
    with Path("ran").open("a") as ran:
        ran.write(f"{number} {os.getpid()}\\n")
    print("said by", number)
    if number == 5:
        os._exit(3)
    assert number != 20
    assert capfd.readouterr().out == f"said by {number}\\n"
"""


def test_every_test_runs_once_whatever_happens_to_a_worker(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "workers",
            "--workers",
            "3",
            "-p",
            "no:cacheprovider",
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    assert "2 failed, 28 passed" in done.stdout
    assert "the process of this test has died" in done.stdout
    assert "said by 20" in done.stdout
    ran = [line.split() for line in (tmp_path / "ran").read_text().splitlines()]
    assert sorted(int(number) for number, _ in ran) == list(range(30))
    assert len({process for _, process in ran}) == 3
