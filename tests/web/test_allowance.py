"""Anonymous pages are made within shares of a processor, and one at a time."""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from asgi_client import fetch, site_of, visit_address
from indoors import PASSWORD, address_of, indoors
from rows import rows
from starlette.requests import Request

from pbmserv.service.boards.board_page import PlayerLocks
from pbmserv.web.http.client_network import network_of
from pbmserv.web.limits.allowance import (
    MOST_OF_NETWORK,
    MOST_WAITING,
    OF_ALL,
    OF_NETWORK,
    Allowance,
    Exhausted,
)

PROXIES = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("10.0.0.0/8"))


def request(peer: str, *forwarded: str) -> Request:
    headers = [(b"x-forwarded-for", address.encode()) for address in forwarded]
    return Request({"type": "http", "client": (peer, 1), "headers": headers})


@dataclass
class Machine:
    """A clock and a processor that a test moves."""

    now: float = 0.0
    used: float = 0.0

    def allowance(self) -> Allowance:
        return Allowance(PROXIES, lambda: self.now, lambda: self.used)

    def page(self, seconds: float) -> Callable[[], Awaitable[str]]:
        async def make() -> str:
            self.used += seconds
            return "page"

        return make


@rows(
    ("peer", "forwarded", "network"),
    [
        ("192.0.2.7", (), "192.0.2.0/24"),
        ("192.0.2.7", ("198.51.100.1",), "192.0.2.0/24"),  # anybody can write that
        ("127.0.0.1", (), ""),
        ("127.0.0.1", ("198.51.100.1",), "198.51.100.0/24"),
        ("127.0.0.1", ("203.0.113.9, 198.51.100.1",), "198.51.100.0/24"),
        ("127.0.0.1", ("203.0.113.9", "198.51.100.1"), "198.51.100.0/24"),
        ("127.0.0.1", ("198.51.100.1, 10.1.2.3",), "198.51.100.0/24"),
        ("127.0.0.1", ("127.0.0.1, 127.0.0.1",), ""),
        ("127.0.0.1", ("nonsense",), ""),
        ("127.0.0.1", ("2001:db8:1:2:3::4",), "2001:db8:1:2::/64"),
    ],
)
def test_the_network_is_that_of_the_reader(
    peer: str, forwarded: tuple[str, ...], network: str
) -> None:
    assert network_of(request(peer, *forwarded), PROXIES) == network


def test_a_network_gets_its_share_and_others_are_left_alone() -> None:
    machine = Machine()
    allowance = machine.allowance()
    near, elsewhere = request("192.0.2.7"), request("198.51.100.1")

    async def ask() -> None:
        while machine.used <= OF_NETWORK.at_once:
            await allowance.spend(near, machine.page(0.5))
        with pytest.raises(Exhausted) as refused:
            await allowance.spend(near, machine.page(0.5))
        assert refused.value.is_own
        assert await allowance.spend(elsewhere, machine.page(0.5)) == "page"
        machine.now += refused.value.seconds
        assert await allowance.spend(near, machine.page(0.5)) == "page"

    asyncio.run(ask())


def test_all_networks_together_have_a_share() -> None:
    machine = Machine()
    allowance = machine.allowance()

    async def ask() -> None:
        number = 0
        while machine.used <= OF_ALL.at_once:
            number += 1
            await allowance.spend(request(f"192.0.{number}.1"), machine.page(0.5))
        with pytest.raises(Exhausted) as refused:
            await allowance.spend(request("203.0.113.1"), machine.page(0.5))
        assert not refused.value.is_own
        machine.now += refused.value.seconds
        assert await allowance.spend(request("203.0.113.1"), machine.page(0.5)) == "page"

    asyncio.run(ask())


def test_pages_are_made_one_at_a_time_and_few_wait() -> None:
    allowance = Machine().allowance()
    under_way = most = 0

    async def make() -> str:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        return "page"

    async def crowd(*peers: str) -> list[str | BaseException]:
        waiting = (allowance.spend(request(peer), make) for peer in peers)
        return await asyncio.gather(*waiting, return_exceptions=True)

    async def crowds() -> None:
        own = await crowd(*["192.0.2.7"] * 50)
        assert own.count("page") == MOST_OF_NETWORK
        assert all(answer.is_own for answer in own if isinstance(answer, Exhausted))
        every = await crowd(*(f"192.0.{number}.1" for number in range(1, 51)))
        assert every.count("page") == MOST_WAITING
        assert not any(answer.is_own for answer in every if isinstance(answer, Exhausted))
        assert await crowd("192.0.2.7") == ["page"]

    asyncio.run(crowds())
    assert most == 1


def test_a_page_that_fails_is_paid_for_and_lets_the_next_one_in() -> None:
    machine = Machine()
    allowance = machine.allowance()

    async def fail() -> str:
        machine.used += OF_NETWORK.at_once + 1
        raise ValueError

    async def ask() -> None:
        with pytest.raises(ValueError):
            await allowance.spend(request("192.0.2.7"), fail)
        with pytest.raises(Exhausted):
            await allowance.spend(request("192.0.2.7"), machine.page(0))
        assert await allowance.spend(request("198.51.100.1"), machine.page(0)) == "page"

    asyncio.run(ask())


def test_a_player_has_one_page_at_a_time_worked_out() -> None:
    locks = PlayerLocks()
    under_way, most = Counter[int](), Counter[int]()

    async def look(player: int) -> None:
        async with locks.of(player):
            under_way[player] += 1
            most[player] = max(most[player], under_way[player])
            most[0] = max(most[0], under_way.total())
            await asyncio.sleep(0)
            under_way[player] -= 1

    async def crowd() -> None:
        await asyncio.gather(*(look(player) for player in (1, 1, 1, 2, 3)))

    asyncio.run(crowd())
    assert most == {1: 1, 2: 1, 3: 1, 0: 3}


def test_looks_that_work_something_out_are_counted(tmp_path: Path) -> None:
    """A plain look costs no more than to read a row; drafts, taps and checks are no more than
    programs may have."""
    with indoors(tmp_path, rate_player="1000/hour") as house:
        house.sign_up("alice", "bob")
        letters = house.send(
            address_of("alice"), f"blackbox challenge alice {PASSWORD} bob -size=4x4 -atoms=1"
        )
        letters += house.send(address_of("bob"), f"blackbox move 1 bob {PASSWORD} c3")
        links = (re.search(r"/b/\w+", letter.text) for letter in letters if "/b/" in letter.text)
        page = next(link[0] for link in links if link)
        site = site_of(house.server)

        async def ask() -> None:
            visit = await visit_address(site, page)
            queries = ("?tap=A1", "?move=a1", "?check=all") * 43
            statuses = [(await fetch(site, visit + query)).status for query in queries]
            assert statuses[-3:] == [429] * 3
            assert (await fetch(site, visit)).status == 200

        asyncio.run(ask())


PAGES = (
    *("/game/1?turn={n}", "/game/1.png?turn={n}", "/game/1.svg?turn={n}", "/standings", "/seeks"),
    *("/players/alice", "/today?tap=A{n}", "/daily", "/games.atom", "/daily.atom"),
    *("/players/alice/games.atom", "/api/boards", "/api/boards/1?turn={n}", "/api/ratings"),
    *("/api/players/alice", "/api/seeks", "/api/today?tap=A{n}"),
)


def test_every_page_that_takes_work_ends_at_the_share(tmp_path: Path) -> None:
    machine = Machine()
    with indoors(tmp_path) as house:
        house.sign_up("alice", "bob")
        alice, bob = address_of("alice"), address_of("bob")
        house.send(alice, f"blackbox challenge alice {PASSWORD} bob -size=4x4 -atoms=1")
        house.send(bob, f"blackbox move 1 bob {PASSWORD} c3")
        house.send(alice, f"blackbox move 1 alice {PASSWORD} b2")
        for _ in range(2):
            for name in ("alice", "bob"):
                house.send(address_of(name), f"blackbox move 1 {name} {PASSWORD} a")
        allowance = machine.allowance()
        site = site_of(house.server, allowance)
        reader = request("192.0.2.1")  # from where all of them are asked

        async def ask() -> None:
            free = ("/game/1.png", "/game/1", "/", "/help", "/today", "/style.css", "/api/games")
            before = [await fetch(site, path) for path in free]
            await allowance.spend(reader, machine.page(1_000))
            for path in PAGES:
                answer = await fetch(site, path.format(n=1))
                assert answer.status == 429, path
                assert int(answer.header("retry-after")) > 0
            assert [await fetch(site, path) for path in free] == before
            assert {answer.status for answer in before} == {200}

        asyncio.run(ask())
