"""Slow name servers take no threads from other mails: deadlines, turns, remembered domains."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from signing import publish, rsa_key, signed
from zone import Zone

from pbmserv.errors import NamesUnavailable
from pbmserv.inbound.auth import slow_names, verdict
from pbmserv.inbound.auth.slow_names import SlowNames
from pbmserv.inbound.auth.verdict import Senders, Trusted
from pbmserv.mail.dns import TimedResolver
from pbmserv.mail.envelope import Envelope, Verdict

HOUSE = "pbmserv@games.example"
NETWORK, OTHER_NETWORK = "192.0.2.0/24", "198.51.100.0/24"


class Seconds:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class StuckZone(Zone):
    """A zone in which queries for names with "stuck" wait until the gate opens.

    Attributes:
        most: largest number of such queries that waited at a time.
    """

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.arrived = threading.Semaphore(0)
        self._guard = threading.Lock()
        self._inside = self.most = 0

    def _answer(self, kind: str, name: str) -> tuple:
        if "stuck" in name and not self.gate.is_set():
            with self._guard:
                self._inside += 1
                self.most = max(self.most, self._inside)
            self.arrived.release()
            self.gate.wait(30)
            with self._guard:
                self._inside -= 1
        return super()._answer(kind, name)


def envelope(domain: str, peer: str = "192.0.2.1", number: int = 1) -> Envelope:
    raw = (
        f"From: a@{domain}\r\nTo: {HOUSE}\r\nSubject: games\r\n"
        f"Date: Sat, 21 Nov 2026 06:00:00 +0000\r\nMessage-ID: <{number}@{domain}>\r\n\r\n"
    ).encode()
    return Envelope(f"a@{domain}", HOUSE, raw, peer, domain)


@pytest.fixture
def zone() -> Iterator[StuckZone]:
    made = StuckZone()
    publish(made, "players.example", rsa_key())
    yield made
    made.gate.set()


@pytest.fixture
def senders(zone: StuckZone) -> Iterator[Senders]:
    made = Senders(zone, Trusted())
    yield made
    zone.gate.set()
    made.close()


def is_proven(senders: Senders) -> bool:
    """Return whether a signed mail from another network is checked meanwhile."""
    mail = envelope("players.example", "198.51.100.1")
    raw = signed(mail.raw, "players.example", rsa_key())
    sent = Envelope(mail.sender, HOUSE, raw, mail.peer, mail.hello)
    return senders.check(sent, OTHER_NETWORK).result(20).passed


# -- the deadline ------------------------------------------------------------------------------


def test_all_questions_of_a_mail_have_one_deadline() -> None:
    clock, zone = Seconds(), Zone()
    zone.add("A", "host.example", "192.0.2.1")
    names = TimedResolver(zone, clock.now + 4, clock)
    for ask in (names.txt, names.a, names.aaaa, names.mx, names.ptr):
        ask("host.example")
        clock.now += 0.9
    assert names.is_over
    for ask in (names.txt, names.a, names.aaaa, names.mx, names.ptr):
        with pytest.raises(NamesUnavailable):
            ask("host.example")
    assert zone.asked.total() == 5


def test_a_mail_asks_nothing_after_its_deadline() -> None:
    """Policy, SPF with includes, DKIM and ARC share the time; each query takes 1.8 s."""

    class Slow(Zone):
        def _answer(self, kind: str, name: str) -> tuple:
            clock.now += 1.8
            return super()._answer(kind, name)

    clock, zone = Seconds(), Slow()
    zone.add_txt("slow.example", "v=spf1 " + " ".join(f"a:{n}.slow.example" for n in range(9)))
    senders = Senders(zone, Trusted(), clock=clock)
    mail = envelope("slow.example")
    raw = b"".join(
        b"DKIM-Signature: v=1; a=rsa-sha256; d=slow.example; s=k%d; h=from; bh=eA==; b=eA==\r\n" % n
        for n in range(3)
    )
    found = senders.check(Envelope(mail.sender, HOUSE, raw + mail.raw, mail.peer), NETWORK)
    assert found.result(20).result == "temperror"
    senders.close()
    assert zone.asked.total() <= verdict.CHECK_S // 1.8 + 1


# -- turns -------------------------------------------------------------------------------------


def test_a_domain_has_one_thread_for_a_network(zone: StuckZone, senders: Senders) -> None:
    stuck = [senders.check(envelope("stuck.example", number=n), NETWORK) for n in range(20)]
    assert zone.arrived.acquire(timeout=20)
    assert is_proven(senders)
    assert zone.most == 1
    zone.gate.set()
    assert {one.result(20).result for one in stuck} == {"fail"}


def test_many_domains_of_a_network_leave_threads_to_others(
    zone: StuckZone, senders: Senders
) -> None:
    stuck = [senders.check(envelope(f"stuck{n}.example"), NETWORK) for n in range(30)]
    for _ in range(verdict.NETWORK_THREADS):
        assert zone.arrived.acquire(timeout=20)
    assert is_proven(senders)
    assert zone.most == verdict.NETWORK_THREADS
    zone.gate.set()
    assert {one.result(20).result for one in stuck} == {"fail"}


def test_a_mail_does_not_wait_for_threads_of_other_domains(
    zone: StuckZone, senders: Senders
) -> None:
    for n in range(verdict.NETWORK_THREADS):
        senders.check(envelope(f"stuck{n}.example"), NETWORK)
    for _ in range(verdict.NETWORK_THREADS):
        assert zone.arrived.acquire(timeout=20)
    found = asyncio.run(senders.verdict(envelope("players.example"), NETWORK))
    assert found == Verdict("temperror", "not looked at: it took too long")
    assert zone.asked["TXT", "players.example"] == 0
    zone.gate.set()


def test_more_mails_than_may_wait_are_not_checked(zone: StuckZone, senders: Senders) -> None:
    checks = [senders.check(envelope("stuck.example", number=n), NETWORK) for n in range(100)]
    done = [one.result(20) for one in checks if one.done()]
    assert set(done) == {Verdict("temperror", "not looked at: too many mails at a time")}
    assert len(checks) - len(done) == verdict.NETWORK_WAITING + 1
    assert is_proven(senders)


def test_a_check_that_nobody_waits_for_is_forgotten(zone: StuckZone, senders: Senders) -> None:
    senders.check(envelope("stuck.example"), NETWORK)
    assert zone.arrived.acquire(timeout=20)

    async def hang_up() -> None:
        waiting = asyncio.create_task(senders.verdict(envelope("stuck.example"), NETWORK))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait({waiting})

    asked = zone.asked.total()
    asyncio.run(hang_up())
    zone.gate.set()
    assert is_proven(senders)
    senders.close()
    alone = Zone()
    single = Senders(alone, Trusted())
    single.check(envelope("stuck.example"), NETWORK).result(20)
    single.close()
    about_stuck = [n for (_, name), n in zone.asked.items() if "stuck" in name]
    assert asked == 0
    assert sum(about_stuck) == alone.asked.total()


# -- names that were too slow ------------------------------------------------------------------


def test_a_domain_is_not_checked_for_a_while_after_abandoned_checks() -> None:
    clock = Seconds()
    slow = SlowNames(clock)
    for _ in range(slow_names.PAIR_STRIKES):
        assert slow.may_check("slow.example", NETWORK)
        slow.note("slow.example", NETWORK, in_time=False)
    assert not slow.may_check("slow.example", NETWORK)
    assert slow.may_check("slow.example", OTHER_NETWORK)  # anybody can write a From address
    assert slow.may_check("other.example", NETWORK)
    clock.now += slow_names.CLOSED_S
    assert slow.may_check("slow.example", NETWORK)


def test_a_check_in_time_clears_its_domain() -> None:
    slow = SlowNames(Seconds())
    for _ in range(5):
        slow.note("slow.example", NETWORK, in_time=False)
        slow.note("slow.example", NETWORK, in_time=True)
    assert slow.may_check("slow.example", NETWORK)


def test_a_network_with_many_slow_domains_is_checked_for_fast_ones_only() -> None:
    clock = Seconds()
    slow = SlowNames(clock)
    slow.note("players.example", OTHER_NETWORK, in_time=True)
    for n in range(slow_names.NETWORK_STRIKES):
        assert slow.may_check("new.example", NETWORK)
        slow.note(f"slow{n}.example", NETWORK, in_time=False)
    assert not slow.may_check("new.example", NETWORK)
    assert slow.may_check("players.example", NETWORK)
    assert slow.may_check("new.example", OTHER_NETWORK)
    assert slow.may_check("new.example", "")
    clock.now += slow_names.CLOSED_S
    assert slow.may_check("new.example", NETWORK)


def test_what_is_remembered_of_slow_names_is_bounded() -> None:
    slow = SlowNames(Seconds())
    for n in range(3 * slow_names.REMEMBERED):
        slow.note(f"s{n}.example", f"network {n}", in_time=bool(n % 2))
    assert {len(slow._pairs), len(slow._networks)} == {slow_names.REMEMBERED}
    assert len(slow._prompt) <= slow_names.REMEMBERED


def test_a_slow_domain_is_not_queried_again() -> None:
    class Slow(Zone):
        def _answer(self, kind: str, name: str) -> tuple:
            clock.now += 1.8
            return super()._answer(kind, name)

    clock, zone = Seconds(), Slow()
    zone.add_txt("slow.example", "v=spf1 a:a.slow.example a:b.slow.example -all")
    senders = Senders(zone, Trusted(), SlowNames(clock), clock)
    for n in range(20):
        found = senders.check(envelope("slow.example", number=n), NETWORK).result(20)
        assert found.result == "temperror"
    senders.close()
    assert zone.asked.total() <= slow_names.PAIR_STRIKES * 3
