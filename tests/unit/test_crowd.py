"""Places of our own mail servers; `tests/faults/test_crowds.py` has those of strangers."""

from __future__ import annotations

from functools import partial
from ipaddress import ip_network

from pbmserv.net.connection_limits import IN_ALL, Bounds, ConnectionLimits, Place, Stage


def test_our_own_servers_have_so_many_places_and_no_more() -> None:
    bounds = Bounds(strangers=10, from_network=3, own=2)
    limits = ConnectionLimits("smtp", bounds, [ip_network("127.0.0.1")])
    gone: list[str] = []
    for name in ("first", "second", "third"):  # the first one idles longest, and gives way
        place = limits.enter("127.0.0.1", partial(gone.append, name))
        assert isinstance(place, Place)
        place.stage = Stage.IDLE if name == "first" else Stage.ASKING
    assert gone == ["first"]
    assert limits.enter("127.0.0.1", gone.clear) == IN_ALL
    assert limits.own_inside == (2, 2)
