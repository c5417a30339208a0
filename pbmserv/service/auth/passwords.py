"""Passwords: argon2id once, then a keyed memo in memory; and who may still try one, from where.

Hashing takes a tenth of a second on purpose, so `Passwords` does it before a mail reaches the
writer (`password_checks`). Inside a transaction there is only the `Memo`, which cannot hash. It
holds HMACs under a key that dies with the process, never passwords.

`Lockout` counts wrong passwords over moving windows, for all processes together: for an account
from one source, for a network over all accounts, and, much higher, for an account from anywhere. A
full window locks that out for a while, which doubles each time. Userids that do not exist are
counted like any others, so nothing tells them apart.

A stranger cannot lock a player out: the source from which that player was right before is counted
by itself. Where a guesser cannot be told from the player at all (the same network, or one that
nobody knows, and the same forged envelope sender), its locks are short. Mails that prove their
sender, and reply addresses, need no password and are not slowed.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from base64 import b64encode
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import timedelta

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import ARGON2_VERSION
from limits import RateLimitItem, RateLimitItemPerHour, RateLimitItemPerMinute

from pbmserv.clock import Clock
from pbmserv.errors import ServerFault
from pbmserv.mail.envelope import Source
from pbmserv.service.limits.windows import Windows

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


PAIR = RateLimitItemPerMinute(5, 10, "pair")
"""Wrong passwords for one account from one source."""
NETWORK = RateLimitItemPerMinute(30, 10, "network")
"""Wrong passwords from one network, whatever the account."""
ACCOUNT = RateLimitItemPerHour(60, 1, "account")
"""Wrong passwords for one account from anywhere."""

FIRST_LOCK = timedelta(minutes=10)
LONGEST_LOCK = timedelta(hours=24)
LONGEST_SHARED = timedelta(hours=1)
"""Of a lock that may hit the player with the guesser: at most 120 guesses a day get past it,
 so a password of five random letters holds for a century."""

FORGIVEN = timedelta(hours=24)
"""After so long without a lock the next one lasts `FIRST_LOCK` again."""


def _alone() -> None:
    """Nobody else counts."""


class Lockout:
    """Counts wrong passwords and says who may try one. Thread-safe.

    Args:
        windows: where they are counted.
        exchange: tells other processes, and learns from them; waits for the database.
    """

    def __init__(
        self,
        clock: Clock,
        windows: Windows | None = None,
        exchange: Callable[[], None] = _alone,
    ) -> None:
        self._clock = clock
        self._windows = windows or Windows(clock)
        self._exchange = exchange
        self._guard = threading.Lock()

    def catch_up(self) -> None:
        """Learn what other processes have counted, before a password is looked at.

        Raises:
            SQLAlchemyError: the database could not be asked.
        """
        self._exchange()

    def may_try(self, userid: str, source: Source) -> bool:
        """Whether a password for *userid* from *source* is to be looked at at all."""
        with self._guard:
            if self._is_locked(PAIR.key_for(userid, source.network, source.sender)):
                return False
            if self._is_usual(userid, source):
                return True
            return not (
                self._is_locked(NETWORK.key_for(source.neighbours))
                or self._is_locked(ACCOUNT.key_for(userid))
            )

    def wrong(self, userid: str, source: Source) -> None:
        """A password was looked at, and wrong; all processes know when this returns.

        Raises:
            SQLAlchemyError: the database could not be told yet.
        """
        pair = (userid, source.network, source.sender)
        longest = LONGEST_LOCK if source.network else LONGEST_SHARED
        limits = (
            (PAIR, LONGEST_SHARED if self._is_usual(userid, source) else longest, pair),
            (NETWORK, longest, (source.neighbours,)),
            (ACCOUNT, LONGEST_LOCK, (userid,)),
        )
        with self._guard:
            for limit, _, who in limits:
                self._windows.hit(limit, *who)
        self._exchange()  # so that the last one of a full window locks it, whoever that is
        with self._guard:
            locked = [self._lock_if_full(*limit) for limit in limits]
        if any(locked):
            self._exchange()

    def right(self, userid: str, source: Source) -> None:
        """A password was right: that account is open again from that source."""
        with self._guard:
            pair = PAIR.key_for(userid, source.network, source.sender)
            self._windows.clear(pair)
            self._windows.open(pair)
            self._windows.note_usual(_usual(userid, source))

    def _is_locked(self, key: str) -> bool:
        lock = self._windows.lock(key)
        return lock is not None and self._clock.now() < lock.until

    def _is_usual(self, userid: str, source: Source) -> bool:
        return self._windows.is_usual(_usual(userid, source))

    def _lock_if_full(self, limit: RateLimitItem, longest: timedelta, who: Sequence[str]) -> bool:
        if self._windows.has_room(limit, *who):
            return False
        key, now = limit.key_for(*who), self._clock.now()
        last = self._windows.lock(key)
        level = last.level + 1 if last is not None and now < last.until + FORGIVEN else 0
        span = min(FIRST_LOCK * 2 ** min(level, 20), longest)
        self._windows.close(key, now + span, level)
        self._windows.clear(key)
        return True


def _usual(userid: str, source: Source) -> str:
    return f"usual\0{userid}\0{source.network}\0{source.sender}"
