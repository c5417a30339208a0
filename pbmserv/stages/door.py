"""The first stage: takes mails in. Its 250 means that a mail is on the disk.

What the wire, the headers, the limits and the sender's domain say is looked at here; the rules are
not. Whatever a stranger sends costs the door its reading of the headers, and one row.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections import deque
from collections.abc import Callable, Collection
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from functools import partial
from time import perf_counter
from typing import Any, TypeAlias

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.errors import MailError, ServerFault
from pbmserv.inbound.auth.verdict import Senders
from pbmserv.inbound.message import read_head, source_of, wire_refusal
from pbmserv.log import reason
from pbmserv.mail.envelope import (
    BY_REPLY_ADDRESS,
    LOOPBACK,
    NOWHERE,
    UNCHECKED,
    Envelope,
    Network,
    Source,
    Verdict,
)
from pbmserv.mail.reply_address import MailDomain, Purpose, ReplyAddress, speaker_of
from pbmserv.service.delivery.incoming import Outcome, note_arrival, note_mail
from pbmserv.service.limits.postmaster_shares import PostmasterShares
from pbmserv.service.limits.rates import Over, TooMany, Traffic
from pbmserv.service.time.retention import Quota
from pbmserv.smtpd.session import FORGED, LANE_FULL, TAKEN, TOO_MANY, TRY_LATER
from pbmserv.stages.lanes import Shares
from pbmserv.store.core.writer import UNAVAILABLE, Closed, Writer
from pbmserv.store.delivery import arrivals
from pbmserv.store.delivery.arrivals import NewArrival

log = logging.getLogger("pbmserv.receive")

UNREADABLE = {
    "no-from": "the mail has no From address",
    "several-from": "the From header must name exactly one sender",
    "bad-from": "the From header must hold exactly one plain address",
    "bad-header": "the headers are malformed",
    "headers-too-long": "the headers are too long",
}

GATHER_S = 0.01
"""Seconds between two groups while several clients send mail after mail."""
RECENT_S = 0.05
"""Seconds in which a client that has sent a mail is expected to send the next one."""


class TryLater(ServerFault):
    """The database could not take the mail; nothing of it was kept (SMTP: 451)."""


class Door:
    """Takes mails, and what pages ask for; in an event loop.

    Args:
        writer: of the mail store.
        ring: called after a commit that stored something.
        quota: what mails that wait may take.
        senders: checks who sent a mail; ``None``: nobody's From address is ever proven.
        ours: networks of our own mail servers.
        postmaster: what one network may send to the postmaster; ``None``: as much as all may.

    Attributes:
        shares: what of each lane waits.
    """

    def __init__(
        self,
        mail_domain: MailDomain,
        writer: Writer,
        clock: Clock,
        traffic: Traffic,
        quota: Quota,
        ring: Callable[[], None],
        senders: Senders | None = None,
        ours: Collection[Network] = LOOPBACK,
        postmaster: PostmasterShares | None = None,
    ) -> None:
        self._mail_domain = mail_domain
        self._clock = clock
        self._traffic = traffic
        self._quota = quota
        self._senders = senders
        self._ours = ours
        self._postmaster = postmaster
        self._storing = Storing(writer, ring)
        self.shares = Shares()

    def is_over(self, envelope: Envelope) -> bool:
        """Whether a mail need not even be sent; *envelope* has no text yet. Counts nothing."""
        source = source_of(envelope, self._ours)
        player = speaker_of(self._mail_domain.read(envelope.recipient))
        return self._traffic.is_over(source, player, direct=not envelope.handed_on)

    async def arrives(self, envelope: Envelope, *, is_counted: bool = True) -> str:
        """Count a mail, then take it, put it off or refuse it, and log it. The SMTP reply comes
        back; 250 means: committed."""
        begun = perf_counter()
        source = source_of(envelope, self._ours)
        reply_address = self._mail_domain.read(envelope.recipient)
        player, direct = speaker_of(reply_address), not envelope.handed_on
        over = self._traffic.arrives(source, player, direct=direct) if is_counted else None
        try:
            if over is None:
                outcome = await self._take(envelope, source, reply_address, player)
            else:
                if self._traffic.may_look(over):
                    await self._put_off(envelope, over)
                outcome = Outcome(TOO_MANY, "put-off", f"over the limit of the {over.kind}")
        except TryLater as error:
            outcome = Outcome(TRY_LATER, "put-off", str(error))
        except Exception:
            log.exception("a mail could not be kept")
            outcome = Outcome(TRY_LATER, "put-off", "our fault")
        ms = (perf_counter() - begun) * 1000
        if outcome.arrival:  # play says what becomes of it; and the client's 250 goes out first
            loop = asyncio.get_running_loop()
            loop.call_soon(note_arrival, outcome.arrival, envelope, source, ms)
        else:
            note_mail(self._mail_domain, envelope, outcome, source, ms)
        return outcome.reply

    async def form(self, kind: str, values: dict[str, Any]) -> int:
        """Take what a page asks for; its number. A ``press`` is a mail, and treated as one.

        Raises:
            TryLater: the database could not take it, or too much waits.
            TooMany: its player has sent too much.
        """
        if kind == "press":
            return await self._press(Envelope(**values))
        raw = json.dumps({"form": kind, **values}).encode()
        new = NewArrival("form", Envelope("", "", raw), "pages", self._clock.now())
        return await self._storing.store(new)

    async def _press(self, envelope: Envelope) -> int:
        """Store a mail that a page has written for its reader; its number."""
        begun = perf_counter()
        player = speaker_of(self._mail_domain.read(envelope.recipient))
        try:
            self._traffic.spoke(player)
        except TooMany:
            outcome = Outcome(TOO_MANY, "put-off", "over the limit of the player")
            ms = (perf_counter() - begun) * 1000
            note_mail(self._mail_domain, envelope, outcome, NOWHERE, ms)
            raise
        octets = len(envelope.raw)
        lane = self.shares.lane_for(NOWHERE, player, octets)
        if lane is None or not self._quota.has_room(octets, for_postmaster=False):
            raise TryLater("there is no room for one more mail")
        now = self._clock.now()
        new = NewArrival("mail", envelope, lane, now, player_id=player or None)
        number = await self._storing.store(new)
        note_arrival(number, envelope, NOWHERE, (perf_counter() - begun) * 1000)
        return number

    async def _take(
        self, envelope: Envelope, source: Source, reply_address: ReplyAddress | None, player: int
    ) -> Outcome:
        octets = len(envelope.raw)
        refusal = wire_refusal(envelope.raw)
        if refusal is not None:
            return Outcome(refusal, "refused", refusal)
        comes_back = reply_address is not None and reply_address.purpose is Purpose.BOUNCE
        for_postmaster = reply_address is None and self._mail_domain.is_postmaster(
            envelope.recipient
        )
        verdict = UNCHECKED
        if not comes_back:  # a report need not have a From that anybody could answer to
            try:
                read_head(envelope.raw)
            except MailError as error:
                reply = f"554 5.6.0 {UNREADABLE.get(str(error), 'the mail cannot be read')}"
                return Outcome(reply, "refused", reply)
            verdict = await self._verdict(envelope, source, reply_address)
            if verdict.result == "forged" and not for_postmaster:
                # An answer would go to somebody who has never written to us.
                return Outcome(FORGED, "refused", FORGED)
        shares = self._postmaster if for_postmaster else None
        if shares is not None and not shares.is_open(source.network, octets):
            return Outcome(TRY_LATER, "put-off", "the network's share of the postmaster is used up")
        lane = self.shares.lane_for(source, player, octets)
        if lane is None:
            return Outcome(LANE_FULL, "put-off", "too many mails of one sender wait")
        if not self._quota.has_room(octets, for_postmaster=for_postmaster):
            raise TryLater("there is no room for one more mail")
        if shares is not None:
            shares.add(source.network, octets)
        now = self._clock.now()
        new = NewArrival("mail", envelope, lane, now, verdict, player or None)
        return Outcome(TAKEN, "taken", arrival=await self._storing.store(new))

    async def _verdict(
        self, envelope: Envelope, source: Source, reply_address: ReplyAddress | None
    ) -> Verdict:
        """Return whether the From address is proven; of a mail to a reply address nothing is asked,
        since that says who writes."""
        if self._senders is None:
            return UNCHECKED
        if reply_address is not None:
            return BY_REPLY_ADDRESS
        return await self._senders.verdict(envelope, source.network)

    async def _put_off(self, envelope: Envelope, over: Over) -> None:
        """Have the sender of a mail that is not taken told why."""
        try:
            if wire_refusal(envelope.raw) is None:
                read_head(envelope.raw)
                told = json.dumps(asdict(over) | {"again": over.again.isoformat()})
                lane = f"over {over.kind} {over.who}"
                head = envelope.raw.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" + told.encode()
                kept = Envelope(envelope.sender, envelope.recipient, head)
                await self._storing.store(NewArrival("over", kept, lane, self._clock.now()))
        except (MailError, TryLater):
            pass  # it would have been refused; or it comes again, and is told then


class Storing:
    """Stores what comes, in groups where several clients send; for an event loop.

    All that comes while one group is being committed is the next group: one job of the writer,
    one commit, one wake-up of the loop, one ring. While several clients send mail after mail, a
    group begins when each of them has handed one in, or `GATHER_S` after the one before. Where one
    client sends alone, the loop itself commits each mail, at once: to hand it to a thread and back
    takes longer than its row.

    Args:
        ring: called after a commit that stored something, by the loop or the writer's thread.
    """

    def __init__(self, writer: Writer, ring: Callable[[], None]) -> None:
        self._writer = writer
        self._ring = ring
        self._waiting: deque[_Waiting] = deque()
        self._is_asked = False
        self._senders: dict[asyncio.Task[Any] | None, float] = {}
        self._begun = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def store(self, new: NewArrival) -> int:
        """The number of what has come, once it is committed. Whoever stops waiting before its
        group has begun takes it back; after that it is stored all the same.

        Raises:
            TryLater: the database could not do it.
        """
        loop = asyncio.get_running_loop()
        now = loop.time()
        self._senders[asyncio.current_task()] = now  # each session is a task
        if len(self._senders) > 1:
            self._senders = {
                task: at
                for task, at in self._senders.items()
                if at > now - RECENT_S and not (task and task.done())
            }
        try:
            if len(self._senders) == 1 and not self._waiting and not self._is_asked:
                job = partial(arrivals.add_all, group=[new])
                if (done := self._writer.submit_at_once(job)) is not None:
                    self._begun = now
                    (number,) = done.result()
                    loop.call_soon(self._ring)  # behind the client's 250
                    return number
            stored: asyncio.Future[int] = loop.create_future()
            self._waiting.append((new, stored))
            # In this order, and the other one in `_gather`: nothing is left lying.
            if not self._is_asked:
                begins = self._begun + GATHER_S
                if now >= begins or len(self._waiting) >= len(self._senders):
                    self._begin()
                elif self._timer is None:
                    self._timer = loop.call_at(begins, self._begin)
            return await stored
        except (*UNAVAILABLE, Closed) as error:
            why = reason(error) or type(error).__name__
            log.warning("the database could not take a mail", extra={"because": why})
            raise TryLater("the database could not take a mail") from error

    def _begin(self) -> None:
        """Have all that waits stored, as one group."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._is_asked = True
        self._begun = asyncio.get_running_loop().time()
        self._submit(_Group())

    def _submit(self, group: _Group) -> None:
        try:
            future = self._writer.submit(partial(self._add, group))
        except Closed as closed:
            self._deliver(group, closed)
        else:
            loop = asyncio.get_running_loop()
            future.add_done_callback(partial(self._is_done, group, loop))

    def _gather(self, group: _Group) -> None:
        """All that waits is in a group that begins; those who have gone are left out."""
        self._is_asked = False
        while self._waiting:
            one = self._waiting.popleft()
            if not one[1].done():
                group.members.append(one)

    def _add(self, group: _Group, connection: Connection) -> None:
        """The job that stores a group."""
        if not group.members:
            self._gather(group)
        new = [new for new, _ in group.members]
        group.numbers = arrivals.add_all(connection, new) if new else []

    def _is_done(
        self, group: _Group, loop: asyncio.AbstractEventLoop, future: Future[None]
    ) -> None:
        """Called by the writer's thread: the clients come first, then play."""
        error = future.exception()
        with contextlib.suppress(RuntimeError):  # the loop is closed, and nobody waits
            loop.call_soon_threadsafe(self._deliver, group, error)
        if error is None and group.members:
            self._ring()

    def _deliver(self, group: _Group, error: BaseException | None) -> None:
        if error is not None and not group.members:  # its transaction could not even begin
            self._gather(group)
        is_fault = error is not None and not isinstance(error, (*UNAVAILABLE, Closed))
        if is_fault and len(group.members) > 1:  # of one of them; the others need not suffer
            for one in group.members:
                if not one[1].done():
                    self._submit(_Group([one]))
            return
        for at, (_, stored) in enumerate(group.members):
            if stored.done():
                continue
            if error is not None:
                stored.set_exception(error)
            else:
                stored.set_result(group.numbers[at])


_Waiting: TypeAlias = tuple[NewArrival, "asyncio.Future[int]"]


@dataclass(slots=True)
class _Group:
    """What is stored together.

    Attributes:
        members: nobody yet: whoever waits when it begins.
        numbers: what was stored, in the order of *members*.
    """

    members: list[_Waiting] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
