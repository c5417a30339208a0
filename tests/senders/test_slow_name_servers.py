"""Slow name servers do not hold up the mails of other domains.

Name server and sockets are real. A mail that must not wait is compared with mails of slow domains:
it gets its 250 while those still wait.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dns_zone import Zone
from name_server import NameServer, name_server
from running import Running, start
from seating import HIDINGS, seat_pairs
from signing import publish, rsa_key, signed
from smtp_client import Wire

from pbmserv.inbound.auth.senders import NETWORK_THREADS

pytestmark = pytest.mark.slow

DOMAIN = "players.example"
ALICE = f"alice@{DOMAIN}"
HOUSE = "pbmserv@games.example"
SLOW_S = 1.8
CROWD = NETWORK_THREADS + 2


@pytest.fixture
def names() -> Iterator[NameServer]:
    zone = Zone()
    publish(zone, DOMAIN, rsa_key())
    slow = {f"slow{n}.example": SLOW_S for n in range(CROWD)}
    for domain in slow:
        zone.add_txt(domain, "v=spf1 " + " ".join(f"a:h{n}.{domain}" for n in range(9)))
        for n in range(9):
            zone.add("A", f"h{n}.{domain}", "192.0.2.1")
    with name_server(zone, slow) as server:
        yield server


@pytest.fixture
def server(database_url: str, tmp_path: Path, names: NameServer) -> Iterator[Running]:
    """Yield a server for which this machine is a stranger."""
    with start(
        tmp_path,
        database_url,
        names=names.resolver(),
        signup="open",
        mail_servers="127.0.0.9",
    ) as running:
        yield running


def mail(sender: str, number: int, text: str = "games") -> bytes:
    domain = sender.rpartition("@")[2]
    return (
        f"From: {sender}\r\nTo: {HOUSE}\r\nSubject: {text}\r\n"
        f"Date: Sat, 21 Nov 2026 06:00:00 +0000\r\nMessage-ID: <{number}@{domain}>\r\n\r\n"
    ).encode()


def reply_to(server: Running, sender: str, recipient: str, raw: bytes) -> str:
    """Return the reply to a mail, which need not be carried out yet."""
    wire = Wire(server.port)
    try:
        wire.begin(sender, recipient)
        return wire.ask(raw + b"\r\n.\r\n")
    finally:
        wire._file.close()
        wire._socket.close()


@contextmanager
def crowd(server: Running, names: NameServer, domains: list[str]) -> Iterator[list[str]]:
    """Send mails of slow domains; yield their replies so far."""
    answers: list[str] = []

    def send(number: int, domain: str) -> None:
        sender = f"eve@{domain}"
        answers.append(reply_to(server, sender, HOUSE, mail(sender, number)))

    threads = [threading.Thread(target=send, args=numbered) for numbered in enumerate(domains)]
    for thread in threads:
        thread.start()
    assert names.is_asked.wait(60)
    yield answers
    for thread in threads:
        thread.join()
    assert all(answer.startswith("250") for answer in answers)
    assert len(answers) == len(domains)


def test_other_mails_get_their_250_while_a_name_server_is_slow(
    server: Running, names: NameServer
) -> None:
    domains = [f"slow{n}.example" for n in range(CROWD)]
    server.sign_up("alice")
    table = seat_pairs(server.server, 1)[0]
    with crowd(server, names, domains) as answers:
        questions = names.questions(DOMAIN)
        # A reply waits for no name server, whoever it says to be from.
        for sender in (table.players[0].address, "eve@slow0.example"):
            move = mail(sender, 100, "Re: your board") + f"{HIDINGS[0]}\r\n".encode()
            assert reply_to(server, sender, table.addresses[0], move).startswith("250")
        assert names.questions(DOMAIN) == questions
        raw = signed(mail(ALICE, 101, "prefs alice"), DOMAIN, rsa_key())
        assert reply_to(server, ALICE, HOUSE, raw).startswith("250")
        # The checks that hold all threads of the network are still under way.
        assert len(answers) <= CROWD - NETWORK_THREADS


def test_a_command_in_a_reply_has_its_sender_checked_after_the_250(
    server: Running, names: NameServer
) -> None:
    """Play checks the sender, and carries out the command afterwards."""
    table = seat_pairs(server.server, 1)[0]
    sender, address = table.players[0].address, table.addresses[0]
    text = mail(sender, 1, "Re: your board") + b"whoami\r\n"
    assert reply_to(server, sender, address, text).startswith("250")
    assert server.letters(sender)
    assert names.questions(DOMAIN)
