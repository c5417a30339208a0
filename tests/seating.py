"""Players at boards and in teams, written into the database directly.

For tests that need many boards at once, with the reply addresses of the players.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from one_process import Server
from sqlalchemy import Connection

from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.store import bots, teams
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import NewBoard
from pbmserv.store.tables.teams import MemberStatus

HIDINGS = ("b3,d3,a1,f2", "a1,c4,e5,g2")
"""First moves of the two players of a new Blackbox board, in any order."""


@dataclass(frozen=True)
class Table:
    """A board without moves."""

    board: int
    players: tuple[Player, Player]
    addresses: tuple[str, str]
    """Reply addresses for the first moves."""


def seat_pairs(
    server: Server, count: int, tag: str = "p", *, game: str = "blackbox", bot: bool = False
) -> list[Table]:
    """Begin *count* boards with two new players each, or with a new player and the house."""
    return server.writer.submit(
        lambda c: [_table(server, c, f"{tag}{n}", game, bot=bot) for n in range(count)]
    ).result()


def _table(server: Server, connection: Connection, name: str, key: str, *, bot: bool) -> Table:
    now = server.clock.now()
    hashed = server.passwords.hash("secret")
    pair = []
    for userid in (f"{name}a", f"{name}b"):
        player = players.create(connection, userid, hashed, f"{userid}@players.example", now)
        assert player is not None
        pair.append(player)
    if bot:
        pair[1] = bots.account(connection, "house", now)
    first, second = pair
    board = begin_board(server, connection, (first, second), key)
    return Table(
        board,
        (first, second),
        (
            reply_address(server, connection, board, first),
            reply_address(server, connection, board, second),
        ),
    )


def begin_board(
    server: Server, connection: Connection, pair: tuple[Player, Player], key: str = "blackbox"
) -> int:
    """Begin a board of two players who have accepted; return its number."""
    game = server.registry.newest(key)
    ids = [player.id for player in pair]
    return boards.create(
        connection,
        NewBoard(
            game=key,
            rules_version=game.info.rules_version,
            options=game.describe(game.options((), 2)),
            seed=secrets.token_bytes(32),
            thread=secrets.token_hex(8),
            rated=True,
            sitting=ids,
            accepted=ids,
        ),
        server.clock.now(),
    )


def reply_address(server: Server, connection: Connection, board: int, player: Player) -> str:
    """Return the reply address for the turn that *player* is to make now."""
    row = boards.load(connection, board)
    assert row is not None
    sitter = row.sitter_of(player.id)
    assert sitter is not None
    position = server.positions.newest(connection, row)
    turn = position.game.turn(position.state, sitter.seat)
    return server.mail_domain.address_of(
        ReplyAddress(Purpose.BOARD, player.id, board, turn, player.reply_epoch)
    )


def gather_team(server: Server, name: str, players: Sequence[int]) -> None:
    """Store a team of players with these ids; the first one is its captain."""

    def store(connection: Connection) -> None:
        now = server.clock.now()
        captain, *others = players
        team = teams.create(connection, name, name.lower(), captain, now)
        for player in others:
            teams.set_member(connection, team, player, MemberStatus.MEMBER, now)
        teams.set_order(connection, team, players)

    server.writer.submit(store).result()
