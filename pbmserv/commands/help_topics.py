"""The pages of help, and the words that lead to each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from pbmserv.commands.grammar.game_names import GameTitles, game_in_front
from pbmserv.commands.grammar.words import fold
from pbmserv.commands.table.catalogue import BY_NAME, ROWS, command_meant
from pbmserv.commands.table.row_types import Row, Scope, Trait
from pbmserv.commands.table.spelling import nearest_name
from pbmserv.engine.types import BOT_USERIDS

_PAGES: Mapping[str, str] = {
    "": "index",
    "index": "index",
    "all": "index",
    "commands": "commands",
    "command": "commands",
    "tutorial": "tutorial",
    "start": "tutorial",
    "beginner": "tutorial",
    "me": "tutorial",
    "first game": "tutorial",
    "moves": "moves",
    "#n": "moves",
    "#": "moves",
    "signs": "signs",
    "symbols": "signs",
    "reply": "replies",
    "replies": "replies",
    "times": "times",
    "time": "times",
    "digest": "digest",
    "tray": "digest",
    "proof": "proof",
    "verify": "proof",
    "pledge": "proof",
    "passwords": "senders",
    "senders": "senders",
    "-": "senders",
    **dict.fromkeys(BOT_USERIDS, "house"),
}
"""General pages by subject."""

_USUAL = "blackbox"
"""The game of examples in the table of commands."""

_ROWS: Mapping[str, Row] = {
    **{name: row for row in ROWS for name in row.names},
    **BY_NAME,
    **{subject: row for row in ROWS for subject in row.subjects},
}
"""Commands by name and by subject."""


@dataclass(frozen=True, slots=True)
class HelpTopic:
    """A page of help.

    Attributes:
        subject: the name of the page; one of the subjects that lead to it.
        template: the template of its text.
        values: the values that the template needs.
        is_known: `False` if the page says that there is no help on the subject.
    """

    subject: str
    template: str
    values: Mapping[str, object] = field(default_factory=dict)
    is_known: bool = True


def topic(subject: str, games: GameTitles, *, boxes: bool = True) -> HelpTopic:
    """Return the page about a command, a game or a general subject such as ``moves``.

    Args:
        subject: in any spelling; ``""`` for the index.
        games: titles of the games of this server by key.
        boxes: whether one of them has boxes for one player; see `GameInfo.boxes`.
    """
    names = tuple(sorted(games))
    key = " ".join(fold(subject).lower().split())
    if key == "rules" and len(names) == 1:
        key = names[0]
    game, count = game_in_front(key.split(), games)
    if game and count == len(key.split()):
        return HelpTopic(game, f"games/{game}/rules.txt.j2", {"game": game})
    if key.startswith("sign "):
        words = key.split()[1:]
        game, count = game_in_front(words, games)
        values = dict(_values(names, boxes=boxes))
        values |= {"game": game, "sign": " ".join(words[count:])} if game else {"sign": words[0]}
        return HelpTopic("signs", "help/signs.txt.j2", values)
    page = _PAGES.get(key)
    if page is not None:
        return HelpTopic(page, f"help/{page}.txt.j2", _values(names, boxes=boxes))
    row = _ROWS.get(key) or command_meant(key)
    if row is not None:
        return _command_page(row, names, boxes=boxes)
    among = tuple(sorted({*_ROWS, *_PAGES, *names} - {""}))
    suggestion = nearest_name(key, among) or ""
    return HelpTopic("", "help/unknown.txt.j2", {"suggestion": suggestion}, is_known=False)


def help_pages(games: GameTitles, *, boxes: bool = True) -> tuple[HelpTopic, ...]:
    """Return all pages: the index, general pages, commands and games; see `topic`."""
    names = tuple(sorted(games))
    about = partial(topic, games=games, boxes=boxes)
    general = [about(page) for page in dict.fromkeys(_PAGES.values())]
    commands = [about(name) for name in dict.fromkeys(row.name for row in rows_for(boxes=boxes))]
    return (*general, *commands, *[about(name) for name in names])


def rows_for(*, boxes: bool) -> tuple[Row, ...]:
    """Return the commands that the games of a server have."""
    return tuple(row for row in ROWS if boxes or Trait.BOXES not in row.traits)


def _values(games: tuple[str, ...], *, boxes: bool) -> Mapping[str, object]:
    return {
        "rows": rows_for(boxes=boxes),
        "boxes": boxes,
        "sign": "",
        "games": games,
        "game": games[0] if len(games) == 1 else "game",
    }


def _command_page(row: Row, games: tuple[str, ...], *, boxes: bool) -> HelpTopic:
    if Trait.BOXES in row.traits and not boxes:
        return HelpTopic(row.name, "help/no-boxes.txt.j2", {"row": row})
    game = games[0] if len(games) == 1 else "game"
    example = row.example
    if games and _USUAL not in games:
        # Moves and options of a game that is not played here would help nobody.
        example = "" if row.scope is Scope.GAME else example.replace(_USUAL, games[0])
    values = {"row": row, "game": game, "games": games, "example": example, "boxes": boxes}
    return HelpTopic(row.name, "help/command.txt.j2", values)
