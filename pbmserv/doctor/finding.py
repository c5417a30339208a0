"""The result of one check: one sentence, and the line that would mend a fault."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import IntEnum


class Level(IntEnum):
    """The weight of a finding; the numbers are exit codes that monitoring systems know."""

    OK = 0
    WARNING = 1
    PROBLEM = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    Attributes:
        subject: the thing that was looked at, such as ``SPF``.
        sentence: one sentence about its state.
        level: whether somebody has to act.
        advice: the line to add or the command to run; ``""`` if nothing has to be done.
    """

    subject: str
    sentence: str
    level: Level = Level.OK
    advice: str = ""

    def as_json(self) -> dict[str, str]:
        """Return the finding as an object for programs."""
        return asdict(self) | {"level": self.level.name.lower()}


def warning(subject: str, sentence: str, advice: str = "") -> Finding:
    """Return a finding about something that works now and may fail later."""
    return Finding(subject, sentence, Level.WARNING, advice)


def problem(subject: str, sentence: str, advice: str = "") -> Finding:
    """Return a finding about something that players or other mail servers notice."""
    return Finding(subject, sentence, Level.PROBLEM, advice)
