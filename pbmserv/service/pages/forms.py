"""Carries out forms of pages that anybody may send, as jobs of play."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from sqlalchemy import Connection

from pbmserv.errors import PlayerError
from pbmserv.mail.envelope import Source
from pbmserv.mail.reply_address import ENDINGS, Purpose
from pbmserv.service.accounts import signing_up, subscriptions
from pbmserv.service.boards import held_letters, invitation_answers
from pbmserv.service.core.actor import NOBODY, Actor, holder_of
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.job_result import Done, Job
from pbmserv.service.core.outbox_rows import outbox_rows, queue_letters
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.core.page_form import PageForm
from pbmserv.service.core.services import Services
from pbmserv.service.pages.page_forms import ConfirmForm, PageLinkForm, SignupForm, UnsubscribeForm
from pbmserv.service.solo.hot_seat import BeginBox, ChangeBox, begin_box, change_box
from pbmserv.store.accounts import notices, players, signups

LINK_EVERY = timedelta(hours=3)
"""Least time between two letters with a player's link, for which anybody can ask."""
MOST_OF_ADDRESS = 5
"""Most players of one address who get a link."""


def job_of(services: Services, body: bytes, now: datetime) -> Job:
    """Return the job of play that carries out a stored form.

    The pages have checked the tokens; the jobs check them again.
    """
    values = json.loads(body)
    kind = _KINDS[values.pop("form")]
    return partial(_HANDLERS[kind], services, kind.of_values(values), now)


def _unsubscribe(
    services: Services, form: UnsubscribeForm, now: datetime, connection: Connection
) -> Done:
    reply_address = services.mail_domain.ring.read(form.token)
    if reply_address is None or reply_address.purpose not in ENDINGS:
        return Done(page_result=False)
    context = CommandContext(services, connection, holder_of(reply_address), now)
    try:
        if reply_address.purpose is Purpose.UNINVITED:
            notifications = invitation_answers.never(context, reply_address).notifications
        else:
            notifications = tuple(subscriptions.unsubscribe_by_page(context, reply_address))
    except PlayerError:
        return Done(page_result=False)
    return Done(letters=queue_letters(context, notifications), page_result=True)


def _confirm(services: Services, form: ConfirmForm, now: datetime, connection: Connection) -> Done:
    """Confirm a signup, with the same letters as by mail."""
    signup = signups.by_id(connection, form.signup)
    if signup is None:
        return Done(page_result=False)
    actor = Actor(source=Source("", signup.address))
    context = CommandContext(services, connection, actor, now)
    try:
        confirmed = signing_up.confirm(context, form.signup)
    except PlayerError:
        return Done(page_result=False)
    if signup.player_id is not None:
        return Done(page_result=True)
    player = confirmed.player
    welcome = Notification(player.address, player.id, confirmed.welcome)
    letters = outbox_rows(context, (welcome, *confirmed.letters))
    held_letters.queue_or_hold(context, letters)  # a waiting challenge may be one to a bot
    effects = context.effects
    return Done(effects.positions, len(letters), bool(effects.bot_turns), page_result=True)


def _sign_up(services: Services, form: SignupForm, now: datetime, connection: Connection) -> Done:
    """Mail the question that confirms a signup.

    It counts towards the same limits as signups by mail from the reader's network.
    """
    actor = Actor(source=Source(form.network, ""))
    context = CommandContext(services, connection, actor, now)
    try:
        answer = signing_up.signup_by_page(context, form.userid, form.address)
    except PlayerError as error:
        return Done(page_result=asdict(error.refusal))
    return Done(letters=queue_letters(context, answer.notifications))


def _mail_link(
    services: Services, form: PageLinkForm, now: datetime, connection: Connection
) -> Done:
    """Mail links to the players that a form names, by userid or address."""
    name = form.who
    if "@" in name:
        named_players = players.by_address(connection, name)[:MOST_OF_ADDRESS]
    else:
        player = players.account_of(connection, name)
        named_players = [] if player is None else [player]
    context = CommandContext(services, connection, NOBODY, now)
    links = [
        Notification(player.address, player.id, Part("page-link", {"userid": player.userid}))
        for player in named_players
        if player.active and notices.note(connection, player.id, "page-link", now, LINK_EVERY)
    ]
    return Done(letters=queue_letters(context, links), page_result=True)


_HANDLERS: Mapping[type[PageForm[Any]], Callable[[Services, Any, datetime, Connection], Done]] = {
    ConfirmForm: _confirm,
    UnsubscribeForm: _unsubscribe,
    SignupForm: _sign_up,
    PageLinkForm: _mail_link,
    BeginBox: begin_box,
    ChangeBox: change_box,
}
"""The function for each form, which gives the page its result (`Done.page_result`)."""
_KINDS: Mapping[str, type[PageForm[Any]]] = {kind.name: kind for kind in _HANDLERS}
