"""DNS records in memory."""

from __future__ import annotations

import ipaddress
from collections import Counter
from dataclasses import dataclass, field

from pbmserv.errors import NamesUnavailable
from pbmserv.mail.dns import QUERY_S, Resolver


@dataclass
class Zone(Resolver):
    """A resolver for tests.

    Attributes:
        records: by kind and name.
        broken: names that get no answer.
        question_counts: number of questions by kind and name.
    """

    records: dict[tuple[str, str], list[object]] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    question_counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, kind: str, name: str, *values: object) -> None:
        """Add records of a kind ("TXT", "A", "AAAA", "MX", "PTR") for a name."""
        self.records.setdefault((kind, name.lower()), []).extend(values)

    def add_txt(self, name: str, *texts: str | bytes) -> None:
        """Add TXT records."""
        self.add("TXT", name, *(t.encode() if isinstance(t, str) else t for t in texts))

    def add_ptr(self, address: str, *names: str) -> None:
        """Add names of an address."""
        self.add("PTR", ipaddress.ip_address(address).reverse_pointer, *names)

    def remove(self, kind: str, name: str) -> None:
        """Remove all records of a kind for a name."""
        self.records.pop((kind, name.lower()), None)

    def look_up(self, kind: str, name: str, seconds: float = QUERY_S) -> tuple:
        assert name.isascii(), name
        assert not name.endswith("."), name
        key = name.lower()
        self.question_counts[kind, key] += 1
        if key in self.broken:
            raise NamesUnavailable(f"{kind} of {key}")
        return tuple(self.records.get((kind, key), ()))
