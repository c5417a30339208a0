"""Findings of a check of a game, each with the method and the line of the game that it is about."""

from __future__ import annotations

import inspect
import io
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from pbmserv.engine.record import GameRecord
from pbmserv.engine.table import BrokenRules
from pbmserv.game import Game
from pbmserv.testing.endless import is_of_checks

LONGEST_SHOWN = 60
"""Characters of a printed line that a finding shows."""
LONGEST_LINE = 76
"""Characters of a printed line that are kept until its end is printed."""


@dataclass(frozen=True, order=True)
class Finding:
    """Something that is wrong.

    Attributes:
        method: of the game, or the attribute of its class.
        sentence: what is wrong with it.
    """

    method: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.method}: {self.sentence}"


@dataclass(frozen=True)
class PlayedGame:
    """A game that came to its end in a check.

    Attributes:
        states: at the start and after each ply.
    """

    record: GameRecord
    states: Sequence[Any]


@dataclass
class Report:
    """The findings of a check.

    Attributes:
        games, moves: how many were played.
        played: a few of the games.
        slowest: processor seconds of the slowest move.
        largest: octets of the largest state.
    """

    key: str = ""
    findings: dict[tuple[str, str], Finding] = field(default_factory=dict)
    games: int = 0
    moves: int = 0
    played: list[PlayedGame] = field(default_factory=list)
    slowest: float = 0.0
    largest: int = 0

    def add(self, method: str, sentence: str, where: str = "") -> None:
        """Note a finding, unless the method has one that differs only in numbers or quotes.

        Args:
            where: the options or the bot of the game in brackets, if they are not the usual ones.
        """
        kind = re.sub(r"[0-9]+|'[^']*'|\"[^\"]*\"", "*", sentence)
        self.findings.setdefault((method, kind), Finding(method, sentence + where))

    @property
    def listed(self) -> list[Finding]:
        return sorted(self.findings.values())


class GameBroke(Exception):
    """Raised after a fault is noted with which the present game cannot go on."""


class Notes:
    """Notes the faults of a game, with their places in its file.

    Attributes:
        where: the options or the bot of the present game, for the ends of sentences.
    """

    def __init__(self, rules: Game[Any], report: Report) -> None:
        self._rules, self._report = rules, report
        self.where = ""
        self._printing: set[str] = set()  # methods that print

    @property
    def file(self) -> str:
        """The file of the game; ``""`` if it is not known."""
        return sys.modules[type(self._rules).__module__].__file__ or ""

    def fail(self, method: str, sentence: str) -> NoReturn:
        """Note a finding after which this game cannot go on."""
        self._report.add(method, sentence, self.where)
        raise GameBroke

    @contextmanager
    def noting_faults(self) -> Iterator[None]:
        """Note an exception of the game, which ends the block."""
        try:
            yield
        except GameBroke:
            pass
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a game raises
            if isinstance(error, BrokenRules):
                self._report.add(error.method, error.sentence, self.where)
                return
            method, line = self.blame(error)
            place = f" (line {line})" if line else ""
            self._report.add(method, f"raises {type(error).__name__}: {error}{place}", self.where)

    @contextmanager
    def noting_output(self) -> Iterator[None]:
        """Note lines that the rules print in the block. A server would print them, too."""
        with (
            _Overheard(partial(self._note_line, "stdout")) as stdout,
            _Overheard(partial(self._note_line, "stderr")) as stderr,
            redirect_stdout(stdout),
            redirect_stderr(stderr),
        ):
            yield

    def _note_line(self, stream: str, text: str, frames: Sequence[traceback.FrameSummary]) -> None:
        """Note a line that was printed; of each method only the first."""
        method, line = self._blame_frames(frames)
        if method in self._printing:
            return
        self._printing.add(method)
        shown = text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "..."
        place = f" (line {line})" if line else ""
        self._report.add(
            method,
            f"writes {shown!r} to {stream}{place}, which on a server is the server's own output",
            self.where,
        )

    def blame(self, error: BaseException) -> tuple[str, int]:
        """Return the method of the game in which an exception began, and the line."""
        return self._blame_frames(traceback.extract_tb(error.__traceback__))

    def _blame_frames(self, frames: Sequence[traceback.FrameSummary]) -> tuple[str, int]:
        """Return the method of the game that is in these frames, and the line.

        Args:
            frames: the newest last. If no method is among them, the one that plays is blamed.
        """
        own = [frame for frame in frames if self.file and Path(frame.filename) == Path(self.file)]
        if own:
            methods = [frame.name for frame in own if hasattr(Game, frame.name)]
            return (methods or [own[0].name])[0], own[-1].lineno or 0
        called = [
            frame.name
            for frame in frames
            if hasattr(Game, frame.name) and not is_of_checks(frame.filename)
        ]
        return (called or [playing_method(self._rules)])[-1], 0


class _Overheard(io.TextIOBase):
    """An output that reports each line.

    Args:
        report: called with the line and the frames of the call that has written its end.
    """

    def __init__(self, report: Callable[[str, Sequence[traceback.FrameSummary]], None]) -> None:
        self._report = report
        self._line = ""
        self._frames: Sequence[traceback.FrameSummary] = ()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if text.strip():
            # Functions of the same file may have called the checks, if it is that of a test.
            frame = inspect.currentframe()
            stack = traceback.walk_stack(frame.f_back if frame else None)
            calls = takewhile(_is_of_rules, stack)
            self._frames = traceback.StackSummary.extract(calls, lookup_lines=False)[::-1]
        *lines, rest = (self._line + text).split("\n")
        self._line = rest[:LONGEST_LINE]
        for line in filter(str.strip, lines):
            self._report(line.strip(), self._frames)
        return len(text)

    def close(self) -> None:
        if not self.closed and self._line.strip():
            self._report(self._line.strip(), self._frames)
        super().close()


def playing_method(rules: Game[Any]) -> str:
    """Return the name of the method that carries out moves."""
    return "play_all" if rules.together else "play"


def _is_of_rules(call: tuple[FrameType, int]) -> bool:
    """Return whether a frame, with its line, does not belong to the checks."""
    frame, _ = call
    return not is_of_checks(frame.f_code.co_filename)
