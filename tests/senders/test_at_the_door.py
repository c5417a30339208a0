"""Proven and forged senders through real sockets, on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from dns_zone import Zone
from running import Running, start
from signing import publish, rsa_key, signed
from smtp_client import Wire

DOMAIN = "players.example"
ALICE = f"alice@{DOMAIN}"
HOUSE = "pbmserv@games.example"


@pytest.fixture
def zone() -> Zone:
    names = Zone()
    publish(names, DOMAIN, rsa_key())
    return names


@pytest.fixture
def server(database_url: str, tmp_path: Path, zone: Zone) -> Iterator[Running]:
    """Yield a server behind its own mail server that also accepts other clients."""
    with start(
        tmp_path,
        database_url,
        names=zone,
        signup="open",
        lmtp="127.0.0.1:0",
        mail_servers="127.0.0.9",
        authserv_id="mx.games.example",
    ) as running:
        running.sign_up("alice")
        yield running


def mail(number: int, sender: str = ALICE, more: str = "") -> bytes:
    return (
        f"{more}From: {sender}\r\nTo: {HOUSE}\r\nSubject: prefs alice -\r\n"
        f"Date: Sat, 21 Nov 2026 06:00:00 +0000\r\nMessage-ID: <{number}@{DOMAIN}>\r\n\r\n"
    ).encode()


def obeyed(server: Running) -> set[int]:
    """Return the numbers of mails with proven senders."""
    userids = set()
    for letter in server.letters():
        number = str(letter.message["In-Reply-To"] or "").partition("@")[0].strip("<")
        if "preferences" in letter.subject.lower():
            userids.add(int(number))
    return userids


@pytest.mark.slow
def test_a_game_of_proofs(server: Running, zone: Zone) -> None:
    field = (
        'Authentication-Results: mx.games.example; spf=pass smtp.mailfrom="alice@players.example"'
    )
    received = "Received: from mail.players.example by mx.games.example\r\n"
    with Wire(server.port) as wire:
        # Signed by the sender's domain.
        assert wire.mail(ALICE, HOUSE, signed(mail(1), DOMAIN, rsa_key())).startswith("250")
        # Not signed; and a field that only our own mail server may write.
        assert wire.mail(ALICE, HOUSE, mail(2)).startswith("250")
        assert wire.mail(ALICE, HOUSE, mail(3, more=f"{field}\r\n")).startswith("250")
        # The domain says that this very machine sends its mails.
        zone.add_txt(DOMAIN, "v=spf1 ip4:127.0.0.1 -all")
        assert wire.mail(ALICE, HOUSE, mail(4)).startswith("250")
        # Another envelope, and another domain that is really the client's.
        zone.add_txt("evil.example", "v=spf1 ip4:127.0.0.1 -all")
        assert wire.mail("m@evil.example", HOUSE, mail(5)).startswith("250")
        # A name is not an address, quotes that are not needed change nothing, and two addresses
        # or a local part that needs quotes are refused.
        for number, sender in enumerate(
            (
                f'"{ALICE}" <m@evil.example>',
                f"{ALICE} (m@evil.example)",
                f"=?utf-8?q?{ALICE.replace('@', '=40')}?= <m@evil.example>",
                f'"alice"@{DOMAIN}',
            ),
            10,
        ):
            assert wire.mail("m@evil.example", HOUSE, mail(number, sender)).startswith("250")
        for number, sender in enumerate(
            (
                f"{ALICE}, m@evil.example",
                f"{ALICE}\r\nFrom: m@evil.example",
                f'"alice "@{DOMAIN}',
                f'"{ALICE}"@evil.example',
                f"{ALICE} <m@evil.example>",
                f"<{ALICE}><m@evil.example>",
            ),
            20,
        ):
            assert wire.mail("m@evil.example", HOUSE, mail(number, sender)).startswith("5")
        # A bare CR in a header would be a second From for some readers.
        forged = mail(30, f"m@evil.example\rFrom: {ALICE}")
        assert wire.mail("m@evil.example", HOUSE, forged).startswith("550 5.6.0")
    with Wire(server.lmtp_port, hello="LHLO mx.games.example") as wire:
        assert wire.mail(ALICE, HOUSE, mail(6)).startswith("250")
        assert wire.mail(ALICE, HOUSE, mail(7, more=f"{field}\r\n{received}")).startswith("250")
        # Our server did not write it, but passed it on.
        assert wire.mail(ALICE, HOUSE, mail(8, more=f"{received}{field}\r\n")).startswith("250")
    assert obeyed(server) == {1, 4, 7}


@pytest.mark.slow
def test_an_address_with_odd_dots_is_one_address_everywhere(server: Running, zone: Zone) -> None:
    """Envelope, From field, proof, account and answer agree."""
    domain = "docomo.players.example"
    publish(zone, domain, rsa_key())
    octets = (Path(__file__).parent / "from_dots.eml").read_bytes().replace(b"\n", b"\r\n")
    field = b'From: "taro..y"@docomo.players.example'
    for local in ("taro..y", "taro.", ".taro"):
        address = f"{local}@{domain}"
        for number, form in enumerate((f'"{local}"@{domain}', address, f'T <"{local}"@{domain}>')):
            raw = octets.replace(field, f"From: {form}".encode())
            raw = raw.replace(b"dots-1", f"{number}.{local.encode().hex()}".encode())
            raw = raw.replace(b"@games.example.org", b"@games.example")
            sender = address if number else form
            with Wire(server.port) as wire:
                proven = signed(raw, domain, rsa_key())
                assert wire.mail(sender, HOUSE, proven).startswith("250"), (form, sender)
            (answer,) = server.letters()
            assert str(answer.message["To"]).replace('"', "") == address
