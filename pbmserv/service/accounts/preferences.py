"""How a player wants things, and when they are away: ``prefs``, ``away``, ``back``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from pbmserv.commands.table.model import Away, Back, Prefs
from pbmserv.errors import Refused
from pbmserv.service.core.answers import Answer, Part
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.may_speak import signed_off
from pbmserv.service.time import localtime
from pbmserv.store import clocks
from pbmserv.store.accounts import leaving, players, preferences
from pbmserv.store.accounts.players import Player
from pbmserv.store.accounts.preferences import Absence
from pbmserv.store.boards import challenges
from pbmserv.store.tables import PlayerState

DIGEST_MINUTE = 7 * 60
"""When the digest comes if no time is said."""

MOST_REMINDERS = 4
LONGEST_REMINDER = timedelta(days=60)

_DAILY = re.compile(r"daily(?:@(\d{1,2}):(\d{2}))?|(\d{1,2}):(\d{2})")
_SPAN = re.compile(r"(\d{1,4})([dh])")
_SWITCH = {"on": True, "yes": True, "off": False, "no": False}


# -- prefs ----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Wishes:
    """What one ``prefs`` asks for, as far as it has been read; nothing is saved before its end."""

    context: CommandContext
    player: Player
    columns: dict[str, Any] = field(default_factory=dict)
    blocks: dict[int, bool] = field(default_factory=dict)

    def refused(self, code: str, name: str, value: str, example: str, **more: str | int) -> Refused:
        """Why a value cannot be, and what could be in its place."""
        line = f"prefs {self.player.userid} PASSWORD {example}"
        return Refused(code, part=f"{name}={value}"[:80], example=line, **more)

    def form(self, value: str) -> None:
        """``format=text|html|spoken``"""
        if value not in {"text", "html", "spoken"}:
            raise self.refused("pref-format", "format", value, "format=text")
        self.columns["format"] = value

    def digest(self, value: str) -> None:
        """``digest=off|daily|daily@07:30``"""
        if value in {"off", "no", "none"}:
            self.columns["digest_minute"] = None
            return
        found = _DAILY.fullmatch(value)
        if found is None:
            raise self.refused("pref-digest", "digest", value, "digest=daily@07:30")
        hour, minute = found[1] or found[3], found[2] or found[4]
        if hour is None:
            self.columns["digest_minute"] = DIGEST_MINUTE
            return
        if int(hour) > 23 or int(minute) > 59:
            raise self.refused("pref-digest-time", "digest", value, "digest=daily@07:30")
        self.columns["digest_minute"] = int(hour) * 60 + int(minute)

    def tz(self, value: str) -> None:
        """``tz=Europe/Berlin``"""
        name = localtime.zone_name(value)
        if name is None and localtime.is_offset(value):
            raise self.refused("pref-tz-offset", "tz", value, "tz=Europe/Berlin")
        if name is None:
            near = localtime.near_zones(value)
            example = f"tz={near[0] if near else 'Europe/Berlin'}"
            raise self.refused("pref-tz", "tz", value, example, near=", ".join(near))
        self.columns["tz"] = name

    def remind(self, value: str) -> None:
        """``remind=2d,6h``, ``remind=2d,night``, ``remind=night``, ``remind=off``"""
        if value in {"off", "no", "none"}:
            self.columns["remind"] = ""
            return
        spans: dict[timedelta, str] = {}
        night = False
        for word in filter(None, (part.strip() for part in value.split(","))):
            found = _SPAN.fullmatch(word)
            if word == "night":
                night = True
            elif found is None:
                raise self.refused("pref-remind", "remind", value, "remind=2d,6h", word=word[:20])
            else:
                count = int(found[1])
                span = timedelta(days=count) if found[2] == "d" else timedelta(hours=count)
                if not timedelta(hours=1) <= span <= LONGEST_REMINDER:
                    raise self.refused(
                        "pref-remind-span", "remind", value, "remind=2d,6h", word=word
                    )
                spans[span] = f"{count}{found[2]}"
        if not spans and not night:
            raise self.refused("pref-remind", "remind", value, "remind=2d,6h", word=value[:20])
        if len(spans) > MOST_REMINDERS:
            example = "remind=7d,2d,6h"
            raise self.refused("pref-remind-many", "remind", value, example, most=MOST_REMINDERS)
        words = [spans[span] for span in sorted(spans, reverse=True)]
        self.columns["remind"] = ",".join([*words, "night"] if night else words)

    def accept(self, value: str) -> None:
        """``accept=ask|auto|none``"""
        if value not in {"ask", "auto", "none"}:
            raise self.refused("pref-accept", "accept", value, "accept=ask")
        self.columns["accept"] = value

    def broadcast(self, value: str) -> None:
        """``broadcast=on|off``"""
        if value not in _SWITCH:
            raise self.refused("pref-broadcast", "broadcast", value, "broadcast=on")
        self.columns["broadcasts"] = _SWITCH[value]

    def block(self, value: str) -> None:
        """``block=bob`` or ``block=bob,carol``"""
        for userid in value.split(","):
            self._block("block", userid.strip(), wanted=True)

    def unblock(self, value: str) -> None:
        """``unblock=bob``"""
        for userid in value.split(","):
            self._block("unblock", userid.strip(), wanted=False)

    def _block(self, name: str, userid: str, *, wanted: bool) -> None:
        other = players.of_name(self.context.connection, userid)
        if other is None or other.state == PlayerState.DELETED:
            raise self.refused("pref-block-unknown", name, userid, f"{name}=USERID", userid=userid)
        if other.id == self.player.id:
            raise self.refused("pref-block-self", name, userid, f"{name}=USERID")
        self.blocks[other.id] = wanted

    def save(self) -> None:
        """Carry all of it out."""
        columns, connection, now = self.columns, self.context.connection, self.context.now
        minute = columns.get("digest_minute", self.player.digest_minute)
        if "digest_minute" in columns or ("tz" in columns and minute is not None):
            tz = localtime.zone(columns.get("tz", self.player.tz))
            columns["digest_due"] = None if minute is None else self._next_digest(tz, minute)
        if minute is None and self.player.digest_minute is not None:
            preferences.release_tray(connection, self.player.id, now)
        if columns:
            preferences.save(connection, self.player.id, columns)
        if {"remind", "tz"} & columns.keys():
            clocks.look_again(connection, self.player.id, now)
        for other_id, wanted in self.blocks.items():
            change = preferences.block if wanted else preferences.unblock
            change(connection, self.player.id, other_id)

    def _next_digest(self, tz: ZoneInfo, minute: int) -> datetime:
        """When the next one comes: not on a day that has had one, by the old clocks or the new."""
        following = localtime.next_local(self.context.now, tz, minute)
        last = clocks.last_digest(self.context.connection, self.player.id)
        while last is not None and any(
            localtime.local_date(following, zone) == localtime.local_date(last, zone)
            for zone in (tz, localtime.zone(self.player.tz))
        ):
            following = localtime.next_local(following, tz, minute)
        return following


_NAMES: Mapping[str, Callable[[_Wishes, str], None]] = {
    "format": _Wishes.form,
    "digest": _Wishes.digest,
    "tz": _Wishes.tz,
    "timezone": _Wishes.tz,
    "remind": _Wishes.remind,
    "accept": _Wishes.accept,
    "block": _Wishes.block,
    "unblock": _Wishes.unblock,
    "broadcast": _Wishes.broadcast,
    "broadcasts": _Wishes.broadcast,
}
_WRITTEN = ("format", "digest", "tz", "remind", "accept", "block", "unblock", "broadcast")


def prefs(context: CommandContext, command: Prefs) -> Answer:
    """``prefs userid password name=value…``: all of them or none; without any it tells them."""
    player = context.speaker(command.who)
    wishes = _Wishes(context, player)
    for name, value in command.settings:
        read = _NAMES.get(name.lower())
        if read is None:
            raise wishes.refused(
                "pref-unknown", name, value, "format=text", known=", ".join(_WRITTEN)
            )
        read(wishes, value.strip().lower())
    wishes.save()
    changed = players.by_id(context.connection, player.id)
    assert changed is not None
    context.player = changed
    return Answer((Part("prefs", _as_words(context, changed, set_now=bool(command.settings))),))


def _as_words(context: CommandContext, player: Player, *, set_now: bool) -> Mapping[str, Any]:
    minute = player.digest_minute
    return {
        "userid": player.userid,
        "changed": set_now,
        "format": player.format,
        "digest": "off" if minute is None else f"daily@{minute // 60:02}:{minute % 60:02}",
        "tz": player.tz,
        "local": f"{context.now.astimezone(localtime.zone(player.tz)):%H:%M}",
        "remind": player.remind or "off",
        "accept": player.accept,
        "broadcast": "on" if player.broadcasts else "off",
        "blocked": preferences.blocked(context.connection, player.id),
        "seeks": [
            " ".join((seek.game, str(seek.seats), *seek.options))
            for seek in challenges.seeks_of(context.connection, player.id)
        ],
    }


# -- away -----------------------------------------------------------------------------------


def away(context: CommandContext, command: Away) -> Answer:
    """``away userid password until DATE``: from now to the end of that day, in the own zone.

    Today counts, and so does the last day. A second ``away`` moves the end of the first.
    """
    player = context.speaker(command.who)
    tz = localtime.zone(player.tz)
    today = localtime.local_date(context.now, tz)
    until = localtime.read_date(command.until, today)
    line = f"away {player.userid} PASSWORD until "
    if until is None:
        example = line + (today + timedelta(days=7)).isoformat()
        raise Refused("away-date", part=command.until[:40], example=example)
    if until < today:
        raise Refused(
            "away-past",
            part=until.isoformat(),
            today=today.isoformat(),
            example=line + (today + timedelta(days=7)).isoformat(),
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
            example=line + latest.isoformat() if latest else "help away",
        )
    ends = localtime.end_of_day(until, tz)
    if now_away is None:
        preferences.begin_absence(context.connection, player.id, context.now, ends)
    else:
        preferences.end_absence(context.connection, player.id, now_away.id, ends)
    clocks.look_again(context.connection, player.id, context.now)
    words = {"userid": player.userid, "until": until.isoformat(), "tz": player.tz}
    return Answer((Part("away", words | _budget(context, player, tz, until)),))


def away_unasked(context: CommandContext, player: Player, most: timedelta) -> datetime | None:
    """Away from now on for *most*, or for what is left of this year's days; when that ends.

    ``None``: no day is left, so nothing has changed. Who is away for longer already stays so.
    """
    tz = localtime.zone(player.tz)
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
    tz = localtime.zone(player.tz)
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
    if player.state == PlayerState.BARRED:
        raise signed_off(player)
    own = players.addresses_of(context.connection, player.id)
    sender = context.incoming.mail.sender.lower()
    leaving.come_back(context.connection, player, sender if sender in own else own[0])
    context.player = players.by_id(context.connection, player.id)
    return Answer((Part("back", {"userid": player.userid, "again": True}),))


def _running(absences: list[Absence], now: datetime) -> Absence | None:
    return next((a for a in absences if a.begins <= now < a.ends), None)


def _days_used(absences: list[Absence], tz: ZoneInfo) -> set[date]:
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


def _budget(context: CommandContext, player: Player, tz: ZoneInfo, day: date) -> dict[str, int]:
    """What is left of the year of *day*."""
    used = _days_used(preferences.absences_of(context.connection, player.id), tz)
    most = context.services.away_days
    left = most - sum(one.year == day.year for one in used)
    return {"left": max(left, 0), "most": most, "year": day.year}
