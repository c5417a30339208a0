"""What every test may ask for: a database of either kind, and a whole running server.

A real PostgreSQL is started once for a run (or given by PBMSERV_TEST_POSTGRES); each test
that asks for one has a database of its own (`databases.py`).
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

import pytest
from _pytest.runner import runtestprotocol
from cheaper import (
    COMPILED,
    build_command_line_once,
    keep_files_in_memory,
    know_statements,
    make_argon2_cheap,
    share_templates,
    wait_for_no_disk,
)
from compiling import compile_for_all
from databases import Databases, administer, drop, own_server, url_of
from examples import load_profile
from forking import offer
from indoors import HandedIn, indoors
from migrated import migrated
from one_game import play_blackbox_alone
from processes import Process
from running import Correspondence, Running, start

from pbmserv.games.blackbox.bots import difficulty, trees
from pbmserv.log.writing import BackgroundHandler
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database

GIVEN = "PBMSERV_TEST_POSTGRES"
SHARED = "PBMSERV_TEST_TEMPLATE"
BOTH_FOLDERS = {"faults", "operators", "store"}
"""What is about databases runs on both kinds of them, unless a marker says that other tests ask the
same; elsewhere a marker says that it does."""
SLOW_FOLDERS = {"browser", "deploying", "faults", "packaging", "peers"}
POSTGRESQL_FIXTURES = {"postgres_url", "empty_postgres_url"}
QUICK = "not slow"
"""What `make test-quick` selects: nothing of it asks for PostgreSQL."""
ALL_SLOW = "\npytestmark = pytest.mark.slow\n"
"""A line of modules in which nothing is quick."""

pytest_plugins = ["both_stores"]

load_profile()
make_argon2_cheap()
build_command_line_once()
know_statements()
wait_for_no_disk()
play_blackbox_alone()


def pytest_configure(config: pytest.Config) -> None:
    """The first process of a run starts PostgreSQL; its workers find it in the environment."""
    option = config.option
    if not hasattr(config, "workerinput"):
        keep_files_in_memory()
        folder = Path(tempfile.mkdtemp(prefix="pbmserv-run-"))
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        cache = getattr(config, "cache", None)  # not with `-p no:cacheprovider`
        os.environ[COMPILED] = str(cache.mkdir("templates") if cache else folder)
    share_templates()
    if not hasattr(config, "workerinput"):
        compile_for_all(config, lambda path: bool(pytest_ignore_collect(path, config)))
        config.add_cleanup(offer(folder))
    if hasattr(config, "workerinput") or option.collectonly or option.markexpr == QUICK:
        return
    url = os.environ.get(GIVEN) or _start_postgres(config)
    template = f"pbmserv_template_{uuid.uuid4().hex[:12]}"
    administer(url, "CREATE DATABASE {}", template)
    database = Database(url_of(url, template))
    schema.upgrade(database)
    database.close()
    os.environ[GIVEN] = url
    os.environ[SHARED] = template
    config.add_cleanup(lambda: drop(url, template))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A quick run need not import what it would leave out."""
    if config.option.markexpr != QUICK or collection_path.suffix != ".py":
        return None
    if collection_path.parent.name in SLOW_FOLDERS:
        return True
    return True if ALL_SLOW in collection_path.read_text("utf-8") else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """On which databases a test runs that asks for one, and does not name the kind itself."""
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
    """Slow is what is marked, what real programs or broken servers take part in, and PostgreSQL."""
    for item in items:
        case = getattr(item, "callspec", None)
        on_postgresql = case is not None and "postgresql" in case.params.values()
        if not POSTGRESQL_FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
            on_postgresql = True
        if on_postgresql or item.path.parent.name in SLOW_FOLDERS:
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of tests are no garbage, and what little there is beside them may stay; it is
    looked for as seldom as in a server."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Twice the cores: much of the time a test waits for a server, a database or a program. The
    quick ones seldom do, and each worker has to collect all tests."""
    cores = min(8, os.cpu_count() or 1)
    return cores + 1 if config.option.markexpr == QUICK else 2 * cores


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """A worker tells how a test went, and nothing of a setup or teardown in which all was well.

    Five messages for each of thousands of tests take the run's first process as long as a hundred
    tests take; one does where nobody asked how long each part was.
    """
    if not hasattr(item.config, "workerinput") or item.config.option.durations is not None:
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure shows what servers in processes of their own have logged.

    Logs travel between the processes of the tests as UTF-8; what strangers send need not be any.
    """
    report = yield
    if report.failed and (logs := Process.logs()):
        report.sections.append(("logs of servers", logs))
    report.sections = [
        (name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections
    ]
    return report


def _start_postgres(config: pytest.Config) -> str:
    # Under the system's temporary folder: as root it opens the folders above its data.
    folder = Path(tempfile.mkdtemp(prefix="pbmserv-pg-"))
    server = own_server(folder / "data")
    url: str = server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
    # Nothing has to outlive a power cut, and nobody tidies up behind a test's back.
    unsafe = ("fsync = off", "synchronous_commit = off", "full_page_writes = off")
    for setting in (*unsafe, "autovacuum = off", "max_connections = 300"):
        administer(url, f"ALTER SYSTEM SET {setting}")
    administer(url, "SELECT pg_reload_conf()")

    def stop() -> None:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)

    config.add_cleanup(stop)
    return url


@cache
def _databases() -> Databases:
    return Databases(os.environ[GIVEN], os.environ[SHARED])


def pytest_sessionfinish() -> None:
    """Each process drops its databases: a PostgreSQL that was given is left as it was."""
    if _databases.cache_info().currsize:
        _databases().close()


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """A command that sets up the log does so for its own test: others watch all its lines."""
    named = logging.root.manager.loggerDict.values()
    loggers = [logging.root, *(one for one in named if isinstance(one, logging.Logger))]
    levels = [(logger, logger.level) for logger in loggers]
    yield
    root = logging.getLogger()
    for handler in [one for one in root.handlers if isinstance(one, BackgroundHandler)]:
        root.removeHandler(handler)
        handler.close()
    for logger, level in levels:
        if logger.level != level:  # to set one makes every logger ask anew
            logger.setLevel(level)


@pytest.fixture(autouse=True)
def _no_process_left_behind() -> Iterator[None]:
    yield
    Process.end_all()


@pytest.fixture
def trees_anew() -> Iterator[None]:
    """Stored trees, and what else is stored for bots, are read anew, now and after the test."""
    kept = (trees.tree, trees.sound, difficulty.hiding, difficulty.hiding_sums)
    for one in kept:
        one.cache_clear()
    yield
    for one in kept:
        one.cache_clear()


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """A migrated PostgreSQL database without rows."""
    with _databases().lend() as url:
        yield url


@pytest.fixture
def empty_postgres_url() -> Iterator[str]:
    """A fresh PostgreSQL database without any table."""
    url = os.environ[GIVEN]
    name = f"pbmserv_test_{uuid.uuid4().hex[:12]}"
    administer(url, "CREATE DATABASE {}", name)
    yield url_of(url, name)
    drop(url, name)


@pytest.fixture
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of SQLite, or of each kind in turn (`pytest_generate_tests`)."""
    if request.param == "sqlite":
        return migrated(tmp_path / "pbmserv.sqlite3")
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """The same database, as somebody beside a server sees it."""
    opened = Database(database_url)
    yield opened
    opened.close()


@pytest.fixture
def server(database_url: str, tmp_path: Path) -> Iterator[Running]:
    """A whole server with real sockets; it has no pages."""
    with start(database_url, tmp_path, web="") as running:
        yield running


@pytest.fixture
def handed_in(database_url: str, tmp_path: Path) -> Iterator[Correspondence]:
    """The same in the test's own thread and without sockets, which is quicker."""
    with indoors(tmp_path, database_url, signup="confirm") as server:
        yield HandedIn(server)
