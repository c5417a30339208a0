"""What the threads of a sender leave to each other: turns, and places at a recipient domain."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime

import pytest

from pbmserv.outbound import concurrency
from pbmserv.outbound.concurrency import CROWDED, Domains, Turn

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PATIENCE_S = 20


@pytest.fixture
def threads() -> Iterator[tuple[Callable[..., object], ...]]:
    """Three threads of a sender; each calls what it is handed, and brings back what comes of it."""
    with ExitStack() as stack:
        pools = [stack.enter_context(ThreadPoolExecutor(1)) for _ in range(3)]
        yield tuple(
            lambda do, *args, pool=pool, **named: pool.submit(do, *args, **named).result(PATIENCE_S)
            for pool in pools
        )


def test_what_cannot_be_sent_to_a_domain_is_not_claimed_once_more(threads) -> None:
    """Between two letters of its own a thread leaves a place free, and means to take it again. If
    others claimed letters for it, they would give them back, a hundred at a time."""
    one, two, three = threads
    opened = list[None]()
    domains = Domains(2, at_once=1, threads=3, opened=lambda: opened.append(None))
    for thread in threads:
        thread(domains.take, ["a@x.example"] * 100 + ["b@y.example"])
    assert one(domains.enter, "x.example", NOW) is None
    assert two(domains.enter, "x.example", NOW) is None
    assert three(domains.is_full, "x.example")
    assert three(domains.enter, "x.example", NOW) == NOW  # it gives back what it has claimed
    assert three(domains.enter, "y.example", NOW) is None
    three(domains.leave, "y.example", took=True)
    three(domains.put_down)
    opened.clear()
    for _ in range(3):
        one(domains.leave, "x.example", took=True)
        assert three(domains.closed, NOW) == {"x.example", "y.example"}
        assert one(domains.enter, "x.example", NOW) is None
    one(domains.leave, "x.example", took=True)
    one(domains.put_down)
    assert opened, "whoever waits for it is woken"
    assert three(domains.closed, NOW) == set()
    three(domains.take, ["a@x.example"] * 100)
    assert one(domains.closed, NOW) == {"x.example"}


def test_one_thread_has_the_next_letters_ready_and_others_serve_other_domains(threads) -> None:
    one, two, three = threads
    domains = Domains(2, at_once=2, threads=3)
    one(domains.take, ["a@x.example"] * 100)
    one(domains.enter, "x.example", NOW)
    one(domains.enter, "x.example", NOW)
    assert two(domains.closed, NOW) == set()
    two(domains.take, ["a@x.example"] * 100)
    assert three(domains.closed, NOW) == {"x.example"}
    assert not two(domains.has_room), "what is ready waits for its turn, however slow the relay is"
    three(domains.take, ["a@y.example"])
    assert three(domains.has_room)
    one(domains.put_down)
    assert two(domains.has_room)
    assert three(domains.closed, NOW) == set()


def test_of_two_threads_one_is_left_for_other_domains(threads) -> None:
    one, two, _ = threads
    domains = Domains(2, at_once=2, threads=2)
    one(domains.take, ["a@x.example"] * 100)
    assert two(domains.closed, NOW) == {"x.example"}


def test_no_domain_is_ever_full_where_none_has_a_limit(threads) -> None:
    one, two, three = threads
    domains = Domains(0, at_once=2, threads=3)
    for thread in (one, two):
        thread(domains.take, ["a@x.example"] * 100)
        assert thread(domains.enter, "x.example", NOW) is None
    assert two(domains.has_room)
    assert not two(domains.is_full, "x.example")
    assert three(domains.closed, NOW) == set()


def test_a_relay_that_has_become_quick_again_is_believed(threads) -> None:
    one, two, three = threads
    domains = Domains(1, at_once=1, threads=3)
    one(domains.take, ["a@x.example"] * 2)
    one(domains.enter, "x.example", NOW)
    assert two(domains.enter, "x.example", NOW) == NOW
    one(domains.leave, "x.example", took=True)
    assert three(domains.closed, NOW) == {"x.example"}
    assert three(domains.closed, NOW + CROWDED) == set()


@pytest.mark.parametrize("is_stuck", [False, True])
def test_one_makes_letters_at_a_time_unless_its_relay_is_slow(
    monkeypatch: pytest.MonkeyPatch, is_stuck: bool
) -> None:
    turn, stopping = Turn(), threading.Event()
    first, second, ended = threading.Event(), threading.Event(), threading.Event()

    can_begin = threading.Event()

    def freed() -> None:
        if is_stuck:
            monkeypatch.setattr(concurrency, "LONG_TURN_S", 0.1)
        else:
            can_begin.set()

    def other(begun: threading.Event) -> None:
        with turn.taken(stopping, can_begin.is_set):
            begun.set()
            assert ended.wait(PATIENCE_S)

    monkeypatch.setattr(concurrency, "TURN_S", 3600.0)
    threads = [threading.Thread(target=other, args=(begun,)) for begun in (first, second)]
    with turn.taken(stopping):
        threads[0].start()
        assert not first.is_set()
    assert first.wait(PATIENCE_S)
    monkeypatch.setattr(concurrency, "TURN_S", 0.01)
    threads[1].start()
    assert not second.wait(0.1), "it could send nothing beside the other one"
    freed()
    assert second.wait(PATIENCE_S)
    ended.set()
    for thread in threads:
        thread.join(PATIENCE_S)
