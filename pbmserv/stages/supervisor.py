"""The parent of a server's processes: it forks one for each stage, and again when one dies.

It forks before it has any thread or connection, so that imported code is in memory once. It holds
the listening sockets and passes signals on. It sees which mail play carries out, which letter a
post makes, and which board the bots think about, and kills a process that is stuck in its work.
The next play carries out a mail over which play was killed, or with which it died, with no other
mail beside it; after the second death it keeps the mail for the operator. Post and the bots set
such a letter or board aside. The stack of such a process names the game in whose rules it was; a
successor stores that, and stops the game after the second time.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import selectors
import signal
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from types import FrameType
from uuid import uuid4

from pbmserv import log as logs
from pbmserv.config.settings import Settings
from pbmserv.stages.base import Base
from pbmserv.stages.current_work import NONE, CurrentWork, Deaths, blamed
from pbmserv.stages.pauses import Pauses
from pbmserv.stages.ports import Bound
from pbmserv.stages.process import Setup
from pbmserv.stages.run_stage import run_stage
from pbmserv.stages.stacks import StackFile
from pbmserv.stages.stage_names import STAGES, process_names, stage_of_process
from pbmserv.store.boards.game_pauses import Stop
from pbmserv.store.core.database import outage_line

SHARED = 4
"""Factor for the time that a mail may take on PostgreSQL, where it may wait for a lock of another
host, and for that of a letter or a board, since post and the bots are niced."""
LOOK_S = 0.25
"""Seconds between two looks at the processes."""
FIRST_PAUSE_S = 0.1
"""Seconds until a process is started again that has died, or for which there was no room; each
further failure doubles them."""
LONGEST_PAUSE_S = 10.0
LASTING_S = 30.0
"""Seconds of life after which the pause is `FIRST_PAUSE_S` again."""
STOP_S = 25.0
"""Seconds that processes have to end by themselves."""
MOST_STOPS = 20
"""Number of the latest ends of processes in the rules of games that a new process hears of."""
PR_SET_PDEATHSIG = 1
_FAULTS = frozenset({signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL})
_HANDLED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

_WORK = {
    "play": ("a mail keeps play", "arrival"),
    "post": ("a letter keeps post", "letter"),
    "bots": ("a board keeps the bots", "board"),
    "web": ("a request keeps web", "beat"),
}
"""The watched stages: the beginning of a sentence for the log, and the name of the number of their
work there."""

_log = logging.getLogger("pbmserv.stages")


@dataclass(slots=True)
class _Child:
    """One process.

    Attributes:
        pid: 0 while it does not run.
        again_at: when it is started again.
        current: its work in hand.
        stuck: the work over which it was killed.
        stack: its stack when it hung or died.
    """

    name: str
    pid: int = 0
    started_at: float = 0.0
    pause_s: float = FIRST_PAUSE_S
    again_at: float = 0.0
    is_ready: bool = False
    current: CurrentWork = field(default_factory=CurrentWork)
    stuck: int = NONE
    stack: StackFile = field(default_factory=StackFile)

    def put_off(self) -> None:
        """Let it start again after a pause, and double the next one."""
        self.again_at = monotonic() + self.pause_s
        self.pause_s = min(LONGEST_PAUSE_S, self.pause_s * 2)


@dataclass(slots=True)
class Supervisor:
    """Runs the stages of one server on this machine.

    Args:
        base: databases, keys and games, disconnected.
        bound: the listening sockets.
        folder: the run folder of this server (`run_folders`).
        stages: some of `STAGES`.
        ready: called once, when all processes are ready.
    """

    base: Base
    bound: Bound
    folder: Path
    stages: Sequence[str]
    ready: Callable[[], None]
    _children: dict[str, _Child] = field(default_factory=dict)
    _stops: deque[Stop] = field(default_factory=lambda: deque(maxlen=MOST_STOPS))
    _pauses: Pauses = field(default_factory=Pauses)
    _is_stopping: bool = False
    _is_ready: bool = False
    _code: int = 0

    def run(self) -> int:
        """Serve until SIGTERM or SIGINT; return the process's exit code."""
        self._children = self._make_children()
        ready_end, telling_end = os.pipe()
        alive_end, held_end = os.pipe()  # nothing is written: children see its end when we are gone
        os.set_blocking(ready_end, False)

        def child(name: str) -> None:
            os.close(ready_end)
            os.close(held_end)
            _die_with_parent(alive_end)
            self.bound.keep_only(name)
            self._children[name].stack.write_when_asked()
            setup = Setup(
                name=name,
                base=self.base,
                bound=self.bound,
                folder=self.folder,
                processes=tuple(self._children),
                current=self._children[name].current,
                stops=tuple(self._stops),
                ready=lambda: _write(telling_end, f"{name}\n"),
            )
            run_stage(setup)

        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        signal.signal(signal.SIGHUP, self._pass_on)
        with selectors.DefaultSelector() as selector:
            selector.register(ready_end, selectors.EVENT_READ)
            while not self._is_stopping:
                self._start_due(child)
                for _ in selector.select(LOOK_S):
                    self._note_ready(ready_end)
                self._reap()
                self._look_at_work()
        self._end()
        for end in (ready_end, telling_end, alive_end, held_end):
            os.close(end)
        return self._code

    # -- signals ---------------------------------------------------------------------------

    def _stop(self, _signum: int, _frame: FrameType | None) -> None:
        self._is_stopping = True

    def _pass_on(self, signum: int, _frame: FrameType | None) -> None:
        for child in self._children.values():
            _kill(child, signum)

    # -- children --------------------------------------------------------------------------

    def _make_children(self) -> dict[str, _Child]:
        """Return the processes of all stages by name, in the order in which they start."""
        deaths = Deaths()  # shared by all posts: the letter comes to another one next
        children = {}
        for stage in STAGES:
            if stage in self.stages:
                for name in process_names(stage, self.base.registry):
                    children[name] = _Child(name)
                    if stage == "post":
                        children[name].current = CurrentWork(deaths)
        return children

    def _start_due(self, main: Callable[[str], None]) -> None:
        for child in self._children.values():
            if not child.pid and monotonic() >= child.again_at and not self._is_stopping:
                child.started_at = monotonic()
                sys.stdout.flush()
                sys.stderr.flush()
                # A signal to a child that still has our handlers would be lost; blocked, it waits.
                signal.pthread_sigmask(signal.SIG_BLOCK, _HANDLED)
                try:
                    child.pid = os.fork()
                    if not child.pid:
                        _run_child(child.name, main, self.base.settings)
                except OSError as error:  # the machine has no memory, or too many processes
                    facts = {"stage": child.name, "because": error.strerror}
                    _log.error("a process could not be started; it is tried again", extra=facts)
                    child.put_off()
                finally:
                    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDLED)

    def _note_ready(self, pipe: int) -> None:
        """Note the processes that say that they are ready."""
        with contextlib.suppress(BlockingIOError):
            for name in os.read(pipe, 4096).decode().split():
                self._children[name].is_ready = True
        if not self._is_ready and all(child.is_ready for child in self._children.values()):
            self._is_ready = True
            self.ready()

    def _reap(self) -> None:
        """Note the processes that have died, and when they start again."""
        for child in self._children.values():
            if not child.pid:
                continue
            try:
                pid, status = os.waitpid(child.pid, os.WNOHANG)
            except ChildProcessError:
                pid, status = child.pid, 0
            if not pid:
                continue
            code = os.waitstatus_to_exitcode(status)
            lived = monotonic() - child.started_at
            if lived > LASTING_S:
                child.pause_s = FIRST_PAUSE_S
            child.pid = 0
            child.put_off()
            facts = {"stage": child.name, "code": code, "lived_s": round(lived, 1)}
            if not self._is_ready and not self._is_stopping:  # it would die at each start
                _log.error("a process has died before all were ready", extra=facts)
                self._code, self._is_stopping = 1, True
            elif not self._is_stopping:
                _log.error("a process has died; it is started again", extra=facts)
            if child.stuck != NONE or -code in _FAULTS:
                self._note_stop(child)
            _blame_work(child)

    def _note_stop(self, child: _Child) -> None:
        """Remember the game in whose rules a process hung or died, if it did so there."""
        for frame in child.stack.frames():
            games = self.base.registry.games_of_file(frame.file)
            place = f"{Path(frame.file).name}, line {frame.line}, in {frame.function}"
            for game in games:
                package = self.base.registry.package_of(game)
                facts = {"game": game, "package": package, "stage": child.name, "place": place}
                _log.error("a game has hung or ended a process", extra=facts)
                if stage_of_process(child.name) != "bots":  # its player waits, and nobody else
                    now = self.base.clock.now()
                    self._stops.append(Stop(str(uuid4()), game, now, child.name, place))
            if games:
                return

    def _look_at_work(self) -> None:
        """Kill each process that does not return from its work in hand."""
        resumed_at = self._pauses.look()
        is_shared = not self.base.settings.database.startswith("sqlite")
        for child in self._children.values():
            number, seconds = child.current.longest(resumed_at)
            is_patient = is_shared or child.name != "play"
            longest = self.base.settings.mail_seconds * (SHARED if is_patient else 1)
            if child.pid and number != NONE and child.stuck == NONE and seconds > longest:
                sentence, fact = _WORK[stage_of_process(child.name)]
                facts = {"stage": child.name, fact: number, "seconds": round(seconds, 1)}
                _log.error(f"{sentence} for too long; it is started again", extra=facts)
                child.stuck = number
                with contextlib.suppress(ProcessLookupError):
                    child.stack.ask(child.pid, child.current.thread_of(number))
                _kill(child, signal.SIGKILL)

    def _end(self) -> None:
        """Close the listening sockets, then end all processes and wait for them."""
        self.bound.close()
        for child in self._children.values():
            _kill(child, signal.SIGTERM)
        end = monotonic() + STOP_S
        while any(child.pid for child in self._children.values()) and monotonic() < end:
            self._reap()
            sleep(0.02)
        for child in self._children.values():
            _kill(child, signal.SIGKILL)
        while any(child.pid for child in self._children.values()):
            self._reap()
            sleep(0.02)


def _blame_work(child: _Child) -> None:
    """Count the death of a process over the work in which it was stuck. If play died of itself,
    count it over all work that it had in hand."""
    deaths = child.current.deaths
    if child.name == "play":
        in_hand = [child.stuck] if child.stuck != NONE else child.current.all()
        deaths.replace(blamed(deaths.by_work(), in_hand))
    elif child.stuck != NONE:
        deaths.add(child.stuck)
    child.stuck = NONE
    child.current.clear()
    child.stack.clear()


def _run_child(name: str, main: Callable[[str], None], settings: Settings) -> None:
    """Run a forked child; this never returns."""
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        # Ctrl-C reaches all processes; the parent ends this one.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDLED)
        logs.configure(settings.log_level, settings.log_format)
        _show_as(f"pbmserv {name}")
        main(name)
        code = 0
    except BaseException as error:  # noqa: BLE001 - the parent starts the process again
        reason = outage_line(error)
        if isinstance(error, PermissionError):
            reason = f"{error.filename}: {error.strerror}"
        if reason is None and logs.writes_json():
            _log.critical("a process has failed", exc_info=error, extra={"stage": name})
        elif reason is None:
            traceback.print_exc()
        else:
            _log.error("a process cannot go on", extra={"stage": name, "because": reason})
    finally:
        with contextlib.suppress(Exception):
            logging.shutdown()
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        os._exit(code)


def _show_as(name: str) -> None:
    """Set the name that `ps -o comm` and `top` show."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            Path("/proc/self/comm").write_text(name)


def _die_with_parent(alive_end: int) -> None:
    """End as soon as the parent is gone, even if it was killed."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

    def watch() -> None:
        os.read(alive_end, 1)
        os.kill(os.getpid(), signal.SIGTERM)
        sleep(STOP_S)
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()


def _kill(child: _Child, signum: int) -> None:
    if child.pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid, signum)


def _write(pipe: int, words: str) -> None:
    with contextlib.suppress(OSError):
        os.write(pipe, words.encode())
