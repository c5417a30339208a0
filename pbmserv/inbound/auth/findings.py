"""The findings of the checks of a mail: SPF, DKIM, DMARC, ARC, and our own mail server's."""

from __future__ import annotations

import re
from dataclasses import dataclass

PASS = "pass"  # noqa: S105 - a result, not a password
FAIL = "fail"
NONE = "none"
POLICY = "policy"
"""The result may be valid, but it does not count here (RFC 8601 section 2.7.1)."""
TEMPERROR = "temperror"
PERMERROR = "permerror"

LONGEST_NOTE = 200
_UNSAID = re.compile(r"[^ -~]|[()\\]")


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    Attributes:
        method: ``spf``, ``dkim``, ``dmarc``, ``arc`` or ``relay`` (our own mail server's result).
        result: a keyword of RFC 8601 section 2.7.
        domain: the checked domain in ASCII and lower case; ``""`` for none.
        aligned: the domain is aligned with the From address (RFC 7489 section 3.1).
        note: the reason, for the operator.
    """

    method: str
    result: str
    domain: str = ""
    aligned: bool = False
    note: str = ""

    @property
    def proves(self) -> bool:
        """Whether this finding alone proves that the From address is genuine."""
        return self.result == PASS and self.aligned

    @property
    def undecided(self) -> bool:
        """Whether this finding might be a proof if name servers had answered."""
        return self.result == TEMPERROR and (self.aligned or self.method == "arc")

    @property
    def excuses(self) -> bool:
        """Whether the domain vouches for the mail, but not in a way that counts here.

        DMARC would accept the mail, so it is not a forgery.
        """
        return self.result == POLICY and self.aligned

    def __str__(self) -> str:
        name = {"spf": "smtp.mailfrom", "dkim": "header.d"}.get(self.method, "header.from")
        domain = f" {name}={plain(self.domain)}" if self.domain else ""
        note = f" ({plain(self.note)})" if self.note else ""
        return f"{self.method}={plain(self.result)}{domain}{note}"


def plain(text: str) -> str:
    """Return a stranger's text in a form that is safe in terminals and in header comments."""
    return _UNSAID.sub("?", text)[:LONGEST_NOTE]
