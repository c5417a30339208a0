"""Connections that stay open when a port is full, and log lines about the others."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbmserv.monitoring.metrics import REGISTRY
from pbmserv.net.connection_limits import (
    FROM_NETWORK,
    IN_ALL,
    LEAST_STAY_S,
    MOST_LOGGED,
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


def test_networks_are_counted_by_blocks() -> None:
    clients = Clients()
    for n in range(3):
        assert isinstance(clients.come(f"2001:db8:1:1::{n:x}"), Place)
    assert clients.come("2001:db8:1:1:ffff::1") == FROM_NETWORK
    assert isinstance(clients.come("2001:db8:1:2::1"), Place)
    mapped = [clients.come(f"::ffff:192.0.2.{n}") for n in range(3)]
    assert clients.come("192.0.2.200") == FROM_NETWORK
    assert isinstance(mapped[0], Place)
    clients.limits.leave(mapped[0])
    clients.limits.leave(mapped[0])  # twice is no error
    assert isinstance(clients.come("::ffff:192.0.2.200"), Place)
    assert clients.come("192.0.2.201") == FROM_NETWORK
    assert clients.limits.inside == (7, 10)


def test_the_longest_idle_client_of_the_fullest_network_gives_way() -> None:
    clients = Clients()
    clients.fill(3, 3)  # 10.0.0, 10.0.1, 10.0.2
    clients.come("10.0.7.1")
    clients.now = 1.0
    assert isinstance(clients.come("10.0.8.1"), Place)
    assert clients.gone == ["10.0.0.1"]
    for n in range(2, 7):  # two a network are left then
        assert isinstance(clients.come(f"10.0.1{n}.1"), Place)
    assert "10.0.7.1" not in clients.gone
    assert len(clients.gone) == 6


def test_a_network_makes_room_among_its_own_after_a_while() -> None:
    clients = Clients()
    for place in clients.fill(1, 3)[1:]:
        place.stage = Stage.ASKING
    assert clients.come("10.0.0.9") == FROM_NETWORK
    clients.now = LEAST_STAY_S + 1
    assert isinstance(clients.come("10.0.0.9"), Place)
    assert clients.come("10.0.0.10") == FROM_NETWORK
    assert clients.gone == ["10.0.0.1"]


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


def test_time_shrinks_as_it_fills() -> None:
    clients = Clients()
    limits = []
    for n in range(10):
        limits.append(round(clients.limits.idle_limit))
        clients.come(f"10.0.{n}.1")
    assert limits == [300, 300, 300, 300, 300, 300, 242, 184, 126, 68]
    assert clients.limits.idle_limit == 10
    clients.now = 9.0
    clients.limits.leave(next(iter(clients.limits._strangers)))
    clients.come("10.0.20.1")
    assert clients.gone == []
    clients.now = 11.0
    clients.come("10.0.21.1")
    assert len(clients.gone) == 9  # all but those who came later
    clients.now = 250.0
    clients.come("10.0.22.1")
    assert len(clients.gone) == 9  # now there is room, and time


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


def test_refused_clients_are_counted_for_prometheus() -> None:
    clients = Clients()
    clients.fill(1, 3)

    def turned_away() -> float:
        labels = {"listener": "smtp", "because": FROM_NETWORK}
        return REGISTRY.get_sample_value("pbmserv_turned_away_total", labels) or 0.0

    before = turned_away()
    assert clients.come("10.0.0.9") == FROM_NETWORK
    assert turned_away() == before + 1


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


def test_refusals_from_everywhere_are_not_a_line_each(caplog: pytest.LogCaptureFixture) -> None:
    clients = Clients(Bounds(1, 1, 1, 300, 10))
    with caplog.at_level(logging.INFO, "pbmserv.crowd"):
        for n in range(5 * MOST_LOGGED):
            clients.come(f"10.{n // 200}.{n % 200}.1")
    assert len(caplog.records) == MOST_LOGGED + 1
    assert vars(caplog.records[-1])["network"] == "others"
