"""Counts wrong passwords and decides whether a password is checked.

Wrong passwords are counted for an account from one source, for a network over all accounts, and
with a much higher limit for an account from anywhere. A limit that is reached locks its key for a
while, and the next lock lasts twice as long. Userids that do not exist are counted, too, so that
nothing tells them apart. The counts are rows of the game store: all hosts share them, and they
survive restarts.

A stranger cannot lock a player out: sources from which the player's password was right before are
subject to their own count only. If nothing distinguishes a guesser from the player (the same or an
unknown network, and the same forged envelope sender), locks are short. Mails that prove their
sender and reply addresses need no password and are not slowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b

from sqlalchemy import Connection

from pbmserv.mail.envelope import Source
from pbmserv.store.accounts import lockouts


@dataclass(frozen=True, slots=True)
class Limit:
    """Wrong passwords that lock a key of this kind.

    Attributes:
        kind: what the key names.
        wrong: wrong passwords within *span* after the first of them.
    """

    kind: str
    wrong: int
    span: timedelta


PAIR = Limit("pair", 5, timedelta(minutes=10))
"""Limit for one account from one source."""
NETWORK = Limit("network", 30, timedelta(minutes=10))
"""Limit for one network over all accounts."""
ACCOUNT = Limit("account", 60, timedelta(hours=1))
"""Limit for one account from anywhere."""

FIRST_LOCK = timedelta(minutes=10)
LONGEST_LOCK = timedelta(hours=24)
LONGEST_SHARED = timedelta(hours=1)
"""Longest lock that can affect the player together with the guesser. It allows 120 guesses a day,
so a password of five random letters holds for a century."""

FORGIVEN = timedelta(hours=24)
"""Time without a lock after which the next one lasts `FIRST_LOCK` again."""

SOURCE_KEPT = timedelta(days=30)
"""Time for which a source of a right password is remembered."""


def may_try(connection: Connection, userid: str, source: Source, now: datetime) -> bool:
    """Return whether a password for *userid* from *source* may be checked."""
    pair = _pair(userid, source)
    locked = lockouts.locked_keys(connection, (pair, _network(source), _account(userid)), now)
    if pair in locked:
        return False
    return not locked or lockouts.is_source(connection, _source(userid, source), now)


def note_wrong(connection: Connection, userid: str, source: Source, now: datetime) -> None:
    """Count a wrong password, and lock each key whose limit it reaches."""
    longest = LONGEST_LOCK if source.network else LONGEST_SHARED
    is_known = lockouts.is_source(connection, _source(userid, source), now)
    # Every transaction takes its rows in this order, so two of them cannot deadlock.
    for limit, key, longest_lock in (
        (PAIR, _pair(userid, source), LONGEST_SHARED if is_known else longest),
        (NETWORK, _network(source), longest),
        (ACCOUNT, _account(userid), LONGEST_LOCK),
    ):
        row = lockouts.add_wrong(
            connection,
            key,
            window_start=now - limit.span,
            now=now,
            forget_at=now + limit.span,
        )
        if row.wrong >= limit.wrong:
            is_repeated = row.locked_until is not None and now < row.locked_until + FORGIVEN
            level = row.level + 1 if is_repeated else 0
            until = now + min(FIRST_LOCK * 2 ** min(level, 20), longest_lock)
            lockouts.lock(connection, key, until, level, forget_at=until + FORGIVEN)


def note_right(connection: Connection, userid: str, source: Source, now: datetime) -> None:
    """Forget the wrong passwords for *userid* from *source*, and remember the source."""
    lockouts.forget(connection, _pair(userid, source))
    lockouts.note_source(connection, _source(userid, source), now + SOURCE_KEPT)


def _pair(userid: str, source: Source) -> str:
    return _key(PAIR.kind, userid, source.network, source.sender)


def _network(source: Source) -> str:
    return _key(NETWORK.kind, source.neighbours)


def _account(userid: str) -> str:
    return _key(ACCOUNT.kind, userid)


def _source(userid: str, source: Source) -> str:
    return _key("source", userid, source.network, source.sender)


def _key(*parts: str) -> str:
    """Return a hash that stands for what is counted."""
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=16).hexdigest()
