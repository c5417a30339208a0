"""Questions to a real name server, a small one of our own on this machine."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import dns.flags
import dns.message
import dns.rcode
import dns.rrset
import pytest

from pbmserv.errors import NamesUnavailable
from pbmserv.mail.dns import LONGEST_TXT, SystemResolver

RECORDS = {
    ("long.example.", "TXT"): ['"v=DKIM1; k=rsa; " "p=MIIB" "abc"'],
    ("two.example.", "TXT"): ['"one"', '"two"'],
    ("huge.example.", "TXT"): [" ".join(['"' + "x" * 255 + '"'] * 20), '"small"'],
    ("host.example.", "A"): ["192.0.2.1", "192.0.2.2"],
    ("host.example.", "AAAA"): ["2001:db8::1"],
    ("host.example.", "MX"): ["10 mx1.example.", "20 mx2.example."],
    ("1.2.0.192.in-addr.arpa.", "PTR"): ["host.example."],
}


def _answer(question: bytes) -> bytes | None:
    query = dns.message.from_wire(question)
    name, kind = query.question[0].name.to_text(), query.question[0].rdtype
    if name == "silent.example.":
        return None
    response = dns.message.make_response(query)
    response.flags |= dns.flags.RA
    if name == "broken.example.":
        response.set_rcode(dns.rcode.SERVFAIL)
        return response.to_wire()
    owners = {owner for owner, _ in RECORDS}
    if name not in owners:
        response.set_rcode(dns.rcode.NXDOMAIN)
        return response.to_wire()
    texts = RECORDS.get((name, dns.rdatatype.to_text(kind)), [])
    if texts:
        response.answer.append(dns.rrset.from_text(name, 300, "IN", kind, *texts))
    return response.to_wire(max_size=65_535)


@contextmanager
def _name_server() -> Iterator[int]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bound:
        bound.bind(("127.0.0.1", 0))

        def serve() -> None:
            while True:
                question, client = bound.recvfrom(4096)
                if not question:
                    return
                answer = _answer(question)
                if answer is not None:
                    bound.sendto(answer, client)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield bound.getsockname()[1]
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
                last.sendto(b"", bound.getsockname())
            thread.join()


@pytest.fixture(scope="module")
def resolver() -> Iterator[SystemResolver]:
    with _name_server() as port:
        yield SystemResolver([("127.0.0.1", port)], lifetime=0.3)


def test_the_strings_of_a_txt_record_are_one_text(resolver: SystemResolver) -> None:
    assert resolver.txt("long.example") == (b"v=DKIM1; k=rsa; p=MIIBabc",)
    assert sorted(resolver.txt("two.example")) == [b"one", b"two"]


def test_a_text_of_no_sane_length_is_left_out(resolver: SystemResolver) -> None:
    assert LONGEST_TXT < 20 * 255
    assert resolver.txt("huge.example") == (b"small",)


def test_hosts_exchangers_and_names(resolver: SystemResolver) -> None:
    assert sorted(resolver.a("host.example")) == ["192.0.2.1", "192.0.2.2"]
    assert resolver.aaaa("host.example") == ("2001:db8::1",)
    assert sorted(resolver.mx("host.example")) == [(10, "mx1.example"), (20, "mx2.example")]
    assert resolver.ptr("1.2.0.192.in-addr.arpa") == ("host.example",)


@pytest.mark.parametrize(
    "name", ["nowhere.example", "long..example", "x" * 64 + ".example", "a." * 130 + "example"]
)
def test_names_that_do_not_exist_or_are_not_valid_have_no_records(
    resolver: SystemResolver, name: str
) -> None:
    assert resolver.txt(name) == ()


def test_a_name_without_such_a_record_is_empty(resolver: SystemResolver) -> None:
    assert resolver.mx("long.example") == ()


@pytest.mark.parametrize("name", ["broken.example", "silent.example"])
def test_no_answer_is_not_the_same_as_no_such_name(resolver: SystemResolver, name: str) -> None:
    with pytest.raises(NamesUnavailable):
        resolver.txt(name)
