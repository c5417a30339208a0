"""The door to the next hop: what a relay takes, which one a URL names, and when to try it again."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, Protocol
from urllib.parse import unquote, urlsplit

from pbmserv.engine.types import value
from pbmserv.errors import ConfigError, RelayDown, RelayRefusesUs

_log = logging.getLogger("pbmserv.send")

_SCHEMES: dict[str, Literal["smtp", "smtps", "lmtp"]] = {
    "smtp": "smtp",
    "smtps": "smtps",
    "lmtp": "lmtp",
}
_DEFAULT_PORT = {"smtp": 25, "smtps": 465, "lmtp": 24}
#: RFC 6409, 3.1: where a login is asked for.
_SUBMISSION = 587
_BLANK_OR_CONTROL = re.compile(r"[\s\x00-\x1f\x7f]")
_WRONG_PLACE = (
    "relay: after the host only :PORT may follow, a number from 1 to 65535; "
    "in a user or password write @ : / # ? % as %40 %3A %2F %23 %3F %25, "
    "such as smtp://USER:PASS%40WORD@HOST:587"
)


@value(frozen=True, slots=True)
class OutgoingLetter:
    """One letter for one recipient, ready to travel.

    Attributes:
        id: its number in the outbox.
        message_id: as in its header, with angle brackets.
        envelope_sender: where a bounce goes (MAIL FROM), ``""`` for nowhere.
        recipient: bare address (RCPT TO).
        raw: the message, CRLF line ends, no dots doubled.
    """

    id: int
    message_id: str
    envelope_sender: str
    recipient: str
    raw: bytes = field(repr=False)


class Relay(Protocol):
    """Takes letters, also from several threads at once.

    `at_once`: letters that one thread may have under way; with 1 each ends before the next begins.
    """

    at_once: int = 1

    def steps(self, letter: OutgoingLetter) -> Iterable[None]:
        """Hand over one letter: each step that is taken ends where it is the next hop's turn, and
        after the last one the next hop answers for the letter.

        Raises, at any step:
            RelayDown: it speaks for all letters (no connection, no login …).
            RelayBusy: its domain wants fewer letters for a while (4xx).
            RelayTemporary: this letter may be taken later (4xx).
            RelayPermanent: this letter will never be taken (5xx).
        """
        ...

    def deliver(self, letter: OutgoingLetter) -> None:
        """Take all steps of a letter."""
        for _ in self.steps(letter):
            pass

    def close(self) -> None:
        """Let go of connections. A later letter opens them again."""
        ...


@dataclass(frozen=True, slots=True)
class RelayAddress:
    """A relay URL, read.

    Attributes:
        scheme: how to speak; ``smtp`` takes up TLS when it is offered.
        host: name or address, ``""`` for a socket or folder.
        port: TCP port, 0 for a socket or folder.
        path: socket of ``lmtp:/…`` or folder of ``maildir:…``.
        user, password: ``""`` for none.
    """

    scheme: Literal["smtp", "smtps", "lmtp", "maildir"]
    host: str = ""
    port: int = 0
    path: str = ""
    user: str = ""
    password: str = field(default="", repr=False)


def read_relay_url(url: str) -> RelayAddress:
    """What a relay URL says.

    ==============================  ====================================================
    ``maildir:/var/lib/mail``       one Maildir for each recipient, in this folder
    ``smtp://host[:25]``            a relay that trusts us
    ``smtp://user:pw@host[:587]``   submission; the password goes over TLS only, but for
                                    a relay on this machine
    ``smtps://user:pw@host[:465]``  TLS from the first octet
    ``lmtp://host[:24]``            local delivery over TCP
    ``lmtp:/run/dovecot/lmtp``      … over a Unix socket
    ==============================  ====================================================

    ``@ : / % # ?`` in a user name or password are written as ``%40 %3A …``.

    Raises:
        ConfigError: never quotes the URL, for it may hold a password.
    """
    scheme, _, rest = url.strip().partition(":")
    scheme = scheme.lower()
    if scheme == "maildir":
        if not rest or "\0" in rest:
            raise ConfigError("relay: maildir: needs a folder, such as maildir:/var/lib/mail")
        try:
            return RelayAddress("maildir", path=str(Path(rest).expanduser()))
        except RuntimeError:
            raise ConfigError(
                "relay: there is no user with that home; write the path, "
                "such as maildir:/var/lib/mail"
            ) from None
    if scheme == "lmtp" and rest.startswith("/") and (rest[1:2] != "/" or rest[:3] == "///"):
        return RelayAddress("lmtp", path="/" + rest.lstrip("/"))
    if scheme in _DEFAULT_PORT and rest.startswith("//"):
        return _network_address(scheme, rest)
    raise ConfigError(
        "relay: begin with maildir:, smtp://, smtps:// or lmtp://, "
        "such as maildir:/var/lib/mail or smtp://localhost:25"
    )


def open_relay(url: str) -> Relay:
    """The relay that a URL (see `read_relay_url`) names; connects when first used.

    Raises:
        ConfigError: the URL is wrong.
    """
    address = read_relay_url(url)
    if address.scheme == "maildir":
        from pbmserv.outbound.maildir import MaildirRelay

        return MaildirRelay(Path(address.path))
    from pbmserv.outbound.smtp_client import SmtpRelay

    return SmtpRelay(address)


def _network_address(scheme: str, rest: str) -> RelayAddress:
    try:
        parts = urlsplit(rest)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        # "from None": the cause would quote the URL, and with it the password.
        raise ConfigError(_WRONG_PLACE) from None
    if parts.path.strip("/") or parts.query or parts.fragment or port == 0:
        raise ConfigError(_WRONG_PLACE)
    if not host or _BLANK_OR_CONTROL.search(host):
        raise ConfigError(f"relay: {scheme}:// needs a host, such as {scheme}://localhost")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if (user or password) and scheme == "lmtp":
        raise ConfigError("relay: LMTP has no login; leave it out, such as lmtp://localhost:24")
    example = f"such as {scheme}://USER:PASSWORD@HOST"
    if bool(user) != bool(password):
        raise ConfigError(f"relay: give a user and a password, or neither, {example}")
    if not (user + password).isascii() or "\0" in user + password:
        raise ConfigError(
            f"relay: the user and password must be ASCII, as mail servers expect, {example}"
        )
    return RelayAddress(
        scheme=_SCHEMES[scheme],
        host=host,
        port=port or (_SUBMISSION if user and scheme == "smtp" else _DEFAULT_PORT[scheme]),
        user=user,
        password=password,
    )


#: Waits after the first, second … attempt; the last one repeats. Short at first for
#: greylisting, long later, as RFC 5321, 4.5.4.1 wants it.
WAITS = tuple(timedelta(minutes=m) for m in (1, 5, 15, 60, 120, 240))
#: RFC 5321, 4.5.4.1: give up after "at least 4-5 days".
LIFETIME = timedelta(days=5)
_SPREAD = 0.2


def delay(attempt: int, age: timedelta, jitter: float) -> timedelta | None:
    """How long to wait before the next attempt.

    Args:
        attempt: attempts made so far, the one that just failed included (≥ 1).
        age: time since the letter was queued.
        jitter: 0 ≤ jitter < 1, drawn anew each time; spreads the wait by ±10 %,
            so that letters that failed together do not come back together.

    Returns:
        The wait, or None when the letter is five days old: it has failed.
    """
    if age >= LIFETIME:
        return None
    wait = WAITS[min(attempt, len(WAITS)) - 1]
    return wait * (1 + _SPREAD * (jitter - 0.5))


#: Failures in a row, over all threads, that open the breaker.
FAILURES = 5
SHORTEST_PAUSE = timedelta(seconds=30)
LONGEST_PAUSE = timedelta(minutes=15)


_CODE = re.compile(r"\b[245]\d\d\b(?:[ -]\d\.\d{1,3}\.\d{1,3})?")
_ANGLED = re.compile(r"(?<!\S)\S*@\S*")
"""An address among the words of a relay, which no log has."""


def blanked(said: str) -> str:
    """What a relay has said, as the log may have it: its code alone, since mail servers quote
    addresses."""
    found = _CODE.search(said)
    return found[0] if found else _ANGLED.sub("…", said)


class Breaker:
    """A circuit breaker; shared by the threads that use one relay.

    Closed: letters flow. Open: none goes out before the pause is over. Then one
    letter at a time is let through as a trial; if it gets an answer the breaker
    closes, else the next pause is twice as long.

    Attributes:
        failures: attempts in a row in which the relay could not be reached; while there are none
            an answer is no news.
        next_trial: when the next trial may be, ``None`` while letters flow.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._trials = 0
        self._refused_us = False
        self.failures = 0
        self.next_trial: datetime | None = None

    def grants_trial(self, now: datetime) -> bool:
        """Whether a letter may be tried now, though the breaker is open.

        Granting a trial begins the next pause at once, so that two threads
        never try together.
        """
        with self._lock:
            if self.next_trial is None:  # another's letter has got an answer meanwhile
                return True
            if now < self.next_trial:
                return False
            self._trials += 1
            self.next_trial = now + self._pause()
            return True

    def untried(self, now: datetime) -> None:
        """No letter was there for the trial: the next one may have it at once."""
        with self._lock:
            if self.next_trial is not None:
                self._trials -= 1
                self.next_trial = now

    def answered(self) -> bool:
        """The relay answered, if only to refuse a letter; whether that ended a pause."""
        with self._lock:
            was_open = self.next_trial is not None
            self.failures = self._trials = 0
            self.next_trial = None
            self._refused_us = False
        if was_open:
            _log.info("the relay answers again")
        return was_open

    def broke(self, error: RelayDown, now: datetime) -> None:
        """As `failed`, with a word to the operator when that is news."""
        began, knew = self.failed(now), self._refused_us
        facts = {"why": _ANGLED.sub("…", str(error))}
        if isinstance(error, RelayRefusesUs):
            self._refused_us = True
            if not knew:
                _log.error(
                    "the relay refuses us, letters wait; it may want another login or sender"
                    " (PBMSERV_RELAY, PBMSERV_ADDRESS) or has to be told to relay for us",
                    extra=facts,
                )
        elif began:
            _log.error("the relay is down, letters wait", extra=facts)

    def failed(self, now: datetime) -> bool:
        """The relay could not be reached; whether that began a pause."""
        with self._lock:
            self.failures += 1
            if self.next_trial is None and self.failures >= FAILURES:
                self.next_trial = now + self._pause()
                return True
            return False

    def _pause(self) -> timedelta:
        # Ten doublings are past the longest pause; a long outage must not overflow.
        return min(SHORTEST_PAUSE * (1 << min(self._trials, 10)), LONGEST_PAUSE)
