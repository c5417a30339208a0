"""Passwords: only the same text is right, and the memo of earlier answers keeps none."""

from __future__ import annotations

import pytest
from argon2.exceptions import VerifyMismatchError
from hypothesis import given
from hypothesis import strategies as st
from speedups import cheap_hasher

from pbmserv.service.auth import passwords as passwords_module
from pbmserv.service.auth.passwords import Passwords


@pytest.fixture
def passwords() -> Passwords:
    return Passwords(cheap_hasher())


def right(
    passwords: Passwords, stored_hash: str | None, password: str, userid: str = "alice"
) -> bool:
    return passwords.check(userid, stored_hash, password)[0]


def test_a_damaged_hash_is_nobodys_password(passwords: Passwords) -> None:
    assert not right(passwords, "no argon2 at all", "secret")


def test_the_memo_holds_no_password_and_has_an_end(
    passwords: Passwords, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords_module, "MEMO", 3)
    monkeypatch.setattr(passwords_module, "PREPARED", 3)
    right_hash = passwords.hash("secret")
    for n in range(10):
        right(passwords, right_hash, f"guess-{n}")
        passwords.prepare("", f"guess-{n}")
    kept = [
        n
        for n in range(10)
        if passwords.memo.verdict("alice", right_hash, f"guess-{n}") is not None
    ]
    assert kept == [7, 8, 9]
    assert [n for n in range(10) if passwords.memo.new_hash(f"guess-{n}")] == [7, 8, 9]
    passwords.prepare("alice", "secret")
    assert "secret" not in repr((passwords, vars(passwords), vars(passwords.memo)))
    assert "guess" not in repr(vars(passwords.memo))


ONE = Passwords(cheap_hasher())


@given(st.text(max_size=40), st.text(max_size=40))
def test_only_the_same_text_is_the_password(right: str, given_: str) -> None:
    try:
        right_hash = ONE.hash(right)
    except (UnicodeEncodeError, VerifyMismatchError):
        return
    assert ONE.check("alice", right_hash, given_)[0] == (right == given_)
