"""``pbmserv …`` in a process of its own, forked from one that has imported everything.

A start takes two seconds of processor time for imports alone, and a run starts some two hundred
servers and commands. So the first process of a run starts a parent (`start_parent`), which imports
nothing before the first request. For each request it forks the program, reports its end, and kills
it if the test's own process is gone. The program is `pbmserv.__main__.main` with an environment, a
working directory and files of its own; Alembic's own command if the first argument is ``alembic``,
and a program of Python after ``-c``.
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
"""Length of a number between a test and the parent: of a process, an exit code, or a request."""


# -- the side of the tests ---------------------------------------------------------------------


class Forked:
    """A process that runs ``pbmserv``: the part of `subprocess.Popen` that tests need."""

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str], stdout: int, stderr: int
    ) -> None:
        """Start it; it writes to these two open files."""
        request = json.dumps([list(arguments), dict(environment), str(Path.cwd())]).encode()
        self._parent = socket.socket(socket.AF_UNIX)
        self._parent.connect(os.environ[_PLACE])
        length = len(request).to_bytes(_NUMBER_OCTETS)
        socket.send_fds(self._parent, [length], [stdout, stderr])
        self._parent.sendall(request)
        self.returncode: int | None = None
        self.pid = self._number()

    def wait(self, timeout: float) -> int:
        """Wait for its end, and return the exit code; it is negative for a signal."""
        if self.returncode is None:
            if not select.select([self._parent], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("pbmserv", timeout)
            self.returncode = self._number()
            self._parent.close()
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
        return int(self._parent.recv(_NUMBER_OCTETS, socket.MSG_WAITALL))


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


# -- the parent --------------------------------------------------------------------------------


def _main() -> None:
    """Be the parent: fork a program for each request, until the run is over."""
    listening, run_is_over = socket.socket(fileno=int(sys.argv[1])), sys.stdin.fileno()
    child_ended, wakeup = socket.socketpair()
    tests: dict[int, socket.socket] = {}
    """The tests that wait for a program, by its process number."""
    is_ready = False
    while True:
        watched = [listening, child_ended, run_is_over, *tests.values()]
        readable = select.select(watched, [], [])[0]
        if run_is_over in readable:
            return
        if listening in readable:
            if not is_ready:
                _get_ready()
                wakeup.setblocking(False)
                signal.set_wakeup_fd(wakeup.fileno(), warn_on_full_buffer=False)
                signal.signal(signal.SIGCHLD, lambda *_: None)  # else nothing is written there
                is_ready = True
            test, _ = listening.accept()
            pid = _fork_program(test, listening, child_ended, wakeup, *tests.values())
            tests[pid] = test
            _report(test, pid)
        if child_ended in readable:
            child_ended.recv(4096)
            _report_ends(tests)
        for pid, test in tests.items():
            if test in readable:  # nobody writes there: the test's process is gone
                os.kill(pid, signal.SIGKILL)


def _fork_program(test: socket.socket, *others: socket.socket) -> int:
    """Read a request, fork its program, and return the process number.

    Args:
        others: sockets that the program must not keep open.
    """
    length, files, _, _ = socket.recv_fds(test, _NUMBER_OCTETS, 2)
    request = test.recv(int.from_bytes(length), socket.MSG_WAITALL)
    pid = os.fork()
    if pid == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for one in (test, *others):
            one.close()
        _run_program(json.loads(request), *files)
    for file in files:
        os.close(file)
    return pid


def _report_ends(tests: dict[int, socket.socket]) -> None:
    """Send the exit code of each program that has ended to its test."""
    while tests:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        test = tests.pop(pid)
        _report(test, os.waitstatus_to_exitcode(status))
        test.close()


def _report(test: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):  # nobody waits for it
        test.sendall(b"%*d" % (_NUMBER_OCTETS, number))


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
        start(Path(folder), web="") as server,
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
