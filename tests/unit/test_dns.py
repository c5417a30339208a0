"""Questions to a real name server, a small one of our own on this machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dns_zone import Zone
from name_server import name_server

from pbmserv.errors import NamesUnavailable
from pbmserv.mail.dns import LONGEST_TXT, SystemResolver


@pytest.fixture(scope="module")
def resolver() -> Iterator[SystemResolver]:
    zone = Zone(broken={"broken.example"})
    zone.add_txt("long.example", "v=DKIM1; k=rsa; p=MIIB" + "abc" * 100)
    zone.add_txt("two.example", "one", "two")
    zone.add_txt("huge.example", "x" * (LONGEST_TXT + 1), "small")
    zone.add("A", "host.example", "192.0.2.1", "192.0.2.2")
    zone.add("AAAA", "host.example", "2001:db8::1")
    zone.add("MX", "host.example", "10 mx1.example.", "20 mx2.example.")
    zone.add_ptr("192.0.2.1", "host.example.")
    with name_server(zone, {"silent.example": 60.0}) as server:
        yield server.resolver()


def test_the_strings_of_a_txt_record_are_one_text(resolver: SystemResolver) -> None:
    assert resolver.txt("long.example") == (b"v=DKIM1; k=rsa; p=MIIB" + b"abc" * 100,)
    assert sorted(resolver.txt("two.example")) == [b"one", b"two"]


def test_a_text_of_no_sane_length_is_left_out(resolver: SystemResolver) -> None:
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
        resolver.look_up("TXT", name, seconds=0.3)
