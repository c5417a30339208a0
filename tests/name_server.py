"""A real name server on this machine that answers from a `Zone`, with delays.

Every answer has the TTL 0, so that no resolver remembers it.
"""

from __future__ import annotations

import heapq
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset
from dns_zone import Zone

from pbmserv.mail.dns import SystemResolver

LOOK_S = 0.01


class NameServer:
    """A name server over UDP.

    Args:
        zone: the records.
        delays: seconds until an answer, by the end of the name.

    Attributes:
        question_counts: questions by name.
        is_asked: set with the first question.
    """

    def __init__(self, zone: Zone, delays: dict[str, float]) -> None:
        self._zone = zone
        self._delays = delays
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.settimeout(LOOK_S)
        self._due: list[tuple[float, int, bytes, object]] = []
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self.question_counts: Counter[str] = Counter()
        self.is_asked = threading.Event()

    def resolver(self) -> SystemResolver:
        """Return a resolver that asks this server alone."""
        return SystemResolver([self._socket.getsockname()])

    def questions(self, domain: str) -> int:
        """Return how many questions came about a domain and names below it."""
        return sum(n for name, n in self.question_counts.items() if name.endswith(domain))

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Answer nothing more."""
        self._ends.set()
        self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        while not self._ends.is_set():
            try:
                question, client = self._socket.recvfrom(4_096)
            except TimeoutError:
                pass
            else:
                self._take(question, client)
            while self._due and self._due[0][0] <= monotonic():
                _, _, answer, client = heapq.heappop(self._due)
                self._socket.sendto(answer, client)

    def _take(self, question: bytes, client: object) -> None:
        query = dns.message.from_wire(question)
        name = query.question[0].name.to_text(omit_final_dot=True).lower()
        self.question_counts[name] += 1
        self.is_asked.set()
        delay = max([s for end, s in self._delays.items() if name.endswith(end)], default=0.0)
        due = monotonic() + delay, self.question_counts.total(), self._answer(query, name), client
        heapq.heappush(self._due, due)

    def _answer(self, query: dns.message.Message, name: str) -> bytes:
        answer = dns.message.make_response(query)
        answer.flags |= dns.flags.RA
        kind = query.question[0].rdtype
        records = self._zone.records.get((dns.rdatatype.to_text(kind), name), [])
        texts = [_text(record) for record in records]
        if name in self._zone.broken:
            answer.set_rcode(dns.rcode.SERVFAIL)
        elif texts:
            answer.answer.append(dns.rrset.from_text(f"{name}.", 0, "IN", kind, *texts))
        elif not any(other == name for _, other in self._zone.records):
            answer.set_rcode(dns.rcode.NXDOMAIN)
        return answer.to_wire(max_size=65_535)


def _text(record: object) -> str:
    """Return a record of a zone as zone files have it."""
    if isinstance(record, bytes):
        parts = [record[at : at + 250] for at in range(0, len(record), 250)]
        return " ".join('"' + part.decode().replace('"', '\\"') + '"' for part in parts)
    return str(record)


@contextmanager
def name_server(zone: Zone, delays: dict[str, float]) -> Iterator[NameServer]:
    """Start a name server; it ends with the block. Arguments as for `NameServer`."""
    server = NameServer(zone, delays)
    server.start()
    try:
        yield server
    finally:
        server.stop()
