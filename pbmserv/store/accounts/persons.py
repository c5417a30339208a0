"""Players who are one person: their confirmed addresses lead to the same mailbox.

Only this module decides that. Sharing is transitive: if one player shares a mailbox with a second,
and the second shares another with a third, all three are one person. Players who left or were
barred are included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from sqlalchemy import Connection, bindparam, select

from pbmserv.store.tables.accounts import addresses

MOST_NAMES = 1_000
"""Further names that are looked up for a set of players. If a mailbox has more, the rest count as
separate persons."""

MOST_READ = 8
"""Lines that `first_each_once` reads at most for each line that it returns."""

_PAIRS = select(addresses.c.player_id, addresses.c.mailbox).order_by(
    addresses.c.player_id, addresses.c.mailbox
)
_MAILBOXES_OF = _PAIRS.where(addresses.c.player_id.in_(bindparam("ids", expanding=True)))
_OWNERS_OF = _PAIRS.where(addresses.c.mailbox.in_(bindparam("mailboxes", expanding=True)))


@dataclass(frozen=True, slots=True)
class Persons:
    """Players grouped into persons.

    Attributes:
        by_player: lowest player id of the person, by player id; includes all other names of these
            persons.
    """

    by_player: dict[int, int]

    def same(self, player_id: int, other_id: int) -> bool:
        """Return whether two players are one person."""
        return self.by_player[player_id] == self.by_player[other_id]

    def ids_of_person(self, player_id: int) -> frozenset[int]:
        """Return the ids of all players who are the same person as this one, itself included."""
        person = self.by_player[player_id]
        return frozenset(
            player_id for player_id, owner in self.by_player.items() if owner == person
        )

    def repeated(self, player_ids: Iterable[int]) -> frozenset[int]:
        """Return those players whose person has another name among these players."""
        ids = set(player_ids)
        counts = Counter(self.by_player[player_id] for player_id in ids)
        return frozenset(player_id for player_id in ids if counts[self.by_player[player_id]] > 1)


def persons_of(connection: Connection, player_ids: Collection[int]) -> Persons:
    """Group players into persons, with all their other names."""
    owner = {player_id: player_id for player_id in player_ids}
    first_of: dict[str, int] = {}  # a player with that mailbox
    new_ids, limit = set(owner), len(owner) + MOST_NAMES
    while new_ids:
        rows = connection.execute(_MAILBOXES_OF, {"ids": sorted(new_ids)}).all()
        new_mailboxes = sorted({mailbox for _, mailbox in rows if mailbox} - first_of.keys())
        if not new_mailboxes:
            break
        rows = connection.execute(_OWNERS_OF, {"mailboxes": new_mailboxes}).all()
        new_ids = set()
        for player_id, mailbox in rows:
            if player_id not in owner:
                if len(owner) >= limit:
                    continue
                owner[player_id] = player_id
                new_ids.add(player_id)
            _join(owner, first_of.setdefault(mailbox, player_id), player_id)
    return Persons({player_id: _root(owner, player_id) for player_id in owner})


def ids_of_person(connection: Connection, player_id: int) -> frozenset[int]:
    """Return the ids of all players who are the same person as this one, itself included."""
    return persons_of(connection, [player_id]).ids_of_person(player_id)


def mailboxes_of(connection: Connection, player_ids: Collection[int]) -> list[str]:
    """Return the mailboxes of some players, in order."""
    rows = connection.execute(_MAILBOXES_OF, {"ids": sorted(player_ids)})
    return sorted({row.mailbox for row in rows if row.mailbox})


def owners_of(connection: Connection, mailbox: str) -> frozenset[int]:
    """Return the ids of players with an address that leads to this mailbox."""
    rows = connection.execute(_OWNERS_OF, {"mailboxes": [mailbox]})
    return frozenset(row.player_id for row in rows)


def _root(owner: dict[int, int], player_id: int) -> int:
    while owner[player_id] != player_id:
        player_id = owner[player_id]
    return player_id


def _join(owner: dict[int, int], first: int, other: int) -> None:
    low, high = sorted((_root(owner, first), _root(owner, other)))
    owner[high] = low


class _Line(Protocol):
    """A line of a list that is about one player."""

    @property
    def player_id(self) -> int: ...


L = TypeVar("L", bound=_Line)


def each_once(connection: Connection, lines: Sequence[L], besides: Collection[int] = ()) -> list[L]:
    """Keep the first line of each person, and none of persons who are named elsewhere.

    Args:
        lines: lines of a list, best first.
        besides: ids of players who are named elsewhere.
    """
    persons = persons_of(connection, {*besides, *(line.player_id for line in lines)})
    named = {persons.by_player[player_id] for player_id in besides}
    kept = []
    for line in lines:
        person = persons.by_player[line.player_id]
        if person not in named:
            named.add(person)
            kept.append(line)
    return kept


def first_each_once(
    connection: Connection,
    read: Callable[[int], Sequence[L]],
    most: int,
    besides: Collection[int] = (),
) -> list[L]:
    """Return the first *most* lines of a list in which each person appears once.

    Args:
        read: returns the first lines of the whole list, best first; gets their number.
        besides: as for `each_once`.
    """
    wanted = most
    while True:
        lines = read(wanted)
        kept = each_once(connection, lines, besides)
        if len(kept) >= most or len(lines) < wanted or wanted >= MOST_READ * most:
            return kept[:most]
        wanted *= 2
