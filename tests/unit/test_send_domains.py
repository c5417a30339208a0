"""Limits for recipient domains."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pbmserv.outbound.domains import LONGEST_REST, MANY_DEFERRED, Domains

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_each_rest_is_twice_as_long_until_a_letter_is_accepted() -> None:
    domains, now = Domains(8), NOON
    rests = []
    for _ in range(8):
        until = domains.begin_rest("x.example", now)
        assert domains.closed(now) == {"x.example"}
        assert domains.next_opening(now) == domains.resting_until("x.example", now) == until
        rests.append(until - now)
        now = until
    assert domains.closed(now) == frozenset()
    assert domains.next_opening(now) is None
    assert rests == [timedelta(minutes=n) for n in (1, 2, 4, 8, 16, 30, 30, 30)]
    assert rests[-1] == LONGEST_REST
    domains.record_start("x.example")
    domains.record_end("x.example", accepted=True)
    assert domains.begin_rest("x.example", now) == now + timedelta(minutes=1)


def test_a_domain_rests_only_if_it_puts_several_recipients_off() -> None:
    domains = Domains(8)
    for _ in range(10):
        assert domains.record_deferral("x.example", "ada@x.example", NOON) is None
    domains.record_start("x.example")
    domains.record_end("x.example", accepted=True)
    ends = [
        domains.record_deferral("x.example", f"{n}@x.example", NOON) for n in range(MANY_DEFERRED)
    ]
    assert ends == [*[None] * (MANY_DEFERRED - 1), NOON + timedelta(minutes=1)]
    assert domains.closed(NOON) == {"x.example"}
