"""The short run of fuzzing: the corpus, and small changes of it that are the same in each run."""

from __future__ import annotations

from pathlib import Path

import pytest
from examples import DEEP
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rows import rows
from targets import TARGETS

TESTS = Path(__file__).parent.parent
CORPUS = {
    name: [file.read_bytes() for file in sorted((TESTS / "fuzz/corpus" / name).iterdir())]
    for name in TARGETS
}
PIECES = (
    *(b"\r\n", b"\r", b"\n", b"\0", b"\xff", b"\r\n.\r\n", b"\r\n\r\n", b" ", b"\t", b'"', b"'"),
    *(b"<", b">", b"(", b"@", b":", b";", b"=", b"=?", b"?=", b"*0*=", b"--", b"> ", b"-- "),
    *(b"#", b"{", b"%", b"+", b",", b"\xe2\x80\x8b", b"\xef\xbc\x8b", b"\xed\xa0\x80", b"\x1b$B"),
    *(b"DATA\r\n", b"RSET\r\n", b"wrote:\r\n", b"From:", b"multiple", b"resign", b"x" * 999),
)
changes = st.lists(
    st.tuples(
        st.integers(0, 2000), st.integers(0, 9), st.sampled_from(PIECES) | st.binary(max_size=3)
    ),
    max_size=5,
)


def changed(octets: bytes, done: list[tuple[int, int, bytes]]) -> bytes:
    """Octets with some cut out, and others put in their place."""
    for at, cut, put in done:
        start = at % (len(octets) + 1)
        octets = octets[:start] + put + octets[start + cut :]
    return octets


@rows("name", TARGETS)
def test_nothing_in_the_corpus_breaks_its_target(name):
    assert len(CORPUS[name]) >= 4
    for octets in CORPUS[name]:
        TARGETS[name](octets)


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_no_small_change_of_the_corpus_breaks_its_target(name):
    @given(st.sampled_from(CORPUS[name]), st.sampled_from(CORPUS[name]), changes)
    @settings(
        max_examples=2_000 if DEEP else 12,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    def holds(seed: bytes, other: bytes, done: list[tuple[int, int, bytes]]) -> None:
        octets = changed(seed, done)
        TARGETS[name](octets)
        TARGETS[name](octets + other[1:])

    holds()
