"""``pbmserv …`` in a process of its own, forked from one that has imported everything.

A start takes two seconds of processor time for imports alone, and a run starts some two hundred
servers and commands. So the first process of a run starts a parent (`start_parent`), which imports
nothing before the first request. For each request it forks a keeper; the keeper forks the program,
reports its end, and kills it if the test's own process is gone. The program is
`pbmserv.__main__.main` with an environment, a working directory and files of its own; Alembic's own
command if the first argument is ``alembic``, and a program of Python after ``-c``.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn

_PLACE = "PBMSERV_TEST_FORKS"
"""Environment variable with the path of the parent's socket."""
_NUMBER_OCTETS = 8
"""Length of a number between a test and a keeper: of a process, an exit code, or a request."""


# -- the side of the tests ---------------------------------------------------------------------


class Forked:
    """A process that runs ``pbmserv``: the part of `subprocess.Popen` that tests need."""

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str], stdout: int, stderr: int
    ) -> None:
        """Start it; it writes to these two open files."""
        request = json.dumps([list(arguments), dict(environment), str(Path.cwd())]).encode()
        self._keeper = socket.socket(socket.AF_UNIX)
        self._keeper.connect(os.environ[_PLACE])
        length = len(request).to_bytes(_NUMBER_OCTETS)
        socket.send_fds(self._keeper, [length], [stdout, stderr])
        self._keeper.sendall(request)
        self.returncode: int | None = None
        self.pid = self._number()

    def wait(self, timeout: float) -> int:
        """Wait for its end, and return the exit code; it is negative for a signal."""
        if self.returncode is None:
            if not select.select([self._keeper], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("pbmserv", timeout)
            self.returncode = self._number()
            self._keeper.close()
        return self.returncode

    def send_signal(self, signum: int) -> None:
        """Send it a signal, unless `wait` has seen its end."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signum)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def _number(self) -> int:
        return int(self._keeper.recv(_NUMBER_OCTETS, socket.MSG_WAITALL))


def serve(environment: Mapping[str, str], stdout: int, stderr: int) -> Forked:
    """Start ``pbmserv serve``, for `benchmarks.kills_server`."""
    return Forked(["serve"], environment, stdout, stderr)


def run(
    arguments: Sequence[str], environment: Mapping[str, str], *, timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    """Run ``pbmserv`` to its end, and return what it printed."""
    with tempfile.TemporaryFile("w+") as stdout, tempfile.TemporaryFile("w+") as stderr:
        forked = Forked(arguments, environment, stdout.fileno(), stderr.fileno())
        try:
            code = forked.wait(timeout)
        except subprocess.TimeoutExpired:
            forked.kill()
            forked.wait(timeout)
            raise
        stdout.seek(0)
        stderr.seek(0)
        return subprocess.CompletedProcess(arguments, code, stdout.read(), stderr.read())


def start_parent(folder: Path) -> Callable[[], None]:
    """Start the parent for all processes of this run; return a function that ends it."""
    path = folder / "forks"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen(64)
        process = subprocess.Popen(
            [sys.executable, __file__, str(listening.fileno())],
            pass_fds=[listening.fileno()],
            stdin=subprocess.PIPE,  # the parent ends when nobody holds the other side
            start_new_session=True,
        )
    os.environ[_PLACE] = str(path)
    assert process.stdin is not None
    stdin = process.stdin

    def end() -> None:
        stdin.close()
        process.wait(60)

    return end


# -- the parent and its keepers ----------------------------------------------------------------


def _main() -> None:
    """Be the parent: fork a keeper for each request, until the run is over."""
    listening, run_is_over = socket.socket(fileno=int(sys.argv[1])), sys.stdin.fileno()
    is_ready = False
    while run_is_over not in select.select([listening, run_is_over], [], [])[0]:
        if not is_ready:
            _get_ready()
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system removes dead keepers
            is_ready = True
        test, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            _keep(test)
        test.close()


def _keep(test: socket.socket) -> NoReturn:
    """Be a keeper: read a request, fork the program, and report its number and its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    length, files, _, _ = socket.recv_fds(test, _NUMBER_OCTETS, 2)
    request = test.recv(int.from_bytes(length), socket.MSG_WAITALL)
    pid = os.fork()
    if pid == 0:
        test.close()
        _run_program(json.loads(request), *files)
    for file in files:
        os.close(file)

    def kill_if_abandoned() -> None:
        if not test.recv(1):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def report(number: int) -> None:
        with contextlib.suppress(OSError):  # nobody waits for it
            test.sendall(b"%*d" % (_NUMBER_OCTETS, number))

    report(pid)
    threading.Thread(target=kill_if_abandoned, daemon=True).start()
    _, status = os.waitpid(pid, 0)
    report(os.waitstatus_to_exitcode(status))
    os._exit(0)


def _run_program(
    request: tuple[list[str], dict[str, str], str], stdout: int, stderr: int
) -> NoReturn:
    from blackbox_alone import play_blackbox_alone

    from pbmserv.__main__ import main
    from pbmserv.engine import registry
    from pbmserv.stages import stage_names

    arguments, environment, folder = request
    nothing = os.open(os.devnull, os.O_RDONLY)
    for file, number in ((nothing, 0), (stdout, 1), (stderr, 2)):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    posts = int(os.environ.pop(POSTS, "1"))
    stage_names.post_count = lambda: posts
    time.tzset()
    tempfile.tempdir = None  # forget the parent's folder
    if path := environment.get("PYTHONPATH"):
        sys.path[:0] = path.split(os.pathsep)
        registry.announced.cache_clear()  # there may be other games
    play_blackbox_alone()
    # The objects that Python made for the parent's own files do not fit these.
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
    sys.argv[1:] = arguments
    _leave_after({"alembic": _alembic, "-c": _python}.get(arguments[0], main))


def _alembic() -> None:
    from alembic.config import main

    main(sys.argv[2:])
    sys.__stdout__.flush()  # it prints to the file that Python has opened


def _python() -> None:
    del sys.argv[0]
    exec(sys.argv.pop(1), {"__name__": "__main__"})


def _leave_after(main: Callable[[], None]) -> NoReturn:
    """Call it, and exit as Python does, but without taking all modules apart (0.1 s)."""
    code: object = 0
    try:
        main()
    except SystemExit as leaving:
        code = leaving.code
    except BaseException:  # noqa: BLE001 - whatever ends a process is printed
        traceback.print_exc()
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


LAZY_IMPORTS = ("alembic.command", "encodings.idna", "typer.rich_utils")
"""Modules that the server imports when it first needs them."""

LATE_OR_NEVER = (
    "pbmserv.games.blackbox.bots.sampler",
    "pbmserv.cli.blackbox.",
)
"""Beginnings of names of large modules that a server imports late or never: each process copies the
parent's table of pages."""
POSTS = "PBMSERV_TEST_POSTS"
"""Environment variable with the number of processes that send; default: 1, on every machine."""


def _get_ready() -> None:
    """Do what every server does once: import all modules, load templates, compile statements."""
    import typer
    from speedups import (
        build_command_line_once,
        load_templates,
        make_argon2_cheap,
        read_migrations_once,
        share_statements,
        share_templates,
        shorten_pauses,
        wait_for_no_disk,
        wait_for_slow_machines,
    )

    import pbmserv
    from pbmserv.cli.main import app
    from pbmserv.engine.registry import Registry
    from pbmserv.stages.messages import build_readers

    for module in pkgutil.walk_packages(pbmserv.__path__, "pbmserv."):
        if not module.name.startswith(LATE_OR_NEVER):
            import_module(module.name)
    for name in LAZY_IMPORTS:
        import_module(name)
    build_command_line_once()
    typer.main.get_command(app)
    share_templates()
    load_templates()
    make_argon2_cheap()
    share_statements()
    read_migrations_once()
    wait_for_no_disk()
    shorten_pauses()
    wait_for_slow_machines()
    Registry.installed()
    build_readers()
    _play()
    gc.collect()
    gc.freeze()


def _play() -> None:
    """Serve a short game and the day after it, so that every fork has their statements."""
    from running import start

    with (
        tempfile.TemporaryDirectory() as folder,
        start(f"sqlite:///{folder}/pbmserv.sqlite3", Path(folder), web="") as server,
    ):
        alice, bob = map(server.sign_up, ("alice", "bob"))
        server.send(alice, "blackbox challenge alice secret bob")
        server.send(bob, "blackbox move 1 bob secret a1,b2,c3,d4")
        server.send(alice, "blackbox move 1 alice secret e5,f6,g7,a1")
        for port in "ab":
            server.send(alice, f"blackbox move 1 alice secret {port}")
            server.send(bob, f"blackbox move 1 bob secret {port}")
        server.send(alice, "blackbox move 1 alice secret zz")
        server.send(alice, "blackbox resign 1 alice secret")
        server.live(days=1)
        server.settle()


if __name__ == "__main__":
    _main()
