"""What one check found: the value that every check hands on to the verdict."""

from __future__ import annotations

import re
from dataclasses import dataclass

PASS = "pass"  # noqa: S105 - a result, no password
FAIL = "fail"
NONE = "none"
POLICY = "policy"
"""It may be right, but counts for nothing here (RFC 8601 section 2.7.1)."""
TEMPERROR = "temperror"
PERMERROR = "permerror"

LONGEST_NOTE = 200
_UNSAID = re.compile(r"[^ -~]|[()\\]")


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    Attributes:
        method: ``spf``, ``dkim``, ``dmarc``, ``arc`` or ``relay`` (a mail server of ours said so).
        result: in the words of RFC 8601 section 2.7.
        domain: for which domain; ASCII, lower case, ``""`` where there is none.
        aligned: the domain counts as the From address's own (RFC 7489 section 3.1).
        note: why, for the operator.
    """

    method: str
    result: str
    domain: str = ""
    aligned: bool = False
    note: str = ""

    @property
    def proves(self) -> bool:
        """Whether this alone shows that the From address is no forgery."""
        return self.result == PASS and self.aligned

    @property
    def undecided(self) -> bool:
        """Whether this would have proved it, perhaps, had name servers answered."""
        return self.result == TEMPERROR and (self.aligned or self.method == "arc")

    @property
    def excuses(self) -> bool:
        """Whether the domain did vouch for the mail, only not in a way that proves anything here.

        DMARC would let it pass, so it is no forgery.
        """
        return self.result == POLICY and self.aligned

    def __str__(self) -> str:
        name = {"spf": "smtp.mailfrom", "dkim": "header.d"}.get(self.method, "header.from")
        domain = f" {name}={plain(self.domain)}" if self.domain else ""
        note = f" ({plain(self.note)})" if self.note else ""
        return f"{self.method}={plain(self.result)}{domain}{note}"


def plain(text: str) -> str:
    """What a stranger wrote, fit for a terminal and for the comment of a header."""
    return _UNSAID.sub("?", text)[:LONGEST_NOTE]
