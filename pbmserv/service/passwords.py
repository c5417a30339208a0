"""Passwords: argon2id once, then a keyed memo in memory, so that play is not paced by argon2.

Hashing takes a tenth of a second on purpose, so it is done before a mail reaches the writer
(`warm`); in the writer a check is a look into the memo. The memo holds HMACs under a key that
dies with the process, never passwords.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from collections import OrderedDict

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

MEMO = 50_000
"""Verdicts remembered; about 150 bytes each."""


class Passwords:
    """Makes and checks password hashes. Thread-safe."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._key = secrets.token_bytes(32)
        self._memo: OrderedDict[bytes, bool] = OrderedDict()
        self._made: OrderedDict[bytes, str] = OrderedDict()
        self._lock = threading.Lock()
        self._nobody = self._hasher.hash(secrets.token_hex(16))

    def hash(self, password: str) -> str:
        """The argon2id hash of a new password; the same call soon after is quick."""
        mark = self._mark("made", password)
        with self._lock:
            made = self._made.pop(mark, None)
        return made if made is not None else self._hasher.hash(password)

    def prepare(self, password: str) -> None:
        """Do the slow work of the `hash` call that is about to come."""
        made = self._hasher.hash(password)
        with self._lock:
            self._made[self._mark("made", password)] = made
            while len(self._made) > 1000:
                self._made.popitem(last=False)

    def check(self, password_hash: str | None, password: str) -> bool:
        """Whether *password* is right; for nobody (``None``) it is as slow as a wrong one.

        So an unknown player, and an account that is closed for a while, look like a slip.
        """
        known = password_hash or self._nobody
        mark = self._mark(known, password)
        with self._lock:
            verdict = self._memo.get(mark)
        if verdict is None:
            verdict = self._verify(known, password)
            self._remember(mark, verdict=verdict)
            if not verdict:  # as quick for nobody, so that trying twice tells nothing
                self._remember(self._mark(self._nobody, password), verdict=False)
        return verdict and password_hash is not None

    def recent(self, userid: str, password: str) -> bool:
        """Whether this pair was right not long ago, so that `check` will be quick."""
        with self._lock:
            return self._mark(f"seen\0{userid}", password) in self._memo

    def seen(self, userid: str, password: str) -> None:
        """Note for `recent` that this pair was right; it proves nothing by itself."""
        self._remember(self._mark(f"seen\0{userid}", password), verdict=True)

    def _remember(self, mark: bytes, *, verdict: bool) -> None:
        with self._lock:
            self._memo[mark] = verdict
            while len(self._memo) > MEMO:
                self._memo.popitem(last=False)

    def _verify(self, password_hash: str, password: str) -> bool:
        try:
            return self._hasher.verify(password_hash, password)
        except (VerificationError, InvalidHashError):
            return False

    def _mark(self, known: str, password: str) -> bytes:
        return hmac.digest(self._key, f"{known}\0{password}".encode(), "sha256")
