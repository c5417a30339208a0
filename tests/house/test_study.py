"""`python -m benchmarks.study`: what a solver can expect, counted over all layouts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from math import log2

import pytest

from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.rays import trace_all


def by_name(output: str) -> dict[str, str]:
    lines = output.splitlines()
    return {name.strip(): value for name, _, value in (line.partition("  ") for line in lines)}


@pytest.mark.slow
def test_study_counts_what_rays_tell_and_what_players_need() -> None:
    """And trying every port is better than greedy play, which beats random ports."""
    pytest.importorskip("numba")
    # To compile all of it takes ten seconds; the same functions run uncompiled.
    uncompiled = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "benchmarks.study", "3x2/1"]
    ran = subprocess.run(command, env=uncompiled, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    values = {name: value.strip() for name, value in by_name(ran.stdout).items()}
    board = Options(3, 2, 1, 1).board
    spectra = [tuple(trace_all(board, (atom,))) for atom in board.cells]
    assert values["layouts"] == "6"
    assert values["classes with the same result at every port"] == str(len({*spectra}))
    assert values["layouts that are not unique"] == "0"
    shares = [Counter(spectrum[port] for spectrum in spectra).values() for port in (0, 1)]
    bits = [-sum(n / 6 * log2(n / 6) for n in share) for share in shares]
    assert values["bits of a first probe into A, B"] == " ".join(f"{bit:.3f}" for bit in bits)
    greedy, best, by_lot, at_random = (
        float(values[name].split()[0])
        for name in (
            "greedy by bits: probes until one class is left",
            "every port tried, perfect below 10 layouts: probes",
            "an informative port by lot: probes",
            "a random port that is not known, until one class is left",
        )
    )
    assert best < greedy
    assert best < by_lot < at_random
    sure, bold = (
        float(values[f"guessing at {at} layouts: winning turn"].split(",")[0])
        for at in ("1, 1, 1", "6, 3, 1")
    )
    assert bold < sure == pytest.approx(greedy + 1, abs=0.01)
