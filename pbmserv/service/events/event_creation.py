"""Creates the events of players: ``event create`` with its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import TypeAlias

from pbmserv.engine.registry import AnyGame
from pbmserv.engine.time_spans import zone
from pbmserv.errors import Refused
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game, refuse_closed_game
from pbmserv.service.core.outcome import Answer
from pbmserv.service.events import new_events, team_entries
from pbmserv.service.events.entering import answer_to_entry
from pbmserv.service.events.kinds.kind import CREATE_EXAMPLE, Kind, Rules
from pbmserv.service.events.kinds.registry import PLAYERS
from pbmserv.service.events.names import public_name
from pbmserv.service.time.localtime import end_of_day, local_date, read_date
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import histories
from pbmserv.store.events import event_entries, event_lists

MOST_OWN = 2
"""Most events of one player that are not over."""
MOST_BOXES = 10
LONGEST_UNTIL = timedelta(days=90)
USUAL_UNTIL = timedelta(days=14)
LONGEST_NAME = 40

_OF_BOXES = ("-boxes", "-games")
"""Names of the option for the number of boxes, or of games against the house."""
_HOUSE = "-house"

_Corrected: TypeAlias = Callable[[str], str]
"""A function that returns a whole command with another word for one of its options."""
_QUOTES = "\"' "
_ANY_DAY = date(2026, 1, 1)


def create_event(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    """``event create game cup|swiss|duplicate|team "name" [-entries=8] [-until="1 Mar"] [-invited]
    [-boxes=3|-games=3] [-house=best] [options]``"""
    plain, pairs = _split(words)
    kind, game = _kind_and_game(context, plain)
    rest = [word for word in plain if word.lower() not in {kind.word, game.info.key}]
    name = public_name(context, " ".join(rest), LONGEST_NAME)
    if not name:
        raise Refused("event-name", most=LONGEST_NAME, example=CREATE_EXAMPLE)
    if not histories.of_player(context.connection, player.id, None, 1):
        raise Refused("event-newcomer", example=f"{game.info.key} seek")
    if event_lists.count_owned(context.connection, player.id) >= MOST_OWN:
        raise Refused("event-many-own", most=MOST_OWN, example="events")
    line = f'event create {game.info.key} {kind.word} "{name}"'
    written = _each_once(pairs, line)
    options = dict(written)
    corrected = partial(_corrected, line, written)
    rules = kind.rules_for(game)
    _refuse_foreign_options(written, kind, rules, game, line)
    rules = _chosen_rules(options, kind, rules, game, corrected)
    until = _until(context, player, options.pop("-until", None), corrected)
    of_event = {option: value for option, value in written.items() if option not in options}
    of_boards = tuple(f"{option}={value}" if value else option for option, value in options.items())
    board_options = kind.board_options(game, of_boards, _spelt(line, of_event))
    held = new_events.Held(player.id, name, board_options, rules)
    event = new_events.create(context, kind, game.info.key, until, held=held)
    if kind.team_size > 1:
        return team_entries.enter_event(context, player, event)
    event_entries.enter(context.connection, event.id, [player.id], context.now)
    return answer_to_entry(context, player, event)


def _kind_and_game(context: CommandContext, words: Sequence[str]) -> tuple[Kind, AnyGame]:
    """Return the kind and the game that a command names.

    Raises:
        Refused: one of them is missing or closed, or they do not fit.
    """
    lower = [word.lower() for word in words]
    kinds = [PLAYERS[word] for word in lower if word in PLAYERS]
    keys = [word for word in lower if word in context.services.registry]
    if not kinds or not keys:
        raise Refused("event-create", kinds=" ".join(PLAYERS), example=CREATE_EXAMPLE)
    game = known_game(context, keys[0])
    refuse_closed_game(context, game)
    kinds[0].refuse_impossible(game, "events")
    return kinds[0], game


def _chosen_rules(
    options: dict[str, str], kind: Kind, rules: Rules, game: AnyGame, corrected: _Corrected
) -> Rules:
    """Return the rules with the numbers that the options name, which are removed from them."""
    rules = replace(
        rules,
        most=_entries(options.pop("-entries", None), kind, corrected),
        invited=_is_by_invitation(options.pop("-invited", None), corrected),
    )
    if kind.shares_boxes:
        rules = replace(rules, boxes=_boxes(options, rules, corrected))
    if rules.house:
        rules = replace(rules, house=_house(options.pop(_HOUSE, rules.house), game, corrected))
    return rules


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
