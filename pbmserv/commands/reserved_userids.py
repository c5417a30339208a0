"""Userids that no player may have, since they would pass for a command or for somebody else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import digits

from pbmserv.commands.grammar.words import POLITE, PREPOSITIONS
from pbmserv.commands.table.catalogue import (
    BY_SYNONYM,
    MEANT_BY,
    MULTIPLE,
    ROWS,
    STOPS,
    WHICH,
    command_meant,
)
from pbmserv.engine.types import BOT_USERIDS

NEUTRAL = "gone-"
"""Prefix of the userid of a deleted player; a number follows."""

STAFF = frozenset(
    ("admin", "admins", "administrator", "operator", "operators", "support", "staff", "team",
     "moderator", "sysop", "owner", "root", "system", "server", "service", "official", "bot",
     "robot", "computer", "machine", "gamemaster", "house", "pbm", "pbmserv", "nobody",
     "everybody", "anybody", "anonymous",
     "yourname", "theirname", "usual")  # as in the examples on our pages
) | frozenset(
    # RFC 2142, and names that mail servers use for themselves
    ("postmaster", "hostmaster", "webmaster", "abuse", "security", "noc", "info", "sales",
     "marketing", "news", "usenet", "www", "ftp", "uucp", "noreply", "no-reply", "donotreply",
     "mailer", "daemon", "mailer-daemon", "mail", "email", "listserv", "majordomo", "localhost")
)  # fmt: skip
"""Names of the people and programs of a server."""

_SIMILAR_CHARACTERS = str.maketrans("01i", "oll", "-_.'")
"""Characters that look alike are replaced, and those that hardly show are removed."""

_SEPARATORS = re.compile(r"[-_.]+")


def _appearance(name: str) -> str:
    """Return a key that is the same for two names which look alike at a glance."""
    return name.lower().translate(_SIMILAR_CHARACTERS)


_WORDS = frozenset(
    _appearance("".join(words.split()))
    for words in (
        *(name for row in ROWS for name in row.names),
        *(word for row in ROWS for name in row.names for word in name.split()),
        *BY_SYNONYM,
        *MEANT_BY,
        *MULTIPLE,
        *STOPS,
        *WHICH,
        *BOT_USERIDS,
        *(level for userid in BOT_USERIDS for level in userid.split("-")),
        *POLITE,
        *PREPOSITIONS,
        "against",
        "all",
        "another",
        "off",
        "the",
        "until",
        "with",
    )
)
_STAFF = frozenset(map(_appearance, STAFF))


def is_reserved(userid: str, games: Iterable[str], server: str) -> bool:
    """Return whether no player may have a userid.

    Args:
        userid: in any letter case.
        games: keys and titles of the games of this server. The first word of a title is reserved,
            too: the next one might be a password.
        server: the server's own address. The labels of its domain are reserved except the last.
    """
    name = _appearance(userid)
    if not name or name.isdigit() or _SEPARATORS.sub("", userid).isdigit():
        return True
    if userid.lower().startswith(NEUTRAL):
        return True
    parts = (userid, *_SEPARATORS.split(userid))
    without_digits = (
        text for part in parts for text in (part, part.rstrip(digits), part.strip(digits))
    )
    if any(_appearance(text) in _STAFF for text in without_digits):  # "operator2"
        return True
    if name in _WORDS or command_meant(userid.lower()) is not None:  # "help", "mvoe"
        return True
    local, _, domain = server.partition("@")
    labels = domain.split(".")
    names_of_games = [name for game in games for name in (game, game.split()[0])]
    own_names = (local, domain, *(labels[:-1] or labels), *names_of_games)
    return name in {_appearance("".join(own.split())) for own in own_names}
