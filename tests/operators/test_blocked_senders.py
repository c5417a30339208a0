"""Blocked senders hear a clear 550 at the door, and nobody else does."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from deeds import SIGNED
from rows import rows
from running import Running, start
from smtp_client import Wire, mail

from pbmserv.service.limits.blocked_senders import BlockedSenders
from pbmserv.service.operators.blocked_senders import block, sender_name, unblock
from pbmserv.service.operators.deeds import Deed, entries, look
from pbmserv.store.blocked_senders import BlockedSender

pytestmark = pytest.mark.slow

OURS = "pbmserv@games.example"
REFUSED = "550 5.7.1 the operators of this server take no mail from you"


@pytest.fixture
def server(database_url: str, tmp_path: Path) -> Iterator[Running]:
    with start(tmp_path, database_url, lmtp="127.0.0.1:0") as running:
        yield running


def do(server: Running, action: partial[Deed]) -> None:
    server.server.play_stage.operators.do(SIGNED, action)
    server.server.door_stage.run_once()


@pytest.mark.both_databases
def test_a_blocked_address_is_refused_until_it_is_unblocked(server: Running) -> None:
    do(server, partial(block, sender="Mallory@Players.example", until="2099-12-31"))
    mallory = "mallory@players.example"
    with Wire(server.port) as wire:
        assert wire.ask(f"MAIL FROM:<{mallory}>").startswith("250")
        assert wire.ask(f"RCPT TO:<{OURS}>") == f"{REFUSED} until 2099-12-31"
    # The From field counts as well, and play never sees the mail.
    with Wire(server.port) as wire:
        assert wire.ask("MAIL FROM:<bounces@elsewhere.example>").startswith("250")
        assert wire.ask(f"RCPT TO:<{OURS}>").startswith("250")
        assert wire.ask("DATA").startswith("354")
        assert wire.ask(mail(mallory, "help") + b"\r\n.\r\n").startswith(REFUSED)
    assert server.letters() == []
    assert server.send("alice@players.example", "help").startswith("250")

    do(server, partial(unblock, sender=mallory))
    assert server.send(mallory, "help").startswith("250")
    play = server.server.play_stage
    audit = look(
        play.services, play.game, play.clock, partial(entries, target=f"sender {mallory}", most=5)
    )
    assert [entry.action for entry in audit] == ["unblock", "block"]


def test_a_blocked_network_is_refused_directly_and_behind_a_mail_server(server: Running) -> None:
    do(server, partial(block, sender="203.0.113.0/28", until=""))
    received = "from mx.example (mx.example [203.0.113.5]) by games.example"
    reply = server.send("bob@players.example", "help", Received=received)
    assert reply == "550 5.7.1 the operators of this server take no mail from your network"
    beside = received.replace("113.5", "113.99")
    assert server.send("bob@players.example", "help", Received=beside).startswith("250")


BLOCKS = ("bad.example", "eve@good.example", "192.0.2.0/24", "2001:db8::/32")


@rows(
    ("address", "client", "is_blocked"),
    [
        ("x@bad.example", "", True),
        ("x@MAIL.bad.example", "", True),
        ("x@notbad.example", "", False),
        ("Eve@good.example", "", True),
        ("adam@good.example", "", False),
        ("", "192.0.2.77", True),
        ("", "::ffff:192.0.2.77", True),
        ("", "192.0.3.1", False),
        ("x@good.example", "2001:db8:5::1", True),
        ("", "", False),
        ("nonsense", "nonsense", False),
    ],
)
def test_addresses_that_a_block_covers(address: str, client: str, is_blocked: bool) -> None:
    blocked = BlockedSenders()
    assert blocked.refusal(address, client) == ""
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    blocked.replace([BlockedSender(name, None, moment) for name in BLOCKS])
    assert bool(blocked.refusal(address, client)) == is_blocked


def test_a_single_address_is_a_network_of_its_own() -> None:
    assert sender_name(" 192.0.2.1 ") == "192.0.2.1/32"
    assert sender_name("192.0.2.1/24") == "192.0.2.0/24"
    assert sender_name("@Spam.Example") == "spam.example"
