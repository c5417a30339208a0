"""Which userids nobody can have: they would pass for somebody else, or for a word of a command."""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import digits

from pbmserv.commands.grammar.words import POLITE
from pbmserv.commands.table.catalogue import MEANT_BY, MULTIPLE, ROWS, STOPS, WHICH
from pbmserv.engine.types import BOT_USERIDS

NEUTRAL = "gone-"
"""How the userid of a deleted player begins; the rest is a number."""

STAFF = frozenset(
    ("admin", "admins", "administrator", "operator", "operators", "support", "staff", "team",
     "moderator", "sysop", "owner", "root", "system", "server", "service", "official", "bot",
     "gamemaster", "house", "pbm", "pbmserv", "nobody", "everybody", "anybody", "anonymous")
) | frozenset(
    # RFC 2142, and what mail servers call themselves
    ("postmaster", "hostmaster", "webmaster", "abuse", "security", "noc", "info", "sales",
     "marketing", "news", "usenet", "www", "ftp", "uucp", "noreply", "no-reply", "donotreply",
     "mailer", "daemon", "mailer-daemon", "mail", "email", "listserv", "majordomo", "localhost")
)  # fmt: skip
"""What the people and programs of a server are called."""

_ALIKE = str.maketrans("01i", "oll", "-_.")
"""Characters that look alike, and those that hardly show."""

_BETWEEN = re.compile(r"[-_.]+")


def looks(name: str) -> str:
    """What a name looks like at a glance; two names that do are told apart by nobody."""
    return name.lower().translate(_ALIKE)


_WORDS = frozenset(
    looks("".join(name.split()))
    for name in (
        *(one for row in ROWS for one in (*row.names, *row.slips)),
        *(word for row in ROWS for one in row.names for word in one.split()),
        *MEANT_BY,
        *MULTIPLE,
        *STOPS,
        *WHICH,
        *BOT_USERIDS,
        *(level for userid in BOT_USERIDS for level in userid.split("-")),
        *POLITE,
        "against",
        "all",
        "off",
        "the",
        "until",
        "with",
    )
)
_STAFF = frozenset(map(looks, STAFF))


def is_reserved(userid: str, games: Iterable[str], server: str) -> bool:
    """Whether nobody can have a userid.

    Args:
        userid: in any letter case.
        games: keys and titles of the games of this server.
        server: its own address; its parts are nobody's, the country's or ``com`` apart.
    """
    name = looks(userid)
    if not name or userid.translate(_ALIKE).isdigit() or _BETWEEN.sub("", userid).isdigit():
        return True
    if userid.lower().startswith(NEUTRAL):
        return True
    parts = (userid, *_BETWEEN.split(userid))
    numbered = (bare for part in parts for bare in (part, part.rstrip(digits), part.strip(digits)))
    if any(looks(one) in _STAFF for one in numbered):  # "operator2" is no other operator
        return True
    local, _, domain = server.partition("@")
    labels = domain.split(".")
    own = (local, domain, *(labels[:-1] or labels), *games)
    return name in _WORDS or name in {looks("".join(one.split())) for one in own}
