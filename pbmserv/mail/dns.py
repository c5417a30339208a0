"""Asks name servers (RFC 1035). Everything that uses DNS gets a `Resolver`, also in tests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from pbmserv.errors import NamesUnavailable

if TYPE_CHECKING:
    from dns.resolver import Answer
    from dns.resolver import Resolver as Library

LIFETIME = 3.0
"""Seconds for one query, including other name servers and repetitions."""
MOST_RECORDS = 50
LONGEST_TXT = 4_096
"""Octets of a record; a longer one is neither a key nor a policy, and is left out."""
REMEMBERED = 2_000
"""Answers in the cache, each for as long as its zone allows."""


class Resolver(Protocol):
    """Answers DNS queries; an answer is empty if there is no such name or record.

    Names are ASCII without the final dot. All methods may block and may be called by several
    threads at once. They raise `NamesUnavailable` if no name server answers.
    """

    def txt(self, name: str) -> tuple[bytes, ...]:
        """TXT records, the strings of each joined (RFC 7208 section 3.3)."""
        ...

    def a(self, name: str) -> tuple[str, ...]:
        """IPv4 addresses."""
        ...

    def aaaa(self, name: str) -> tuple[str, ...]:
        """IPv6 addresses."""
        ...

    def mx(self, name: str) -> tuple[tuple[int, str], ...]:
        """Preference and name of mail exchangers."""
        ...

    def ptr(self, name: str) -> tuple[str, ...]:
        """Names of a host; *name* is the reversed address under ``in-addr.arpa``/``ip6.arpa``."""
        ...


class SystemResolver:
    """Asks this machine's name servers, through dnspython.

    Args:
        servers: addresses and ports of other name servers to ask instead.
        lifetime: seconds for one query.
        library: dnspython's resolver with its cache; `None` to make one at the first query.
    """

    def __init__(
        self,
        servers: Sequence[tuple[str, int]] = (),
        *,
        lifetime: float = LIFETIME,
        library: Library | None = None,
    ) -> None:
        self._servers = tuple(servers)
        self._lifetime = lifetime
        self._library = library
        self._lock = threading.Lock()

    def within(self, seconds: float) -> SystemResolver:
        """Return a resolver with the same servers and cache, and at most *seconds* for a query."""
        lifetime = min(seconds, self._lifetime)
        return SystemResolver(self._servers, lifetime=lifetime, library=self._resolver())

    def txt(self, name: str) -> tuple[bytes, ...]:
        """See `Resolver.txt`."""
        joined = [b"".join(record.strings) for record in self._ask(name, "TXT")]
        return tuple(text for text in joined if len(text) <= LONGEST_TXT)

    def a(self, name: str) -> tuple[str, ...]:
        """See `Resolver.a`."""
        return tuple(record.address for record in self._ask(name, "A"))

    def aaaa(self, name: str) -> tuple[str, ...]:
        """See `Resolver.aaaa`."""
        return tuple(record.address for record in self._ask(name, "AAAA"))

    def mx(self, name: str) -> tuple[tuple[int, str], ...]:
        """See `Resolver.mx`."""
        return tuple(
            (record.preference, record.exchange.to_text(omit_final_dot=True))
            for record in self._ask(name, "MX")
        )

    def ptr(self, name: str) -> tuple[str, ...]:
        """See `Resolver.ptr`."""
        return tuple(
            record.target.to_text(omit_final_dot=True) for record in self._ask(name, "PTR")
        )

    def _ask(self, name: str, kind: str) -> Answer | tuple[()]:
        """Return the records of one kind.

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
                lifetime=self._lifetime,
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
        return answer

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


class TimedResolver:
    """A resolver with one deadline for all its queries.

    Args:
        ends: the deadline, by *clock*.
        clock: returns seconds.
    """

    def __init__(
        self, resolver: Resolver, ends: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._resolver = resolver
        self._ends = ends
        self._clock = clock

    @property
    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        return self._clock() >= self._ends

    def txt(self, name: str) -> tuple[bytes, ...]:
        """See `Resolver.txt`."""
        return self._in_time().txt(name)

    def a(self, name: str) -> tuple[str, ...]:
        """See `Resolver.a`."""
        return self._in_time().a(name)

    def aaaa(self, name: str) -> tuple[str, ...]:
        """See `Resolver.aaaa`."""
        return self._in_time().aaaa(name)

    def mx(self, name: str) -> tuple[tuple[int, str], ...]:
        """See `Resolver.mx`."""
        return self._in_time().mx(name)

    def ptr(self, name: str) -> tuple[str, ...]:
        """See `Resolver.ptr`."""
        return self._in_time().ptr(name)

    def _in_time(self) -> Resolver:
        """Return the resolver for one more query.

        Raises:
            NamesUnavailable: the deadline has passed.
        """
        left = self._ends - self._clock()
        if left <= 0:
            raise NamesUnavailable("too much time for one mail")
        if isinstance(self._resolver, SystemResolver):
            return self._resolver.within(left)
        return self._resolver


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
