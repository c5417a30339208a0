"""Long values of the store, which are compressed."""

from __future__ import annotations

import pytest

from pbmserv.errors import ServerFault
from pbmserv.store.tables.columns import pack, unpack


@pytest.mark.parametrize(
    ("octets", "is_compressed"),
    [(b"a" * 100, False), (b"a" * 10_000, True), (b"a" * 1_000_000, False)],
    ids=["too short", "long", "long enough to keep the writer busy"],
)
def test_values_are_compressed_where_it_helps(octets: bytes, is_compressed: bool) -> None:
    packed = pack(octets)
    assert (len(packed) < len(octets)) is is_compressed
    assert unpack(packed, is_json=False) == octets
    assert pack(unpack(packed, is_json=False)) is packed  # a copy is not compressed again


def test_octets_that_do_not_become_shorter_are_stored_as_they_are() -> None:
    octets = bytes(range(256))
    assert unpack(pack(octets), is_json=False) == octets
    assert len(pack(octets)) == len(octets) + 1


@pytest.mark.parametrize("kept", [b"\x01damaged", b"\x02of a later version"])
def test_a_damaged_value_is_a_fault_of_the_server(kept: bytes) -> None:
    with pytest.raises(ServerFault):
        unpack(kept, is_json=False)
