"""A sender of more than can be carried out waits alone: 451 to a full lane, 250 to all others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from indoors import Indoors, address_of, indoors
from seating import HIDINGS, seat_pairs

from pbmserv.mail.envelope import Envelope
from pbmserv.service.pages.page_forms import UnsubscribeForm
from pbmserv.stages.lane_loads import LANE_MAILS, LANE_OCTETS

pytestmark = pytest.mark.both_databases

FLOOD, CAROL = address_of("flood"), address_of("carol")
HERE, THERE = "192.0.2.7", "198.51.100.7"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path) as inside:
        yield inside


def hand_in(server: Indoors, sender: str, body: str = "help", to: str = "", peer: str = "") -> str:
    """Hand a mail to the door; nothing is carried out. The first word of its reply."""
    server.mails += 1
    head = f"From: {sender}\r\nSubject: x\r\nMessage-ID: <{server.mails}@players.example>\r\n\r\n"
    recipient = to or server.server.mail_domain.address
    envelope = Envelope(sender, recipient, f"{head}{body}\r\n".encode(), peer or HERE)
    reply = server.loop.run_until_complete(server.server.door.receive(envelope))
    return reply.partition(" ")[0]


def test_a_sender_of_too_many_mails_is_put_off_until_some_are_carried_out(server: Indoors) -> None:
    replies = [hand_in(server, FLOOD) for _ in range(LANE_MAILS + 2)]
    assert replies == ["250"] * LANE_MAILS + ["451"] * 2
    assert hand_in(server, CAROL) == "250"
    assert hand_in(server, FLOOD, peer=THERE) == "250"  # anybody can write the address there
    server.server.door_stage.run_once()  # the store says the same as the door has counted
    assert hand_in(server, FLOOD) == "451"
    server.server.settle()
    assert hand_in(server, FLOOD) == "250"


def test_a_sender_of_too_heavy_mails_is_put_off(server: Indoors) -> None:
    text = "help\r\n" + "a line of a long mail\r\n" * 40_000
    taken = LANE_OCTETS // len(text)
    assert [hand_in(server, FLOOD, text) for _ in range(taken)] == ["250"] * taken
    assert hand_in(server, FLOOD, text) == "451"
    assert hand_in(server, FLOOD) == "250"  # a short one still fits
    assert hand_in(server, CAROL, text) == "250"


def test_a_player_of_a_reply_address_waits_for_nobody_else(server: Indoors) -> None:
    table = seat_pairs(server.server, 1)[0]
    mine, other = table.addresses
    # From wherever it is written: the address says who speaks.
    for number in range(LANE_MAILS):
        assert hand_in(server, FLOOD, "show", mine, (HERE, THERE)[number % 2]) == "250"
    assert hand_in(server, CAROL, "show", mine) == "451"
    assert hand_in(server, FLOOD, HIDINGS[1], other) == "250"


def test_forms_of_pages_are_never_put_off(server: Indoors) -> None:
    for _ in range(LANE_MAILS + 1):
        stored = server.server.door.form(UnsubscribeForm("none").as_json())
        assert server.loop.run_until_complete(stored) > 0
