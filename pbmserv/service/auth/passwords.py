"""Hashes passwords with argon2id, and remembers the results in memory.

Hashing takes a tenth of a second on purpose, so `password_checks` does it before a mail reaches the
writer. Inside a transaction only the `Memo` is used, which cannot hash. It holds HMACs under a key
of the process, never passwords.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from base64 import b64encode
from collections import OrderedDict

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import ARGON2_VERSION

from pbmserv.errors import ServerFault

MEMO = 50_000
"""Largest number of remembered results, about 150 bytes each."""

PREPARED = 1_000
"""Largest number of new hashes that were not taken yet."""

_NOBODY = "nobody"
"""Placeholder for the hash of an unknown player."""


class Outdated(ServerFault):
    """A password that was right recently must be checked again: it has changed."""


class Memo:
    """The results of earlier password checks, for quick queries. Thread-safe."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._verdicts: OrderedDict[bytes, bool] = OrderedDict()
        self._new_hashes: OrderedDict[bytes, list[str]] = OrderedDict()
        self._lock = threading.Lock()

    def verdict(self, userid: str, password_hash: str | None, password: str) -> bool | None:
        """Return whether *password* is right, `None` if it has not been checked.

        Args:
            password_hash: `None` for a userid that does not exist.
        """
        with self._lock:
            return self._verdicts.get(self._mark(userid, password_hash, password))

    def right(self, userid: str, password_hash: str | None, password: str) -> bool | None:
        """Return the same as `verdict`, for callers that cannot check.

        Raises:
            Outdated: `was_right_recently` returned true, but the password has changed since.
        """
        verdict = self.verdict(userid, password_hash, password)
        if verdict is None:
            with self._lock:
                if self._verdicts.pop(self._recent_mark(userid, password), False):
                    raise Outdated("a password has changed")
        return verdict

    def was_right_recently(self, userid: str, password: str) -> bool:
        """Return whether this password was right; then it need not be checked again."""
        with self._lock:
            return self._recent_mark(userid, password) in self._verdicts

    def new_hash(self, password: str) -> str | None:
        """Take the hash of a new password that `keep` stored, `None` if there is none."""
        mark = self._mark("", None, password)
        with self._lock:
            hashes = self._new_hashes.get(mark)
            if not hashes:
                return None
            new_hash = hashes.pop()
            if not hashes:
                del self._new_hashes[mark]
        return new_hash

    def note(self, userid: str, password_hash: str | None, password: str, *, right: bool) -> None:
        """Store the result of a check."""
        with self._lock:
            self._verdicts[self._mark(userid, password_hash, password)] = right
            if right:
                self._verdicts[self._recent_mark(userid, password)] = True
            while len(self._verdicts) > MEMO:
                self._verdicts.popitem(last=False)

    def keep(self, password: str, new_hash: str) -> None:
        """Store the hash of a new password for the next call of `new_hash`."""
        mark = self._mark("", None, password)
        with self._lock:
            self._new_hashes.setdefault(mark, []).append(new_hash)
            self._new_hashes.move_to_end(mark)
            while len(self._new_hashes) > PREPARED:
                self._new_hashes.popitem(last=False)

    def _recent_mark(self, userid: str, password: str) -> bytes:
        return self._mark(userid, "seen", password)

    def _mark(self, userid: str, password_hash: str | None, password: str) -> bytes:
        # It includes the userid, so that a check for one player says nothing about another.
        text = f"{userid}\0{password_hash or _NOBODY}\0{password}"
        return hmac.digest(self._key, text.encode(), "sha256")


class Passwords:
    """Creates and checks password hashes, slowly. Thread-safe."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self.memo = Memo()
        self._hasher = hasher or PasswordHasher()
        self._nobody = _unmatched_hash(self._hasher)

    def hash(self, password: str) -> str:
        """Return the argon2id hash of a new password."""
        return self._hasher.hash(password)

    def prepare(self, userid: str, password: str) -> None:
        """Hash a new password, and remember that it is right.

        Args:
            userid: the owner; ``""`` if only the reply address names it.
        """
        new_hash = self._hasher.hash(password)
        self.memo.keep(password, new_hash)
        if userid:
            self.memo.note(userid, new_hash, password, right=True)

    def check(self, userid: str, password_hash: str | None, password: str) -> tuple[bool, bool]:
        """Return whether *password* is right, and whether that had to be computed.

        For an unknown player (`None`) it takes as long as for a known one, so that nothing tells
        them apart.
        """
        verdict = self.memo.verdict(userid, password_hash, password)
        if verdict is not None:
            return verdict, False
        matches = self._verify(password_hash or self._nobody, password)
        right = matches and password_hash is not None
        self.memo.note(userid, password_hash, password, right=right)
        return right, True

    def _verify(self, password_hash: str, password: str) -> bool:
        try:
            return self._hasher.verify(password_hash, password)
        except (VerificationError, InvalidHashError):
            return False


def _unmatched_hash(hasher: PasswordHasher) -> str:
    """Return a hash that no password matches and that takes as long to check as any other.

    Hashing a password instead would take a tenth of a second at each start.
    """
    salt, digest = map(secrets.token_bytes, (hasher.salt_len, hasher.hash_len))
    costs = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    ends = [b64encode(octets).decode().rstrip("=") for octets in (salt, digest)]
    return "$".join(["", f"argon2{hasher.type.name.lower()}", f"v={ARGON2_VERSION}", costs, *ends])
