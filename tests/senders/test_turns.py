"""Slow name servers take no threads from mails of other networks: deadlines and turns."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from dns_zone import Zone
from signing import publish, rsa_key, signed

from pbmserv.inbound.auth import senders as sender_checks
from pbmserv.inbound.auth.senders import Senders
from pbmserv.inbound.auth.verdict import Trusted
from pbmserv.mail.dns import QUERY_S
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

    def look_up(self, kind: str, name: str, seconds: float = QUERY_S) -> tuple:
        if "stuck" in name and not self.gate.is_set():
            with self._guard:
                self._inside += 1
                self.most = max(self.most, self._inside)
            self.arrived.release()
            self.gate.wait(60)
            with self._guard:
                self._inside -= 1
        return super().look_up(kind, name, seconds)


def envelope(domain: str, peer: str = "192.0.2.1", number: int = 1) -> Envelope:
    raw = (
        f"From: a@{domain}\r\nTo: {HOUSE}\r\nSubject: games\r\n"
        f"Date: Sat, 21 Nov 2026 06:00:00 +0000\r\nMessage-ID: <{number}@{domain}>\r\n\r\n"
    ).encode()
    return Envelope(f"a@{domain}", HOUSE, raw, peer, domain)


@pytest.fixture
def zone() -> Iterator[StuckZone]:
    names = StuckZone()
    publish(names, "players.example", rsa_key())
    yield names
    names.gate.set()


@pytest.fixture
def senders(zone: StuckZone) -> Iterator[Senders]:
    checker = Senders(zone, Trusted())
    yield checker
    zone.gate.set()
    checker.close()


def is_proven(senders: Senders) -> bool:
    """Return whether a signed mail from another network is checked meanwhile."""
    mail = envelope("players.example", "198.51.100.1")
    raw = signed(mail.raw, "players.example", rsa_key())
    sent = Envelope(mail.sender, HOUSE, raw, mail.peer, mail.hello)
    return senders.check(sent, OTHER_NETWORK).result(60).passed


# -- the deadline ------------------------------------------------------------------------------


def test_a_mail_asks_nothing_after_its_deadline() -> None:
    """Policy, SPF with includes, DKIM and ARC share the time; each query takes 1.8 s."""

    class Slow(Zone):
        def look_up(self, kind: str, name: str, seconds: float = QUERY_S) -> tuple:
            clock.now += 1.8
            return super().look_up(kind, name, seconds)

    clock, zone = Seconds(), Slow()
    zone.add_txt("slow.example", "v=spf1 " + " ".join(f"a:{n}.slow.example" for n in range(9)))
    senders = Senders(zone, Trusted(), clock=clock)
    mail = envelope("slow.example")
    raw = b"".join(
        b"DKIM-Signature: v=1; a=rsa-sha256; d=slow.example; s=k%d; h=from; bh=eA==; b=eA==\r\n" % n
        for n in range(3)
    )
    verdict = senders.check(Envelope(mail.sender, HOUSE, raw + mail.raw, mail.peer), NETWORK)
    assert verdict.result(60).result == "temperror"
    senders.close()
    assert zone.question_counts.total() <= sender_checks.CHECK_S // 1.8 + 1


# -- turns -------------------------------------------------------------------------------------


def test_a_network_has_few_threads(zone: StuckZone, senders: Senders) -> None:
    stuck = [senders.check(envelope("stuck.example", number=n), NETWORK) for n in range(20)]
    for _ in range(sender_checks.NETWORK_THREADS):
        assert zone.arrived.acquire(timeout=60)
    assert is_proven(senders)
    assert zone.most == sender_checks.NETWORK_THREADS
    zone.gate.set()
    assert {check.result(60).result for check in stuck} == {"fail"}


def test_a_mail_does_not_wait_for_threads_of_other_domains(
    zone: StuckZone, senders: Senders
) -> None:
    for n in range(sender_checks.NETWORK_THREADS):
        senders.check(envelope(f"stuck{n}.example"), NETWORK)
    for _ in range(sender_checks.NETWORK_THREADS):
        assert zone.arrived.acquire(timeout=60)
    verdict = asyncio.run(senders.verdict(envelope("players.example"), NETWORK))
    assert verdict == Verdict("temperror", "not looked at: it took too long")
    assert zone.question_counts["TXT", "players.example"] == 0
    zone.gate.set()


def test_more_mails_than_may_wait_are_not_checked(zone: StuckZone, senders: Senders) -> None:
    checks = [senders.check(envelope("stuck.example", number=n), NETWORK) for n in range(100)]
    done = [check.result(60) for check in checks if check.done()]
    assert set(done) == {Verdict("temperror", "not looked at: too many mails at a time")}
    assert len(checks) - len(done) == sender_checks.NETWORK_WAITING + sender_checks.NETWORK_THREADS
    assert is_proven(senders)
