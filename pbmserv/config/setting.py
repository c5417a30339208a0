"""What there is to know about one setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

PREFIX = "PBMSERV_"


@dataclass(frozen=True, slots=True)
class Setting:
    """What a person needs to know about one setting.

    Attributes:
        env: name of the environment variable.
        unit: what kind of text it takes.
        default: the text that is used when nothing is said; ``<data>`` stands
            for PBMSERV_DATA_DIR, ``""`` = off or derived (see `meaning`).
        meaning: one sentence.
        read: makes the value from the text; ValueError says what would be right.
    """

    env: str
    unit: str
    default: str
    meaning: str
    read: Callable[[str], object]

    @property
    def key(self) -> str:
        """The name in a TOML file, which is also the field of `Settings`."""
        return self.env.removeprefix(PREFIX).lower()
