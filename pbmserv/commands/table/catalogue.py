"""The table of all commands, and lookups by name. Grammar, help and suggestions use it."""

from __future__ import annotations

from collections.abc import Mapping

from pbmserv.commands.table.accounts import ACCOUNTS
from pbmserv.commands.table.events import EVENTS
from pbmserv.commands.table.ladder import LADDERS
from pbmserv.commands.table.looking import HELP, LOOKING
from pbmserv.commands.table.playing import PLAYING
from pbmserv.commands.table.row_types import LINES, Row
from pbmserv.commands.table.shapes import ON_SERVER, in_section
from pbmserv.commands.table.spelling import (
    LONGEST,
    SHORTEST,
    edit_distance,
    misspelt_name,
    nearest_name,
)
from pbmserv.commands.table.starting import STARTING

_SEVERAL = in_section(
    "Several commands in one mail",
    ON_SERVER.row(
        "multiple",
        None,
        "as the subject: the commands are in the body, one a line",
        also=("mult",),
        places=LINES,
    ),
    ON_SERVER.row(
        "quit", None, "read no further than this line", also=("end", "thanks"), places=LINES
    ),
)
_MULTIPLE, _QUIT = _SEVERAL

ROWS: tuple[Row, ...] = (
    *HELP,
    *ACCOUNTS,
    *STARTING,
    *PLAYING,
    *EVENTS,
    *LADDERS,
    *LOOKING,
    *_SEVERAL,
)
"""All commands. A new command needs a row, a handler and a help page."""

PAIRS = frozenset(name for row in ROWS for name in row.names if " " in name)
"""Names of two words."""

WHICH = frozenset({"all", "active", "inactive", "next"})
"""Words that select some of a player's boards."""

MULTIPLE = frozenset(_MULTIPLE.names)
STOPS = frozenset(_QUIT.names)

BY_NAME: Mapping[str, Row] = {
    name: row for row in ROWS if row.in_line and row.command for name in row.names
}
"""Commands that may be a subject or a line of the body, by each spelling."""

BY_SYNONYM: Mapping[str, Row] = {
    synonym: row for row in ROWS if row.in_line and row.command for synonym in row.synonyms
}
"""Commands of `BY_NAME` by further words, which are understood and not documented."""

IN_REPLY: Mapping[str, Row] = {name: row for row in ROWS if row.in_reply for name in row.names}
"""Commands that a reply may consist of, by each spelling."""

MEANT_BY: Mapping[str, str] = {word: row.name for row in ROWS for word in row.newcomers}
"""Words of newcomers, and the command to suggest for each."""

_SPELLINGS: Mapping[str, Row] = {**BY_NAME, **BY_SYNONYM}
_SPELLINGS_OF = {
    blanks: [name for name in _SPELLINGS if name.count(" ") == blanks] for blanks in (0, 1)
}
"""Names by their number of blanks: a pair of words is no misspelling of one word."""
_SUGGESTED = tuple(sorted({row.name: row for row in ROWS if row.command and row.in_line}))


def command_meant(words: str) -> Row | None:
    """Return the command that one or two words surely mean although they are not its name.

    The words are a synonym or a clear misspelling. The caller decides whether a command that
    cannot be taken back is carried out on such words.
    """
    if words in BY_NAME:
        return None
    name = (
        words
        if words in BY_SYNONYM
        else misspelt_name(words, _SPELLINGS_OF.get(words.count(" "), ()))
    )
    return None if name is None else _SPELLINGS[name]


def command_one_edit_away(word: str) -> Row | None:
    """Return the command whose name is one edit away from a word, `None` unless it is the only one.

    The word may be English, so that the caller must look at the words around it.
    """
    if not SHORTEST <= len(word) <= LONGEST:
        return None
    near = [name for name in _SUGGESTED if edit_distance(word, name) == 1]
    return BY_NAME[near[0]] if len(near) == 1 else None


def suggested_command(word: str) -> str | None:
    """Return the name of the command to suggest for a word, `None` if it is like none."""
    word = word.lower()
    meant = command_meant(word)
    return meant.name if meant is not None else nearest_name(word, _SUGGESTED)
