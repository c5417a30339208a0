"""Tokens of reply addresses are base32 in lower case, and each has one spelling."""

from __future__ import annotations

import base64

from hypothesis import given
from hypothesis import strategies as st

from pbmserv.capability import Capability, KeyRing, Purpose

RING = KeyRing({1: b"a key" * 8})
NUMBERS = st.integers(0, 2**40)
ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"


@given(st.sampled_from(Purpose), NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_what_was_written_is_read_in_any_letter_case(
    purpose: Purpose, player: int, about: int, number: int, epoch: int
) -> None:
    capability = Capability(purpose, player, about, number, epoch)
    token = RING.token(capability)
    assert RING.read(token) == RING.read(token.upper()) == capability
    packed = base64.b32decode(token.upper() + "=" * (-len(token) % 8))
    assert base64.b32encode(packed).decode().rstrip("=").lower() == token


@given(st.integers(0, 2**20), st.text(ALPHABET + "0189_-+ =", max_size=2), st.data())
def test_no_other_text_is_read(about: int, odd: str, data: st.DataObject) -> None:
    token = RING.token(Capability(Purpose.BOARD, 1, about))
    at = data.draw(st.integers(0, len(token)))
    end = data.draw(st.integers(at, min(len(token), at + 2)))
    changed = token[:at] + odd + token[end:]
    assert (RING.read(changed) is not None) == (changed == token)


@given(st.text(max_size=40))
def test_rubbish_is_no_token(text: str) -> None:
    assert RING.read(text) is None
