"""Finds the help page for a subject: which template, with which values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from pbmserv.commands.grammar.words import fold
from pbmserv.commands.table.catalogue import BY_NAME, BY_SLIP, ROWS, nearest
from pbmserv.commands.table.row_types import Row

_PAGES: Mapping[str, str] = {
    "": "index",
    "index": "index",
    "all": "index",
    "commands": "commands",
    "command": "commands",
    "tutorial": "tutorial",
    "start": "tutorial",
    "beginner": "tutorial",
    "first game": "tutorial",
    "moves": "moves",
    "#n": "moves",
    "#": "moves",
    "reply": "replies",
    "replies": "replies",
    "times": "times",
    "time": "times",
    "digest": "digest",
    "tray": "digest",
    "passwords": "senders",
    "senders": "senders",
    "-": "senders",
    "house": "house",
    "house-easy": "house",
    "house-hard": "house",
}
_ROWS: Mapping[str, Row] = {
    **{name: row for row in ROWS for name in row.names},
    **BY_NAME,
    "options": BY_NAME["challenge"],
    "plans": BY_NAME["queue"],
    "plan": BY_NAME["queue"],
}


@dataclass(frozen=True, slots=True)
class HelpTopic:
    """One page of help.

    Attributes:
        subject: the name of the page, one subject that leads to it.
        template: to render.
        values: what the template needs.
        known: ``False`` when the subject was not known and the page says so.
    """

    subject: str
    template: str
    values: Mapping[str, object] = field(default_factory=dict)
    known: bool = True


def topic(subject: str, games: Collection[str]) -> HelpTopic:
    """The page for a subject: a command, a game, ``tutorial``, ``moves`` …; "" is the index."""
    names = tuple(sorted(games))
    wanted = " ".join(fold(subject).lower().split())
    if wanted == "rules" and len(names) == 1:
        wanted = names[0]
    if wanted in games:
        return HelpTopic(wanted, f"games/{wanted}/rules.txt.j2", {"game": wanted})
    page = _PAGES.get(wanted)
    if page is not None:
        return HelpTopic(page, f"help/{page}.txt.j2", _values(names))
    row = _ROWS.get(wanted) or BY_SLIP.get(wanted)
    if row is not None:
        return _command(row, names)
    among = tuple(sorted({*_ROWS, *_PAGES, *names} - {""}))
    suggestion = nearest(wanted, among) or ""
    return HelpTopic("", "help/unknown.txt.j2", {"suggestion": suggestion}, known=False)


def help_pages(games: Collection[str]) -> tuple[HelpTopic, ...]:
    """Every page, for a site's table of contents: index, general pages, commands, games."""
    names = tuple(sorted(games))
    general = [topic(page, games) for page in dict.fromkeys(_PAGES.values())]
    commands = [topic(name, games) for name in dict.fromkeys(row.name for row in ROWS)]
    return (*general, *commands, *[topic(name, games) for name in names])


def _values(games: tuple[str, ...]) -> Mapping[str, object]:
    return {"rows": ROWS, "games": games, "game": games[0] if len(games) == 1 else "game"}


def _command(row: Row, games: tuple[str, ...]) -> HelpTopic:
    game = games[0] if len(games) == 1 else "game"
    return HelpTopic(row.name, "help/command.txt.j2", {"row": row, "game": game, "games": games})
