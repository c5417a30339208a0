"""Those who come by web page: to confirm an address, or to end a subscription."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, TypeAlias

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.errors import PlayerError
from pbmserv.mail.envelope import Envelope
from pbmserv.mail.reply_address import ENDINGS, Purpose, ReplyAddress
from pbmserv.mail.visits import has_ended, is_visit, visit_of, visit_token
from pbmserv.service.accounts import account, preferences
from pbmserv.service.accounts.preferences import Subscription
from pbmserv.service.boards import friends
from pbmserv.service.boards.board_page import BoardPages, Taken
from pbmserv.service.core.actor import VISITOR, holder_of
from pbmserv.service.core.context import CommandContext, Services
from pbmserv.service.core.outbox_rows import outbox_row
from pbmserv.service.core.outcome import NOTHING, Done, Notification
from pbmserv.service.pages.personal_page import PersonalPages, mail_link
from pbmserv.service.pages.public_pages import PublicPages
from pbmserv.service.solo.hot_seat import FORM, HotSeatForms, HotSeats
from pbmserv.store.accounts import players
from pbmserv.store.core.database import Database
from pbmserv.store.delivery import outbox

Form: TypeAlias = Callable[[Mapping[str, Any], datetime, Connection], tuple[Done, Any]]


@dataclass(frozen=True, slots=True)
class SignupState:
    """What a confirmation page shows."""

    userid: str
    address: str
    done: bool


class WebRequests:
    """What the pages ask of the service; looking never changes anything.

    Args:
        ask: has a form carried out, by its name and values; what came of it. Raises `StillWorking`
            when that takes long.
        hand_in: see `BoardPages`.
        leave: see `PersonalPages`.

    Attributes:
        boards: for the pages of boards.
        public: for the pages that everybody may read.
        personal: for players' own pages.
        hot_seats: for boxes that are filled by hand.
    """

    def __init__(
        self,
        services: Services,
        database: Database,
        clock: Clock,
        ask: Callable[[str, Mapping[str, Any]], Awaitable[Any]],
        hand_in: Callable[[Envelope, Taken], Awaitable[Any]],
        leave: Callable[[str, Mapping[str, Any]], Awaitable[int]],
    ) -> None:
        self._services = services
        self._database = database
        self._clock = clock
        self._ask = ask
        self.boards = BoardPages(services, database, clock, hand_in)
        self.public = PublicPages(services, database, clock)
        self.hot_seats = HotSeats(services, database, clock, ask)
        self.personal = PersonalPages(services, database, clock, self.boards, leave)

    def visit(self, token: str) -> str | None:
        """Return a new visit's token for that of a link or a visit; ``None``: it opens nothing."""
        return visit_token(self._services.mail_domain.ring, token, self._clock.now())

    def is_link(self, token: str) -> bool:
        """Whether a token is of a letter's link to a page, and its visit has yet to begin."""
        told = self._services.mail_domain.ring.read(token)
        return (
            told is not None
            and not is_visit(told)
            and visit_of(told, self._clock.now()) is not None
        )

    def has_ended(self, token: str) -> bool:
        """Whether a token is of a visit that is over."""
        told = self._services.mail_domain.ring.read(token)
        return told is not None and has_ended(told, self._clock.now())

    async def describe(self, token: str) -> SignupState | None:
        """What a confirmation link is about."""
        reply_address = self._read(token, Purpose.CONFIRM)
        return await asyncio.to_thread(self._describe, reply_address) if reply_address else None

    async def confirm(self, token: str) -> SignupState | None:
        """Confirm a signup by its link's button."""
        reply_address = self._read(token, Purpose.CONFIRM)
        if reply_address is None:
            return None
        done = await self._ask("confirm", {"signup": reply_address.about})
        return await self.describe(token) if done else None

    async def subscription(self, token: str) -> Subscription | None:
        """What the link in a letter's List-Unsubscribe would end."""
        reply_address = self._read(token, *ENDINGS)
        return await asyncio.to_thread(self._subscription, reply_address) if reply_address else None

    async def unsubscribe(self, token: str) -> Subscription | None:
        """End it (RFC 8058); doing so twice is no error."""
        reply_address = self._read(token, *ENDINGS)
        if reply_address is None:
            return None
        done = await self._ask("unsubscribe", {"token": token})
        return await self.subscription(token) if done else None

    def _read(self, token: str, *purposes: Purpose) -> ReplyAddress | None:
        reply_address = self._services.mail_domain.ring.read(token)
        return (
            reply_address
            if reply_address is not None and reply_address.purpose in purposes
            else None
        )

    # -- looks -----------------------------------------------------------------------------

    def _describe(self, reply_address: ReplyAddress) -> SignupState | None:
        with self._database.reading.connect() as connection:
            request = players.signup(connection, reply_address.about)
        if request is None or not account.waits(request, self._clock.now()):
            return None
        return SignupState(request.userid, request.address, request.player_id is not None)

    def _subscription(self, reply_address: ReplyAddress) -> Subscription | None:
        with self._database.reading.connect() as connection:
            context = self._context(connection, reply_address)
            if reply_address.purpose is Purpose.UNINVITED:
                userid = friends.inviter_of(context, reply_address)
                return None if userid is None else Subscription("invitations", userid)
            try:
                return preferences.subscription_of(context, reply_address)
            except PlayerError:
                return None

    def _context(self, connection: Connection, reply_address: ReplyAddress) -> CommandContext:
        return CommandContext(
            self._services, connection, holder_of(reply_address), self._clock.now()
        )


class Forms:
    """What pages can change, as jobs of play; each says whether it was done.

    Values come from the pages, which have looked at the token: it is looked at again here.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self.by_name: dict[str, Form] = {
            "confirm": self._confirm,
            "unsubscribe": self._unsubscribe,
            "page_link": partial(mail_link, services),
            FORM: HotSeatForms(services).carry_out,
        }

    def _unsubscribe(
        self, values: Mapping[str, Any], now: datetime, connection: Connection
    ) -> tuple[Done, bool]:
        reply_address = self._services.mail_domain.ring.read(values["token"])
        if reply_address is None or reply_address.purpose not in ENDINGS:
            return NOTHING, False
        context = CommandContext(self._services, connection, holder_of(reply_address), now)
        try:
            if reply_address.purpose is Purpose.UNINVITED:
                told = friends.never(context, reply_address).told
            else:
                told = tuple(preferences.unsubscribe_by_page(context, reply_address))
            letters = [outbox_row(context, one) for one in told]
        except PlayerError:
            return NOTHING, False
        outbox.add(connection, letters, now)
        return Done({}, len(letters)), True

    def _confirm(
        self, values: Mapping[str, Any], now: datetime, connection: Connection
    ) -> tuple[Done, bool]:
        """A confirmation by web page: no mail, but the same welcome letter."""
        before = players.signup(connection, values["signup"])
        try:
            player, questions = account.confirm(self._services, connection, values["signup"], now)
        except PlayerError:
            return NOTHING, False
        if before is not None and before.player_id is not None:
            return NOTHING, True
        context = CommandContext(self._services, connection, VISITOR, now)
        welcome = Notification(player.address, player.id, account.welcome(player.userid))
        letters = [outbox_row(context, one) for one in (welcome, *questions)]
        outbox.add(connection, letters, now)
        return Done({}, len(letters)), True
