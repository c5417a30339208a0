"""Being away: ``away``, ``back``, and out-of-office notes, whose player is asked."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, timedelta, tzinfo

from pbmserv.commands.table.accounts import Away, Back
from pbmserv.commands.table.model import ReplyMove, Yes
from pbmserv.commands.table.starting import Reject
from pbmserv.engine.clocks import zone
from pbmserv.errors import Refused
from pbmserv.mail.envelope import Mail
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import signed_off
from pbmserv.service.core.results import Answer, Notification, Part
from pbmserv.service.time import localtime
from pbmserv.store import clocks
from pbmserv.store.accounts import leaving, players, preferences
from pbmserv.store.accounts.players import Player
from pbmserv.store.accounts.preferences import Absence


def away(context: CommandContext, command: Away) -> Answer:
    """``away userid password until DATE``: from now to the end of that day, in the own zone.

    Today counts, and so does the last day. A second ``away`` moves the end of the first.
    """
    player = context.speaker(command.who)
    tz = zone(player.tz)
    today = localtime.local_date(context.now, tz)
    if command.begins:
        _must_begin_now(command, today)
    until = localtime.read_date(command.until, today)
    line = f"away {player.userid} PASSWORD until "
    if until is None:
        raise Refused("away-date", part=command.until[:40], example=f"{line}DATE")
    if until < today:
        raise Refused(
            "away-past",
            part=until.isoformat(),
            today=today.isoformat(),
            example=f"{line}DATE",
        )
    preferences.lock(context.connection, player.id)
    if player.unreachable_since is not None:  # what was only taken for an absence is none
        no_longer_away(context, player, player.unreachable_since)
    absences = preferences.absences_of(context.connection, player.id)
    now_away = _running(absences, context.now)
    used = _days_used([a for a in absences if a is not now_away], tz)
    if now_away is not None:
        used |= set(localtime.days_touched(now_away.begins, context.now, tz))
    most = context.services.away_days
    latest = _latest(today, used, most)
    if latest is None or until > latest:
        left = most - sum(day.year == today.year for day in used)
        raise Refused(
            "away-too-long",
            part=until.isoformat(),
            most=most,
            left=max(left, 0),
            year=today.year,
            latest=latest.isoformat() if latest else "",
            example=line + latest.isoformat() if latest else "",
        )
    ends = localtime.end_of_day(until, tz)
    if now_away is None:
        preferences.begin_absence(context.connection, player.id, context.now, ends)
    else:
        preferences.end_absence(context.connection, player.id, now_away.id, ends)
    clocks.look_again(context.connection, player.id, context.now)
    words = {"userid": player.userid, "until": until.isoformat(), "tz": player.tz}
    return Answer((Part("away", words | _budget(context, player, tz, until)),))


def _must_begin_now(command: Away, today: date) -> None:
    """Refuse an absence that begins later than today, or on a day that cannot be read."""
    begins = localtime.read_date(command.begins, today)
    if begins is None or begins > today or not command.until:
        raise Refused("away-later", begins=command.begins, until=command.until or "friday")


def away_unasked(context: CommandContext, player: Player, most: timedelta) -> datetime | None:
    """Away from now on for *most*, or for what is left of this year's days; when that ends.

    ``None``: no day is left, so nothing has changed. Who is away for longer already stays so.
    """
    tz = zone(player.tz)
    absences = preferences.absences_of(context.connection, player.id)
    used = _days_used(absences, tz)
    latest = _latest(localtime.local_date(context.now, tz), used, context.services.away_days)
    if latest is None:
        return None
    ends = localtime.end_of_day(min(latest, localtime.local_date(context.now + most, tz)), tz)
    now_away = _running(absences, context.now)
    if now_away is not None and now_away.ends >= ends:
        return now_away.ends
    preferences.begin_absence(context.connection, player.id, context.now, ends)
    clocks.look_again(context.connection, player.id, context.now)
    return ends


def no_longer_away(context: CommandContext, player: Player, since: datetime) -> bool:
    """End the absence that began at *since* without a command, if it still lasts; whether it did.

    Others stay as they are.
    """
    absences = preferences.absences_of(context.connection, player.id)
    unasked = next((a for a in absences if a.begins == since and a.ends > context.now), None)
    if unasked is None:
        return False
    preferences.end_absence(context.connection, player.id, unasked.id, context.now)
    others = [a.ends for a in absences if a is not unasked]
    until = max((*others, context.now))
    preferences.save(context.connection, player.id, {"away_until": until})
    clocks.look_again(context.connection, player.id, context.now)
    return True


def back(context: CommandContext, command: Back) -> Answer:
    """``back userid password``: an absence ends now; who has signed off is a player again."""
    player = context.identify(command.who) if command.who is not None else context.speaker(None)
    if not player.active:
        return _come_back(context, player)
    context.player = player
    tz = zone(player.tz)
    preferences.lock(context.connection, player.id)
    now_away = _running(preferences.absences_of(context.connection, player.id), context.now)
    if now_away is None:
        example = f"away {player.userid} PASSWORD until tomorrow"
        raise Refused("not-away", part="back", example=example)
    preferences.end_absence(context.connection, player.id, now_away.id, context.now)
    clocks.look_again(context.connection, player.id, context.now)
    today = localtime.local_date(context.now, tz)
    words = {"userid": player.userid, "again": False}
    return Answer((Part("back", words | _budget(context, player, tz, today)),))


def _come_back(context: CommandContext, player: Player) -> Answer:
    """Letters go to the confirmed address that this mail comes from, else to the oldest one."""
    if player.state == "barred":
        raise signed_off(player)
    own = players.addresses_of(context.connection, player.id)
    sender = context.incoming.mail.sender.lower()
    leaving.come_back(context.connection, player, sender if sender in own else own[0])
    context.player = players.by_id(context.connection, player.id)
    return Answer((Part("back", {"userid": player.userid, "again": True}),))


def _running(absences: list[Absence], now: datetime) -> Absence | None:
    return next((a for a in absences if a.begins <= now < a.ends), None)


def _days_used(absences: list[Absence], tz: tzinfo) -> set[date]:
    return {day for a in absences for day in localtime.days_touched(a.begins, a.ends, tz)}


def _latest(today: date, used: set[date], most: int) -> date | None:
    """The last day of the longest absence that could begin today; ``None`` = not even today."""
    spent = Counter(day.year for day in used)
    day, latest = today, None
    while day in used or spent[day.year] < most:
        if day not in used:
            spent[day.year] += 1
        latest = day
        day += timedelta(days=1)
    return latest


def _budget(context: CommandContext, player: Player, tz: tzinfo, day: date) -> dict[str, int]:
    """What is left of the year of *day*."""
    used = _days_used(preferences.absences_of(context.connection, player.id), tz)
    most = context.services.away_days
    left = most - sum(one.year == day.year for one in used)
    return {"left": max(left, 0), "most": most, "year": day.year}


ASKED_EVERY = timedelta(days=7)
"""A player is asked at most once in so long."""

MOST_PLAYERS = 3
"""Of those who share one address."""


def ask_if_away(
    context: CommandContext, mail: Mail, letter_to: int | None = None
) -> list[Notification]:
    """The question for whom the note seems to be about; nobody who is away already.

    At a reply address that is its player, whatever address the note is from: mail is forwarded,
    and it is the last mailbox that writes notes. Elsewhere it is whoever has the sender's address.
    The note proves nothing, so the question goes to the player's own address and changes nothing;
    who forges notes, and be it with somebody's reply address, has one letter a week sent there.

    Args:
        letter_to: whose letter the note answers, where the address it came to does not say so.
    """
    if not mail.away:
        return []
    asked = []
    for player in _about(context, mail, letter_to):
        is_away = player.away_until is not None and player.away_until > context.now
        if is_away or not preferences.may_tell(
            context.connection, player.id, "away", context.now, ASKED_EVERY
        ):
            continue
        today = localtime.local_date(context.now, zone(player.tz))
        words = {"userid": player.userid, "example": (today + timedelta(days=7)).isoformat()}
        asked.append(Notification(player.address, player.id, Part("away-asked", words)))
    return asked


def _about(context: CommandContext, mail: Mail, letter_to: int | None) -> list[Player]:
    reply_address = context.reply_address
    number = letter_to or (reply_address.player if reply_address is not None else 0)
    player = players.by_id(context.connection, number) if number else None
    if player is None:
        return players.by_address(context.connection, mail.sender.lower())[:MOST_PLAYERS]
    is_revoked = letter_to is None and reply_address and reply_address.epoch != player.reply_epoch
    return [] if is_revoked or not player.active else [player]


def answer_if_away(context: CommandContext, asked: object) -> Answer | None:
    """A reply to the question: a date says it all; ``None`` = a command of its own.

    Raises:
        Refused: it is no date.
    """
    if not isinstance(asked, ReplyMove | Yes | Reject):
        return None
    player = context.speaker(None)
    today = localtime.local_date(context.now, zone(player.tz))
    said = asked.lines[0].strip().rstrip(".!") if isinstance(asked, ReplyMove) else ""
    words = said.split()
    while words and words[0].lower() in {"yes", "yes,", "i", "am", "i'm", "away"}:
        words = words[1:]
    until = " ".join(words)
    if until and localtime.read_date(until, today) is not None:
        return away(context, Away(None, until))
    in_a_week = (today + timedelta(days=7)).isoformat()
    raise Refused("away-how", part=said[:40], example="away until DATE", day=in_a_week)
