"""``pbmserv …`` in a process of its own, forked from one that has imported everything.

Importing takes seconds of processor time, which a hundred starts need not spend again each. One
process forks for all processes of a run: the first one starts it (`offer`), and it imports nothing
before somebody asks. What a fork runs is `pbmserv.__main__.main`, with an environment, a working
directory and files of its own.
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
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NoReturn

_LENGTH_OCTETS = 8
_WHERE = "PBMSERV_TEST_FORKS"
"""Names the socket of the process that forks."""
_ASKING = threading.Lock()


class Forked:
    """A process that runs ``pbmserv``: the part of `subprocess.Popen` that tests need."""

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str], stdout: int, stderr: int
    ) -> None:
        """Begin it; it writes to these two open files."""
        asked = json.dumps([list(arguments), dict(environment), str(Path.cwd())]).encode()
        told, tell = os.pipe()
        with _ASKING:  # threads that ask at the same moment share one way
            parent = _parent()
            length = len(asked).to_bytes(_LENGTH_OCTETS)
            socket.send_fds(parent, [length], [stdout, stderr, tell])
            parent.sendall(asked)
        os.close(tell)
        self._told = os.fdopen(told, "rb", buffering=0)
        self.returncode: int | None = None
        self.pid = int(self._told.read(_LENGTH_OCTETS))

    def wait(self, timeout: float) -> int:
        """Wait for its end; the exit code, negative for a signal."""
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("pbmserv", timeout)
            self.returncode = int(self._told.read(_LENGTH_OCTETS))
            self._told.close()
        return self.returncode

    def send_signal(self, signum: int) -> None:
        """Send it a signal, unless its end is known."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signum)

    def kill(self) -> None:
        """Pull the plug."""
        self.send_signal(signal.SIGKILL)


def serve(environment: Mapping[str, str], stdout: int, stderr: int) -> Forked:
    """``pbmserv serve``, for `benchmarks.kills_server`."""
    return Forked(["serve"], environment, stdout, stderr)


def run(
    arguments: Sequence[str], environment: Mapping[str, str], *, timeout: float = 30
) -> subprocess.CompletedProcess[str]:
    """Run ``pbmserv`` to its end; the result has all that it printed."""
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


def offer(folder: Path) -> Callable[[], None]:
    """Have a process there that forks for all processes of this run; its end."""
    path = folder / "forks"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen(64)
        process = subprocess.Popen(
            [sys.executable, __file__, str(listening.fileno())],
            pass_fds=[listening.fileno()],
            stdin=subprocess.PIPE,  # it ends when nobody has the other side any more
            start_new_session=True,
        )
    os.environ[_WHERE] = str(path)
    assert process.stdin is not None
    alive = process.stdin

    def end() -> None:
        alive.close()
        process.wait(30)

    return end


@cache
def _parent() -> socket.socket:
    """The way to the process that forks."""
    way = socket.socket(socket.AF_UNIX)
    atexit.register(way.close)
    way.connect(os.environ[_WHERE])
    return way


class _Parent:
    """The process that forks."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self._alive = sys.stdin.fileno()
        self._woken, self._wake = socket.socketpair()
        self._asking: set[socket.socket] = set()
        self._running: dict[int, tuple[socket.socket, int]] = {}  # by process number

    def wait_for_somebody(self) -> bool:
        """Whether somebody asks, before the run is over."""
        return self._listening in select.select([self._listening, self._alive], [], [])[0]

    def serve(self) -> tuple[list[str], dict[str, str], str] | None:
        """Fork for each that asks: a child returns what it is to be, we return at the end."""
        self._wake.setblocking(False)
        signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while True:
            watched = [self._listening, self._alive, self._woken, *self._asking]
            ready, _, _ = select.select(watched, [], [])
            if self._woken in ready:
                self._woken.recv(4096)
                self._tell_ends()
            if self._listening in ready:
                self._asking.add(self._listening.accept()[0])
            for asks in self._asking.intersection(ready):
                if (asked := self._answer(asks)) is not None:
                    return asked
            if self._alive in ready:
                self._kill(*self._running)
                return None

    def _answer(self, asks: socket.socket) -> tuple[list[str], dict[str, str], str] | None:
        """Fork, or take note that this one asks no more; only the child returns something."""
        length, files, _, _ = socket.recv_fds(asks, _LENGTH_OCTETS, 3)
        if not length:
            self._kill(*(pid for pid, (asked, _) in self._running.items() if asked is asks))
            self._asking.remove(asks)
            asks.close()
            return None
        asked = asks.recv(int.from_bytes(length), socket.MSG_WAITALL)
        if not self._fork(asks, *files):
            return None
        arguments, environment, folder = json.loads(asked)
        return arguments, environment, folder

    def _fork(self, asks: socket.socket, stdout: int, stderr: int, tell: int) -> bool:
        """Whether this is the child."""
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            nothing = os.open(os.devnull, os.O_RDONLY)
            for file, at in ((nothing, self._alive), (stdout, 1), (stderr, 2)):
                os.dup2(file, at)
            others = [tell for _, tell in self._running.values()]
            for file in (nothing, stdout, stderr, tell, *others):
                os.close(file)
            for one in (self._listening, self._woken, self._wake, *self._asking):
                one.close()
            return True
        os.close(stdout)
        os.close(stderr)
        self._running[pid] = asks, tell
        self._say(tell, pid)
        return False

    def _kill(self, *numbers: int) -> None:
        for pid in numbers:
            os.kill(pid, signal.SIGKILL)

    def _tell_ends(self) -> None:
        for pid in list(self._running):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                _, tell = self._running.pop(pid)
                self._say(tell, os.waitstatus_to_exitcode(status))
                os.close(tell)

    def _say(self, tell: int, number: int) -> None:
        with suppress(BrokenPipeError):  # nobody waits for it any more
            os.write(tell, b"%*d" % (_LENGTH_OCTETS, number))


LATER = ("alembic.command", "encodings.idna", "typer.rich_utils")
"""What the server imports when it comes to need it."""

WITH_A_COMPILER = {f"pbmserv.games.blackbox.bots.{name}" for name in ("kernels", "sampler")}
"""What a server imports late or never: it wants the extra ``house``."""


def _get_ready() -> None:
    """Do all that a server does once: import everything, learn templates, compile statements."""
    import typer
    from cheaper import (
        build_command_line_once,
        know_statements,
        load_templates,
        make_argon2_cheap,
        share_templates,
        wait_for_no_disk,
    )

    import pbmserv
    from pbmserv.cli.main import app
    from pbmserv.engine.registry import Registry

    for module in pkgutil.walk_packages(pbmserv.__path__, "pbmserv."):
        if module.name not in WITH_A_COMPILER:
            import_module(module.name)
    for name in LATER:
        import_module(name)
    build_command_line_once()
    typer.main.get_command(app)
    share_templates()
    load_templates()
    make_argon2_cheap()
    know_statements()
    wait_for_no_disk()
    Registry.installed()
    _play()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)  # as a server has it


def _play() -> None:
    """Serve a short game here: what is learnt on the way, every fork knows."""
    from indoors import PASSWORD, address_of, indoors

    alice, bob = map(address_of, ("alice", "bob"))
    with tempfile.TemporaryDirectory() as folder, indoors(Path(folder)) as server:
        server.sign_up("alice", "bob")
        server.send(alice, f"blackbox challenge alice {PASSWORD} bob")
        server.send(bob, f"blackbox move 1 bob {PASSWORD} a1,b2,c3,d4")
        server.send(alice, f"blackbox move 1 alice {PASSWORD} e5,f6,g7,a1")
        for port in "ab":
            server.send(alice, f"blackbox move 1 alice {PASSWORD} {port}")
            server.send(bob, f"blackbox move 1 bob {PASSWORD} {port}")
        server.send(alice, f"blackbox move 1 alice {PASSWORD} zz")
        server.send(alice, f"blackbox resign 1 alice {PASSWORD}")


def _leave_after(main: Callable[[], None]) -> NoReturn:
    """Run it, and end as Python does; only, Python takes apart all that was imported (0.1 s)."""
    code: object = 0
    try:
        main()
    except SystemExit as leaving:
        code = leaving.code
    except BaseException:  # noqa: BLE001 - what ends a process shows itself
        traceback.print_exc()
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


def _main() -> None:
    parent = _Parent(socket.socket(fileno=int(sys.argv[1])))
    if not parent.wait_for_somebody():
        return
    _get_ready()
    asked = parent.serve()
    if asked is not None:
        from one_game import play_blackbox_alone

        from pbmserv.__main__ import main
        from pbmserv.engine import registry

        arguments, environment, folder = asked
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        time.tzset()
        if more := environment.get("PYTHONPATH"):
            sys.path[:0] = more.split(os.pathsep)
            registry.announced.cache_clear()  # there may be other games
        play_blackbox_alone()
        # What Python made of the files that this process began with is not true of these.
        sys.stdout = os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
        sys.argv[1:] = arguments
        _leave_after(main)


if __name__ == "__main__":
    _main()
