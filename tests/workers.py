"""``pytest --workers N``: tests in processes that are forked from the one that has collected them.

Each worker of xdist imports and collects every test by itself, and learns templates and statements
anew. Here that happens once. Workers take tests from a range of their own, so that what a module
prepares serves its tests; who has none left takes half of the largest range.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Beside xdist's ``-n``."""
    parser.addoption("--workers", default="1", help="so many forked processes, or auto")


def count(config: pytest.Config) -> int:
    """How many workers were asked for; 1: this process is the only one."""
    asked: str = config.getoption("--workers")
    if asked != "auto":
        return int(asked)
    found: int = config.hook.pytest_xdist_auto_num_workers(config=config)
    return found


@dataclass
class Worker:
    """A process, as the first one sees it.

    Attributes:
        left: numbers of tests that it has not been given yet.
        given: those that it has and has not told of: one that runs, and one that comes next.
    """

    way: Connection
    pid: int
    left: deque[int]
    given: deque[int] = field(default_factory=deque)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run all tests, unless that is left to pytest."""
    config = session.config
    number = min(count(config), len(session.items))
    if number < 2 or session.testsfailed or config.option.collectonly:
        return None
    assert threading.active_count() == 1, threading.enumerate()
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.showfspath = False  # workers take turns, and each file would be named often
    folder = tempfile.mkdtemp(prefix="t-")
    try:
        _Run(session, _forked(session, number, folder)).to_the_end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)
    return True


def _forked(session: pytest.Session, number: int, folder: str) -> list[Worker]:
    sys.stdout.flush()
    sys.stderr.flush()
    workers: list[Worker] = []
    share = -(-len(session.items) // number)
    for at in range(0, len(session.items), share):
        here, there = Pipe()
        pid = os.fork()
        if pid == 0:
            here.close()
            for other in workers:
                other.way.close()
            # Here pytest makes the temporary folders of its tests, when the first one asks.
            os.environ["PYTEST_DEBUG_TEMPROOT"] = folder
            _work(session, there)
        there.close()
        numbers = range(at, min(at + share, len(session.items)))
        workers.append(Worker(here, pid, deque(numbers)))
    return workers


class _Run:
    """What the first process does: it hands out tests, and shows what came of them."""

    def __init__(self, session: pytest.Session, workers: list[Worker]) -> None:
        self._session = session
        self._workers = workers
        self._hook = session.config.hook

    def to_the_end(self) -> None:
        """Go on until every worker has ended."""
        ways = {worker.way: worker for worker in self._workers}
        while ways:
            for way in wait(list(ways)):
                worker = ways[way]
                try:
                    goes_on = self._hear(worker)
                except (EOFError, OSError):
                    self._has_died(worker)
                    goes_on = False
                if not goes_on:
                    del ways[way]
                    os.waitpid(worker.pid, 0)
        for number in sorted(at for worker in self._workers for at in worker.left):
            if not (self._session.shouldfail or self._session.shouldstop):
                self._fail(number, "not run: no worker is left")

    def _hear(self, worker: Worker) -> bool:
        """Do what it asks; whether it goes on."""
        asked, more = worker.way.recv()
        if asked == "next":
            worker.way.send(self._next(worker))
        elif asked == "report":
            self._show(more)
        elif asked == "done":
            worker.given.remove(more)
        else:  # both_stores.py listens, as it does to xdist
            node = SimpleNamespace(workeroutput=more, config=self._session.config)
            self._hook.pytest_testnodedown(node=node, error=None)
            return False
        return True

    def _next(self, worker: Worker) -> int | None:
        if self._session.shouldfail or self._session.shouldstop:
            return None
        if not worker.left:
            richest = max(self._workers, key=lambda one: len(one.left))
            half = [richest.left.pop() for _ in range(-(-len(richest.left) // 2))]
            worker.left.extend(reversed(half))
        if not worker.left:
            return None
        worker.given.append(worker.left.popleft())
        return worker.given[-1]

    def _show(self, data: dict[str, Any]) -> None:
        config = self._session.config
        report = self._hook.pytest_report_from_serializable(config=config, data=data)
        self._hook.pytest_runtest_logreport(report=report)
        self._hook.pytest_runtest_logfinish(nodeid=report.nodeid, location=report.location)

    def _has_died(self, worker: Worker) -> None:
        """The test that ran has failed; the others go to the rest."""
        if worker.given:
            self._fail(worker.given.popleft(), "the process of this test has died")
        worker.left.extendleft(reversed(worker.given))

    def _fail(self, number: int, why: str) -> None:
        item = self._session.items[number]
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call")
        self._hook.pytest_runtest_logreport(report=report)


class _Reports:
    """Takes a worker's reports to the first process, where its terminal reporter would print."""

    def __init__(self, config: pytest.Config, tell: Callable[[Any], None]) -> None:
        self._tw = config.get_terminal_writer()  # who asks for it asks this plugin
        self._config = config
        self._tell = tell

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take one there."""
        hook = self._config.hook
        data = hook.pytest_report_to_serializable(config=self._config, report=report)
        self._tell(("report", data))


def _work(session: pytest.Session, way: Connection) -> NoReturn:
    """Be a worker."""
    code = 1
    try:
        config: Any = session.config
        config.workerinput = {}
        config.workeroutput = {}
        reports = _Reports(config, way.send)
        config.pluginmanager.unregister(name="terminalreporter")
        config.pluginmanager.register(reports, "terminalreporter")
        capture = config.pluginmanager.get_plugin("capturemanager")
        if capture is not None:  # a file for each process
            capture.stop_global_capturing()
            capture.start_global_capturing()
            capture.suspend_global_capture()
        _run_all(session, way)
        config.hook.pytest_sessionfinish(session=session, exitstatus=session.exitstatus)
        way.send(("end", config.workeroutput))
        code = 0
    except Exception:
        traceback.print_exc()  # nobody else can tell
        raise
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _run_all(session: pytest.Session, way: Connection) -> None:
    """Which test comes next is known while one runs: what both need is left as it is."""

    def ask() -> int | None:
        way.send(("next", None))
        number: int | None = way.recv()
        return number

    number = ask()
    while number is not None:
        following = ask()
        item = session.items[number]
        after = None if following is None else session.items[following]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        way.send(("done", number))
        number = following
