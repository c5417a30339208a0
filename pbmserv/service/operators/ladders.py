"""Deeds of operators about ladders: taking out a player, and deciding or annulling a challenge."""

from __future__ import annotations

from pbmserv.errors import OperatorError
from pbmserv.service.boards import plies
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.core.said import UNSAID
from pbmserv.service.ladder.ranks import Result
from pbmserv.service.operators import boards as board_deeds
from pbmserv.service.operators.deeds import Deed, Signature
from pbmserv.service.operators.games import game_key
from pbmserv.store.accounts import players
from pbmserv.store.boards import boards
from pbmserv.store.ladders import ladder_challenges, ladder_places, ladders
from pbmserv.store.ladders.ladder_challenges import Challenge
from pbmserv.store.ladders.ladders import Ladder
from pbmserv.store.tables.boards import RUNNING, BoardStatus


def remove(context: CommandContext, by: Signature, game: str, userid: str) -> Deed:
    """Take a player out of a ladder; running games go on, and move nobody.

    Raises:
        OperatorError: there is no such game, or the player is not on its ladder.
    """
    key = game_key(context, game)
    ladder = _ladder_of(context, key)
    ladders.lock_by_id(context.connection, ladder.id)
    player = players.account_of(context.connection, userid.lower())
    place = None
    if player is not None:
        place = ladder_places.leave(
            context.connection, ladder.id, player.id, "removed", context.now
        )
    if place is None:
        raise OperatorError(f"{userid} is not on the ladder of {key}")
    title = context.services.registry.titles.get(key, key)
    part = Part("ladder-news", {"event": "removed", "game": key, "title": title, "why": by.why})
    letter = Notification(place.address, place.player_id, part)
    summary = f"{place.userid} was number {place.rank} on the ladder of {key} and is off it."
    facts = {"userid": place.userid, "rank": place.rank}
    return Deed("remove", f"ladder {key}", summary, (letter,), facts)


def settle(context: CommandContext, _: Signature, number: int, winner: str) -> Deed:
    """Give the running board of a challenge a winner: the other player gives up.

    The scheduler moves the players, as after any game.

    Raises:
        OperatorError: the board is not an open challenge, does not run, or the winner is not there.
    """
    _lock_challenge(context, number)
    board = boards.lock(context.connection, number)
    if board is None or board.status not in RUNNING:
        raise OperatorError(f"board {number} does not run; its result moves the players")
    losers = [sitter for sitter in board.sitters if sitter.userid != winner.lower()]
    if len(losers) != 1:
        names = ", ".join(board.names)
        raise OperatorError(f"{winner} does not play on board {number}; these do: {names}")
    if board.status == BoardStatus.PROPOSED:
        raise OperatorError(f"board {number} has not begun; annul it instead")
    loser = losers[0]
    after = context.position(board).withdraw(loser.seat)
    answer = plies.log_ply(context, board, loser, after, UNSAID)
    summary = f"{winner.lower()} has won board {number}; the ladder follows in a minute."
    facts = {"winner": winner.lower()}
    return Deed("settle", f"board {number}", summary, answer.letters(loser), facts)


def annul(context: CommandContext, by: Signature, number: int) -> Deed:
    """Let a challenge move nobody; its board ends without a result if it runs.

    Raises:
        OperatorError: the board is not a challenge, or its result has moved the players.
    """
    _lock_challenge(context, number)
    board = boards.load(context.connection, number)
    letters: tuple[Notification, ...] = ()
    if board is not None and board.status in RUNNING:
        letters = tuple(board_deeds.end_board(context, by, number).letters)
    ladder_challenges.end(context.connection, number, Result.NONE, context.now)
    summary = f"Board {number} moves nobody on the ladder."
    return Deed("annul", f"board {number}", summary, letters, {})


def _ladder_of(context: CommandContext, key: str) -> Ladder:
    ladder = ladders.of_game(context.connection, key)
    if ladder is None:
        raise OperatorError(f"nobody has joined the ladder of {key}")
    return ladder


def _lock_challenge(context: CommandContext, number: int) -> Challenge:
    """Return and lock an open challenge.

    Raises:
        OperatorError: the board is not a challenge, or its result has been carried out.
    """
    challenge = ladder_challenges.lock(context.connection, number)
    if challenge is None:
        raise OperatorError(f"board {number} is no challenge of a ladder")
    if challenge.ended_at is not None:
        raise OperatorError(f"board {number} has moved the players of its ladder already")
    return challenge


# -- questions ---------------------------------------------------------------------------------


def ladder_lines(context: CommandContext) -> list[tuple[str, ...]]:
    """Return the ladders in lines: game, players, running games, and the first player."""
    lines: list[tuple[str, ...]] = []
    for ladder in ladders.all_of(context.connection):
        first = ladder_places.places(context.connection, ladder.id, 1, 1)
        lines.append(
            (
                ladder.game,
                str(ladder_places.count(context.connection, ladder.id)),
                str(len(ladder_challenges.open_challenges(context.connection, ladder.id))),
                first[0].userid if first else "",
            )
        )
    return lines


def place_lines(context: CommandContext, game: str, most: int) -> list[tuple[str, ...]]:
    """Return the places of a ladder in lines: rank, userid, last sign of life, running boards.

    Raises:
        OperatorError: there is no such game, or nobody has joined its ladder.
    """
    ladder = _ladder_of(context, game_key(context, game))
    running: dict[int, list[str]] = {}
    for challenge in ladder_challenges.open_challenges(context.connection, ladder.id):
        for player_id in (challenge.challenger_id, challenge.defender_id):
            running.setdefault(player_id, []).append(str(challenge.board_id))
    return [
        (
            str(place.rank),
            place.userid,
            f"{place.active_at:%Y-%m-%d}",
            " ".join(running.get(place.player_id, [])),
        )
        for place in ladder_places.places(context.connection, ladder.id, 1, most)
    ]
