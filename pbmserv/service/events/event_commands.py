"""Commands of events: ``league``, ``cup``, ``swiss``, ``event`` and ``events``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import TypeAlias

from pbmserv.commands.table.events import EventByGame, EventByNumber, Events
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.time_spans import zone
from pbmserv.errors import Refused
from pbmserv.service.accounts.preferences import DIGEST_MINUTE
from pbmserv.service.core import contact
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game, refuse_closed_game, unknown_player, userids_in
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.words_for_others import pass_on
from pbmserv.service.events import course, games, letters, new_events, pages, team_commands
from pbmserv.service.events.kinds.kind import CREATE_EXAMPLE, MOST_ENTERED, Kind, Rules
from pbmserv.service.events.kinds.registry import PLAYERS, SERVERS, kind_of
from pbmserv.service.time.localtime import end_of_day, local_date, next_local, read_date
from pbmserv.store import events
from pbmserv.store.accounts import persons, players, preferences
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import histories
from pbmserv.store.events import BEFORE_START, OVER, UNDER_WAY, Event
from pbmserv.store.tables.events import EntryStatus, EventStatus

MOST_OWN = 2
"""Most events of one player that are not over."""

MOST_INVITED, INVITED_IN = 64, timedelta(days=7)
"""Most players whom one player invites in this time to events that they do not enter."""

MOST_BOXES = 10
LONGEST_UNTIL = timedelta(days=90)
USUAL_UNTIL = timedelta(days=14)
LONGEST_NAME = 40

_JOIN = frozenset({"join", "enter"})
_LEAVE = frozenset({"leave", "withdraw"})
_OF_BOXES = ("-boxes", "-games")
"""Names of the option for the number of boxes, or of games against the house."""
_HOUSE = "-house"

_Corrected: TypeAlias = Callable[[str], str]
"""A function that returns a whole command with another word for one of its options."""

_NAME = re.compile(r"[\w .,'!?&+-]+")
_QUOTES = "\"' "
_ANY_DAY = date(2026, 1, 1)


# -- leagues, cups and Swiss tournaments of the server -----------------------------------------


def event_by_game(context: CommandContext, command: EventByGame) -> Answer:
    """``league join|leave game [once]``, and the same for ``cup`` and ``swiss``.

    Raises:
        Refused: the words are not understood, or the player may not enter.
    """
    player = context.speaker(command.who)
    words = [word.lower() for word in command.words]
    kind = SERVERS[command.kind]
    once = words[-1:] == ["once"] and kind.recurs
    if once:
        words = words[:-1]
    if len(words) != 2 or words[0] not in _JOIN | _LEAVE:
        raise Refused("event-words", kind=command.kind, example=f"{command.kind} join GAME")
    game = known_game(context, words[1])
    if words[0] in _LEAVE:
        return _leave_by_game(context, player, kind, game)
    return _join_by_game(context, player, kind, game, once=once)


def _join_by_game(
    context: CommandContext, player: Player, kind: Kind, game: AnyGame, *, once: bool
) -> Answer:
    key = game.info.key
    refuse_closed_game(context, game)
    kind.refuse_impossible(game, f"cup join {key}")
    event = events.open_event(context.connection, kind.word, key, context.now)
    if event is not None:
        entry = events.entry_of(context.connection, event.id, player.id)
        is_regular = events.is_regular(context.connection, key, player.id)
        if entry is not None and (not kind.recurs or once != is_regular):
            raise _entered_already(context, event)
    _refuse_busy_player(context, player, event)
    if event is None:
        event = new_events.create_next(context, kind, key)
    events.enter(context.connection, event.id, [player.id], context.now)
    has_digest = False
    if kind.recurs:
        if once:
            events.drop_regular(context.connection, key, player.id)
        else:
            events.add_regular(context.connection, key, player.id, context.now)
        has_digest = _turn_digest_on(context, player, kind)
    if kind.begins_full_groups:
        events.change(context.connection, event.id, due_at=context.now)
    return _entered(context, player, event, once=once, digest=has_digest)


def _leave_by_game(context: CommandContext, player: Player, kind: Kind, game: AnyGame) -> Answer:
    """End the recurring entry, and the entry to an event that has not started."""
    key = game.info.key
    was_regular = kind.recurs and events.drop_regular(context.connection, key, player.id)
    left, running = None, None
    for event in events.of_player(context.connection, player.id, (*BEFORE_START, *UNDER_WAY)):
        if (event.kind, event.game, event.owner_id) != (kind.word, key, None):
            continue
        entry = events.entry_of(context.connection, event.id, player.id)
        if entry is not None and entry.section is None:
            events.drop_entry(context.connection, event.id, player.id)
            left = event
        else:
            running = event
    if not (was_regular or left or running):
        raise Refused(
            "event-not-entered", part=f"{kind.word} {key}", example=f"{kind.word} join {key}"
        )
    if not (was_regular or left) and running is not None:
        raise Refused("event-runs", part=str(running.id), example=f"event leave {running.id}")
    words = {
        "what": "left",
        "kind": kind.word,
        "title": game.info.title,
        "game": key,
        "running": running.id if running else 0,
    }
    return Answer((Part("event-entry", words),))


def _refuse_busy_player(context: CommandContext, player: Player, event: Event | None) -> None:
    """Refuse a player who is barred or in very many events under any name, or has entered this one
    under another name."""
    names = persons.names_of(context.connection, player.id)
    until = events.barred_until(context.connection, names, context.now)
    if until is not None:
        raise Refused("event-barred", until=f"{until:%Y-%m-%d}", example="events")
    if events.count_entered(context.connection, names) >= MOST_ENTERED:
        raise Refused("event-many", most=MOST_ENTERED, example="events")
    if event is None:
        return
    for name in names - {player.id}:
        entry = events.entry_of(context.connection, event.id, name)
        if entry is not None and entry.status != EntryStatus.INVITED:
            raise Refused("event-same-person", part=entry.userid, example=f"events {event.id}")


def _entered_already(context: CommandContext, event: Event) -> Refused:
    name = letters.facts(context, event)["name"]
    return Refused("event-entered", part=name, example=f"events {event.id}")


def _turn_digest_on(context: CommandContext, player: Player, kind: Kind) -> bool:
    """Give a player the daily digest with the first entry to a kind of event that recurs; return
    whether that is new."""
    is_first = not events.has_entered_before(context.connection, player.id, kind.word)
    if player.digest_minute is not None or not is_first:
        return False
    due = next_local(context.now, zone(player.tz), DIGEST_MINUTE)
    columns = {"digest_minute": DIGEST_MINUTE, "digest_due": due}
    preferences.save(context.connection, player.id, columns)
    return True


def _entered(context: CommandContext, player: Player, event: Event, **words: object) -> Answer:
    """Return the answer to a player who has entered an event."""
    count = events.count_entries(context.connection, [event.id]).get(event.id, 0)
    rules = Rules.of(event)
    facts = {
        **letters.facts(context, event),
        "what": "entered",
        "entered": count,
        "least": rules.least,
        "most": rules.most,
        "boxes": rules.boxes,
        "own": event.is_own,
        "invited": rules.invited,
        "holds": player.id == event.owner_id,
        "once": False,
        "digest": False,
        **words,
    }
    return Answer((Part("event-entry", facts),))


# -- one event ---------------------------------------------------------------------------------


def event_by_number(context: CommandContext, command: EventByNumber) -> Answer:
    """``event join|leave|create|invite|letters|cancel …``

    Raises:
        Refused: the words are not understood, or the player may not do that.
    """
    player = context.speaker(command.who)
    verb, *words = command.words
    handle = _VERBS.get(verb.lower())
    if handle is None:
        raise Refused("event-verb", part=verb[:20], example="event join NUMBER")
    return handle(context, player, words)


def _numbered(context: CommandContext, words: Sequence[str], example: str) -> Event:
    """Return and lock the event whose number is the first word.

    Args:
        example: a line whose number is meant.
    """
    text = words[0].lstrip("#") if words else ""
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise Refused("event-number", part=text[:20], example=example)
    event = events.lock(context.connection, int(text))
    if event is None:
        raise Refused("no-such-event", part=text, example="events")
    return event


def _join(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    event = _numbered(context, words, "event join NUMBER")
    kind = kind_of(event)
    if kind.team_size > 1 and not event.is_own:
        return team_commands.enter(context, player, [event.game])
    if kind.is_entered_by_game and not event.is_own:
        game = known_game(context, event.game)
        return _join_by_game(context, player, kind, game, once=kind.recurs)
    entry = events.entry_of(context.connection, event.id, player.id)
    rules = Rules.of(event)
    if entry is not None and entry.status != EntryStatus.INVITED:
        raise _entered_already(context, event)
    if event.status != EventStatus.OPEN or context.now >= event.closes_at:
        raise Refused("event-closed", part=str(event.id), example="events")
    if rules.invited and entry is None and event.owner_id != player.id:
        raise Refused("event-invited", part=str(event.id), example="events")
    if kind.team_size > 1:
        return team_commands.enter_event(context, player, event)
    _refuse_busy_player(context, player, event)
    count = events.count_entries(context.connection, [event.id]).get(event.id, 0) + 1
    if rules.most and count > rules.most:
        raise Refused("event-full", part=str(event.id), most=rules.most, example="events")
    events.enter(context.connection, event.id, [player.id], context.now)
    if count == rules.most:
        course.begin_now(context, event)
    return _entered(context, player, event)


def _leave(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    event = _numbered(context, words, "event leave NUMBER")
    entry = events.entry_of(context.connection, event.id, player.id)
    is_entered = entry is not None and entry.status == EntryStatus.ENTERED
    if kind_of(event).team_size > 1 and event.status in {EventStatus.OPEN, EventStatus.CLOSED}:
        return team_commands.withdraw_from(context, player, event, is_entered=is_entered)
    if entry is None or not is_entered:
        raise Refused("event-not-entered", part=f"event {event.id}", example="events")
    if event.status in OVER:
        raise Refused("event-over", part=str(event.id), example=f"events {event.id}")
    facts = letters.facts(context, event)  # before it changes
    if entry.section is None:
        events.drop_entry(context.connection, event.id, player.id)
        notifications: tuple[Notification, ...] = ()
    else:
        notifications = tuple(games.withdraw(context, event, player.id))
        events.change(context.connection, event.id, due_at=context.now)
    after = events.entry_of(context.connection, event.id, player.id)
    status = "before" if after is None else str(after.status)
    context.current.sitter = context.current.focus = None
    part = Part("event-entry", {**facts, "what": "withdrawn", "status": status})
    return Answer((part,), notifications)


def _letters(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    event = _numbered(context, words, "event letters NUMBER")
    wanted = words[1].lower() if len(words) > 1 else ""
    if wanted not in {"on", "off"}:
        raise Refused("event-letters", part=wanted[:20], example=f"event letters {event.id} off")
    if events.entry_of(context.connection, event.id, player.id) is None:
        raise Refused("event-not-entered", part=f"event {event.id}", example="events")
    events.change_entry(context.connection, event.id, player.id, muted=wanted == "off")
    facts = letters.facts(context, event)
    return Answer((Part("event-entry", {**facts, "what": "letters", "on": wanted == "on"}),))


def _cancel(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    event = _own(context, player, words, "cancel")
    notifications = course.cancel(context, event, by=player.userid)
    others = tuple(letter for letter in notifications if letter.player_id != player.id)
    part = Part("event-entry", {**letters.facts(context, event), "what": "cancelled"})
    return Answer((part,), others)


def _own(context: CommandContext, player: Player, words: Sequence[str], verb: str) -> Event:
    """Return an event of the player's own that has not started."""
    event = _numbered(context, words, f"event {verb} NUMBER")
    if event.owner_id != player.id:
        raise Refused("event-not-yours", part=str(event.id), example=f"events {event.id}")
    if event.status != EventStatus.OPEN:
        raise Refused("event-closed", part=str(event.id), example=f"events {event.id}")
    return event


def _invite(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    """Invite players to an event of one's own."""
    event = _own(context, player, words, "invite")
    names = userids_in(words[1:])
    if not names:
        raise Refused("event-whom", part=str(event.id), example=f"event invite {event.id} FRIEND")
    entries = {entry.player_id for entry in events.entries_of(context.connection, event.id)}
    since = context.now - INVITED_IN
    if events.count_invited(context.connection, player.id, since) + len(names) > MOST_INVITED:
        raise Refused("event-many-invited", most=MOST_INVITED, example=f"events {event.id}")
    invited = []
    for name in names:
        other = players.active_by_userid(context.connection, name)
        if other is None:
            raise unknown_player(context, name)
        if other.accept == "none":
            raise Refused("unavailable", part=other.userid)
        if other.id not in entries and other.id != player.id:
            invited.append(other)
    contact.refuse_blocked_players(context, player.id, invited)
    ids = [other.id for other in invited]
    events.enter(context.connection, event.id, ids, context.now, EntryStatus.INVITED)
    facts = letters.facts(context, event)
    invitation = Part("event-news", {**facts, "what": "invited", "by": player.userid})
    part = Part(
        "event-entry",
        {**facts, "what": "invited", "names": [other.userid for other in invited]},
    )
    return Answer(
        (part,), tuple(Notification(guest.address, guest.id, invitation) for guest in invited)
    )


def _create(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    """``event create game cup|swiss|duplicate|team "name" [-entries=8] [-until="1 Mar"] [-invited]
    [-boxes=3|-games=3] [-house=best] [options]``"""
    plain, pairs = _split(words)
    words = [word.lower() for word in plain]
    example = CREATE_EXAMPLE
    kinds = [PLAYERS[word] for word in words if word in PLAYERS]
    keys = [word for word in words if word in context.services.registry]
    if not kinds or not keys:
        raise Refused("event-create", kinds=" ".join(PLAYERS), example=example)
    kind, game = kinds[0], known_game(context, keys[0])
    refuse_closed_game(context, game)
    kind.refuse_impossible(game, "events")
    rest = [word for word in plain if word.lower() not in {kind.word, game.info.key}]
    name = _checked_name(context, " ".join(rest), example)
    if not histories.of_player(context.connection, player.id, None, 1):
        raise Refused("event-newcomer", example=f"{game.info.key} seek")
    if events.count_owned(context.connection, player.id) >= MOST_OWN:
        raise Refused("event-many-own", most=MOST_OWN, example="events")
    line = f'event create {game.info.key} {kind.word} "{name}"'
    options = _each_once(pairs, line)
    written = dict(options)
    corrected = partial(_corrected, line, written)
    rules = kind.rules_for(game)
    _refuse_foreign_options(options, kind, rules, game, line)
    rules = replace(
        rules,
        most=_entries(options.pop("-entries", None), kind, corrected),
        invited=_is_by_invitation(options.pop("-invited", None), corrected),
    )
    until = _until(context, player, options.pop("-until", None), corrected)
    if kind.shares_boxes:
        rules = replace(rules, boxes=_boxes(options, rules, corrected))
    if rules.house:
        rules = replace(rules, house=_house(options.pop(_HOUSE, rules.house), game, corrected))
    of_event = {name: value for name, value in written.items() if name not in options}
    of_boards = tuple(f"{name}={value}" if value else name for name, value in options.items())
    board_options = kind.board_options(game, of_boards, _spelt(line, of_event))
    held = new_events.Held(player.id, name, board_options, rules)
    event = new_events.create(context, kind, game.info.key, until, held=held)
    if kind.team_size > 1:
        return team_commands.enter_event(context, player, event)
    events.enter(context.connection, event.id, [player.id], context.now)
    return _entered(context, player, event)


def _split(words: Sequence[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the plain words, and the options with their values; a date may have blanks."""
    plain: list[str] = []
    options: list[tuple[str, str]] = []
    is_behind_option = False
    for word in words:
        if word.startswith("-"):
            name, _, value = word.partition("=")
            options.append((name.lower(), value.strip(_QUOTES)))
            is_behind_option = True
            continue
        name, value = options[-1] if is_behind_option else ("", "")
        until = f"{value} {word}".strip(_QUOTES)
        if name == "-until" and (_is_date(until) or not _is_date(value)):
            options[-1] = name, until
        else:
            plain.append(word)
            is_behind_option = False
    return plain, options


def _each_once(pairs: Sequence[tuple[str, str]], line: str) -> dict[str, str]:
    """Return the values of the options of an event by their names.

    Args:
        line: the command without options, for the example of a refusal.

    Raises:
        Refused: an option has two values.
    """
    options: dict[str, str] = {}
    for name, value in pairs:
        first = options.setdefault(name, value)
        if first != value:
            example = _spelt(line, {**dict(pairs), name: first})
            raise _repeated((name, first), (name, value), example)
    return options


def _repeated(first: tuple[str, str], second: tuple[str, str], example: str) -> Refused:
    """Return the refusal of two options that set the same thing."""
    return Refused("event-option-repeated", part=_word(second), first=_word(first), example=example)


def _word(option: tuple[str, str]) -> str:
    """Return an option as the word to repeat in a refusal."""
    return "=".join(filter(None, option))[:30]


def _spelt(line: str, options: Mapping[str, str]) -> str:
    """Return a command with options behind it."""
    words = [
        f'{name}="{value}"' if " " in value else f"{name}={value}" if value else name
        for name, value in options.items()
    ]
    return " ".join((line, *words))


def _corrected(line: str, options: Mapping[str, str], right: str) -> str:
    """Return a command with another word for one of its options, as the example of a refusal."""
    name = right.partition("=")[0]
    wrong = _OF_BOXES if name in _OF_BOXES else {name}
    kept = {option: value for option, value in options.items() if option not in wrong}
    return f"{_spelt(line, kept)} {right}"


def _is_date(text: str) -> bool:
    return read_date(text, _ANY_DAY) is not None


def _checked_name(context: CommandContext, written: str, example: str) -> str:
    """Return the name of a player's event, which everybody may read."""
    name = " ".join(written.split())
    if not name or len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        raise Refused("event-name", most=LONGEST_NAME, example=example)
    if str(pass_on(context, name)) != name:
        context.current.echo_hidden = True
        raise Refused("event-name", most=LONGEST_NAME, example=example)
    return name


def _entries(text: str | None, kind: Kind, corrected: _Corrected) -> int:
    least = kind.rules.least
    if text is None:
        return max(kind.usual_entries, least) if kind.usual_entries else 0
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 0
    most = kind.rules.most or kind.most_entries
    if not least <= number <= most:
        raise Refused(
            "event-entries",
            part=text[:20] or "-entries",
            kind=kind.word,
            least=least,
            most=most,
            example=corrected(f"-entries={max(kind.usual_entries, least)}"),
        )
    return number


def _is_by_invitation(text: str | None, corrected: _Corrected) -> bool:
    """Return whether only invited players may enter."""
    if text is None or text.lower() == "no":
        return False
    if text.lower() in {"", "yes"}:
        return True
    raise Refused("event-by-invitation", part=text[:20], example=corrected("-invited"))


def _refuse_foreign_options(
    options: Mapping[str, str], kind: Kind, rules: Rules, game: AnyGame, line: str
) -> None:
    """Refuse the options of duplicate events in another event, and a bot where nobody plays one.

    Args:
        line: the command without options, for the example of a refusal.
    """
    foreign = (_HOUSE,) if kind.shares_boxes else (*_OF_BOXES, _HOUSE)
    if rules.house or not (wrong := [name for name in foreign if name in options]):
        return
    kept = {name: value for name, value in options.items() if name not in foreign}
    raise Refused(
        "event-option-unfit",
        part=_word((wrong[0], options[wrong[0]])),
        kind=kind.word,
        title=game.info.title,
        example=_spelt(line, kept),
    )


def _boxes(options: dict[str, str], rules: Rules, corrected: _Corrected) -> int:
    """Remove the number of boxes, or of games against the house, from the options of an event."""
    names = ("-games", "-boxes") if rules.house else _OF_BOXES
    counts = [(name, options.pop(name)) for name in names if name in options]
    if not counts:
        return rules.boxes
    name, text = counts[0]
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else 0
    if not 1 <= number <= MOST_BOXES:
        example = corrected(f"{names[0]}=3")
        raise Refused("event-boxes", part=text[:20] or name, most=MOST_BOXES, example=example)
    if any(other != text for _, other in counts):
        raise _repeated(counts[0], counts[-1], corrected(f"{names[0]}={text}"))
    return number


def _house(text: str, game: AnyGame, corrected: _Corrected) -> str:
    """Return the bot that is to play against all, by its userid or its level."""
    for userid in (text.lower(), f"house-{text.lower()}"):
        if userid in game.bots:
            return userid
    raise Refused(
        "house-plays-not",
        part=text[:20],
        title=game.info.title,
        levels=", ".join(game.bots),
        example=corrected(f"-house={list(game.bots)[-1]}"),
    )


def _until(
    context: CommandContext, player: Player, text: str | None, corrected: _Corrected
) -> datetime:
    local = zone(player.tz)
    if text is None:
        return context.now + USUAL_UNTIL
    day = read_date(text, local_date(context.now, local))
    until = end_of_day(day, local) if day is not None else None
    if until is None or not context.now < until <= context.now + LONGEST_UNTIL:
        raise Refused(
            "event-until",
            part=text[:20] or "-until",
            days=LONGEST_UNTIL.days,
            example=corrected(f'-until="in {USUAL_UNTIL.days} days"'),
        )
    return until


_VERBS: Mapping[str, Callable[[CommandContext, Player, Sequence[str]], Answer]] = {
    "join": _join,
    "enter": _join,
    "leave": _leave,
    "withdraw": _leave,
    "letters": _letters,
    "create": _create,
    "invite": _invite,
    "cancel": _cancel,
}


# -- looking -----------------------------------------------------------------------------------


def show_events(context: CommandContext, command: Events) -> Answer:
    """``events``: list the events; ``events 12``: show the tables of one.

    Raises:
        Refused: there is no such event.
    """
    if not command.subjects:
        return Answer(
            (Part("events", {"rows": pages.overview(context), "game": context.usual_game}),)
        )
    event = _numbered(context, command.subjects, "events NUMBER")
    group = command.subjects[1] if len(command.subjects) > 1 else "1"
    first = int(group) if group.isascii() and group.isdecimal() and len(group) < 6 else 1
    return Answer((Part("event", pages.page(context, event, max(1, first))),))
