"""Asks name servers (RFC 1035). Everything that uses DNS gets a `Resolver`, also in tests."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pbmserv.errors import NamesUnavailable

if TYPE_CHECKING:
    from dns.resolver import Resolver as Library

QUERY_S = 3.0
"""Seconds for one query, including other name servers and repetitions."""
MOST_RECORDS = 50
LONGEST_TXT = 4_096
"""Octets of a record; a longer one is neither a key nor a policy, and is left out."""
REMEMBERED = 2_000
"""Answers in the cache, each for as long as its zone allows."""


class Resolver(ABC):
    """Answers DNS queries; an answer is empty if there is no such name or record.

    Names are ASCII without the final dot. All methods may block and may be called by several
    threads at once. They raise `NamesUnavailable` if no name server answers.
    """

    @abstractmethod
    def look_up(self, kind: str, name: str, seconds: float = QUERY_S) -> tuple[Any, ...]:
        """Return the records of one kind; the methods below say what each holds.

        Args:
            seconds: the most that the query may take.
        """

    def txt(self, name: str) -> tuple[bytes, ...]:
        """TXT records, the strings of each joined (RFC 7208 section 3.3)."""
        return self.look_up("TXT", name)

    def a(self, name: str) -> tuple[str, ...]:
        """IPv4 addresses."""
        return self.look_up("A", name)

    def aaaa(self, name: str) -> tuple[str, ...]:
        """IPv6 addresses."""
        return self.look_up("AAAA", name)

    def mx(self, name: str) -> tuple[tuple[int, str], ...]:
        """Preference and name of mail exchangers."""
        return self.look_up("MX", name)

    def ptr(self, name: str) -> tuple[str, ...]:
        """Names of a host; *name* is the reversed address under ``in-addr.arpa``/``ip6.arpa``."""
        return self.look_up("PTR", name)


class SystemResolver(Resolver):
    """Asks this machine's name servers, through dnspython.

    Args:
        servers: addresses and ports of other name servers to ask instead.
    """

    def __init__(self, servers: Sequence[tuple[str, int]] = ()) -> None:
        self._servers = tuple(servers)
        self._library: Library | None = None
        self._lock = threading.Lock()

    def look_up(self, kind: str, name: str, seconds: float = QUERY_S) -> tuple[Any, ...]:
        """Ask for the records of one kind.

        Raises:
            NamesUnavailable: there is no name server, no answer in time, or SERVFAIL.
        """
        import dns.exception
        import dns.name
        import dns.resolver

        try:
            answer = self._resolver().resolve(
                dns.name.from_text(name),
                kind,
                search=False,
                raise_on_no_answer=False,
                lifetime=min(seconds, QUERY_S),
            )
        except dns.resolver.NXDOMAIN:
            return ()
        except (dns.exception.Timeout, dns.resolver.NoNameservers, OSError) as error:
            raise NamesUnavailable(f"{kind} of {name}: {type(error).__name__}") from error
        except dns.resolver.NoResolverConfiguration as error:
            raise NamesUnavailable("this machine knows no name server") from error
        except dns.exception.DNSException:
            return ()  # malformed names do not exist
        if answer.rrset is None or len(answer.rrset) > MOST_RECORDS:
            return ()
        return tuple(value for record in answer if (value := _value_of(kind, record)) is not None)

    def _resolver(self) -> Library:
        """Return dnspython's resolver, which reads files when it is made."""
        with self._lock:
            if self._library is None:
                self._library = self._new_library()
            return self._library

    def _new_library(self) -> Library:
        import dns.nameserver
        import dns.resolver

        library = dns.resolver.Resolver(configure=not self._servers)
        if self._servers:
            library.nameservers = [
                dns.nameserver.Do53Nameserver(address, port) for address, port in self._servers
            ]
        library.cache = dns.resolver.LRUCache(REMEMBERED)
        return library


def _value_of(kind: str, record: Any) -> Any:
    """Return the value of one of dnspython's records; `None` for a text that is too long."""
    match kind:
        case "TXT":
            text = b"".join(record.strings)
            return text if len(text) <= LONGEST_TXT else None
        case "MX":
            return record.preference, record.exchange.to_text(omit_final_dot=True)
        case "PTR":
            return record.target.to_text(omit_final_dot=True)
    return record.address


class TimedResolver(Resolver):
    """A resolver with one deadline for all its queries.

    Args:
        ends: the deadline, by *clock*.
        clock: returns seconds.
    """

    def __init__(self, resolver: Resolver, ends: float, clock: Callable[[], float]) -> None:
        self._resolver = resolver
        self._ends = ends
        self._clock = clock

    def look_up(self, kind: str, name: str, seconds: float = QUERY_S) -> tuple[Any, ...]:
        """Ask the resolver in the time that is left.

        Raises:
            NamesUnavailable: the deadline has passed, or no name server has answered.
        """
        left = self._ends - self._clock()
        if left <= 0:
            raise NamesUnavailable("too much time for one mail")
        return self._resolver.look_up(kind, name, min(left, seconds))


def record_tags(record: bytes) -> dict[str, str]:
    """Return the tags of a record of DKIM or DMARC (RFC 6376 section 3.2).

    Names are in lower case and in the record's order. The first one of a repeated name counts.
    """
    tags: dict[str, str] = {}
    for part in record.decode("ascii", "replace").split(";"):
        name, _, value = part.partition("=")
        tags.setdefault(name.strip().lower(), value.strip())
    return tags


def is_for_tests(key: Mapping[str, str]) -> bool:
    """Return whether a key is a test, whose signatures must be ignored (section 3.6.1)."""
    return "y" in "".join(key.get("t", "").lower().split()).split(":")
