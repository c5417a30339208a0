"""``friends``: the people a player has played, with the results; the player's usual opponent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from sqlalchemy import Connection

from pbmserv.commands.table.looking import Friends
from pbmserv.commands.table.starting import Challenge
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.errors import Refused
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.store.accounts import players
from pbmserv.store.boards import histories

MOST_BOARDS = 2_000
"""Most finished boards of a player that are counted, the newest ones."""
LISTED = 40
"""Most friends in a list."""

USUAL_OPPONENT = frozenset({"usual", "usual opponent", "my usual", "my usual opponent"})
"""Words in the place of an opponent that mean the person with whom a player plays most."""


@dataclass(slots=True)
class Friend:
    """Another player, and the results of their boards with a player.

    Attributes:
        won, lost, drawn: finished boards of the two, from the player's side.
        running: boards that are played or proposed.
        game: the game that the two finished last; ``""`` for none.
    """

    userid: str
    won: int = 0
    lost: int = 0
    drawn: int = 0
    running: int = 0
    game: str = ""

    @property
    def boards(self) -> int:
        """The number of all boards of the two."""
        return self.won + self.lost + self.drawn + self.running


def friends_of(connection: Connection, player_id: int) -> list[Friend]:
    """Return the people a player has played or plays, the most frequent first.

    House players are left out, and so are races on a box that a player had chosen.
    """
    friends: dict[str, Friend] = {}
    for board in histories.met(connection, player_id, MOST_BOARDS):
        friend = friends.setdefault(board.userid, Friend(board.userid, game=board.game))
        own, other = board.places[board.seat], board.places[board.other_seat]
        if own < other:
            friend.won += 1
        elif own > other:
            friend.lost += 1
        else:
            friend.drawn += 1
    for userid, running in histories.running_with(connection, player_id).items():
        friends.setdefault(userid, Friend(userid)).running = running
    people = [friend for friend in friends.values() if friend.userid not in BOT_USERIDS]
    return sorted(people, key=lambda friend: (-friend.boards, friend.userid))


def friends(context: CommandContext, command: Friends) -> Answer:
    """Answer ``friends``, to the player alone."""
    player = context.speaker(command.credentials)
    rows = friends_of(context.connection, player.id)
    words = {
        "rows": [asdict(row) for row in rows[:LISTED]],
        "total": len(rows),
    }
    return Answer((Part("friends", words),))


def with_usual_opponent(context: CommandContext, command: Challenge) -> Challenge:
    """Put the userid of the sender's usual opponent in the place of "my usual opponent".

    The usual opponent is the person with whom the sender has most boards.

    Raises:
        Refused: nothing proves who writes, or the sender has played nobody.
    """
    at = _place_of_usual(command.userids)
    if at is None or players.active_by_userid(context.connection, "usual") is not None:
        return command
    player = context.speaker(command.credentials)
    people = friends_of(context.connection, player.id)
    if not people:
        raise Refused("no-usual-opponent", example=f"{command.game} seek".strip())
    return replace(command, userids=(*command.userids[:at], people[0].userid))


def _place_of_usual(userids: Sequence[str]) -> int | None:
    """Return the index at which the words for the usual opponent begin; they come last."""
    for at in range(max(0, len(userids) - 3), len(userids)):
        if " ".join(userids[at:]) in USUAL_OPPONENT:
            return at
    return None
