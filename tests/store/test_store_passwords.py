"""Passwords: argon2 once, then a memo, and no hint which players exist."""

from __future__ import annotations

from typing import Literal

import pytest
from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError
from hypothesis import given
from hypothesis import strategies as st

from pbmserv.service.auth import passwords as passwords_module
from pbmserv.service.auth.passwords import Passwords


class CountingHasher(PasswordHasher):
    """A real argon2 with the lowest costs that counts its runs."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.hashed = 0
        self.verified = 0

    def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
        self.hashed += 1
        return super().hash(password, salt=salt)

    def verify(
        self,
        hash: str | bytes,  # noqa: A002 - argon2's own name
        password: str | bytes,
    ) -> Literal[True]:
        self.verified += 1
        return super().verify(hash, password)


@pytest.fixture
def hasher() -> CountingHasher:
    return CountingHasher()


@pytest.fixture
def passwords(hasher: CountingHasher) -> Passwords:
    return Passwords(hasher)


def right(
    passwords: Passwords, stored_hash: str | None, password: str, userid: str = "alice"
) -> bool:
    return passwords.check(userid, stored_hash, password)[0]


def test_a_damaged_hash_is_nobodys_password(passwords: Passwords) -> None:
    assert not right(passwords, "no argon2 at all", "secret")


def test_a_hash_that_was_prepared_is_used_once(
    passwords: Passwords, hasher: CountingHasher
) -> None:
    memo = passwords.memo
    passwords.prepare("alice", "secret")
    passwords.prepare("bob", "secret")  # two players must not share a salt
    assert hasher.hashed == 2
    hashes = {memo.new_hash("secret"), memo.new_hash("secret")}
    assert len(hashes) == 2
    assert memo.new_hash("secret") is None  # nothing is hashed where somebody waits for it
    assert hasher.hashed == 2
    for password_hash in hashes:
        assert password_hash is not None
        assert memo.verdict("alice", password_hash, "secret") or memo.verdict(
            "bob", password_hash, "secret"
        )
        assert right(passwords, password_hash, "secret")


def test_the_memo_holds_no_password_and_has_an_end(
    passwords: Passwords, hasher: CountingHasher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords_module, "MEMO", 3)
    monkeypatch.setattr(passwords_module, "PREPARED", 3)
    right_hash = hasher.hash("secret")
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


ONE = Passwords(CountingHasher())


@given(st.text(max_size=40), st.text(max_size=40))
def test_only_the_same_text_is_the_password(right: str, given_: str) -> None:
    try:
        right_hash = ONE.hash(right)
    except (UnicodeEncodeError, VerifyMismatchError):
        return
    assert ONE.check("alice", right_hash, given_)[0] == (right == given_)
