"""A check that each function of the store has run on PostgreSQL, too.

Most tests run on SQLite alone. So that no statement stays untried on a real PostgreSQL, a run of
all tests notes which functions of the store execute statements on which database, and fails if a
function has used SQLite alone. `store/core` is left out: `tests/store` tries it on both.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

import pbmserv

_STORE = str(Path(pbmserv.__file__).parent / "store") + os.sep
_CORE = _STORE + "core" + os.sep

TWO_FILES = "only SQLite keeps mails in a file of its own, and notes there what is done"
SQLITE_FILES = "copies, checks and compacts SQLite's files; PostgreSQL has tools of its own"

SQLITE_ALONE = {
    "delivery/arrivals.py:after": TWO_FILES,
    "delivery/arrivals.py:oldest_after": TWO_FILES,
    "delivery/arrivals.py:remove": TWO_FILES,
    "delivery/mail_stores.py:uuid_of": TWO_FILES,
    "delivery/arrivals.py:take_over": TWO_FILES,
    "delivery/settled_arrivals.py:forget": TWO_FILES,
    "delivery/settled_arrivals.py:numbers_before": TWO_FILES,
    "delivery/settled_arrivals.py:numbers_since": TWO_FILES,
    "operators/backup_sqlite.py": SQLITE_FILES,
    "operators/compacting.py": SQLITE_FILES,
    "operators/correspondence.py:is_under_way": TWO_FILES,
    "operators/correspondence.py:waiting_from": TWO_FILES,
    "operators/integrity.py:damage": SQLITE_FILES,
}
"""Files of the store, or ``file:function``, that rightly use SQLite alone, with the reason."""

_asked: dict[str, set[str]] = defaultdict(set)


def pytest_configure(config: pytest.Config) -> None:
    if _is_whole(config):
        event.listen(Engine, "before_cursor_execute", _note)


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["asked"] = {dialect: sorted(places) for dialect, places in _asked.items()}
    elif _is_whole(session.config) and session.exitstatus == 0 and _sqlite_alone():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    for dialect, places in getattr(node, "workeroutput", {}).get("asked", {}).items():
        _asked[dialect].update(places)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _is_whole(terminalreporter.config) and (places := _sqlite_alone()):
        terminalreporter.section("asked of SQLite alone", red=True)
        for place in places:
            terminalreporter.line(place)
        terminalreporter.line(
            "Mark a test that comes here with both_databases, or a dialog with "
            '"also on: PostgreSQL".'
        )


def _is_whole(config: pytest.Config) -> bool:
    """Return whether all tests run; a part of them proves nothing here."""
    is_whole = getattr(config, "workerinput", {}).get("is_whole")
    if is_whole is not None:
        return bool(is_whole)
    option = config.option
    is_all = config.args_source is not pytest.Config.ArgsSource.ARGS
    return bool(is_all and not option.keyword and not option.markexpr and not option.collectonly)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["is_whole"] = _is_whole(node.config)


def _note(connection: Any, *_: object) -> None:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(_STORE) and not name.startswith(_CORE):
            place = f"{name.removeprefix(_STORE)}:{frame.f_code.co_qualname}"
            _asked[connection.dialect.name].add(place)
            return
        frame = frame.f_back


def _sqlite_alone() -> list[str]:
    return [
        place
        for place in sorted(_asked["sqlite"] - _asked["postgresql"])
        if not {place, place.partition(":")[0]} & SQLITE_ALONE.keys()
    ]
