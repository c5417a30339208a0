"""The server's tokens are found in any spelling, and nothing else is taken for one."""

from __future__ import annotations

import secrets

from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from rows import rows
from token_spellings import SPELLINGS

from pbmserv.mail.key_ring import KeyRing, mailbox_secret
from pbmserv.mail.own_tokens import lines_with_tokens
from pbmserv.mail.reply_address import Purpose, ReplyAddress

RING = KeyRing({1: b"1" * 32, 7: b"7" * 32, 200: b"x" * 32})
OTHER = KeyRing({200: b"y" * 32})
NUMBERS = st.integers(0, 2**31 - 1)
ADDRESSES = st.builds(
    ReplyAddress,
    st.sampled_from(list(Purpose)),
    NUMBERS,
    NUMBERS,
    NUMBERS,
    st.integers(0, 300),
)


@given(ADDRESSES, st.sampled_from(sorted(SPELLINGS)), st.sampled_from([1, 7, 200]))
@examples(10)
def test_every_token_is_found_in_every_spelling(
    address: ReplyAddress, spelling: str, key: int
) -> None:
    token = KeyRing({key: RING.keys[key]}).token(address)
    spelled = SPELLINGS[spelling](token).split("\n")
    text = ["Good evening!", "", *spelled, "", "See you."]
    numbers = lines_with_tokens(RING, text)
    assert numbers
    assert numbers <= set(range(2, 2 + len(spelled)))
    left = [line for at, line in enumerate(text) if at not in numbers]
    assert not lines_with_tokens(RING, left)


@rows("spelling", SPELLINGS)
def test_secrets_that_no_key_has_signed_are_found(spelling: str) -> None:
    if spelling not in {"Turkish", "mathematical", "base64", "base64 in lines"}:
        path = mailbox_secret(RING)
        assert lines_with_tokens(RING, SPELLINGS[spelling](path).split("\n"))
    token = "Bq3_xW-9vK0aTz5LmN8rPs2dFg7hJk1cYu4eVw6iOoX"
    assert lines_with_tokens(RING, [f"The word is {token}!"], [token])
    assert not lines_with_tokens(RING, [f"The word is {token[:-2]}!"], [token])


def test_the_cookie_of_an_operator_is_found() -> None:
    cookie = f"1764160000.{secrets.token_urlsafe(18)}.YWxpY2U.{secrets.token_hex(32)}"
    assert lines_with_tokens(RING, ["Hello", f"session={cookie}; path=/"]) == {1}


@given(ADDRESSES, st.integers(0, 40), st.sampled_from("abcdefghijklmnopqrstuvwxyz234567"))
@examples(8)
def test_an_unsigned_text_is_not_a_token(address: ReplyAddress, at: int, letter: str) -> None:
    assert not lines_with_tokens(RING, [f"http://games.example/b/{OTHER.token(address)}"])
    token = RING.token(address)
    changed = token[:at] + letter + token[at + 1 :]
    if at < len(token) and changed != token:
        assert not lines_with_tokens(RING, [changed])
