"""Creates the events of players: ``event create`` with its options."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from pbmserv.commands.grammar.game_names import game_in_front
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.time_spans import zone
from pbmserv.errors import Refused
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game, refuse_closed_game
from pbmserv.service.core.outcome import Answer
from pbmserv.service.events import new_events, team_entries
from pbmserv.service.events.chosen_names import chosen_name
from pbmserv.service.events.entering import answer_to_entry, refuse_busy_player
from pbmserv.service.events.kinds.kind import CREATE_EXAMPLE, Kind, Rules
from pbmserv.service.events.kinds.registry import PLAYER_KINDS
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
_OF_EVENT = frozenset({"-entries", "-until", "-invited", _HOUSE, *_OF_BOXES})
"""Options of an event; all others are those of its boards."""

_QUOTES = "\"' "
_ANY_DAY = date(2026, 1, 1)


@dataclass(frozen=True, slots=True)
class _Written:
    """A command ``event create``, from which refusals make their examples.

    Attributes:
        line: the command without its options.
        options: the values by name; ``""`` for an option without a value.
    """

    line: str
    options: Mapping[str, str]

    def without(self, names: Collection[str]) -> str:
        """Return the command without some of its options."""
        words = [
            _word(name, f'"{value}"' if " " in value else value)
            for name, value in self.options.items()
            if name not in names
        ]
        return " ".join((self.line, *words))

    def corrected(self, right: str) -> str:
        """Return the command with another word for one of its options."""
        name = right.partition("=")[0]
        return f"{self.without(_OF_BOXES if name in _OF_BOXES else {name})} {right}"


def create_event(context: CommandContext, player: Player, words: Sequence[str]) -> Answer:
    """``event create game cup|swiss|duplicate|team "name" [-entries=8] [-until="1 Mar"] [-invited]
    [-boxes=3|-games=3] [-house=best] [options]``"""
    plain, pairs = _split(words)
    kind, game, rest = _kind_and_game(context, plain)
    name = chosen_name(context, " ".join(rest), LONGEST_NAME)
    if not name:
        raise Refused("event-name", most=LONGEST_NAME, example=CREATE_EXAMPLE)
    if not histories.of_player(context.connection, player.id, None, 1):
        raise Refused("event-newcomer", example=f"{game.info.key} seek")
    if event_lists.count_owned(context.connection, player.id) >= MOST_OWN:
        raise Refused("event-many-own", most=MOST_OWN, example="events")
    written = _written(f'event create {game.info.key} {kind.word} "{name}"', pairs)
    rules = _chosen_rules(written, kind, game)
    until = _until(context, player, written)
    of_boards = [option for option in written.options if option not in _OF_EVENT]
    board_words = tuple(_word(option, written.options[option]) for option in of_boards)
    board_options = kind.board_options(game, board_words, written.without(of_boards))
    choices = new_events.Choices(player.id, name, board_options, rules)
    event = new_events.create(context, kind, game.info.key, until, choices=choices)
    if kind.team_size > 1:
        return team_entries.enter_event(context, player, event)
    refuse_busy_player(context, player, event)
    event_entries.enter(context.connection, event.id, [player.id], context.now)
    return answer_to_entry(context, player, event)


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


def _kind_and_game(
    context: CommandContext, words: Sequence[str]
) -> tuple[Kind, AnyGame, list[str]]:
    """Return the kind and the game that a command names, and its other words.

    Raises:
        Refused: one of them is missing or closed, or they do not fit.
    """
    titles = context.services.registry.titles
    named = [(at, *game_in_front(words[at:], titles)) for at in range(len(words))]
    at, key, count = next((name for name in named if name[2]), (0, "", 0))
    others = [*words[:at], *words[at + count :]]
    kinds = [PLAYER_KINDS[word] for word in map(str.lower, others) if word in PLAYER_KINDS]
    if not kinds or not key:
        raise Refused("event-create", kinds=" ".join(PLAYER_KINDS), example=CREATE_EXAMPLE)
    game = known_game(context, key)
    refuse_closed_game(context, game)
    kinds[0].refuse_impossible(game, "events")
    return kinds[0], game, [word for word in others if word.lower() != kinds[0].word]


def _written(line: str, pairs: Sequence[tuple[str, str]]) -> _Written:
    """Return a command with its options.

    Raises:
        Refused: an option has two values.
    """
    options: dict[str, str] = {}
    for name, value in pairs:
        options.setdefault(name, value)
    written = _Written(line, options)
    for name, value in pairs:
        if value != options[name]:
            raise _repeated((name, options[name]), (name, value), written.without(()))
    return written


def _repeated(first: tuple[str, str], second: tuple[str, str], example: str) -> Refused:
    """Return the refusal of two options that set the same thing."""
    part, first_word = (_word(*option)[:30] for option in (second, first))
    return Refused("event-option-repeated", part=part, first=first_word, example=example)


def _word(name: str, value: str) -> str:
    return f"{name}={value}" if value else name


def _is_date(text: str) -> bool:
    return read_date(text, _ANY_DAY) is not None


def _chosen_rules(written: _Written, kind: Kind, game: AnyGame) -> Rules:
    """Return the rules of an event with the numbers that its options name."""
    rules = kind.rules_for(game)
    _refuse_foreign_options(written, kind, rules, game)
    rules = replace(rules, most=_entries(written, kind), invited=_is_by_invitation(written))
    if kind.shares_boxes:
        rules = replace(rules, boxes=_boxes(written, rules))
    if rules.house:
        rules = replace(rules, house=_house(written, rules, game))
    return rules


def _refuse_foreign_options(written: _Written, kind: Kind, rules: Rules, game: AnyGame) -> None:
    """Refuse the options of duplicate events in another event, and a bot where nobody plays one."""
    foreign = (_HOUSE,) if kind.shares_boxes else (*_OF_BOXES, _HOUSE)
    wrong = [name for name in foreign if name in written.options]
    if rules.house or not wrong:
        return
    raise Refused(
        "event-option-unfit",
        part=_word(wrong[0], written.options[wrong[0]])[:30],
        kind=kind.word,
        title=game.info.title,
        example=written.without(foreign),
    )


def _entries(written: _Written, kind: Kind) -> int:
    least = kind.rules.least
    text = written.options.get("-entries")
    if text is None:
        return max(kind.usual_entries, least) if kind.usual_entries else 0
    number = _number(text)
    most = kind.rules.most or kind.most_entries
    if not least <= number <= most:
        raise Refused(
            "event-entries",
            part=text[:20] or "-entries",
            kind=kind.word,
            least=least,
            most=most,
            example=written.corrected(f"-entries={max(kind.usual_entries, least)}"),
        )
    return number


def _number(text: str) -> int:
    """Return the number that a text is, 0 if it is none or very long."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 0


def _is_by_invitation(written: _Written) -> bool:
    """Return whether only invited players may enter."""
    text = written.options.get("-invited", "no")
    if text.lower() not in {"no", "", "yes"}:
        example = written.corrected("-invited")
        raise Refused("event-by-invitation", part=text[:20], example=example)
    return text.lower() != "no"


def _boxes(written: _Written, rules: Rules) -> int:
    """Return the number of boxes, or of games against the house."""
    names = ("-games", "-boxes") if rules.house else _OF_BOXES
    counts = [(name, written.options[name]) for name in names if name in written.options]
    if not counts:
        return rules.boxes
    name, text = counts[0]
    number = _number(text)
    if not 1 <= number <= MOST_BOXES:
        example = written.corrected(f"{names[0]}=3")
        raise Refused("event-boxes", part=text[:20] or name, most=MOST_BOXES, example=example)
    if any(other != text for _, other in counts):
        raise _repeated(counts[0], counts[-1], written.corrected(f"{names[0]}={text}"))
    return number


def _house(written: _Written, rules: Rules, game: AnyGame) -> str:
    """Return the bot that is to play against all, by its userid or its level."""
    text = written.options.get(_HOUSE, rules.house)
    for userid in (text.lower(), f"house-{text.lower()}"):
        if userid in game.bots:
            return userid
    raise Refused(
        "house-plays-not",
        part=text[:20],
        title=game.info.title,
        levels=", ".join(game.bots),
        example=written.corrected(f"{_HOUSE}={list(game.bots)[-1]}"),
    )


def _until(context: CommandContext, player: Player, written: _Written) -> datetime:
    """Return the moment at which entries close."""
    text = written.options.get("-until")
    if text is None:
        return context.now + USUAL_UNTIL
    local = zone(player.tz)
    day = read_date(text, local_date(context.now, local))
    until = end_of_day(day, local) if day is not None else None
    if until is None or not context.now < until <= context.now + LONGEST_UNTIL:
        raise Refused(
            "event-until",
            part=text[:20] or "-until",
            days=LONGEST_UNTIL.days,
            example=written.corrected(f'-until="in {USUAL_UNTIL.days} days"'),
        )
    return until
