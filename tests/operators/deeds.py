"""Helpers for tests of operators: signed deeds, boards in play, mails at the door."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from indoors import PASSWORD, Indoors, Posted, address_of

from pbmserv.mail.envelope import Envelope
from pbmserv.service.operators.deeds import Deed, Signature

SIGNED = Signature("olga", "it was asked for")
ALICE, BOB, CAROL = map(address_of, ("alice", "bob", "carol"))
SMALL = "-size=2x2 -atoms=1"


def do(house: Indoors, deed: Callable[..., Deed], **words: Any) -> Deed:
    return house.operators.do(SIGNED, partial(deed, **words))


def start_board(
    house: Indoors, first: str = "alice", second: str = "bob", words: str = SMALL
) -> int:
    """Start a board on which both players have hidden an atom; return its number."""
    letters = house.send(address_of(first), f"blackbox challenge {first} {second} {words}")
    number = letters[0].board
    assert number is not None
    house.send(address_of(first), f"blackbox move {number} {first} {PASSWORD} a1")
    house.send(address_of(second), f"blackbox move {number} {second} {PASSWORD} b2")
    return number


def deliver_at_door(house: Indoors, subject: str) -> None:
    """Deliver a mail of alice to the door; play has not read it yet."""
    house.mails += 1
    raw = f"From: {ALICE}\r\nSubject: {subject}\r\nMessage-ID: <w{house.mails}@x.example>\r\n\r\n"
    envelope = Envelope(ALICE, house.server.mail_domain.address, raw.encode())
    reply = house.loop.run_until_complete(house.server.door.receive(envelope))
    assert reply.startswith("250")


def to(letters: list[Posted], address: str) -> list[Posted]:
    return [letter for letter in letters if letter.recipient == address]
