"""Tokens of reply addresses are base32 in lower case, and each has one spelling."""

from __future__ import annotations

import base64

from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.mail.key_ring import KeyRing
from pbmserv.mail.mail_domain import MailDomain
from pbmserv.mail.reply_address import OF_PAGES, Purpose, ReplyAddress

RING = KeyRing({1: b"a key" * 8})
NUMBERS = st.integers(0, 2**40)


OF_LETTERS = (Purpose.TRAY, Purpose.UNSUBSCRIBE, Purpose.BROADCAST, Purpose.BOUNCE)


def _about(token: str) -> bytes:
    """Return the readable part of a token: everything but the purpose and the signature."""
    return base64.b32decode(token.upper() + "=" * (-len(token) % 8))[2:-10]


@rows("purpose", OF_LETTERS)
def test_nobody_counts_letters_by_their_tokens(purpose: Purpose) -> None:
    """Two of a reader's letters do not say how many went to others between them."""
    tokens = [RING.token(ReplyAddress(purpose, 7, n, 0, 1)) for n in range(1, 200)]
    spelled = [_about(token) for token in tokens]
    assert len(set(spelled)) == len(spelled)
    assert spelled != sorted(spelled)
    read = [RING.read(token) for token in tokens]
    assert [capability.about for capability in read if capability] == list(range(1, 200))


def test_the_number_of_a_letter_looks_different_in_each_of_its_addresses() -> None:
    assert len({_about(RING.token(ReplyAddress(p, 7, 12, 0, 1))) for p in OF_LETTERS}) == 4


@given(st.sampled_from([*set(Purpose) - OF_PAGES]), NUMBERS, NUMBERS, st.integers(1, 40))
def test_an_address_that_is_too_long_for_mail_is_none_of_ours(
    purpose: Purpose, player: int, about: int, length: int
) -> None:
    """64 octets before the @ (RFC 5321 section 4.5.3.1.1)."""
    house = MailDomain("p" * length, "games.example", RING)
    address = house.address_of(ReplyAddress(purpose, player, about))
    fits = len(address.partition("@")[0]) <= 64
    assert (house.read(address) is not None) == fits
    assert house.knows(address) == fits
