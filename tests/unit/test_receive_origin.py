"""The network of a mail that comes through mail servers of our own."""

from __future__ import annotations

from ipaddress import ip_network

from rows import rows

from pbmserv.inbound.source import source_of
from pbmserv.mail.envelope import Envelope

OURS = (ip_network("10.0.0.5/32"),)
SENDER = "Alice@Players.example"


def source(*received: str, peer: str = "10.0.0.5", above: str = "", handed_on: bool = True) -> str:
    fields = "".join(f"Received: {value}\r\n" for value in received)
    raw = f"{above}{fields}From: {SENDER}\r\n\r\nReceived: from x (x [9.9.9.9]) by y\r\n"
    origin = source_of(Envelope(SENDER, "a@b.example", raw.encode(), peer, "x", handed_on), OURS)
    assert origin.sender == SENDER.lower()
    return origin.network


@rows(
    "field",
    [
        "from mail.example (mail.example [192.0.2.7])\r\n\tby mx.example (Postfix) with ESMTPS",
        "from [9.9.9.9] (unknown [192.0.2.7]) by mx.example (Postfix)",
        "from mail.example (unknown [192.0.2.7])\r\n (Authenticated sender: alice) by mx.example",
        "from mail.example ([192.0.2.7] helo=[9.9.9.9])\r\n\tby mx.example with esmtps (Exim 4.98)",
        "from mail.example ([192.0.2.7]:25188 helo=mail) by mx.example with esmtp (Exim 4.98)",
        "from [192.0.2.7] (helo=[9.9.9.9])\r\n\tby mx.example with esmtp (Exim 4.98)",
        "from [192.0.2.7] (port=25188 helo=x.example) by mx.example with esmtp (Exim 4.98)",
        "from helo.example (mail.example [192.0.2.7]) by mx.example (OpenSMTPD) with ESMTP",
        "from helo.example (a@mail.example [192.0.2.7] (may be forged)) by mx.example (8.18.1/8)",
    ],
)
def test_received_fields_of_mail_servers_are_read(field: str) -> None:
    assert source(field) == "192.0.2.0/24"


def test_internet_protocol_version_6() -> None:
    assert source("from x (x [IPv6:2001:db8:1:2:3::4]) by y") == "2001:db8:1:2::/64"


def test_filters_and_servers_of_our_own_are_passed_over() -> None:
    filtered = "from localhost (localhost [127.0.0.1]) by mx.example (Postfix)"
    ours = "from mx2.example (mx2.example [10.0.0.5]) by mx.example"
    client = "from mail.example (mail.example [192.0.2.7]) by mx2.example"
    forged = "from x (x [9.9.9.9]) by mail.example"
    assert source(filtered, ours, client, forged) == "192.0.2.0/24"
    assert source(*[filtered] * 6, client) == ""
    above = "Return-Path: <x@y>\r\nDelivered-To: a@b.example\r\n"
    assert source(client, forged, above=above) == "192.0.2.0/24"


@rows(
    "field",
    [
        "by mx.example (Postfix, from userid 1000)",
        "from x by mx.example",
        "from x (HELO x) (192.0.2.7) by mx.example (qmail)",
        "from x (x [not an address]) by y",
        "from x (x [1.2.3.4.5]) by y",
        "",
    ],
)
def test_received_fields_without_an_address_say_nothing(field: str) -> None:
    """A stranger's field below it is not looked at instead."""
    assert source(field, "from x (x [9.9.9.9]) by y") == ""
    assert source() == ""


def test_a_client_that_comes_itself_is_not_asked_where_from() -> None:
    field = "from x (x [9.9.9.9]) by y"
    assert source(field, peer="192.0.2.7", handed_on=False) == "192.0.2.0/24"
    assert source(field, peer="::ffff:192.0.2.7", handed_on=False) == "192.0.2.0/24"
    assert source("", peer="", handed_on=True) == ""
    assert source(field, peer="10.0.0.5", handed_on=False) == "9.9.9.0/24"
