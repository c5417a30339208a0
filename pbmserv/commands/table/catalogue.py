"""The one table of commands: the parser, the help and every suggestion come from it."""

from __future__ import annotations

from collections.abc import Mapping

from pbmserv.commands.table.account_rows import ACCOUNT
from pbmserv.commands.table.playing_rows import PLAYING
from pbmserv.commands.table.row_types import Row
from pbmserv.commands.table.server_rows import HELP, SEVERAL
from pbmserv.commands.table.starting_rows import STARTING
from pbmserv.commands.table.viewing_rows import LOOKING

ROWS: tuple[Row, ...] = (*HELP, *ACCOUNT, *STARTING, *PLAYING, *LOOKING, *SEVERAL)
"""Every command this server offers. A new command is a new row and its page."""

PAIRS = frozenset(name for row in ROWS for name in row.names if " " in name)
"""Names of two words."""

WHICH = frozenset({"all", "active", "inactive", "next"})
"""Words that say which of a player's boards are meant."""

MULTIPLE = frozenset({"multiple", "mult"})
STOPS = frozenset({"quit", "end", "thanks"})

BY_NAME: Mapping[str, Row] = {
    name: row for row in ROWS if row.in_line and row.build for name in row.names
}
"""Commands that may be a subject or a line, by each of their spellings."""

BY_SLIP: Mapping[str, Row] = {
    slip: row for row in ROWS if row.in_line and row.build for slip in row.slips
}

IN_REPLY: Mapping[str, Row] = {name: row for row in ROWS if row.in_reply for name in row.names}
"""Commands that a reply may consist of, by each of their spellings."""

FINAL = frozenset({"resign", "solve", "signoff", "delete"})
"""What cannot be taken back, so that a misspelt one is asked about and never guessed."""

MEANT_BY: Mapping[str, str] = {
    **dict.fromkeys(("newplayer", "newuser", "join", "enroll", "enrol"), "signup"),
    **dict.fromkeys(("play", "new", "newgame", "begin", "invite"), "challenge"),
    **dict.fromkeys(("stop", "leave", "remove", "cancel", "unregister"), "signoff"),
    **dict.fromkeys(("login", "log", "start", "hello", "hi", "hallo", "man", "tutorial"), "help"),
}
"""Words with which newcomers begin, and the command that is suggested for each."""

_SUGGESTED = tuple(sorted({row.name: row for row in ROWS if row.build and row.in_line}))


def distance(left: str, right: str) -> int:
    """Letters to add, drop, change or swap with a neighbour (optimal string alignment)."""
    before: list[int] = []
    above = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        row = [i]
        for j, b in enumerate(right, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, above = above, row
    return above[-1]


def nearest(word: str, among: tuple[str, ...] = _SUGGESTED) -> str | None:
    """The name a misspelt *word* most likely means, or ``None``.

    At most one letter may be wrong in a word of up to five letters, two in a
    longer one; among equally near names the first in the alphabet is named.
    """
    word = word.lower()
    slipped = BY_SLIP.get(word)
    if slipped is not None and slipped.name in among:
        return slipped.name
    allowed = 1 if len(word) <= 5 else 2
    if len(word) < 3 or len(word) > 24:
        return None
    near = [(distance(word, name), name) for name in among if abs(len(name) - len(word)) <= allowed]
    best = min(near, default=(allowed + 1, ""))
    return best[1] if best[0] <= allowed else None


def misspelt(word: str) -> Row | None:
    """The one command that is a single slip of the fingers away, or ``None``."""
    if len(word) < 4 or len(word) > 24:
        return None
    close = [name for name in _SUGGESTED if distance(word, name) == 1]
    return BY_NAME[close[0]] if len(close) == 1 else None
