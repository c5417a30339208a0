"""``prefs``: the preferences of a player."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from typing import Any

from pbmserv.commands.table.accounts import Prefs
from pbmserv.engine.time_spans import zone
from pbmserv.errors import Refused
from pbmserv.service.core import contact
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.service.time import localtime
from pbmserv.store import clocks
from pbmserv.store.accounts import absences as absence_rows
from pbmserv.store.accounts import blocks, persons, players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import seeks
from pbmserv.store.delivery import digests, unsent_letters
from pbmserv.store.tables.accounts import PlayerState

DIGEST_MINUTE = 7 * 60
"""Local minute of the digest if no time is given."""

MOST_REMINDERS = 4
LONGEST_REMINDER = timedelta(days=60)

_SPAN = re.compile(r"(\d{1,4})([dh])")
_SWITCH = {"on": True, "yes": True, "off": False, "no": False}


@dataclass(frozen=True, slots=True)
class _Choice:
    """A preference that has one of a few values.

    Attributes:
        column: of the player's row.
        refusal: the code of the refusal of another value.
        values: what the column stores, by the words of the player.
        example: the value in the example of the refusal.
    """

    column: str
    refusal: str
    values: Mapping[str, str | bool]
    example: str = "VALUE"

    @classmethod
    def of_words(cls, column: str, refusal: str, *words: str, example: str = "VALUE") -> _Choice:
        """Return a preference whose column stores the word itself."""
        return cls(column, refusal, {word: word for word in words}, example)


_CHOICES: Mapping[str, _Choice] = {
    "format": _Choice.of_words("format", "pref-format", "text", "html", "spoken", "tiny"),
    "accept": _Choice.of_words("accept", "pref-accept", "ask", "auto", "none"),
    "broadcast": _Choice("broadcasts", "pref-broadcast", _SWITCH),
    "announce": _Choice("announcements", "pref-announce", _SWITCH),
    "report": _Choice.of_words("report", "pref-report", "always", "ask", example="always"),
    "labels": _Choice.of_words("labels", "pref-labels", "ask", "both", example="both"),
    "public": _Choice("public", "pref-public", _SWITCH, "no"),
    "messages": _Choice.of_words(
        "messages", "pref-messages", "all", "played", "none", example="played"
    ),
}
_OTHER_NAMES = {"timezone": "tz", "broadcasts": "broadcast", "announcements": "announce"}


@dataclass(slots=True)
class _Wishes:
    """The changes that one ``prefs`` asks for; `save` carries all of them out."""

    context: CommandContext
    player: Player
    columns: dict[str, Any] = field(default_factory=dict)
    blocks: dict[int, bool] = field(default_factory=dict)

    def refusal(
        self, code: str, name: str, value: str, meant: str = "VALUE", **more: str | int
    ) -> Refused:
        """Return the refusal of a value.

        Args:
            meant: the value to show in the example.
        """
        line = f"prefs {self.player.userid} PASSWORD {name}={meant}"
        return Refused(code, part=f"{name}={value}"[:80], example=line, **more)

    def choose(self, name: str, choice: _Choice, value: str) -> None:
        """Choose one of the few values of a preference."""
        if value not in choice.values:
            raise self.refusal(choice.refusal, name, value, choice.example)
        self.columns[choice.column] = choice.values[value]

    def digest(self, value: str) -> None:
        """``digest=off|daily|daily@07:30``, and the hour as people write it: ``digest=7pm``"""
        if value in {"off", "no", "none"}:
            self.columns["digest_minute"] = None
            return
        if value == "daily":
            self.columns["digest_minute"] = DIGEST_MINUTE
            return
        time_of_day = value.removeprefix("daily").lstrip("@")
        minute = localtime.minute_of_day(time_of_day)
        if minute is None:
            code = "pref-digest-time" if time_of_day[:1].isdigit() else "pref-digest"
            raise self.refusal(code, "digest", value)
        self.columns["digest_minute"] = minute

    def tz(self, value: str) -> None:
        """``tz=Europe/Berlin``"""
        name = localtime.zone_name(value) or localtime.zone_of_city(value)
        if name is None and localtime.is_offset(value):
            raise self.refusal("pref-tz-offset", "tz", value)
        if name is None:
            near = localtime.near_zones(value)
            meant = near[0] if near else "ZONE"
            raise self.refusal("pref-tz", "tz", value, meant, near=", ".join(near))
        self.columns["tz"] = name

    def remind(self, value: str) -> None:
        """``remind=2d,6h``, ``remind=2d,night``, ``remind=night``, ``remind=off``"""
        if value in {"off", "no", "none"}:
            self.columns["remind"] = ""
            return
        spans: dict[timedelta, str] = {}
        night = False
        for word in filter(None, (part.strip() for part in value.split(","))):
            match = _SPAN.fullmatch(word)
            if word == "night":
                night = True
            elif match is None:
                raise self.refusal("pref-remind", "remind", value, word=word[:20])
            else:
                count = int(match[1])
                span = timedelta(days=count) if match[2] == "d" else timedelta(hours=count)
                if not timedelta(hours=1) <= span <= LONGEST_REMINDER:
                    raise self.refusal("pref-remind-span", "remind", value, word=word)
                spans[span] = f"{count}{match[2]}"
        if not spans and not night:
            raise self.refusal("pref-remind", "remind", value, word=value[:20])
        if len(spans) > MOST_REMINDERS:
            raise self.refusal("pref-remind-many", "remind", value, most=MOST_REMINDERS)
        words = [spans[span] for span in sorted(spans, reverse=True)]
        self.columns["remind"] = ",".join([*words, "night"] if night else words)

    def block(self, value: str) -> None:
        """``block=bob`` or ``block=bob,carol``"""
        for userid in value.split(","):
            self._block("block", userid.strip(), wanted=True)

    def unblock(self, value: str) -> None:
        """``unblock=bob``"""
        for userid in value.split(","):
            self._block("unblock", userid.strip(), wanted=False)

    def _block(self, name: str, userid: str, *, wanted: bool) -> None:
        other = players.account_of(self.context.connection, userid)
        if other is None or (wanted and other.state == PlayerState.DELETED):
            raise self.refusal("pref-block-unknown", name, userid, userid=userid)
        if other.id == self.player.id:
            raise self.refusal("pref-block-self", name, userid)
        self.blocks[other.id] = wanted

    def save(self) -> None:
        """Carry out all changes."""
        columns, connection, now = self.columns, self.context.connection, self.context.now
        minute = columns.get("digest_minute", self.player.digest_minute)
        if "digest_minute" in columns or ("tz" in columns and minute is not None):
            tz = zone(columns.get("tz", self.player.tz))
            columns["digest_due"] = None if minute is None else self._next_digest(tz, minute)
        if minute is None and self.player.digest_minute is not None:
            unsent_letters.release_tray(connection, self.player.id, now)
        if columns:
            players.change(connection, self.player.id, columns)
        if {"remind", "tz", "digest_minute"} & columns.keys():
            clocks.look_again(connection, self.player.id, now)
        for other_id, wanted in self.blocks.items():
            if wanted:
                self._save_block(other_id)
            else:
                self._save_unblock(other_id)

    def _save_block(self, other_id: int) -> None:
        """Block a player, whose waiting words are dropped."""
        connection = self.context.connection
        people = persons.persons_of(connection, {self.player.id, other_id})
        readers, writers = frozenset({self.player.id}), frozenset({other_id})
        marks: list[str] = []
        if not people.same(self.player.id, other_id):
            readers, writers = map(people.ids_of_person, (self.player.id, other_id))
            marks = contact.newest_marks_of(self.context, writers)
        blocks.block(connection, self.player.id, other_id, marks)
        userids = players.userids(connection, sorted(writers)).values()
        unsent_letters.silence(connection, readers, set(userids))

    def _save_unblock(self, other_id: int) -> None:
        """Remove all blocks of this person, under any name, on the other one."""
        connection = self.context.connection
        people = persons.persons_of(connection, {self.player.id, other_id})
        other_ids = people.ids_of_person(other_id)
        marks = contact.marks_of(self.context, other_ids)
        blocks.unblock(connection, people.ids_of_person(self.player.id), other_ids, marks)

    def _next_digest(self, tz: tzinfo, minute: int) -> datetime:
        """Return the time of the next digest. It is not on the day of the last one, neither in the
        old time zone nor in the new one."""
        following = localtime.next_local(self.context.now, tz, minute)
        last = digests.last(self.context.connection, self.player.id)
        while last is not None and any(
            localtime.local_date(following, local) == localtime.local_date(last, local)
            for local in (tz, zone(self.player.tz))
        ):
            following = localtime.next_local(following, tz, minute)
        return following


_READERS: Mapping[str, Callable[[_Wishes, str], None]] = {
    "digest": _Wishes.digest,
    "tz": _Wishes.tz,
    "remind": _Wishes.remind,
    "block": _Wishes.block,
    "unblock": _Wishes.unblock,
}


def prefs(context: CommandContext, command: Prefs) -> Answer:
    """``prefs userid password name=value…``: change all of them or none; without any, show them."""
    player = context.speaker(command.credentials)
    wishes = _Wishes(context, player)
    for written, setting in command.settings:
        name, value = written.lower(), setting.strip().lower()
        name = _OTHER_NAMES.get(name, name)
        if name in _CHOICES:
            wishes.choose(name, _CHOICES[name], value)
        elif name in _READERS:
            _READERS[name](wishes, value)
        else:
            part = f"{written}={setting}"[:80]
            raise Refused("pref-unknown", part=part, known=", ".join((*_READERS, *_CHOICES)))
    wishes.save()
    changed = players.by_id(context.connection, player.id)
    assert changed is not None
    context.current.speaker = changed
    return Answer((Part("prefs", as_words(context, changed, set_now=bool(command.settings))),))


def as_words(context: CommandContext, player: Player, *, set_now: bool) -> Mapping[str, Any]:
    """Return the words of the letter ``prefs``.

    Args:
        set_now: whether a preference has just changed.
    """
    minute = player.digest_minute
    return {
        "userid": player.userid,
        "changed": set_now,
        "format": player.format,
        "digest": "off" if minute is None else f"daily@{localtime.clock_time(minute)}",
        "tz": player.tz,
        "local": f"{context.now.astimezone(zone(player.tz)):%H:%M}",
        "remind": player.remind or "off",
        "accept": player.accept,
        "messages": player.messages,
        "broadcast": "on" if player.broadcasts else "off",
        "announce": "on" if player.announcements else "off",
        "report": player.report,
        "labels": player.labels,
        "public": "yes" if player.public else "no",
        "blocked": _blocked(context, player),
        "seeks": [
            " ".join((seek.game, str(seek.seats), *seek.options))
            for seek in seeks.of_player(context.connection, player.id)
        ],
        "away": _away(context, player),
    }


def _blocked(context: CommandContext, player: Player) -> list[str]:
    """Return the userids that this player blocks under any name."""
    own_ids = persons.ids_of_person(context.connection, player.id)
    return blocks.blocked_userids(context.connection, own_ids)


def _away(context: CommandContext, player: Player) -> list[str]:
    """Return the present and planned absences: ``until 2026-12-31``, ``from … until …``."""
    spans, tz = [], zone(player.tz)
    for absence in absence_rows.of_player(context.connection, player.id):
        last = localtime.local_date(absence.ends - timedelta(microseconds=1), tz).isoformat()
        if absence.begins > context.now:
            spans.append(
                f"from {localtime.local_date(absence.begins, tz).isoformat()} until {last}"
            )
        elif absence.ends > context.now:
            spans.append(f"until {last}")
    return spans
