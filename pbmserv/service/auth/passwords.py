"""Passwords: argon2id once, then a keyed memo in memory; and who may still try one, from where.

Hashing takes a tenth of a second on purpose, so `Passwords` does it before a mail reaches the
writer (`password_checks`). Inside a transaction there is only the `Memo`, which cannot hash. It
holds HMACs under a key that dies with the process, never passwords.
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
"""Verdicts remembered; about 150 bytes each."""

PREPARED = 1_000
"""Hashes of new passwords that are made and not yet taken."""

_NOBODY = "nobody"
"""Stands for the hash of a player who is not there."""


class Outdated(ServerFault):
    """What was right not long ago may no longer be: it must be looked at before it is used."""


class Memo:
    """What was found out about passwords; to ask it is quick. Thread-safe."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._verdicts: OrderedDict[bytes, bool] = OrderedDict()
        self._made: OrderedDict[bytes, list[str]] = OrderedDict()
        self._lock = threading.Lock()

    def verdict(self, userid: str, password_hash: str | None, password: str) -> bool | None:
        """Whether *password* was found to be right; ``None``: nobody has looked.

        Args:
            password_hash: ``None`` for a userid that nobody has.
        """
        with self._lock:
            return self._verdicts.get(self._mark(userid, password_hash, password))

    def right(self, userid: str, password_hash: str | None, password: str) -> bool | None:
        """As `verdict`, for those who cannot look themselves.

        Raises:
            Outdated: `recent` said that nobody need look, which is not so any more.
        """
        found = self.verdict(userid, password_hash, password)
        if found is None:
            with self._lock:
                if self._verdicts.pop(self._seen(userid, password), False):
                    raise Outdated("a password has changed")
        return found

    def recent(self, userid: str, password: str) -> bool:
        """Whether this pair was right not long ago, so that nobody need look before `right`."""
        with self._lock:
            return self._seen(userid, password) in self._verdicts

    def new_hash(self, password: str) -> str | None:
        """A hash that was made of a new password, and is nobody's yet; ``None``: there is none."""
        mark = self._mark("", None, password)
        with self._lock:
            made = self._made.get(mark)
            if not made:
                return None
            found = made.pop()
            if not made:
                del self._made[mark]
        return found

    def note(self, userid: str, password_hash: str | None, password: str, *, right: bool) -> None:
        """Remember a verdict."""
        with self._lock:
            self._verdicts[self._mark(userid, password_hash, password)] = right
            if right:
                self._verdicts[self._seen(userid, password)] = True
            while len(self._verdicts) > MEMO:
                self._verdicts.popitem(last=False)

    def keep(self, password: str, made: str) -> None:
        """Keep the hash of a new password for the `new_hash` call that is about to come."""
        mark = self._mark("", None, password)
        with self._lock:
            self._made.setdefault(mark, []).append(made)
            self._made.move_to_end(mark)
            while len(self._made) > PREPARED:
                self._made.popitem(last=False)

    def _seen(self, userid: str, password: str) -> bytes:
        return self._mark(userid, "seen", password)

    def _mark(self, userid: str, password_hash: str | None, password: str) -> bytes:
        # The userid is in it, so that a password tried with one tells nothing about another.
        text = f"{userid}\0{password_hash or _NOBODY}\0{password}"
        return hmac.digest(self._key, text.encode(), "sha256")


class Passwords:
    """Makes and checks password hashes, slowly. Thread-safe."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self.memo = Memo()
        self._hasher = hasher or PasswordHasher()
        self._nobody = _made_up(self._hasher)

    def hash(self, password: str) -> str:
        """The argon2id hash of a new password."""
        return self._hasher.hash(password)

    def prepare(self, userid: str, password: str) -> None:
        """Make the hash of a new password, and remember that it is right.

        Args:
            userid: whose it is to be; ``""`` if only the reply address says so.
        """
        made = self._hasher.hash(password)
        self.memo.keep(password, made)
        if userid:
            self.memo.note(userid, made, password, right=True)

    def look(self, userid: str, password_hash: str | None, password: str) -> tuple[bool, bool]:
        """Whether *password* is right, and whether that was new; the first look takes long.

        It takes as long for nobody (``None``), so an unknown player looks like a slip.
        """
        known = self.memo.verdict(userid, password_hash, password)
        if known is not None:
            return known, False
        found = self._verify(password_hash or self._nobody, password)
        right = found and password_hash is not None
        self.memo.note(userid, password_hash, password, right=right)
        return right, True

    def _verify(self, password_hash: str, password: str) -> bool:
        try:
            return self._hasher.verify(password_hash, password)
        except (VerificationError, InvalidHashError):
            return False


def _made_up(hasher: PasswordHasher) -> str:
    """A hash that no password has, and that takes as long to look at as any other; to make one of
    a password would take both cores for a tenth of a second of each start."""
    salt, digest = map(secrets.token_bytes, (hasher.salt_len, hasher.hash_len))
    costs = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    ends = [b64encode(octets).decode().rstrip("=") for octets in (salt, digest)]
    return "$".join(["", f"argon2{hasher.type.name.lower()}", f"v={ARGON2_VERSION}", costs, *ends])
