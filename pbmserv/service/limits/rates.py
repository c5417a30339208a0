"""How many mails a player, an address and a network may send; and answers that lead nowhere.

Counted in memory, over moving windows, when a mail's text is there and before it is read; on
PostgreSQL doors tell each other (`shared_counts`). What is over a limit is put off (451), so that
nothing is lost: a mail server tries again by itself; what play alone can know of waits here. An
address is counted for each network by itself: anybody can write it on an envelope.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Literal, TypeAlias

from limits import RateLimitItem, RateLimitItemPerDay, parse_many

from pbmserv.clock import Clock
from pbmserv.errors import ServerFault
from pbmserv.mail.envelope import NOWHERE, Source
from pbmserv.service.limits.windows import Windows

Idle: TypeAlias = Literal["answered", "refused", "talk"]
"""What a mail led to that moved no game on: an answer, a refusal, words to somebody else."""
Kind: TypeAlias = Literal["player", "address", "network", "reset", "look", "hide", "box"]

_TRIES = RateLimitItemPerDay(3, 1, "tries")
"""Mails over a limit that are looked at, to see whether their sender may be written to."""
_TOLD = RateLimitItemPerDay(1, 1, "told")
_SAME = RateLimitItemPerDay(20, 7, "same")
"""Mails of one sender with the same words that lead to no more than an answer."""
NETWORKS = 3
"""How many networks can have used up their share of an address before nobody has one there."""
_TALK = "40/hour; 100/day"
"""Mails of one sender that only carry words to others."""
_STRANGERS_OF_NETWORK = "40/hour; 150/day"
"""Letters that one network brings to addresses that nothing shows to be its writers' own."""
_STRANGERS_OF_PLAYER = "10/day"
"""The same for one player, whatever the network."""
_STRANGERS_AT_DOMAIN = "200/hour"
"""The same for all addresses of one domain, whoever brings them."""
_LOOKS = "120/minute"
"""How often programs look at boards of one player."""
_HIDES = "600/hour"
"""How many boxes may be filled by hand on the pages, by all together."""
_OF_A_BOX = "120/minute"
"""Taps on one of these boxes."""
_REACHED = "60/hour; 150/day"
"""People whom one player writes to or challenges, each counted as often as that happens."""


@dataclass(frozen=True, slots=True)
class Rates:
    """What the settings allow, as `limits` writes it (``240/hour``); ``""`` = no limit."""

    player: str
    address: str
    network: str
    refusals: str
    answers: str
    confirmations: str
    resets: str


@dataclass(frozen=True, slots=True)
class Over:
    """Somebody has sent too much.

    Attributes:
        who: the player's row id, the address with the network it wrote from, or the network.
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
    """A player who has proved to be one has sent too much; nothing of the mail was done."""

    def __init__(self, over: Over) -> None:
        super().__init__(f"more than {over.most} mails in {over.span}")
        self.over = over

    def __reduce__(self) -> tuple[type[TooMany], tuple[Over]]:
        """The way from one stage to another."""
        return TooMany, (self.over,)


class Reply(Enum):
    """What becomes of an answer that leads nowhere."""

    SEND = "send"
    LAST = "last"
    """Send it, and say that it is the last one for a while."""
    NONE = "none"


class Traffic:
    """Counts mails. Thread-safe, and never slow.

    Args:
        windows: where they are counted.
    """

    def __init__(self, rates: Rates, clock: Clock, windows: Windows | None = None) -> None:
        self._limits: dict[str, list[RateLimitItem]] = {
            name: parse_many(text) if text else []
            for name, text in (
                ("player", rates.player),
                ("address", rates.address),
                ("network", rates.network),
                ("refused", rates.refusals),
                ("answered", ""),
                ("stranger", rates.answers),
                ("asked", rates.confirmations),
                ("reset", rates.resets),
                ("strangers of", _STRANGERS_OF_NETWORK if rates.confirmations else ""),
                ("strangers of player", _STRANGERS_OF_PLAYER if rates.confirmations else ""),
                ("strangers at", _STRANGERS_AT_DOMAIN if rates.confirmations else ""),
                ("look", _LOOKS if rates.player else ""),
                ("hide", _HIDES if rates.player else ""),
                ("box", _OF_A_BOX if rates.player else ""),
                ("talk", _TALK if rates.refusals else ""),
                ("reached", _REACHED if rates.refusals else ""),
            )
        }
        self._windows = windows or Windows(clock)
        self._guard = threading.Lock()

    def is_over(self, source: Source, player: int, *, direct: bool) -> bool:
        """Whether a mail need not even be sent: it would be one too many, and not be read.

        Nothing is counted, since naming a recipient is no mail. Of what our own mail servers hand
        on nobody knows where it comes from before its text is there. Arguments as in `arrives`.
        """
        with self._guard:
            for kind, who in _counted(source if direct else NOWHERE, player, direct=direct):
                limits = self._limits[kind]
                if False in [self._windows.has_room(limit, kind, who) for limit in limits]:
                    return not self._windows.has_room(_TRIES, kind, who)
        return False

    def arrives(self, source: Source, player: int, *, direct: bool) -> Over | None:
        """Count a mail; why it is not taken now, if so.

        Args:
            player: whose reply address the mail is for, 0 for nobody's.
            direct: its sender's own client brought it, not a mail server of ours, which must not
                be put off for what one network sends: it would have to write to forged senders.
        """
        with self._guard:
            for kind, who in _counted(source, player, direct=direct):
                over = self._hit(kind, who)
                if over is not None:
                    return over
        return None

    def spoke(self, player: int) -> None:
        """Count a mail whose player was known by a password only, or that a page has written.

        Raises:
            TooMany: it is one too many.
        """
        self._count("player", str(player))

    def looks(self, player: int) -> None:
        """Count a look of a program at a board of this player.

        Raises:
            TooMany: it is one too many.
        """
        self._count("look", str(player))

    def hides(self) -> None:
        """Count a box that somebody begins to fill by hand on the pages.

        Raises:
            TooMany: all together have begun too many.
        """
        self._count("hide", "all")

    def taps(self, box: str) -> None:
        """Count a tap on one of these boxes.

        Raises:
            TooMany: it is one too many.
        """
        self._count("box", box)

    def _count(self, kind: Kind, who: str) -> None:
        with self._guard:
            over = self._hit(kind, who)
        if over is not None:
            raise TooMany(over)

    def may_look(self, over: Over) -> bool:
        """Whether a mail over the limit is to be read, to find out who is to be told."""
        with self._guard:
            return self._windows.hit(_TRIES, over.kind, over.who)

    def may_tell(self, address: str) -> bool:
        """Whether *address* was not told yet today that it sends too much; it is now."""
        with self._guard:
            return self._windows.hit(_TOLD, address.lower())

    def answers(self, who: str, words: str, outcome: Idle, stranger: str, source: Source) -> Reply:
        """Count a mail that moves no game on.

        Programs that answer every answer would go on for ever; people give up long before.

        Args:
            who: whose mail it was: what proves that, else where it pretends to come from, and from
                which network. Nobody uses up by forged mails what somebody has who proves more.
            words: all that the mail says.
            stranger: where the answer goes, if that may be somebody who has not asked; else "".
            source: where the mail came from.
        """
        digest = hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()
        limits: list[tuple[RateLimitItem, tuple[str, ...]]] = [(_SAME, (who, digest))]
        limits += [(limit, (outcome, who)) for limit in self._limits[outcome]]
        if stranger:
            limits += self._shares("stranger", stranger, source)
        with self._guard:
            if not all(self._windows.has_room(limit, *key) for limit, key in limits):
                return Reply.NONE
            for limit, key in limits:
                self._windows.hit(limit, *key)
            is_last = not all(self._windows.has_room(limit, *key) for limit, key in limits)
        return Reply.LAST if is_last else Reply.SEND

    def asks(self, addresses: Sequence[str], source: Source) -> str:
        """Count a letter that asks for an answer at each of *addresses* (in lower case).

        The address that has had enough of them today comes back, and then none is counted.
        """
        with self._guard:
            shares = [(one, self._shares("asked", one, source)) for one in addresses]
            for address, limits in shares:
                if not all(self._windows.has_room(limit, *key) for limit, key in limits):
                    return address
            for _, limits in shares:
                for limit, key in limits:
                    self._windows.hit(limit, *key)
        return ""

    def asks_strangers(
        self, addresses: Sequence[str], source: Source, player: int = 0
    ) -> Literal["", "network", "domain"]:
        """Count a letter to each of *addresses* (in lower case), whose owners may never have
        written: which limit is reached already, and then none is counted.

        Args:
            player: who wants these letters; 0 for nobody known.
        """
        by = [("network", "strangers of", source.neighbours)]
        by += [("network", "strangers of player", str(player))] if player else []
        counted = [(why, kind, who, len(addresses)) for why, kind, who in by]
        domains = Counter(address.rpartition("@")[2] for address in addresses)
        counted += [("domain", "strangers at", one, domains[one]) for one in domains]
        windows = [
            (why, limit, (kind, who), cost)
            for why, kind, who, cost in counted
            for limit in self._limits[kind]
        ]
        with self._guard:
            for why, limit, key, cost in windows:
                if not self._windows.has_room(limit, *key, cost=cost):
                    return "domain" if why == "domain" else "network"
            for _, limit, key, cost in windows:
                self._windows.hit(limit, *key, cost=cost)
        return ""

    def _shares(
        self, kind: str, address: str, source: Source
    ) -> list[tuple[RateLimitItem, tuple[str, ...]]]:
        """The windows of letters to an address whose owner may not have asked for them: what one
        network has there, so that it leaves something to others, and what all have together."""
        limits = self._limits[kind]
        shares = [(limit, (kind, address, source.neighbours)) for limit in limits]
        total = [type(one)(NETWORKS * one.amount, one.multiples, "total") for one in limits]
        return [*shares, *((limit, (kind, address)) for limit in total)]

    def may_reach(self, player: int, count: int) -> bool:
        """Count so many letters of a player to others; none where that would be too many."""
        limits = self._limits["reached"]
        who = ("reached", str(player))
        with self._guard:
            if not all(self._windows.has_room(limit, *who, cost=count) for limit in limits):
                return False
            for limit in limits:
                self._windows.hit(limit, *who, cost=count)
        return True

    def may_reset(self, player: int) -> bool:
        """Count a letter that offers a new password; whether there were few enough today."""
        with self._guard:
            return self._hit("reset", str(player)) is None

    def is_usual(self, address: str, source: Source) -> bool:
        """Whether *address* was lately shown to write from there."""
        return self._windows.is_usual(_usual(address, source))

    def proves(self, address: str, source: Source) -> None:
        """The owner of *address* writes from there; worth nothing where nobody knows where."""
        if source.network:
            self._windows.note_usual(_usual(address, source))

    def _hit(self, kind: Kind, who: str) -> Over | None:
        for limit in self._limits[kind]:
            if not self._windows.hit(limit, kind, who):
                again = self._windows.again_at(limit, kind, who)
                return Over(kind, who, limit.amount, _span(limit), again)
        return None


def _counted(source: Source, player: int, *, direct: bool) -> list[tuple[Kind, str]]:
    """The windows in which a mail is counted."""
    windows: list[tuple[Kind, str]] = []
    if direct and source.network:
        windows.append(("network", source.network))
    if source.sender:
        windows.append(("address", f"{source.sender} {source.network}"))
    if player:
        windows.append(("player", str(player)))
    return windows


def _usual(address: str, source: Source) -> str:
    return f"usual\0{address.lower()}\0{source.network}\0{source.sender}"


def _span(limit: RateLimitItem) -> str:
    name = limit.GRANULARITY.name
    return name if limit.multiples == 1 else f"{limit.multiples} {name}s"
