"""Repeated faults and floods of refusals are counted; lines about single mails are all written."""

from __future__ import annotations

import logging

from hypothesis import given
from hypothesis import strategies as st

from pbmserv.log.repeats import FLOOD, MOST_KINDS, SPAN_S, WIDE_FLOOD, RepeatFilter


def fault(at: float, event: str = "the outbox failed", why: str = "gone") -> logging.LogRecord:
    error = OSError(why)
    facts = {"name": "pbmserv.send", "levelno": logging.ERROR, "msg": event, "created": at}
    return logging.makeLogRecord({**facts, "exc_info": (OSError, error, None)})


def refusal(at: float, network: str = "192.0.2.0/24", why: str = "550 no") -> logging.LogRecord:
    facts = {"name": "pbmserv.receive", "levelno": logging.INFO, "msg": "refused", "created": at}
    return logging.makeLogRecord({**facts, "network": network, "because": why})


def passed(repeats: RepeatFilter, records: list[logging.LogRecord]) -> list[logging.LogRecord]:
    return [record for record in records if repeats.filter(record)]


def test_a_dead_database_leaves_a_line_a_minute_with_the_number_of_the_others() -> None:
    lines = passed(RepeatFilter(), [fault(second / 20) for second in range(2405)])
    assert [getattr(line, "repeated", 0) for line in lines] == [0, 1199, 1199]
    assert [getattr(line, "span_s", 0) for line in lines] == [0, 60, 60]


def test_another_fault_is_written() -> None:
    faults = [fault(0), fault(1, event="a page failed"), fault(2, why="disk full"), fault(3)]
    assert passed(RepeatFilter(), faults) == faults[:3]


def test_lines_about_mails_and_answers_to_operators_always_pass() -> None:
    mail = {"msg": "mail", "levelno": logging.INFO, "mail": 1, "network": "192.0.2.0/24"}
    answer = {"msg": "read again", "levelno": logging.ERROR, "asked": "SIGHUP"}
    records = [logging.makeLogRecord(facts) for facts in (mail, answer) for _ in range(1000)]
    assert passed(RepeatFilter(), records) == records


def test_refusals_pass_one_by_one_up_to_a_flood_from_their_network() -> None:
    repeats = RepeatFilter()
    assert len(passed(repeats, [refusal(0) for _ in range(1394)])) == FLOOD
    assert repeats.filter(refusal(1, network="198.51.100.0/24"))
    assert repeats.filter(refusal(1, why="421 too many sessions"))
    later = refusal(SPAN_S)
    assert repeats.filter(later)
    assert vars(later)["repeated"] == 1394 - FLOOD


def test_a_flood_from_many_networks_is_bounded_too() -> None:
    networks = [f"2001:db8:{n >> 8:x}:{n & 255:x}::/64" for n in range(MOST_KINDS * 5)]
    assert (
        len(passed(RepeatFilter(), [refusal(0, network=name) for name in networks])) == WIDE_FLOOD
    )


@given(times=st.lists(st.floats(0, 1000), max_size=60))
def test_every_line_is_written_or_counted_once_also_when_the_clock_jumps(
    times: list[float],
) -> None:
    much_later = 1_000_000.0
    lines = passed(RepeatFilter(), [fault(at) for at in [*times, much_later]])
    assert len(lines) + sum(getattr(line, "repeated", 0) for line in lines) == len(times) + 1
