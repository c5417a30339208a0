"""Links of private pages, and visits: the short-lived tokens in their addresses.

A letter's link opens its page for as long as the link is good, so it must not stay in the browser's
address bar and history. The first look exchanges it for a token that opens the same page for
`VISIT_MINUTES`, and nothing else.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta

from pbmserv.mail.key_ring import KeyRing
from pbmserv.mail.reply_address import PAGE_DAYS, VISIT_MINUTES, Purpose, ReplyAddress

_EPOCH = date(1970, 1, 1)
_VISITS = {Purpose.BOARD: Purpose.BOARD_VISIT, Purpose.PAGE: Purpose.PAGE_VISIT}


def page_link(player: int, epoch: int, moment: datetime) -> ReplyAddress:
    """Return the contents of a link that opens a player's own page from *moment* on.

    Args:
        player: row id of the player.
        epoch: the player's present epoch, by which links are revoked.
    """
    return ReplyAddress(Purpose.PAGE, player, 0, (moment.date() - _EPOCH).days, epoch)


def last_day(link: ReplyAddress) -> date:
    """Return the last day on which a link opens its player's own page."""
    return _EPOCH + timedelta(days=link.number + PAGE_DAYS)


def visit_of(link: ReplyAddress, now: datetime) -> ReplyAddress | None:
    """Return the visit that begins now with a letter's link, or goes on with another visit.

    ``None``: the link opens no page. A visit to a player's own page says in `about` on which day
    its link was made.
    """
    if link.purpose in _VISITS.values():
        purpose, about = link.purpose, link.about
    elif link.purpose in _VISITS:
        purpose = _VISITS[link.purpose]
        about = link.about if link.purpose is Purpose.BOARD else link.number
    else:
        return None
    return ReplyAddress(purpose, link.player, about, _minute(now), link.epoch)


def visit_token(ring: KeyRing, token: str, now: datetime) -> str | None:
    """Return a new visit's token in exchange for the token of a link or of a visit that lasts."""
    link = ring.read(token)
    if link is None or has_ended(link, now):
        return None
    visit = visit_of(link, now)
    return None if visit is None else ring.token(visit)


def is_visit(token: ReplyAddress) -> bool:
    """Return whether a token is of a visit, and not of a letter's link."""
    return token.purpose in _VISITS.values()


def has_ended(token: ReplyAddress, now: datetime) -> bool:
    """Return whether a token is of a visit that is over."""
    return is_visit(token) and not 0 <= _minute(now) - token.number <= VISIT_MINUTES


def link_of(token: ReplyAddress, now: datetime) -> ReplyAddress | None:
    """Return the link with which a visit began, or the link itself; ``None``: the visit is over."""
    if has_ended(token, now):
        return None
    if token.purpose is Purpose.BOARD_VISIT:
        return ReplyAddress(Purpose.BOARD, token.player, token.about, 0, token.epoch)
    if token.purpose is Purpose.PAGE_VISIT:
        return ReplyAddress(Purpose.PAGE, token.player, 0, token.about, token.epoch)
    return token


def read_link(ring: KeyRing, token: str, now: datetime) -> ReplyAddress | None:
    """Return the link of a letter's or a visit's token; `None` if it is not, or no longer, good."""
    address = ring.read(token)
    return None if address is None else link_of(address, now)


def _minute(moment: datetime) -> int:
    return int(moment.timestamp()) // 60
