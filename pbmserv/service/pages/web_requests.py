"""The service behind the pages, in the web process: it looks, and hands changes to play."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from pbmserv.errors import PlayerError, Refusal
from pbmserv.mail.reply_address import ENDINGS, Purpose, ReplyAddress
from pbmserv.mail.visits import has_ended, is_visit, visit_of, visit_token
from pbmserv.service.accounts import signing_up, subscriptions
from pbmserv.service.accounts.subscriptions import Subscription
from pbmserv.service.boards import invitation_answers
from pbmserv.service.boards.board_page import BoardPages
from pbmserv.service.core.actor import holder_of
from pbmserv.service.core.page_contexts import PageContexts
from pbmserv.service.pages.board_presses import BoardPresses
from pbmserv.service.pages.calendar import Calendars
from pbmserv.service.pages.page_forms import ConfirmForm, SignupForm, UnsubscribeForm
from pbmserv.service.pages.personal_page import PersonalPages
from pbmserv.service.pages.play import Play
from pbmserv.service.pages.public_pages import PublicPages
from pbmserv.service.solo.guest_box import GuestBoxes
from pbmserv.service.solo.hot_seat import HotSeats
from pbmserv.store.accounts import signups

LONGEST_FIELD = 254
"""Characters of a name or mail address in a form."""


@dataclass(frozen=True, slots=True)
class SignupState:
    """A signup, as its confirmation page shows it."""

    userid: str
    address: str
    done: bool


class WebRequests:
    """The service behind the pages. Looks change nothing.

    Args:
        play: carries out forms and commands.

    Attributes:
        boards: looks at the pages of boards.
        presses: commands from the pages of boards.
        public: pages that everybody may read.
        guest_boxes: the guests' box of today, of which the server stores nothing.
        personal: players' own pages.
        calendars: calendars of players' deadlines.
        hot_seats: boxes that are filled by hand.
    """

    def __init__(self, contexts: PageContexts, play: Play) -> None:
        self._contexts = contexts
        self._ring = contexts.services.mail_domain.ring
        self._play = play
        self.boards = BoardPages(contexts)
        self.presses = BoardPresses(contexts, self.boards, play)
        self.public = PublicPages(contexts)
        self.guest_boxes = GuestBoxes(contexts.services, contexts.clock)
        self.calendars = Calendars(contexts)
        self.hot_seats = HotSeats(contexts.services, contexts.database, play.ask)
        self.personal = PersonalPages(contexts, self.boards, play)

    def visit(self, token: str) -> str | None:
        """Return a new visit's token for the token of a link or visit; `None` if it opens no
        page."""
        return visit_token(self._ring, token, self._contexts.clock.now())

    def is_link(self, token: str) -> bool:
        """Return whether a token belongs to a letter's link, whose visit has not begun."""
        link = self._ring.read(token)
        return (
            link is not None
            and not is_visit(link)
            and visit_of(link, self._contexts.clock.now()) is not None
        )

    def has_ended(self, token: str) -> bool:
        """Return whether a token belongs to a visit that is over."""
        link = self._ring.read(token)
        return link is not None and has_ended(link, self._contexts.clock.now())

    async def signup(self, token: str) -> SignupState | None:
        """Return the signup of a confirmation link; `None` if the link has ended."""
        reply_address = self._read(token, Purpose.CONFIRM)
        return await asyncio.to_thread(self._signup, reply_address) if reply_address else None

    async def confirm(self, token: str) -> SignupState | None:
        """Confirm a signup by its link's button."""
        reply_address = self._read(token, Purpose.CONFIRM)
        if reply_address is None:
            return None
        done = await self._play.ask(ConfirmForm(reply_address.about))
        return await self.signup(token) if done else None

    async def sign_up(self, name: str, address: str, network: str) -> Refusal | None:
        """Mail a question that confirms a signup; return the refusal if there is one.

        Args:
            network: of the reader; "" if it is unknown.
        """
        userid, address = name.strip().lower()[:LONGEST_FIELD], address.strip()[:LONGEST_FIELD]
        refusal = await self._play.ask(SignupForm(userid, address, network))
        return None if refusal is None else Refusal(**refusal)

    async def subscription(self, token: str) -> Subscription | None:
        """Return the subscription of a List-Unsubscribe link; `None` if the link has ended."""
        reply_address = self._read(token, *ENDINGS)
        return await asyncio.to_thread(self._subscription, reply_address) if reply_address else None

    async def unsubscribe(self, token: str) -> Subscription | None:
        """End a subscription (RFC 8058); doing so twice is no error."""
        reply_address = self._read(token, *ENDINGS)
        if reply_address is None:
            return None
        done = await self._play.ask(UnsubscribeForm(token))
        return await self.subscription(token) if done else None

    def _read(self, token: str, *purposes: Purpose) -> ReplyAddress | None:
        """Return the contents of a token; `None` if it is not good for one of these purposes."""
        reply_address = self._ring.read(token)
        if reply_address is None or reply_address.purpose not in purposes:
            return None
        return reply_address

    # -- looks -----------------------------------------------------------------------------

    def _signup(self, reply_address: ReplyAddress) -> SignupState | None:
        with self._contexts.open() as context:
            request = signups.by_id(context.connection, reply_address.about)
            if request is None or not signing_up.can_be_confirmed(request, context.now):
                return None
        return SignupState(request.userid, request.address, request.player_id is not None)

    def _subscription(self, reply_address: ReplyAddress) -> Subscription | None:
        with self._contexts.open(holder_of(reply_address)) as context:
            if reply_address.purpose is Purpose.UNINVITED:
                userid = invitation_answers.inviter_of(context, reply_address)
                return None if userid is None else Subscription("invitations", userid)
            try:
                return subscriptions.subscription_of(context, reply_address)
            except PlayerError:
                return None
