"""Connections that stay open when a port is full, and log lines about the others."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbmserv.net.connection_limits import (
    FROM_NETWORK,
    IN_ALL,
    SPAN_S,
    Bounds,
    ConnectionLimits,
    Place,
    Stage,
)

OURS = ip_network("127.0.0.1")


@dataclass
class Clients:
    """A crowd, those who came to it, and the time."""

    bounds: Bounds = field(default_factory=lambda: Bounds(10, 3, 2, 300, 10))
    now: float = 0.0
    gone: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.limits = ConnectionLimits("smtp", self.bounds, [OURS], lambda: self.now)

    def come(self, peer: str, name: str = "") -> Place | str:
        return self.limits.enter(peer, lambda: self.gone.append(name or peer))

    def fill(self, networks: int, each: int, first: int = 0) -> list[Place]:
        places = [
            self.come(f"10.0.{first + n}.{m}") for m in range(1, each + 1) for n in range(networks)
        ]
        assert all(isinstance(place, Place) for place in places), places
        return [place for place in places if isinstance(place, Place)]


def test_our_own_servers_always_find_a_place() -> None:
    clients = Clients()
    clients.fill(3, 3)
    clients.come("10.0.9.1")
    own = [clients.come("127.0.0.1", f"own {n}") for n in range(2)]
    assert all(isinstance(place, Place) for place in own)
    assert clients.gone == []
    assert isinstance(clients.come(""), Place)  # a Unix socket
    assert clients.gone == ["own 0"]
    for place in clients.limits._own:
        place.stage = Stage.ASKING
    assert clients.come("127.0.0.1") == IN_ALL


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9), st.sampled_from(Stage)), max_size=80)
)
def test_the_bounds_hold_and_a_new_network_always_gets_in(
    sessions: list[tuple[int, int, Stage]],
) -> None:
    clients = Clients(Bounds(8, 3, 2, 300, 10))
    for network, wait, stage in sessions:
        clients.now += wait
        newcomer = clients.come(f"10.0.{network}.1")
        if isinstance(newcomer, Place):
            newcomer.stage = Stage(min(stage, Stage.ASKING))
        counts = clients.limits._by_network
        assert sum(counts.values()) == clients.limits.inside[0] <= 8
        assert max(counts.values()) <= 3
    assert isinstance(clients.come("10.9.9.9"), Place)


def test_a_flood_of_refusals_is_a_line_for_each_network_and_span(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clients = Clients()
    with caplog.at_level(logging.INFO, "pbmserv.crowd"):
        clients.fill(1, 3)
        for _ in range(500):
            assert clients.come("10.0.0.9") == FROM_NETWORK
        (first,) = caplog.records
        facts = {name: vars(first)[name] for name in ("network", "because", "listener", "count")}
        assert first.message == "session refused"
        assert facts == {
            "network": "10.0.0.0/24", "because": FROM_NETWORK, "listener": "smtp", "count": 1,
        }  # fmt: skip
        clients.now = SPAN_S + 1
        clients.come("10.0.0.9")
    assert [vars(record)["count"] for record in caplog.records] == [1, 500, 1]
