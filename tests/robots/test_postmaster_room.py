"""Mails of strangers to the postmaster leave room for others, and operators see the faults."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from failing_handlers import failing_handler
from indoors import PASSWORD, Indoors, address_of, indoors
from smtp_client import without_number

from pbmserv.commands.table.accounts import Prefs
from pbmserv.mail.envelope import Envelope
from pbmserv.service.limits.postmaster_shares import PARTS, SMALL
from pbmserv.smtpd.replies import TAKEN, TRY_LATER

ROOM = 2 * 1_048_576 // 2
LARGE = ROOM // 30


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path, inbox_octets="2M", sender_checks="off") as opened:
        opened.sign_up("alice")
        yield opened


class Strangers:
    """Clients that write to the postmaster, each mail another one."""

    def __init__(self, house: Indoors) -> None:
        self._house = house
        self._sent = 0

    def send(self, peer: str, octets: int) -> str:
        self._sent += 1
        head = (
            f"From: s@s.example\r\nSubject: mail {self._sent}\r\nMessage-ID: <{self._sent}@s>\r\n"
        )
        body = "x" * 70 + "\r\n"
        raw = f"{head}\r\n{body * (octets // len(body) + 1)}"[:octets].encode()
        sender = f"s{self._sent}@s.example"
        return without_number(
            self._house.hand_in(Envelope(sender, "postmaster", raw, peer, "s.example"))
        )


def test_one_network_cannot_fill_the_room(house: Indoors) -> None:
    strangers = Strangers(house)
    answers = [strangers.send(f"192.0.2.{n}", LARGE) for n in range(1, 11)]
    taken = answers.count(TAKEN)
    assert set(answers) == {TAKEN, TRY_LATER}
    assert ROOM // PARTS <= taken * LARGE <= ROOM // PARTS + LARGE
    # Others have theirs, and a person in that network is heard.
    assert strangers.send("198.51.100.1", LARGE) == TAKEN
    assert strangers.send("192.0.2.1", 2_000) == TAKEN
    # A mail that is carried out is none of the postmaster's.
    raw = f"From: {address_of('alice')}\r\nSubject: prefs alice {PASSWORD}\r\n\r\n".encode()
    us = house.server.mail_domain.address
    raw += (b"x" * 70 + b"\r\n") * (LARGE // 72)
    answer = house.hand_in(Envelope(address_of("alice"), us, raw, "192.0.2.1", "x"))
    assert without_number(answer) == TAKEN


def test_small_mails_are_taken_when_large_ones_have_filled_the_room(house: Indoors) -> None:
    strangers = Strangers(house)
    answers = [strangers.send(f"10.{n // 5}.0.1", LARGE) for n in range(50)]
    assert answers[-1] == TRY_LATER
    assert answers.count(TAKEN) * LARGE <= ROOM
    for n in range(5):
        assert strangers.send(f"10.{n}.0.1", SMALL) == TAKEN
        assert strangers.send(f"10.{n}.0.1", LARGE) == TRY_LATER


def test_operators_see_faults_first_and_then_the_newest(
    house: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    strangers = Strangers(house)
    with failing_handler(monkeypatch, Prefs):
        for number in range(2):
            house.send(address_of("alice"), f"prefs alice {PASSWORD}", f"{number}")
    for number in range(4):
        assert strangers.send(f"10.{number}.0.1", 500) == TAKEN
    kept = house.server.play_stage.kept_mails
    listed = kept.list()
    faults, others = listed[:2], listed[2:]
    assert all("postmaster" not in mail.error for mail in faults)
    assert all(mail.error == "for the postmaster" for mail in others)
    for mails in (faults, others):
        numbers = [mail.id for mail in mails]
        assert numbers == sorted(numbers, reverse=True)
    assert others[0].id == max(mail.id for mail in listed)
    assert kept.count() == 6
    assert len(others) == 4
