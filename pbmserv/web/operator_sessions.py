"""Who may use the operators' pages: whoever has shown their token.

It is shown once, in a form. After that a cookie speaks, which tells nothing of the token, ends by
itself, and which no page of another site makes a browser send.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import secrets
import stat
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request

from pbmserv.clock import Clock
from pbmserv.errors import ConfigError
from pbmserv.files import read_octets

SHORTEST_TOKEN = 32
LONGEST_TOKEN = 500
"""Characters. `new_token` makes 43."""
FEWEST_SIGNS = 8
"""Different characters in a token: fewer were typed by somebody who wanted to be done with it."""
SESSION = timedelta(hours=12)
"""How long a session lasts."""
PAUSE_S = 1.0
"""Seconds that a wrong token costs everybody of its network."""
MOST_TRYING = 5
"""Tokens of one network that may wait to be looked at."""


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(32)


def read_token(path: Path) -> str:
    """The token in a file.

    Raises:
        ConfigError: there is none, it could be guessed, or everybody on this machine may read it.
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
    is_one = text.isascii() and text.isprintable() and " " not in text
    if not is_one or not SHORTEST_TOKEN <= len(text) <= LONGEST_TOKEN:
        raise ConfigError(
            f"{where} holds no token of {SHORTEST_TOKEN} characters or more; remove it, and {make}"
        )
    if len(set(text)) < FEWEST_SIGNS:
        raise ConfigError(f"{where} holds a token that can be guessed; remove it, and {make}")
    return text


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who has shown the token.

    Attributes:
        by: their name, for the audit.
        ends: when, in seconds since 1970.
        mark: of this session alone.
        key: the word in its forms.
    """

    by: str
    ends: int
    mark: str
    key: str


class Sessions:
    """Who has shown the token. Nothing is kept but which sessions were ended before their time.

    Args:
        token: the file, which is read anew each time: a new token ends all sessions.
    """

    def __init__(self, token: Path, clock: Clock) -> None:
        self._token = token
        self._clock = clock
        self._ended: dict[str, int] = {}

    def is_right(self, token: str) -> bool:
        """Whether it is the token; it takes as long for each."""
        known, given = (hashlib.sha256(one.encode()).digest() for one in (self._read(), token))
        return hmac.compare_digest(known, given)

    def begin(self, by: str) -> str:
        """What a cookie says of a new session."""
        ends = int((self._clock.now() + SESSION).timestamp())
        name = base64.urlsafe_b64encode(by.encode()).decode().rstrip("=")
        return self._signed(f"{ends}.{secrets.token_urlsafe(18)}.{name}")

    def read(self, cookie: str) -> Session | None:
        """The session that a cookie speaks for; ``None``: it is over, or was never begun."""
        said, _, _ = cookie.rpartition(".")
        parts = said.split(".")
        if len(parts) != 3 or not hmac.compare_digest(
            self._signed(said).encode(), cookie.encode("utf-8", "replace")
        ):
            return None
        ends, mark, name = int(parts[0]), parts[1], parts[2]
        if ends <= self._clock.now().timestamp() or mark in self._ended:
            return None
        by = base64.urlsafe_b64decode(name + "=" * (-len(name) % 4)).decode()
        return Session(by, ends, mark, self._mac("form", said))

    def end(self, session: Session) -> None:
        """End one for good."""
        now = self._clock.now().timestamp()
        self._ended = {mark: ends for mark, ends in self._ended.items() if ends > now}
        self._ended[session.mark] = session.ends

    def _signed(self, said: str) -> str:
        return f"{said}.{self._mac('session', said)}"

    def _mac(self, what: str, said: str) -> str:
        return hmac.new(self._read().encode(), f"{what} {said}".encode(), "sha256").hexdigest()

    def _read(self) -> str:
        return read_token(self._token)


class Turns:
    """Has tokens looked at one after the other in each network, and slowly where they are wrong.

    Right and wrong ones wait for the same turn, so that hanging up early gains nothing.
    """

    def __init__(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._sleep = sleep
        self._trying: Counter[str] = Counter()
        self._turns: dict[str, asyncio.Lock] = {}

    async def look(self, network: str, is_right: Callable[[], bool]) -> bool | None:
        """Whether it is right; ``None``: too many wait, and it was not looked at."""
        if self._trying[network] >= MOST_TRYING:
            return None
        self._trying[network] += 1
        turn = self._turns.setdefault(network, asyncio.Lock())
        try:
            async with turn:
                found = is_right()
                if not found:
                    await self._sleep(PAUSE_S)
                return found
        finally:
            self._trying[network] -= 1
            if not self._trying[network]:
                del self._trying[network], self._turns[network]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of somebody who is signed in.

    Attributes:
        fields: of its form; empty for a GET.
        trouble: why what its form asked for was not done.
    """

    request: Request
    session: Session
    fields: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""

    def word(self, name: str) -> str:
        """A part of the address."""
        return plain(self.request.path_params[name])

    def query(self, name: str) -> str:
        """What the address asks for."""
        return plain(self.request.query_params.get(name, ""))

    def number(self) -> int:
        """The number in the address.

        Raises:
            HTTPException: it is none.
        """
        text = self.word("number")
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            raise HTTPException(404)
        return int(text)


def plain(text: str) -> str:
    """*text* without what no database keeps and no page shows."""
    return "".join(sign if sign.isprintable() else " " for sign in text)
