"""The first stage: takes mails in. Its 250 means that a mail is on the disk.

The door checks the octets, the headers, the limits and the sender's domain, and no rule of a game.
A stranger's mail costs it the reading of the headers and one row.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from functools import partial
from time import perf_counter

from pbmserv.clock import Clock
from pbmserv.errors import MailError, StoreAway
from pbmserv.inbound.auth.senders import Senders
from pbmserv.inbound.message import person_in_head, read_head, wire_refusal
from pbmserv.inbound.source import client_of, source_of
from pbmserv.log import reason
from pbmserv.mail.envelope import BY_REPLY_ADDRESS, NOWHERE, UNCHECKED, Envelope, Source, Verdict
from pbmserv.mail.mail_domain import MailDomain
from pbmserv.mail.networks import Network
from pbmserv.mail.reply_address import Purpose, ReplyAddress, speaker_of
from pbmserv.service.limits.blocked_senders import BlockedSenders
from pbmserv.service.limits.mails_over_limit import MailOverLimit
from pbmserv.service.limits.postmaster_shares import PostmasterShares
from pbmserv.service.limits.rates import Over, TooMany, Traffic
from pbmserv.service.limits.text_quota import Quota
from pbmserv.service.mails.log_lines import (
    Decision,
    note_decision,
    note_press_over_limit,
)
from pbmserv.service.pages.page_requests import PageRequest
from pbmserv.smtpd.replies import FORGED, LANE_FULL, TAKEN, TOO_MANY, TRY_LATER
from pbmserv.stages.lane_loads import LaneLoads
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


class TryLater(StoreAway):
    """The database could not take the mail or form (SMTP: 451, HTTP: 503)."""


class Door:
    """Takes in mails and forms of pages; for an event loop.

    Args:
        mail_domain: our addresses.
        writer: of the mail store.
        clock: the time of arrival.
        traffic: counts mails against the limits.
        quota: the room for waiting mails.
        ring: called after a commit that stored an arrival.
        senders: checks who sent a mail; `None`: no From address is ever proven.
        ours: networks of our own mail servers.
        postmaster: what one network may send to the postmaster.

    Attributes:
        lane_loads: how much waits in each lane.
        blocked: senders whose mail is refused.
    """

    def __init__(
        self,
        mail_domain: MailDomain,
        writer: Writer,
        clock: Clock,
        traffic: Traffic,
        quota: Quota,
        ring: Callable[[], None],
        senders: Senders | None,
        ours: Collection[Network],
        postmaster: PostmasterShares,
    ) -> None:
        self._mail_domain = mail_domain
        self._clock = clock
        self._traffic = traffic
        self._quota = quota
        self._senders = senders
        self._ours = ours
        self._postmaster = postmaster
        self._writer = writer
        self._ring = ring
        self.lane_loads = LaneLoads()
        self.blocked = BlockedSenders()

    def early_refusal(self, envelope: Envelope) -> str:
        """Return the reply to a mail that would not be taken, ``""`` to others; count nothing.

        Args:
            envelope: without the text, which need not be sent.
        """
        refusal = self._refusal_of_blocked(envelope, envelope.sender)
        if refusal:
            return refusal
        source = source_of(envelope, self._ours)
        player = speaker_of(self._mail_domain.read(envelope.recipient))
        is_over = self._traffic.is_over(source, player, direct=not envelope.handed_on)
        return TOO_MANY if is_over else ""

    def _refusal_of_blocked(self, envelope: Envelope, sender: str) -> str:
        """Return the reply to a sender whom the operators have blocked, ``""`` to others."""
        if self.blocked.is_empty:  # as nearly always; to find the client takes longer
            return ""
        return self.blocked.refusal(sender, client_of(envelope, self._ours))

    async def receive(self, envelope: Envelope) -> str:
        """Count a mail, then take it, put it off or refuse it.

        Returns:
            The SMTP reply; 250 means that the mail is committed.
        """
        begun = perf_counter()
        source = source_of(envelope, self._ours)
        reply_address = self._mail_domain.read(envelope.recipient)
        player = speaker_of(reply_address)
        over = self._traffic.count_mail(source, player, direct=not envelope.handed_on)
        try:
            if over is None:
                decision = await self._take(envelope, source, reply_address)
            else:
                if self._traffic.may_read(over):
                    await self._put_off(envelope, over)
                decision = Decision(TOO_MANY, "put-off", f"over the limit of the {over.kind}")
        except TryLater as error:
            decision = Decision(TRY_LATER, "put-off", str(error))
        except Exception:
            log.exception("a mail could not be kept")
            decision = Decision(TRY_LATER, "put-off", "our fault")
        if decision.outcome != "taken":  # play logs the result of the others
            ms = (perf_counter() - begun) * 1000
            note_decision(self._mail_domain, envelope, decision, source, ms)
        return decision.reply

    async def store_form(self, body: bytes) -> int:
        """Store a form of a page (`PageForm.as_json`); return the number of its arrival.

        Raises:
            TryLater: the database could not take it.
        """
        return await self._store(NewArrival.without_mail("form", body, "pages", self._clock.now()))

    async def store_press(self, request: PageRequest) -> int:
        """Store a player's command from a page; return the number of its arrival.

        Raises:
            TryLater: the database could not take it, or too much waits.
            TooMany: its player has sent too much.
        """
        begun = perf_counter()
        body = request.as_json()
        player = request.player
        try:
            self._traffic.count("player", str(player))
        except TooMany:
            note_press_over_limit(player, len(body), (perf_counter() - begun) * 1000)
            raise
        lane = self.lane_loads.lane_for(NOWHERE, player, len(body))
        if lane is None or not self._quota.take_room(len(body), for_postmaster=False):
            raise TryLater("there is no room for one more command")
        new = NewArrival.without_mail("press", body, lane, self._clock.now(), player)
        return await self._store(new)

    async def _take(
        self, envelope: Envelope, source: Source, reply_address: ReplyAddress | None
    ) -> Decision:
        """Store a mail that is not over a limit, or return why not."""
        octets = len(envelope.raw)
        player = speaker_of(reply_address)
        refusal = wire_refusal(envelope.raw)
        if refusal is not None:
            return _refused(refusal)
        comes_back = reply_address is not None and reply_address.purpose is Purpose.BOUNCE
        for_postmaster = self._mail_domain.is_postmaster(envelope.recipient)
        verdict = UNCHECKED
        if not comes_back:  # the From of a report need not be an address that takes answers
            try:
                _, _, author = read_head(envelope.raw)
            except MailError as error:
                why = UNREADABLE.get(str(error), "the mail cannot be read")
                return _refused(f"554 5.6.0 {why}")
            refusal = self._refusal_of_blocked(envelope, author)
            if refusal:
                return _refused(refusal)
            verdict = await self._verdict(envelope, source, reply_address)
            if verdict.result == "forged" and not for_postmaster:
                # An answer would go to a person who has not written to us.
                return _refused(FORGED)
        if for_postmaster and not self._postmaster.is_open(source.network, octets):
            return Decision(
                TRY_LATER, "put-off", "the network's share of the postmaster is used up"
            )
        lane = self.lane_loads.lane_for(source, player, octets)
        if lane is None:
            return Decision(LANE_FULL, "put-off", "too many mails of one sender wait")
        if not self._quota.take_room(octets, for_postmaster=for_postmaster):
            raise TryLater("there is no room for one more mail")
        if for_postmaster:
            self._postmaster.add(source.network, octets)
        now = self._clock.now()
        new = NewArrival("mail", envelope, lane, now, verdict, player or None)
        number = await self._store(new)
        return Decision(f"{TAKEN} {number}", "taken")

    async def _verdict(
        self, envelope: Envelope, source: Source, reply_address: ReplyAddress | None
    ) -> Verdict:
        """Return whether the From address is proven. A reply address says by itself who writes."""
        if self._senders is None:
            return UNCHECKED
        if reply_address is not None:
            return BY_REPLY_ADDRESS
        return await self._senders.verdict(envelope, source.network)

    async def _put_off(self, envelope: Envelope, over: Over) -> None:
        """Have play tell the writer of a mail over a limit why it is not taken, unless a machine
        wrote it."""
        domain = self._mail_domain
        try:
            if wire_refusal(envelope.raw) is not None:
                return
            writer = person_in_head(envelope, domain)
            if not writer:
                return
            body = MailOverLimit(writer, over).as_json()
            lane = f"over {over.kind} {over.who}"
            await self._store(NewArrival.without_mail("over", body, lane, self._clock.now()))
        except (MailError, TryLater):
            pass  # it comes again, and is refused or explained then

    async def _store(self, new: NewArrival) -> int:
        """Commit an arrival, ring play, and return the arrival's number.

        A task that is cancelled before the writer begins takes its arrival back.

        Raises:
            TryLater: the database could not take it.
        """
        try:
            future = self._writer.submit(partial(arrivals.add, new=new))
            number = await asyncio.wrap_future(future)
        except (*UNAVAILABLE, Closed) as error:
            why = reason(error) or type(error).__name__
            log.warning("the database could not take a mail", extra={"because": why})
            raise TryLater("the database could not take a mail") from error
        self._ring()
        return number


def _refused(reply: str) -> Decision:
    """Return the decision to refuse a mail with an SMTP reply."""
    return Decision(reply, "refused", reply)
