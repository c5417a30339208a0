"""Absences: ``away``, ``back``, and out-of-office notes, about which the player is asked."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, timedelta, tzinfo
from typing import Any

from pbmserv.commands.table.accounts import Away, Back
from pbmserv.commands.table.command_types import ReplyMove, Yes
from pbmserv.commands.table.starting import Reject
from pbmserv.engine.clocks import EVENT_CLOCK
from pbmserv.engine.time_spans import zone
from pbmserv.errors import Refused
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.refusals import signed_off
from pbmserv.service.time import localtime
from pbmserv.store import clocks
from pbmserv.store.accounts import absences as absence_rows
from pbmserv.store.accounts import leaving, notices, players
from pbmserv.store.accounts.absences import Absence
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards
from pbmserv.store.shared_boxes import event_boxes


def away(context: CommandContext, command: Away) -> Answer:
    """``away userid password [from DATE] until DATE``: be away to the end of that day, local time.

    The first and the last day count. A second ``away`` moves the end of the absence; a second one
    from a later day replaces the planned one.
    """
    player = context.speaker(command.credentials)
    tz = zone(player.tz)
    today = localtime.local_date(context.now, tz)
    line = f"away {player.userid} PASSWORD "
    first, until = _days(command, today, line)
    players.lock(context.connection, player.id)
    if player.unreachable_since is not None:  # a presumed absence ends: the player has written
        end_presumed_absence(context, player, player.unreachable_since)
    absences = absence_rows.of_player(context.connection, player.id)
    which = absence_rows.at if first == today else absence_rows.planned
    before = which(absences, context.now)
    used = _days_used([a for a in absences if a is not before], tz)
    if before is not None and first == today:
        used |= set(localtime.days_touched(before.begins, context.now, tz))
    begin = line if first == today else f"{line}from {first.isoformat()} "
    _refuse_long_absence(context, used, first, until, begin)
    ends = localtime.end_of_day(until, tz)
    if before is not None and first == today:
        absence_rows.end(context.connection, before, ends)
    else:
        if before is not None:
            absence_rows.end(context.connection, before, context.now)
        yesterday = first - timedelta(days=1)
        begins = context.now if first == today else localtime.end_of_day(yesterday, tz)
        absence_rows.add(context.connection, player.id, begins, ends)
    clocks.look_again(context.connection, player.id, context.now)
    words = {
        "first": "" if first == today else first.isoformat(),
        "until": until.isoformat(),
        "tz": player.tz,
        **_boards_that_do_not_wait(context, player),
        **_budget(context, player, tz, until),
    }
    return Answer((Part("away", words),))


def _boards_that_do_not_wait(context: CommandContext, player: Player) -> dict[str, Any]:
    """Return the words about boards of events, which wait for a player few days or none."""
    boxes = event_boxes.open_until(context.connection, player.id)
    in_boxes = {number for numbers in boxes.values() for number in numbers}
    in_events = boards.of_events(context.connection, player.id)
    return {
        "events": [number for number in in_events if number not in in_boxes],
        "event_days": EVENT_CLOCK.away,
        "boxes": [
            {"boards": numbers, "ends": f"{ends:%Y-%m-%d}"} for ends, numbers in boxes.items()
        ],
    }


LATEST_BEGIN = timedelta(days=300)
"""Latest begin of an absence; a day that has just passed means the one of next year."""


def _days(command: Away, today: date, line: str) -> tuple[date, date]:
    """Return the first day of an absence, today or later, and the last one.

    A name of a day means the next such day, for the last day counted from the first one.

    Args:
        line: the begin of the example.

    Raises:
        Refused: a day cannot be read, is over, or is too far away.
    """
    first = localtime.read_date(command.begins, today) if command.begins else today
    if first is None:
        raise Refused("away-date", part=command.begins[:40], example=f"{line}from DATE until DATE")
    first = max(first, today)
    example = f"{line}from {command.begins} until DATE" if first > today else f"{line}until DATE"
    if not command.until:
        raise Refused("away-until", part=command.begins, example=example)
    until = localtime.read_date(command.until, today)
    if until is not None and until < first:
        until = localtime.read_date(command.until, first)
    if until is None:
        raise Refused("away-date", part=command.until[:40], example=example)
    if until < first:
        days = {"first": first.isoformat(), "today": today.isoformat()}
        raise Refused("away-past", part=until.isoformat(), example=example, **days)
    if first > today + LATEST_BEGIN:
        example = f"{line}until {command.until}"
        raise Refused("away-later", part=first.isoformat(), most=LATEST_BEGIN.days, example=example)
    return first, until


def presume_away(context: CommandContext, player: Player, most: timedelta) -> datetime | None:
    """Let a player be away for *most*, or for the rest of this year's days; return the end.

    `None`: no day is left, and nothing has changed. A longer absence stays as it is.
    """
    tz = zone(player.tz)
    absences = absence_rows.of_player(context.connection, player.id)
    used = _days_used(absences, tz)
    latest = _latest(localtime.local_date(context.now, tz), used, context.services.away_days)
    if latest is None:
        return None
    ends = localtime.end_of_day(min(latest, localtime.local_date(context.now + most, tz)), tz)
    now_away = absence_rows.at(absences, context.now)
    if now_away is not None and now_away.ends >= ends:
        return now_away.ends
    absence_rows.add(context.connection, player.id, context.now, ends)
    clocks.look_again(context.connection, player.id, context.now)
    return ends


def end_presumed_absence(context: CommandContext, player: Player, since: datetime) -> bool:
    """End the absence that began at *since* without a command; return whether it still lasted.

    Other absences stay as they are.
    """
    absences = absence_rows.of_player(context.connection, player.id)
    unasked = next((a for a in absences if a.begins == since and a.ends > context.now), None)
    if unasked is None:
        return False
    absence_rows.end(context.connection, unasked, context.now)
    clocks.look_again(context.connection, player.id, context.now)
    return True


def back(context: CommandContext, command: Back) -> Answer:
    """``back userid password``: end an absence now, or cancel a planned one; a player who has
    signed off plays again."""
    credentials = command.credentials
    player = context.speaker(None) if credentials is None else context.identify(credentials)
    if not player.active:
        return _come_back(context, player)
    context.current.speaker = player
    tz = zone(player.tz)
    players.lock(context.connection, player.id)
    absences = absence_rows.of_player(context.connection, player.id)
    now_away = absence_rows.at(absences, context.now)
    ending = now_away or absence_rows.planned(absences, context.now)
    if ending is None:
        example = f"away {player.userid} PASSWORD until tomorrow"
        raise Refused("not-away", part="back", example=example)
    absence_rows.end(context.connection, ending, context.now)
    clocks.look_again(context.connection, player.id, context.now)
    today = localtime.local_date(context.now, tz)
    words = {"userid": player.userid, "again": False, "planned": now_away is None}
    return Answer((Part("back", words | _budget(context, player, tz, today)),))


def _come_back(context: CommandContext, player: Player) -> Answer:
    """Let a player come back who has signed off.

    Letters go to the confirmed address that this mail comes from, else to the oldest one.
    """
    if player.state == "barred":
        raise signed_off(player)
    own = players.addresses_of(context.connection, player.id)
    sender = context.actor.address.lower()
    leaving.come_back(context.connection, player, sender if sender in own else own[0])
    context.current.speaker = players.by_id(context.connection, player.id)
    words = {"userid": player.userid, "again": True, "planned": False}
    return Answer((Part("back", words),))


def _days_used(absences: list[Absence], tz: tzinfo) -> set[date]:
    return {day for a in absences for day in localtime.days_touched(a.begins, a.ends, tz)}


def _latest(first: date, used: set[date], most: int) -> date | None:
    """Return the last day of the longest absence from *first* on; `None` if none can begin."""
    spent = Counter(day.year for day in used)
    day, latest = first, None
    while day in used or spent[day.year] < most:
        if day not in used:
            spent[day.year] += 1
        latest = day
        day += timedelta(days=1)
    return latest


def _refuse_long_absence(
    context: CommandContext, used: set[date], first: date, until: date, line: str
) -> None:
    """Refuse an absence of more days than are left.

    Args:
        line: the begin of the example.
    """
    latest = _latest(first, used, context.services.away_days)
    if latest is None or until > latest:
        raise Refused(
            "away-too-long",
            part=until.isoformat(),
            latest=latest.isoformat() if latest else "",
            example=f"{line}until {latest.isoformat()}" if latest else "",
            **_days_left(context, used, first.year),
        )


def _days_left(context: CommandContext, used: set[date], year: int) -> dict[str, int]:
    """Return the days of absence that are left in a year, as words of a letter."""
    most = context.services.away_days
    left = most - sum(day.year == year for day in used)
    return {"left": max(left, 0), "most": most, "year": year}


def _budget(context: CommandContext, player: Player, tz: tzinfo, day: date) -> dict[str, int]:
    """Return the days of absence that are left in the year of *day*."""
    used = _days_used(absence_rows.of_player(context.connection, player.id), tz)
    return _days_left(context, used, day.year)


ASKED_EVERY = timedelta(days=7)
"""Least time between two questions to a player."""

MOST_PLAYERS = 3
"""Players of one address who are asked."""


def ask_if_away(context: CommandContext, letter_to: int | None = None) -> list[Notification]:
    """Return questions to the players of an out-of-office note who do not count as away.

    A note to a reply address is about the player of that address, whatever address it is from:
    mail is forwarded, and the last mailbox writes the notes. Other notes are about the players who
    have the From address. A note proves nothing, so the question goes to the player's own address
    and changes nothing. A forger of notes can cause one letter a week.

    Args:
        letter_to: the player whose letter the note answers, if the address does not say so.
    """
    questions = []
    for player in _about(context, letter_to):
        absences = absence_rows.of_player(context.connection, player.id)
        is_away = absence_rows.at(absences, context.now) is not None
        if is_away or not notices.note(
            context.connection, player.id, "away", context.now, ASKED_EVERY
        ):
            continue
        today = localtime.local_date(context.now, zone(player.tz))
        words = {"userid": player.userid, "example": (today + timedelta(days=7)).isoformat()}
        questions.append(Notification(player.address, player.id, Part("away-asked", words)))
    return questions


def _about(context: CommandContext, letter_to: int | None) -> list[Player]:
    number = letter_to or context.actor.speaks_for
    player = players.by_id(context.connection, number) if number else None
    if player is None:
        return players.by_address(context.connection, context.actor.address.lower())[:MOST_PLAYERS]
    return [player] if player.active else []


def answer_if_away(context: CommandContext, command: object) -> Answer | None:
    """Carry out a date that answers the question; return `None` for a command of its own.

    Raises:
        Refused: the reply is not a date.
    """
    if not isinstance(command, ReplyMove | Yes | Reject):
        return None
    player = context.speaker(None)
    today = localtime.local_date(context.now, zone(player.tz))
    reply_text = command.lines[0].strip().rstrip(".!") if isinstance(command, ReplyMove) else ""
    words = reply_text.split()
    while words and words[0].lower() in {"yes", "yes,", "i", "am", "i'm", "away"}:
        words = words[1:]
    until = " ".join(words)
    if until and localtime.read_date(until, today) is not None:
        return away(context, Away(None, until))
    in_a_week = (today + timedelta(days=7)).isoformat()
    raise Refused("away-how", part=reply_text[:40], example="away until DATE", day=in_a_week)
