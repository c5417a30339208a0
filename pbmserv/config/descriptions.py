"""Descriptions of all settings, for people who choose them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pbmserv.config.display import text_of
from pbmserv.config.kinds import Unit
from pbmserv.config.settings import Settings
from pbmserv.config.sources import variable_of


@dataclass(frozen=True, slots=True)
class Description:
    """A setting as an operator sees it.

    Attributes:
        key: name in a TOML file, and field of `Settings`.
        unit: kind of text that the setting takes.
        default: text of the default; ``""`` for off or none.
        meaning: description, on one line.
    """

    key: str
    unit: str
    default: str
    meaning: str

    @property
    def variable(self) -> str:
        """Name of the environment variable."""
        return variable_of(self.key)


def descriptions() -> Iterator[Description]:
    """Yield every setting, in the order of `Settings`."""
    defaults = Settings()
    for key, field in Settings.model_fields.items():
        (unit,) = (item.name for item in field.metadata if isinstance(item, Unit))
        meaning = " ".join((field.description or "").split())
        yield Description(key, unit, text_of(getattr(defaults, key)), meaning)
