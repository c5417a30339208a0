"""Boards that somebody wants, and how one comes to be in the database."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from pbmserv.engine.clocks import Terms
from pbmserv.engine.protocol import races
from pbmserv.engine.record import GameRecord
from pbmserv.engine.referee import opening
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.rng import Rng
from pbmserv.service.bots import bot_moves
from pbmserv.service.core.context import CommandContext
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.tables import BoardStatus


@dataclass(frozen=True, slots=True)
class Proposal:
    """A board that somebody wants.

    Attributes:
        options: canonical words.
        sitting: its players, by seat.
        origin: the board whose box it is to have, if it is to be a copy.
    """

    game: AnyGame
    options: tuple[str, ...]
    rated: bool
    terms: Terms
    sitting: tuple[Player, ...]
    origin: int | None = None


def make_board(
    context: CommandContext, proposal: Proposal, there: set[int], *, proven: bool = True
) -> BoardRow:
    """A board in the database; *there* are the ids of players who need not be asked.

    *proven*: whoever asked for it has proved to be one of its players.
    """
    game, seats = proposal.game, len(proposal.sitting)
    seed = secrets.token_bytes(32)
    options = proposal.options
    comparable = True
    if races(game):
        chosen = game.options(options, seats)
        comparable = game.anew(chosen) == chosen  # else somebody may know the box
        options = game.describe(game.fixed(chosen, Rng(seed, 0)))
    record = GameRecord(game.info.key, game.info.rules_version, seats, options, seed)
    first = opening(game, record)
    machines = {seat for seat, one in enumerate(proposal.sitting) if bot_moves.is_house(one)}
    board_id = boards.create(
        context.connection,
        game=game.info.key,
        rules_version=game.info.rules_version,
        options=options,
        seed=seed,
        thread=secrets.token_hex(8),
        rated=proposal.rated,
        comparable=comparable,
        origin=proposal.origin,
        proven=proven,
        sitting=[player.id for player in proposal.sitting],
        accepted=sorted(there),
        now=context.now,
        terms=proposal.terms,
        waiting=game.to_act(first.state) - machines,
    )
    board = boards.load(context.connection, board_id)
    assert board is not None
    bot_moves.take_note(context, board, first, runs=board.status == BoardStatus.ACTIVE)
    return board
