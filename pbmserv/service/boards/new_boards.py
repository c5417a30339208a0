"""New boards: from a proposal to the row in the database."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pbmserv.engine.chance import drawn_sides
from pbmserv.engine.clocks import Terms
from pbmserv.engine.position import opening
from pbmserv.engine.protocol import races
from pbmserv.engine.record import GameRecord
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.rng import Rng
from pbmserv.service.boards import bot_turns
from pbmserv.service.core.context import CommandContext
from pbmserv.store.accounts import persons
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow, NewBoard
from pbmserv.store.tables.boards import BoardStatus


@dataclass(frozen=True, slots=True)
class Proposal:
    """A board that a player asks for.

    Attributes:
        options: canonical words.
        sitting: its players, by seat.
        origin: the board whose box it copies, if any.
        sender: the player who chose the options; `None`: all players, or the server.
        event_id: the event of which it is a game, if any.
    """

    game: AnyGame
    options: tuple[str, ...]
    rated: bool
    terms: Terms
    sitting: tuple[Player, ...]
    origin: int | None = None
    sender: Player | None = None
    event_id: int | None = None


@dataclass(frozen=True, slots=True)
class _DrawnBox:
    """The options of a new board, with the box of a race.

    Attributes:
        is_comparable: the options do not name the box; a player may know a box that they name.
        chosen_by: id of the player whose options name the box that others play; `None` for none.
    """

    options: tuple[str, ...]
    is_comparable: bool = True
    chosen_by: int | None = None


def _drawn_box(proposal: Proposal, seed: bytes) -> _DrawnBox:
    """Return the options of a board, in which the box of a race is drawn if nothing draws it later.

    The first mail of a player alone draws the box (`first_draws.draw_box`), unless its options name
    it or it has a grade: a later version of the server may draw another box for that.
    """
    game, seats = proposal.game, len(proposal.sitting)
    if not races(game):
        return _DrawnBox(proposal.options)
    chosen = game.options(proposal.options, seats)
    is_comparable = game.without_box(chosen) == chosen
    sender = proposal.sender if seats > 1 and not is_comparable else None
    options = proposal.options
    is_drawn_by_mail = seats == 1 and is_comparable and game.is_race(chosen)
    if not is_drawn_by_mail or game.grade(chosen):
        options = game.describe(game.fixed(chosen, Rng(seed, 0)))
    return _DrawnBox(options, is_comparable, None if sender is None else sender.id)


def _drawn_seats(players: Sequence[Player], seed: bytes, mark: str) -> tuple[Player, ...]:
    """Return players by seat, as the lot gives them."""
    by_userid = {player.userid: player for player in players}
    return tuple(by_userid[userid] for userid in drawn_sides(seed, by_userid, mark))


def make_board(
    context: CommandContext,
    proposal: Proposal,
    accepted: set[int],
    *,
    proven: bool = True,
    sides_drawn: bool = False,
    seed: bytes | None = None,
    mark: str = "",
) -> BoardRow:
    """Add a board to the database; it is unrated if two of its players are one person.

    Args:
        accepted: ids of players who need not be asked.
        proven: the mail proves to come from one of its players.
        sides_drawn: draw the seats of its players by lot.
        seed: the seed, if a letter has pledged it before.
        mark: the mark of the mail that is mixed into the lot.
    """
    game, seats = proposal.game, len(proposal.sitting)
    seed = seed or secrets.token_bytes(32)
    if sides_drawn:
        proposal = replace(proposal, sitting=_drawn_seats(proposal.sitting, seed, mark))
    box = _drawn_box(proposal, seed)
    record = GameRecord(game.info.key, game.info.rules_version, seats, box.options, seed)
    first = opening(game, record)
    bots = {seat for seat, player in enumerate(proposal.sitting) if bot_turns.is_bot(player)}
    ids = [player.id for player in proposal.sitting]
    repeated = seats > 1 and persons.persons_of(context.connection, ids).repeated(ids)
    board_id = boards.create(
        context.connection,
        NewBoard(
            game=game.info.key,
            rules_version=game.info.rules_version,
            options=box.options,
            seed=seed,
            thread=secrets.token_hex(8),
            rated=proposal.rated and not repeated,
            comparable=box.is_comparable,
            origin=proposal.origin,
            chosen_by=box.chosen_by,
            proven=proven,
            event_id=proposal.event_id,
            sides_drawn=sides_drawn,
            sitting=ids,
            accepted=sorted(accepted),
            terms=proposal.terms,
            waiting=game.to_act(first.state) - bots,
        ),
        context.now,
    )
    board = boards.load(context.connection, board_id)
    assert board is not None
    context.current.changes_game = True
    if board.status == BoardStatus.ACTIVE:
        bot_turns.note_turn(context, board, first)
    return board
