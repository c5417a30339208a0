"""The findings about a board, and the verdict that they make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pbmserv.views.environment import template_of


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence about a board.

    Attributes:
        code: the block of ``templates/findings.j2`` with the sentence.
        is_wrong: whether it contradicts the record.
        values: values for the sentence.
    """

    code: str
    is_wrong: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """The finding in words."""
        template = template_of("findings.j2")
        block = template.blocks[self.code.replace("-", "_")]
        context = template.new_context({"finding": self, **self.values})
        return " ".join("".join(block(context)).split())


@dataclass(frozen=True, slots=True)
class Verdict:
    """The findings about one board.

    Attributes:
        board: the number of the board; 0 for records that cannot be read.
        title: the game and its players; ``""`` without a record.
        findings: in the order in which they were made.
        is_compared: whether a record was compared with at least one letter.
    """

    board: int
    title: str
    findings: tuple[Finding, ...]
    is_compared: bool

    @property
    def is_wrong(self) -> bool:
        return any(finding.is_wrong for finding in self.findings)

    @property
    def is_proven(self) -> bool:
        return self.is_compared and not self.is_wrong


class Wrong(Exception):
    """A check has failed, and later checks would only repeat that.

    Attributes:
        finding: says what is wrong.
    """

    def __init__(self, code: str, **values: Any) -> None:
        super().__init__(code)
        self.finding = Finding(code, is_wrong=True, values=values)
