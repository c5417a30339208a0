"""Fixtures for all tests: databases of both kinds, and running servers.

A run starts one real PostgreSQL, or uses the one that PBMSERV_TEST_POSTGRES names. Each test has a
database of its own there (`postgresql_databases.py`).
"""

from __future__ import annotations

import gc
import logging
import os
import shutil
import tempfile
import uuid
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path

import psutil
import pytest
from _pytest.runner import runtestprotocol
from blackbox_alone import play_blackbox_alone
from compiling import compile_for_all
from examples import load_profile
from fork_server import start_parent
from heaps import HEAPS, show_heaps
from indoors import HandedIn, Indoors, indoors
from migrated import migrate_for_all, migrated
from postgresql_databases import Databases, administer, drop, own_server, url_of
from processes import Process
from running import Correspondence, Running, start
from speedups import (
    COMPILED,
    build_command_line_once,
    keep_files_in_memory,
    make_argon2_cheap,
    read_migrations_once,
    share_statements,
    share_templates,
    shorten_pauses,
    wait_for_no_disk,
    wait_for_slow_machines,
)

from pbmserv.engine.registry import Registry
from pbmserv.games.blackbox.bots import trees
from pbmserv.log.writing import BackgroundHandler
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database

POSTGRES = "PBMSERV_TEST_POSTGRES"
TEMPLATE = "PBMSERV_TEST_TEMPLATE"
BOTH_FOLDERS = {"faults", "store"}
"""Folders whose tests run on both kinds of databases, unless a marker says otherwise."""
SLOW_FOLDERS = {"browser", "deploying", "faults", "packaging", "peers"}
POSTGRESQL_FIXTURES = {"postgres_url", "empty_postgres_url"}
BEGUN_FIRST = (
    *("test_bad_plugin.py", "test_silent_database.py", "test_postfix_restart.py"),
    *("test_people_write.py", "test_kills.py", "test_failover.py"),
    "test_slow_name_servers.py",
)
"""Modules with the longest tests; a run that began them last would wait for one of them."""
MOST_WORKERS = 12
"""Each worker imports all tests; with more, a run takes as long as its longest tests."""
WORKER_OCTETS = 3 << 28
"""Memory of a worker with its servers, databases and browser."""
MEMORY_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
QUICK = "not slow"
"""The marker expression of `make test-quick`, which needs no PostgreSQL."""
ALL_SLOW = "\npytestmark = pytest.mark.slow\n"
"""A line of modules whose tests are all slow."""

pytest_plugins = ["postgresql_coverage"]

gc.disable()  # until tests are collected: modules stay, and to search them takes long
load_profile()
make_argon2_cheap()
build_command_line_once()
share_statements()
read_migrations_once()
wait_for_no_disk()
shorten_pauses()
wait_for_slow_machines()
play_blackbox_alone()


def pytest_configure(config: pytest.Config) -> None:
    """Start what the first process of a run offers to its workers: PostgreSQL, and forks."""
    option = config.option
    if not hasattr(config, "workerinput"):
        keep_files_in_memory()
        folder = Path(tempfile.mkdtemp(prefix="pbmserv-run-"))
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        cache = getattr(config, "cache", None)  # not with `-p no:cacheprovider`
        os.environ[COMPILED] = str(cache.mkdir("templates") if cache else folder)
    share_templates()
    is_whole = not option.collectonly and option.markexpr != QUICK
    if not hasattr(config, "workerinput"):
        if is_whole:
            migrate_for_all(folder)
        compile_for_all(config, lambda path: bool(pytest_ignore_collect(path, config)))
        config.add_cleanup(start_parent(folder))
    if hasattr(config, "workerinput") or not is_whole:
        return
    url = os.environ.get(POSTGRES) or _start_postgres(config)
    template = f"pbmserv_template_{uuid.uuid4().hex[:12]}"
    administer(url, "CREATE DATABASE {}", template)
    database = Database(url_of(url, template))
    schema.upgrade(database)
    database.close()
    os.environ[POSTGRES] = url
    os.environ[TEMPLATE] = template
    config.add_cleanup(lambda: drop(url, template))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """In a quick run, do not import modules whose tests are all slow."""
    if config.option.markexpr != QUICK or collection_path.suffix != ".py":
        return None
    if collection_path.parent.name in SLOW_FOLDERS:
        return True
    return True if ALL_SLOW in collection_path.read_text("utf-8") else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that has a database on the kinds that its folder and its markers name."""
    test = metafunc.definition
    if "database_url" not in metafunc.fixturenames or any(
        "database_url" in mark.args[0] for mark in test.iter_markers("parametrize")
    ):
        return
    is_for_both = test.path.parent.name in BOTH_FOLDERS or test.get_closest_marker("both_databases")
    is_alone = test.get_closest_marker("sqlite_alone")
    kinds = ("sqlite", "postgresql") if is_for_both and not is_alone else ("sqlite",)
    metafunc.parametrize("database_url", kinds, indirect=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the longest tests to the front; tests on PostgreSQL and in `SLOW_FOLDERS` are slow."""
    items.sort(key=lambda item: item.path.name not in BEGUN_FIRST)
    for item in items:
        case = getattr(item, "callspec", None)
        on_postgresql = case is not None and "postgresql" in case.params.values()
        if not POSTGRESQL_FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
            on_postgresql = True
        if on_postgresql or item.path.parent.name in SLOW_FOLDERS:
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Do not search thousands of collected tests for garbage, now and later, and search seldom.

    With Python's usual thresholds (700, 10, 10), a test spends some hundredths of its time on it.
    """
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000, 20, 20)
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return two workers for each processor, if there is memory for them: a third of the time of a
    test is spent waiting for a server, a database or a program. Quick tests seldom wait."""
    processors = len(os.sched_getaffinity(0))  # `nproc`, which may be less than the machine has
    workers = processors if config.option.markexpr == QUICK else 2 * processors
    return max(1, min(workers, MOST_WORKERS, _free_memory() // WORKER_OCTETS))


def _free_memory() -> int:
    """Return the octets that a run may use, by the machine and by the container."""
    limits = [file.read_text().strip() for file in MEMORY_LIMITS if file.is_file()]
    free = psutil.virtual_memory().available
    return min([free, *(int(limit) for limit in limits if limit.isdecimal())])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Report the call of a test from a worker, and its setup and teardown only if they failed.

    Each report costs the first process time. `--durations` needs all of them.
    """
    if not hasattr(item.config, "workerinput") or item.config.option.durations is not None:
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the logs of servers in processes of their own to the report of a failure.

    Reports travel as UTF-8, and mails in logs may hold any octets.
    """
    report = yield
    if report.failed and (logs := Process.logs()):
        report.sections.append(("logs of servers", logs))
    report.sections = [
        (name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections
    ]
    return report


def _start_postgres(config: pytest.Config) -> str:
    # Not below a folder of the tests: started by root, it makes the folders above its data public.
    folder = Path(tempfile.mkdtemp(prefix="pbmserv-pg-"))
    server = own_server(folder / "data")
    url: str = server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
    # The data need not outlive a power cut, no vacuum may change the timing of a test, and a server
    # of each worker may be connected many times.
    unsafe = ("fsync = off", "synchronous_commit = off", "full_page_writes = off")
    many = ("max_connections = 400", "wal_level = minimal", "max_wal_senders = 0")
    for setting in (*unsafe, *many, "autovacuum = off", "jit = off"):
        administer(url, f"ALTER SYSTEM SET {setting}")
    server.stop()
    server.start()

    def stop() -> None:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)

    config.add_cleanup(stop)
    return url


@cache
def _databases() -> Databases:
    return Databases(os.environ[POSTGRES], os.environ[TEMPLATE])


def pytest_sessionfinish() -> None:
    """Drop the databases of this process: PostgreSQL may be one that outlives the run."""
    if _databases.cache_info().currsize:
        _databases().close()


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """Undo what a command has configured."""
    logging.getLogger("pbmserv")  # create it, so that its level is among those below
    named = logging.root.manager.loggerDict.values()
    loggers = [logging.root, *(logger for logger in named if isinstance(logger, logging.Logger))]
    levels = [(logger, logger.level) for logger in loggers]
    yield
    root = logging.getLogger()
    for handler in root.handlers[:]:
        if isinstance(handler, BackgroundHandler):
            root.removeHandler(handler)
            handler.close()
    for logger, level in levels:
        if logger.level != level:  # setting a level clears the caches of all loggers
            logger.setLevel(level)


@pytest.fixture(autouse=True)
def _no_process_left_behind() -> Iterator[None]:
    yield
    Process.end_all()


@pytest.fixture
def reread_trees() -> Iterator[None]:
    """Read the files of the bots again, in the test and after it."""
    for reader in (trees.tree, trees.usable_tree):
        reader.cache_clear()
    yield
    for reader in (trees.tree, trees.usable_tree):
        reader.cache_clear()


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """A migrated PostgreSQL database without rows."""
    with _databases().lend() as url:
        yield url


@pytest.fixture
def empty_postgres_url() -> Iterator[str]:
    """A fresh PostgreSQL database without any table."""
    url = os.environ[POSTGRES]
    name = f"pbmserv_test_{uuid.uuid4().hex[:12]}"
    administer(url, "CREATE DATABASE {}", name)
    yield url_of(url, name)
    drop(url, name)


@pytest.fixture
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a migrated database without rows; `pytest_generate_tests` chooses its kind."""
    if request.param == "sqlite":
        return migrated(tmp_path / "pbmserv.sqlite3")
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """The database of `database_url`, opened beside the server."""
    database = Database(database_url)
    yield database
    database.close()


@pytest.fixture
def server(database_url: str, tmp_path: Path) -> Iterator[Running]:
    """A whole server with real sockets, but without pages."""
    with start(tmp_path, database_url, web="") as running:
        yield running


@pytest.fixture
def handed_in(database_url: str, tmp_path: Path) -> Iterator[Correspondence]:
    """A whole server in the test's own thread and without sockets, which is quicker."""
    with indoors(tmp_path, database_url, signup="confirm") as server:
        yield HandedIn(server)


@pytest.fixture
def house(database_url: str, tmp_path: Path) -> Iterator[Indoors]:
    """The same server as it is, with the players alice and bob."""
    with indoors(tmp_path, database_url) as server:
        server.sign_up("alice", "bob")
        yield server


@pytest.fixture
def heaps_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the servers of a test play `heaps`, too."""
    show_heaps()
    games = [*Registry.installed(), HEAPS]
    monkeypatch.setattr(Registry, "installed", classmethod(lambda cls: cls(games)))
