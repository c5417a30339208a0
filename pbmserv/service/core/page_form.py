"""Forms of pages: typed values that the door stores and play carries out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Generic, TypeVar

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class PageForm(Generic[R]):
    """A form of a page. The page gets a result of type `R`, as JSON.

    Attributes:
        name: tells stored forms apart.
    """

    name: ClassVar[str]

    def as_json(self) -> bytes:
        """Return the form as it is stored."""
        return json.dumps({"form": self.name, **asdict(self)}).encode()

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> PageForm[R]:
        """Return the form with stored values."""
        return cls(**values)
