"""Those who come by web page: to confirm an address, or to end a subscription."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.errors import PlayerError
from pbmserv.mail.reply_address import Capability, Purpose
from pbmserv.service.accounts import signup, unsubscribe
from pbmserv.service.accounts.unsubscribe import Subscription
from pbmserv.service.core.context import Desk, Rooms
from pbmserv.service.core.done import NOTHING, Done
from pbmserv.service.core.mail_service import Office
from pbmserv.service.core.results import message_id, told_letter
from pbmserv.service.time.deadlines import clock_desk
from pbmserv.store.accounts import players
from pbmserv.store.core.database import Database
from pbmserv.store.delivery import outbox
from pbmserv.store.delivery.outbox import NewLetter


@dataclass(frozen=True, slots=True)
class SignupState:
    """What a confirmation page shows."""

    userid: str
    address: str
    done: bool


class Visitors:
    """What the pages ask of the service; looking never changes anything."""

    def __init__(self, rooms: Rooms, database: Database, office: Office, clock: Clock) -> None:
        self._rooms = rooms
        self._database = database
        self._office = office
        self._clock = clock

    async def describe(self, token: str) -> SignupState | None:
        """What a confirmation link is about."""
        capability = self._read(token, Purpose.CONFIRM)
        return await asyncio.to_thread(self._describe, capability) if capability else None

    async def confirm(self, token: str) -> SignupState | None:
        """Confirm a signup by its link's button."""
        capability = self._read(token, Purpose.CONFIRM)
        if capability is None:
            return None
        try:
            await self._office.commit(partial(self._confirm, capability.about))
        except PlayerError:
            return None
        return await self.describe(token)

    async def subscription(self, token: str) -> Subscription | None:
        """What the link in a letter's List-Unsubscribe would end."""
        capability = self._read(token, Purpose.UNSUBSCRIBE)
        return await asyncio.to_thread(self._subscription, capability) if capability else None

    async def unsubscribe(self, token: str) -> Subscription | None:
        """End it (RFC 8058); doing so twice is no error."""
        capability = self._read(token, Purpose.UNSUBSCRIBE)
        if capability is None:
            return None
        try:
            await self._office.commit(partial(self._end, capability))
        except PlayerError:
            return None
        return await self.subscription(token)

    def _read(self, token: str, purpose: Purpose) -> Capability | None:
        capability = self._rooms.house.ring.read(token)
        return capability if capability is not None and capability.purpose is purpose else None

    # -- looks -----------------------------------------------------------------------------

    def _describe(self, capability: Capability) -> SignupState | None:
        with self._database.reading.connect() as connection:
            request = players.signup(connection, capability.about)
        if request is None:
            return None
        return SignupState(request.userid, request.address, request.player_id is not None)

    def _subscription(self, capability: Capability) -> Subscription | None:
        with self._database.reading.connect() as connection:
            try:
                return unsubscribe.of(self._desk(connection, capability), capability)
            except PlayerError:
                return None

    # -- jobs: run by the writer, inside its transaction -----------------------------------

    def _end(self, capability: Capability, connection: Connection) -> Done:
        desk = self._desk(connection, capability)
        letters = [told_letter(desk, told) for told in unsubscribe.by_page(desk, capability)]
        outbox.add(connection, letters, desk.now)
        return Done({}, len(letters))

    def _desk(self, connection: Connection, capability: Capability) -> Desk:
        return clock_desk(self._rooms, connection, self._clock.now(), capability)

    def _confirm(self, signup_id: int, connection: Connection) -> Done:
        """A confirmation by web page: no mail, but the same welcome letter."""
        now = self._clock.now()
        before = players.signup(connection, signup_id)
        player = signup.confirm(connection, signup_id, now)
        if before is not None and before.player_id is not None:
            return NOTHING
        part = signup.welcome(player.userid)
        letter = NewLetter(
            letter=part.letter,
            recipient=player.address,
            words=part.words,
            message_id=message_id(self._rooms.house.domain, part),
            player_id=player.id,
        )
        outbox.add(connection, [letter], now)
        return Done({}, 1)
