"""Which Pythons are supported is said alike everywhere, and the one that is asked for is used."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SUPPORTED = [
    name.rpartition(" ")[2]
    for name in PROJECT["classifiers"]
    if re.search(r"Python :: 3\.\d+$", name)
]


def test_the_oldest_is_the_one_that_readers_are_told() -> None:
    oldest = SUPPORTED[0]
    assert PROJECT["requires-python"] == f">={oldest}"
    for name in ("README.md", "Makefile"):
        assert f"Python {oldest} or newer" in (ROOT / name).read_text(), name


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "--no-print-directory", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_an_environment_of_another_python_is_not_used_instead(tmp_path: Path) -> None:
    if shutil.which("make") is None:
        pytest.skip("NOT RUN: make is not installed here")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    (tmp_path / ".python").touch()
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho 3.99.1\n")
    other.chmod(0o755)

    same = make("same-python", f"VENV={tmp_path}", f"PYTHON={sys.executable}")
    assert (same.returncode, same.stderr) == (0, "")
    refused = make("same-python", f"VENV={tmp_path}", f"PYTHON={other}")
    assert refused.returncode != 0
    assert "choose another: make VENV=.venv-3.99.1" in refused.stderr
