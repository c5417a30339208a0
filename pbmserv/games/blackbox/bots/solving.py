"""Which port tells most, and when to guess: by the layouts that are still possible.

A probe is worth the bits that its result is expected to tell. `python -m benchmarks.solver` says
how well that plays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from pbmserv.engine.rng import Rng
from pbmserv.games.blackbox.bots.candidates import Candidates
from pbmserv.games.blackbox.rays import HIT

GUESS_AT = {1: 1, 2: 3}
"""With so many guesses left: how many candidates are few enough to guess."""

GUESS_AT_MORE = 6
"""The same with three guesses or more. Waiting for certainty costs half a turn on 7x7 with 4 atoms;
with the last guess even two candidates are too many."""


@dataclass(frozen=True, slots=True)
class Port:
    """A port that can tell something.

    Attributes:
        bits: what its result tells on average.
        points: what the probe costs on average where results cost points.
    """

    number: int
    bits: float
    points: float


def informative(found: Candidates, unused: Sequence[int]) -> list[Port]:
    """The unused ports at which the candidates differ, in port order."""
    total = sum(found.weights)
    ports = []
    for port in unused:
        shares: dict[int, int] = {}
        for spectrum, weight in zip(found.spectra, found.weights, strict=True):
            out = spectrum[port]
            shares[out] = shares.get(out, 0) + weight
        if len(shares) > 1:
            bits = -sum(share / total * log2(share / total) for share in shares.values())
            single = sum(share for out, share in shares.items() if out in (HIT, port))
            ports.append(Port(port, bits, 2 - single / total))
    return ports


def few_enough(guesses_left: int) -> int:
    """At how many candidates a careful player guesses."""
    return GUESS_AT.get(guesses_left, GUESS_AT_MORE)


def classes(found: Candidates) -> int:
    """How many different sets of results the candidates would show at all ports."""
    return len({tuple(spectrum) for spectrum in found.spectra})


def likeliest(found: Candidates, rng: Rng, *, fair: bool) -> frozenset[int]:
    """The layout to guess; with *fair* one of the set of results that most of them show."""
    shares: dict[object, int] = {}
    keys = [tuple(s) if fair else i for i, s in enumerate(found.spectra)]
    for key, weight in zip(keys, found.weights, strict=True):
        shares[key] = shares.get(key, 0) + weight
    most = max(shares.values())
    best = [layout for layout, key in zip(found.layouts, keys, strict=True) if shares[key] == most]
    return rng.choice(best)
