"""Limits on the mails of a player, an address and a network, and on answers without effect.

The counts are moving windows in the memory of one process. The door counts a mail when its text has
arrived and before it is read; play counts the rest. A mail over a limit is put off (451), so that
nothing is lost: its mail server tries again. Addresses are counted for each network by itself,
since anybody can write any address on an envelope.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Literal, TypeAlias

from limits import RateLimitItem, RateLimitItemPerDay, parse_many
from limits.strategies import MovingWindowRateLimiter

from pbmserv.clock import Clock
from pbmserv.errors import ServerFault
from pbmserv.mail.envelope import NOWHERE, Source
from pbmserv.service.limits.clock_storage import ClockStorage, keep_newest

Idle: TypeAlias = Literal["answered", "refused", "move", "talk"]
"""Result of a mail without effect on a game: an answer, a refusal, the refusal of a known player's
move, or a message to a player."""
Kind: TypeAlias = Literal["player", "address", "network", "look", "hidden box", "tap"]
"""A kind of request that is put off over its limit: mails of a player, an address or a network,
requests of a player's programs for a board, new boxes that are filled by hand, and taps on one."""
Allowed: TypeAlias = Literal["reached", "reset", "kept"]
"""A kind of effect that is refused over its limit: letters of a player to others, letters that
offer a player a new password, and challenges of one network that wait for a signup."""
Key: TypeAlias = tuple[str, ...]
Window: TypeAlias = tuple[RateLimitItem, Key]

_TRIES = RateLimitItemPerDay(3, 1, "tries")
"""Mails over a limit that are read, to learn whether their sender can be told."""
_EXPLANATIONS = RateLimitItemPerDay(1, 1, "told")
"""Explanations of a limit to one address."""
_SAME = RateLimitItemPerDay(20, 7, "same")
"""Mails of one sender with the same words that lead only to an answer."""
NETWORKS = 3
"""Number of networks that could together use up the limit of an address."""
TALK = "40/hour; 100/day"
"""Mails of one sender that only carry messages to other players."""
MOVES = "100/hour; 300/day"
"""Refused moves of one player: more than a person writes."""
STRANGERS_OF_NETWORK = "40/hour; 150/day"
"""Letters to strangers that one network causes."""
STRANGERS_OF_PLAYER = "10/day"
"""Letters to strangers that one player causes, from any network."""
STRANGERS_AT_DOMAIN = "200/hour"
"""Letters to strangers at one domain, whoever causes them."""
KEPT_OF_NETWORK = "40/hour; 150/day"
"""Challenges of strangers from one network that wait for a signup."""
_LOOKS = "120/minute"
"""Requests of one player's programs for a board."""
_HIDES = "600/hour"
"""Boxes that are filled by hand on the pages, by everybody together."""
_OF_A_BOX = "120/minute"
"""Taps on one of the boxes that are filled by hand."""
REACHED = "60/hour; 150/day"
"""People to whom one player writes or sends challenges, counted each time."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Limits from the settings, in the notation of `limits` (``240/hour``); ``""`` = no limit."""

    player: str
    address: str
    network: str
    refusals: str
    answers: str
    confirmations: str
    resets: str


@dataclass(frozen=True, slots=True)
class Over:
    """A limit that a mail exceeds.

    Attributes:
        who: the player's row id, the address with its network, or the network.
        most: mails that are allowed in `span`.
        span: such as ``"hour"`` or ``"2 hours"``.
        again: when the next mail would be taken.
    """

    kind: Kind
    who: str
    most: int
    span: str
    again: datetime


class TooMany(ServerFault):
    """A player whose identity is proven exceeds a limit; nothing of the mail was carried out."""

    def __init__(self, over: Over) -> None:
        super().__init__(f"more than {over.most} mails in {over.span}")
        self.over = over


class Reply(Enum):
    """The decision whether a mail without effect on a game is answered."""

    SEND = "send"
    LAST = "last"
    """Send it, and say that it is the last one for a while."""
    NONE = "none"


class Traffic:
    """Counts mails and letters. Thread-safe, and never waits."""

    def __init__(self, rates: Rates, clock: Clock) -> None:
        self._limits: dict[str, list[RateLimitItem]] = {
            name: parse_many(text) if text else []
            for name, text in (
                ("player", rates.player),
                ("address", rates.address),
                ("network", rates.network),
                ("refused", rates.refusals),
                ("answered", ""),
                ("move", MOVES if rates.refusals else ""),
                ("stranger", rates.answers),
                ("asked", rates.confirmations),
                ("reset", rates.resets),
                ("strangers of", STRANGERS_OF_NETWORK if rates.confirmations else ""),
                ("strangers of player", STRANGERS_OF_PLAYER if rates.confirmations else ""),
                ("strangers at", STRANGERS_AT_DOMAIN if rates.confirmations else ""),
                ("kept", KEPT_OF_NETWORK if rates.confirmations else ""),
                ("look", _LOOKS if rates.player else ""),
                ("hidden box", _HIDES if rates.player else ""),
                ("tap", _OF_A_BOX if rates.player else ""),
                ("talk", TALK if rates.refusals else ""),
                ("reached", REACHED if rates.refusals else ""),
            )
        }
        self._windows = MovingWindowRateLimiter(ClockStorage(clock))
        self._proven_sources: OrderedDict[Key, None] = OrderedDict()
        self._guard = threading.Lock()

    def is_over(self, source: Source, player: int, *, direct: bool) -> bool:
        """Return whether a mail would exceed a limit and would not even be read.

        Nothing is counted, since a recipient is not yet a mail. If our own mail servers hand a mail
        on, its network is unknown before its text arrives. The arguments are those of `count_mail`.
        """
        with self._guard:
            for kind, party in _counted_as(source if direct else NOWHERE, player, direct=direct):
                if not self._has_room(self._windows_of(kind, party)):
                    return not self._windows.test(_TRIES, kind, party)
        return False

    def count_mail(self, source: Source, player: int, *, direct: bool) -> Over | None:
        """Count a mail; return the limit that it exceeds, if any.

        Args:
            player: owner of the reply address that the mail is for; 0 for none.
            direct: whether the sender's own client delivers it. Our own mail servers are not put
                off because of the mails of one network: they would have to write to forged senders.
        """
        with self._guard:
            for kind, party in _counted_as(source, player, direct=direct):
                over = self._hit(kind, party)
                if over is not None:
                    return over
        return None

    def count(self, kind: Kind, party: str) -> None:
        """Count a mail that only a password proves to be a player's, a request or a tap.

        Raises:
            TooMany: it exceeds a limit.
        """
        with self._guard:
            over = self._hit(kind, party)
        if over is not None:
            raise TooMany(over)

    def may(self, kind: Allowed, party: str, count: int = 1) -> bool:
        """Count so many letters or challenges of a party; return False if those are too many."""
        with self._guard:
            return self._hit_all(self._windows_of(kind, party), count)

    def may_read(self, over: Over) -> bool:
        """Count a mail over a limit that is read anyway; return False if there were enough today.

        Only its text shows whether its sender can be told.
        """
        with self._guard:
            return self._windows.hit(_TRIES, over.kind, over.who)

    def may_explain(self, address: str) -> bool:
        """Count an explanation to *address*; return False if there was one today."""
        with self._guard:
            return self._windows.hit(_EXPLANATIONS, address.lower())

    def count_idle_mail(
        self, party: str, words: str, outcome: Idle, stranger: str, source: Source
    ) -> Reply:
        """Count a mail without effect on a game, and return whether it is answered.

        Programs that answer every answer would go on for ever; people stop long before.

        Args:
            party: the proven writer of the mail, else its sender and network. So forged mails use
                up nothing of what a proven writer has.
            words: the whole text of the mail.
            stranger: recipient of the answer, if that may be somebody who has not written; else "".
            source: where the mail came from.
        """
        digest = hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()
        windows: list[Window] = [(_SAME, (party, digest))]
        windows += self._windows_of(outcome, party)
        if stranger:
            windows += self._shares("stranger", stranger, source)
        with self._guard:
            if not self._hit_all(windows):
                return Reply.NONE
            return Reply.SEND if self._has_room(windows) else Reply.LAST

    def count_questions(self, addresses: Sequence[str], source: Source) -> str:
        """Count a letter that asks for an answer at each of *addresses* (in lower case).

        Returns:
            ``""``, or the first address that had enough of them; then none is counted.
        """
        windows = {address: self._shares("asked", address, source) for address in addresses}
        with self._guard:
            for address, shares in windows.items():
                if not self._has_room(shares):
                    return address
            for shares in windows.values():
                self._hit_all(shares)
        return ""

    def count_letters_to_strangers(
        self, addresses: Sequence[str], source: Source, player: int = 0
    ) -> Literal["", "network", "domain"]:
        """Count a letter to each of *addresses* (in lower case), whose owners may be strangers.

        Args:
            player: player who causes the letters; 0 if unknown.

        Returns:
            ``""``, or the limit that they exceed; then none is counted.
        """
        domains = Counter(address.rpartition("@")[2] for address in addresses)
        by_writer = [(self._windows_of("strangers of", source.neighbours), len(addresses))]
        if player:
            windows = self._windows_of("strangers of player", str(player))
            by_writer.append((windows, len(addresses)))
        by_domain = [
            (self._windows_of("strangers at", domain), count) for domain, count in domains.items()
        ]
        with self._guard:
            if not all(self._has_room(windows, cost) for windows, cost in by_writer):
                return "network"
            if not all(self._has_room(windows, cost) for windows, cost in by_domain):
                return "domain"
            for windows, cost in (*by_writer, *by_domain):
                self._hit_all(windows, cost)
        return ""

    def _windows_of(self, kind: str, party: str) -> list[Window]:
        """Return the windows of all limits of a kind."""
        return [(limit, (kind, party)) for limit in self._limits[kind]]

    def _shares(self, kind: str, address: str, source: Source) -> list[Window]:
        """Return the windows of letters to an address whose owner may not have asked for them.

        They are the share of one network, so that others have something left, and the limit of all.
        """
        limits = self._limits[kind]
        totals = [
            type(limit)(NETWORKS * limit.amount, limit.multiples, "total") for limit in limits
        ]
        return [
            *((limit, (kind, address, source.neighbours)) for limit in limits),
            *((limit, (kind, address)) for limit in totals),
        ]

    def is_known_source(self, address: str, source: Source) -> bool:
        """Return whether *address* was lately shown to write from *source*."""
        return _address_and_source(address, source) in self._proven_sources

    def note_source(self, address: str, source: Source) -> None:
        """Remember that the owner of *address* writes from *source*, unless its network is
        unknown."""
        if source.network:
            with self._guard:
                keep_newest(self._proven_sources, _address_and_source(address, source), None)

    def _has_room(self, windows: Sequence[Window], cost: int = 1) -> bool:
        return all(self._windows.test(limit, *key, cost=cost) for limit, key in windows)

    def _hit_all(self, windows: Sequence[Window], cost: int = 1) -> bool:
        """Count a hit in each window if all of them have room for it."""
        if not self._has_room(windows, cost):
            return False
        for limit, key in windows:
            self._windows.hit(limit, *key, cost=cost)
        return True

    def _hit(self, kind: Kind, party: str) -> Over | None:
        """Count a hit; return the first limit that has no room for it."""
        for limit in self._limits[kind]:
            if not self._windows.hit(limit, kind, party):
                reset_time = self._windows.get_window_stats(limit, kind, party).reset_time
                again = datetime.fromtimestamp(reset_time, UTC)
                return Over(kind, party, limit.amount, _span(limit), again)
        return None


def _counted_as(source: Source, player: int, *, direct: bool) -> list[tuple[Kind, str]]:
    """Return what a mail is counted for."""
    keys: list[tuple[Kind, str]] = []
    if direct and source.network:
        keys.append(("network", source.network))
    if source.sender:
        keys.append(("address", f"{source.sender} {source.network}"))
    if player:
        keys.append(("player", str(player)))
    return keys


def _address_and_source(address: str, source: Source) -> Key:
    return address.lower(), source.network, source.sender


def _span(limit: RateLimitItem) -> str:
    name = limit.GRANULARITY.name
    return name if limit.multiples == 1 else f"{limit.multiples} {name}s"
