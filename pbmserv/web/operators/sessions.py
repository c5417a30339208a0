"""Sessions of operators, who sign in with the operators' token.

The token is sent once, in a form. After that a signed cookie identifies the session. The cookie
does not contain the token, it expires, and browsers do not send it with requests of other sites.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import secrets
import stat
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from pbmserv.clock import Clock
from pbmserv.errors import ConfigError
from pbmserv.files import read_octets

SHORTEST_TOKEN = 32
LONGEST_TOKEN = 500
"""Characters. `new_token` makes 43."""
FEWEST_DIFFERENT = 8
"""Different characters in a token; fewer look like a token that was typed by hand."""
SESSION = timedelta(hours=12)
"""Duration of a session."""
PAUSE_S = 1.0
"""Seconds for which a wrong token blocks all attempts of its network."""
MOST_WAITING = 5
"""Attempts of one network that may wait for their turn."""


def new_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(32)


def read_token(path: Path) -> str:
    """Return the token in a file.

    Raises:
        ConfigError: the file holds no token, or one that could be guessed, or every user of this
            machine can read it.
    """
    where = f"PBMSERV_OPERATOR_TOKEN: {path}"
    make = f"make one with `pbmserv operator-token {path}`"
    try:
        mode = path.stat().st_mode
        text = read_octets(path, 4 * LONGEST_TOKEN).decode().strip()
    except UnicodeDecodeError:
        raise ConfigError(f"{where} holds no token; {make}") from None
    except OSError as error:
        raise ConfigError(f"{where}: {error.strerror or error}; {make}") from None
    if stat.S_IMODE(mode) & 0o007:
        raise ConfigError(f"{where} can be read by everybody; run `chmod 600 {path}`")
    is_word = text.isascii() and text.isprintable() and " " not in text
    if not is_word or not SHORTEST_TOKEN <= len(text) <= LONGEST_TOKEN:
        raise ConfigError(
            f"{where} holds no token of {SHORTEST_TOKEN} characters or more; remove it, and {make}"
        )
    if len(set(text)) < FEWEST_DIFFERENT:
        raise ConfigError(f"{where} holds a token that can be guessed; remove it, and {make}")
    return text


@dataclass(frozen=True, slots=True)
class Session:
    """The session of an operator.

    Attributes:
        by: the operator's name, for the audit.
        ends: seconds since the epoch.
        mark: a random word that identifies the session.
        key: the word that the session's forms must carry.
    """

    by: str
    ends: int
    mark: str
    key: str


class Sessions:
    """Begins, reads and ends sessions. Only sessions that ended early are stored, in memory.

    Args:
        token: the file of the token. It is read at each use, so a new token ends all sessions.
    """

    def __init__(self, token: Path, clock: Clock) -> None:
        self._token = token
        self._clock = clock
        self._ended: dict[str, int] = {}

    def is_right(self, token: str) -> bool:
        """Compare a text with the token, in constant time."""
        right, sent = (hashlib.sha256(text.encode()).digest() for text in (self._read(), token))
        return hmac.compare_digest(right, sent)

    def begin(self, by: str) -> str:
        """Return the cookie of a new session."""
        ends = int((self._clock.now() + SESSION).timestamp())
        name = base64.urlsafe_b64encode(by.encode()).decode().rstrip("=")
        return self._signed(f"{ends}.{secrets.token_urlsafe(18)}.{name}")

    def read(self, cookie: str) -> Session | None:
        """Return the session of a cookie; `None` if the session is over or the cookie is forged."""
        facts, _, _ = cookie.rpartition(".")
        parts = facts.split(".")
        if len(parts) != 3 or not hmac.compare_digest(
            self._signed(facts).encode(), cookie.encode("utf-8", "replace")
        ):
            return None
        ends, mark, name = int(parts[0]), parts[1], parts[2]
        if ends <= self._clock.now().timestamp() or mark in self._ended:
            return None
        by = base64.urlsafe_b64decode(name + "=" * (-len(name) % 4)).decode()
        return Session(by, ends, mark, self._mac("form", facts))

    def end(self, session: Session) -> None:
        """End a session before its time."""
        now = self._clock.now().timestamp()
        self._ended = {mark: ends for mark, ends in self._ended.items() if ends > now}
        self._ended[session.mark] = session.ends

    def _signed(self, facts: str) -> str:
        return f"{facts}.{self._mac('session', facts)}"

    def _mac(self, purpose: str, facts: str) -> str:
        return hmac.new(self._read().encode(), f"{purpose} {facts}".encode(), "sha256").hexdigest()

    def _read(self) -> str:
        return read_token(self._token)


class Attempts:
    """Checks the tokens of each network one after the other, and pauses after a wrong one.

    Right and wrong tokens wait for the same turn, so a client that hangs up early gains nothing.
    """

    def __init__(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._sleep = sleep
        self._waiting: Counter[str] = Counter()
        self._turns: dict[str, asyncio.Lock] = {}

    async def check(self, network: str, is_right: Callable[[], bool]) -> bool | None:
        """Return whether a token is right; `None` if too many wait, so that it was not checked."""
        if self._waiting[network] >= MOST_WAITING:
            return None
        self._waiting[network] += 1
        turn = self._turns.setdefault(network, asyncio.Lock())
        try:
            async with turn:
                result = is_right()
                if not result:
                    await self._sleep(PAUSE_S)
                return result
        finally:
            self._waiting[network] -= 1
            if not self._waiting[network]:
                del self._waiting[network], self._turns[network]
