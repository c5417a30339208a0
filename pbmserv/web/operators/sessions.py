"""Sessions of operators, who sign in with the operators' token.

The token is sent once, in a form. After that a signed cookie identifies the session. The cookie
does not contain the token, it expires, and browsers do not send it with requests of other sites.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from pbmserv.clock import Clock
from pbmserv.web.operators.token import read_token

LIFETIME = timedelta(hours=12)
"""Duration of a session."""


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
        ends = int((self._clock.now() + LIFETIME).timestamp())
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
