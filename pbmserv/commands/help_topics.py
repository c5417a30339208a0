"""The pages of help, and the words that lead to each."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from pbmserv.commands.grammar.words import fold
from pbmserv.commands.table.catalogue import BY_NAME, ROWS, command_meant
from pbmserv.commands.table.row_types import Row
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
        known: `False` if the page says that there is no help on the subject.
    """

    subject: str
    template: str
    values: Mapping[str, object] = field(default_factory=dict)
    known: bool = True


def topic(subject: str, games: Collection[str]) -> HelpTopic:
    """Return the page about a command, a game or a general subject such as ``moves``.

    Args:
        subject: in any spelling; ``""`` for the index.
        games: keys of the games of this server.
    """
    names = tuple(sorted(games))
    key = " ".join(fold(subject).lower().split())
    if key == "rules" and len(names) == 1:
        key = names[0]
    if key in games:
        return HelpTopic(key, f"games/{key}/rules.txt.j2", {"game": key})
    if key.startswith("sign "):
        first, _, rest = key.removeprefix("sign ").partition(" ")
        values = dict(_values(names))
        values |= {"game": first, "sign": rest} if first in games else {"sign": first}
        return HelpTopic("signs", "help/signs.txt.j2", values)
    page = _PAGES.get(key)
    if page is not None:
        return HelpTopic(page, f"help/{page}.txt.j2", _values(names))
    row = _ROWS.get(key) or command_meant(key)
    if row is not None:
        return _command_page(row, names)
    among = tuple(sorted({*_ROWS, *_PAGES, *names} - {""}))
    suggestion = nearest_name(key, among) or ""
    return HelpTopic("", "help/unknown.txt.j2", {"suggestion": suggestion}, known=False)


def help_pages(games: Collection[str]) -> tuple[HelpTopic, ...]:
    """Return all pages: the index, general pages, commands and games."""
    names = tuple(sorted(games))
    general = [topic(page, games) for page in dict.fromkeys(_PAGES.values())]
    commands = [topic(name, games) for name in dict.fromkeys(row.name for row in ROWS)]
    return (*general, *commands, *[topic(name, games) for name in names])


def _values(games: tuple[str, ...]) -> Mapping[str, object]:
    return {
        "rows": ROWS,
        "sign": "",
        "games": games,
        "game": games[0] if len(games) == 1 else "game",
    }


def _command_page(row: Row, games: tuple[str, ...]) -> HelpTopic:
    game = games[0] if len(games) == 1 else "game"
    # An example with a game that is not played here would help nobody.
    first = row.example.partition(" ")[0]
    is_command = any(name.split()[0] == first for name in _ROWS if name)
    names_other_game = bool(games) and first not in games and not is_command
    example = "" if names_other_game else row.example
    values = {"row": row, "game": game, "games": games, "example": example}
    return HelpTopic(row.name, "help/command.txt.j2", values)
