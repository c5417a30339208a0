"""Trouble and floods are told at once and then counted; single mails are always told."""

from __future__ import annotations

import logging

from hypothesis import given
from hypothesis import strategies as st

from pbmserv.monitoring.log_writing import FLOOD, MOST_KINDS, SPAN_S, WIDE_FLOOD, Entry, Folding


def trouble(at: float, event: str = "the outbox failed", why: str = "gone") -> Entry:
    fault = {"fault": "OperationalError", "because": why}
    return Entry(at, logging.ERROR, "pbmserv.send", event, event, {"wait_s": 5}, fault)


def refusal(at: float, network: str = "192.0.2.0/24", because: str = "550 5.1.1 no") -> Entry:
    facts = {"network": network, "because": because}
    return Entry(at, logging.INFO, "pbmserv.receive", "refused", "refused", facts)


def account(at: float, number: int) -> Entry:
    facts = {"mail": number, "outcome": "taken", "network": "192.0.2.0/24"}
    return Entry(at, logging.INFO, "pbmserv.receive", "mail", "mail", facts)


def sums(entries: list[Entry]) -> list[tuple[object, object]]:
    return [(e.facts["repeated"], e.facts["span_s"]) for e in entries if e.facts.get("repeated")]


def test_a_dead_database_leaves_two_lines_a_minute_and_not_twelve_hundred() -> None:
    folding = Folding()
    told = [one for n in range(1204) for one in folding.take(trouble(n * SPAN_S / 1204))]
    assert len(told) == 1
    told = folding.due(SPAN_S)
    assert sums(told) == [(1203, 60)]
    assert told[0].event == "the outbox failed"
    assert told[0].fault["because"] == "gone"


def test_while_it_goes_on_there_is_one_sum_a_minute_and_after_quiet_it_is_news_again() -> None:
    folding = Folding()
    told = [one for second in range(300) for one in folding.take(trouble(float(second)))]
    assert [len(sums([one])) for one in told] == [0, 1, 1, 1, 1]
    assert sum(count for count, _ in sums(told)) + 1 == 240
    assert sums(folding.due(400)) == [(60, 160)]
    assert folding.due(600) == []
    assert len(folding.take(trouble(700))) == 1


def test_other_trouble_is_told_beside_it() -> None:
    folding = Folding()
    folding.take(trouble(0))
    assert folding.take(trouble(1, event="a page failed"))
    assert folding.take(trouble(2, why="disk full"))
    assert not folding.take(trouble(3))


def test_mails_are_never_folded() -> None:
    folding = Folding()
    assert all(folding.take(account(0, n)) for n in range(5000))
    assert folding.end(60) == []


def test_refusals_are_told_one_by_one_up_to_a_flood_from_that_network() -> None:
    folding = Folding()
    told = [one for _ in range(1394) for one in folding.take(refusal(0))]
    assert len(told) == FLOOD
    assert folding.take(refusal(1, network="198.51.100.0/24"))
    assert folding.take(refusal(1, because="421 too many sessions"))
    assert sums(folding.end(30)) == [(1394 - FLOOD, 30)]


def test_a_flood_from_everywhere_is_bounded_as_well() -> None:
    folding = Folding()
    told = [
        one
        for n in range(50_000)
        for one in folding.take(refusal(0, network=f"2001:db8:{n >> 8:x}:{n & 255:x}::/64"))
    ]
    assert len(told) == WIDE_FLOOD
    assert len(folding._counts) <= MOST_KINDS
    assert sums(folding.end(60)) == [(50_000 - WIDE_FLOOD, 60)]


def test_what_is_counted_is_bounded_and_nothing_gets_lost() -> None:
    folding = Folding()
    told = []
    for n in range(3 * MOST_KINDS):
        for _ in range(2):
            told += folding.take(trouble(0, event=f"event {n}"))
        assert len(folding._counts) <= MOST_KINDS
    told += folding.end(1)
    assert sum(one.facts.get("repeated", 1) for one in told) == 6 * MOST_KINDS


@given(
    st.lists(
        st.tuples(
            st.floats(-100, 200),
            st.sampled_from(["trouble", "refusal", "account"]),
            st.integers(0, 2),
        )
    )
)
def test_every_line_is_told_or_counted_once_also_when_the_clock_jumps(
    steps: list[tuple[float, str, int]],
) -> None:
    folding, now, told = Folding(), 1000.0, []
    for later, kind, which in steps:
        now += later
        if kind == "trouble":
            entry = trouble(now, why=str(which))
        elif kind == "refusal":
            entry = refusal(now, network=f"192.0.{which}.0/24")
        else:
            entry = account(now, which)
        told += folding.take(entry)
        told += folding.due(now)
    told += folding.end(now)
    assert sum(one.facts.get("repeated", 1) for one in told) == len(steps)
    assert folding.wait_s(now) is None
