"""The process of a stage: what it gets from its parent, and what it does of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from pbmserv.outbound.dkim import Signer
from pbmserv.smtpd.tls import Certificate
from pbmserv.stages.base import Base
from pbmserv.stages.current_work import CurrentWork
from pbmserv.stages.messages import StageState
from pbmserv.stages.ports import Bound
from pbmserv.stages.questions import Answers
from pbmserv.store.boards.game_pauses import Stop

STOP_S = 10.0
"""Seconds in which a stopping stage may finish its work; the next start continues the rest."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Objects that a process gets from its parent.

    Attributes:
        name: of the process.
        base: databases, keys and games.
        bound: the listening sockets.
        folder: the run folder of this server (`run_folders`).
        processes: the names of all processes of this server.
        current: shows the parent the work in hand, and this process the work over which others of
            its stage died.
        stops: the latest processes that hung or died in the rules of games.
        ready: tells the parent that clients may come.
    """

    name: str
    base: Base
    bound: Bound
    folder: Path
    processes: tuple[str, ...]
    current: CurrentWork
    stops: tuple[Stop, ...]
    ready: Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """A process of one stage. `run_stage` starts it, has it answer others, and ends it.

    Attributes:
        start: begins its work; rings and questions of others wait meanwhile.
        stop: finishes the work in hand, and ends.
        state: returns its state, without the facts that all processes tell.
        answers: its answers to requests of others, beside that about its state.
        woken: called when another process rings; `None`: nobody rings it.
        askers_end_s: seconds for which its end waits for the processes that ask it.
        signer: signs letters; `None`: it sends none.
        certificate: for TLS in mail sessions; `None`: it has no such sessions.
    """

    start: Callable[[], Awaitable[None]]
    stop: Callable[[], Awaitable[None]]
    state: Callable[[], StageState]
    answers: Answers = field(default_factory=dict)
    woken: Callable[[], None] | None = None
    askers_end_s: float = 0.0
    signer: Signer | None = None
    certificate: Certificate | None = None
