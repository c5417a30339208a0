"""Passwords: argon2 once, a memo after that, and nothing that tells who exists."""

from __future__ import annotations

from typing import Literal

import pytest
from argon2 import PasswordHasher
from argon2.exceptions import VerifyMismatchError
from hypothesis import given
from hypothesis import strategies as st

from pbmserv.service import passwords as passwords_module
from pbmserv.service.passwords import Passwords


class CountingHasher(PasswordHasher):
    """Real argon2, as cheap as it goes, that counts its work."""

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
    made = Passwords(hasher)
    hasher.hashed = 0  # the hash that unknown players are checked against
    return made


def test_a_verdict_is_remembered_right_or_wrong(
    passwords: Passwords, hasher: CountingHasher
) -> None:
    known = hasher.hash("secret")
    for _ in range(3):
        assert passwords.check(known, "secret")
        assert not passwords.check(known, "Secret")
        assert not passwords.check(known, "")
    assert hasher.verified == 3
    assert not passwords.check(hasher.hash("other"), "secret")  # another hash, another verdict


def test_an_unknown_player_costs_what_a_wrong_password_costs(
    passwords: Passwords, hasher: CountingHasher
) -> None:
    assert not passwords.check(None, "secret")
    assert hasher.verified == 1
    assert not passwords.check(None, "secret")
    assert hasher.verified == 1  # as a wrong password of somebody who exists


def test_a_damaged_hash_is_nobodys_password(passwords: Passwords) -> None:
    assert not passwords.check("no argon2 at all", "secret")


def test_a_hash_that_was_prepared_is_used_once(
    passwords: Passwords, hasher: CountingHasher
) -> None:
    passwords.prepare("secret")
    assert hasher.hashed == 1
    first = passwords.hash("secret")
    assert hasher.hashed == 1
    second = passwords.hash("secret")  # two players must not share a salt
    assert hasher.hashed == 2
    assert first != second
    assert passwords.check(first, "secret")
    assert passwords.check(second, "secret")


def test_what_was_right_not_long_ago_needs_no_warming(passwords: Passwords) -> None:
    assert not passwords.recent("alice", "secret")
    passwords.seen("alice", "secret")
    assert passwords.recent("alice", "secret")
    assert not passwords.recent("alice", "other")
    assert not passwords.recent("bob", "secret")
    assert not passwords.check(None, "secret")  # it proves nothing


def test_the_memo_holds_no_password_and_has_an_end(
    passwords: Passwords, hasher: CountingHasher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords_module, "MEMO", 3)
    known = hasher.hash("secret")
    for n in range(10):
        passwords.check(known, f"guess-{n}")
    assert len(passwords._memo) == 3
    for n in range(10):
        passwords.seen("alice", f"right-{n}")
    assert len(passwords._memo) == 3
    passwords.prepare("secret")
    assert "secret" not in repr((passwords, vars(passwords)))
    assert "guess" not in repr(vars(passwords))


def test_another_process_has_another_key() -> None:
    """What is in memory is of no use anywhere else."""
    one, two = Passwords(CountingHasher()), Passwords(CountingHasher())
    one.seen("alice", "secret")
    two._memo.update(one._memo)
    assert not two.recent("alice", "secret")


ONE = Passwords(CountingHasher())


@given(st.text(max_size=40), st.text(max_size=40))
def test_only_the_same_text_is_the_password(right: str, given_: str) -> None:
    try:
        known = ONE.hash(right)
    except (UnicodeEncodeError, VerifyMismatchError):
        return
    assert ONE.check(known, given_) == (right == given_)
