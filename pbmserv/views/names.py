"""The names of players on pages that everybody may read.

After ``prefs public=no`` such pages do not name a player. `PublicName` is the type of all names in
`public_facts`, and only this module makes values of it, so the type checker finds a userid that was
put there as it is. Letters to players, which may show the same facts, hide no name (`ALL_NAMES`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NewType

from sqlalchemy import Connection

from pbmserv.store.accounts import players
from pbmserv.store.boards.boards import BoardRow

PublicName = NewType("PublicName", str)
"""The userid of a player, or words in its place, in which there is a blank."""

NAMELESS = PublicName("a player")
NAMELESS_OPPONENTS = PublicName("players who give no name")
"""All nameless opponents of a player in one line of a table."""


@dataclass(frozen=True, slots=True)
class PublicNames:
    """Makes public names.

    Attributes:
        hidden: userids of players who do not want to be named.
    """

    hidden: frozenset[str]

    def of(self, userid: str) -> PublicName:
        """Return the name of a player."""
        return NAMELESS if userid in self.hidden else PublicName(userid)

    def opponent(self, userid: str) -> PublicName:
        """Return the name under which boards against a player are counted."""
        return NAMELESS_OPPONENTS if userid in self.hidden else PublicName(userid)

    def at_board(self, userids: Sequence[str]) -> Mapping[str, PublicName]:
        """Return the names of a board's players, by seat; several nameless ones get numbers."""
        nameless = [userid for userid in userids if userid in self.hidden]
        if len(nameless) < 2:
            return {userid: self.of(userid) for userid in userids}
        return {
            userid: PublicName(f"player {seat}" if userid in self.hidden else userid)
            for seat, userid in enumerate(userids, 1)
        }


ALL_NAMES = PublicNames(frozenset())
"""The names in letters to players, who know each other."""


def public_names(connection: Connection, userids: Collection[str]) -> PublicNames:
    """Return the names of these players."""
    return PublicNames(players.unnamed(connection, userids) if userids else frozenset())


def public_board(board: BoardRow) -> BoardRow:
    """Return a board with the public names of its players in place of their userids."""
    hidden = frozenset(sitter.userid for sitter in board.sitters if not sitter.public)
    if not hidden:
        return board
    return board.with_names(PublicNames(hidden).at_board(board.names))
