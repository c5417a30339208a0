"""``games`` and ``history``: lists of boards, a line for each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from pbmserv.commands.table.looking import Games, History
from pbmserv.errors import Refused
from pbmserv.service.boards.player_boards import boards_of
from pbmserv.service.core.budget import TooMuch
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import games_of, players_of
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import histories, seeks
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.boards.histories import EndedGame
from pbmserv.store.tables.boards import RUNNING, BoardStatus
from pbmserv.views.shown_boards import show_or_log

LISTED = 60
"""Most lines of a list of games."""


def games(context: CommandContext, command: Games) -> Answer:
    """Answer ``games``: a table of players' games; in a reply, of the sender's own."""
    own = [] if command.userids else _sender_players(context)
    wanted = own or players_of(context, command.userids)
    rows: dict[int, dict[str, Any]] = {}
    total = 0
    for player in wanted:
        listed = boards_of(context, player, command.which, command.game, LISTED)
        total += listed.total
        new = [board for board in listed.boards if board.id not in rows]
        rows |= {board.id: _row(context, board) for board in new}
    words = {
        "userids": [p.userid for p in wanted],
        "you": [p.userid for p in own],
        "which": command.which,
        "game": command.game,
        "rows": list(rows.values()),
        "total": max(total, len(rows)) if len(wanted) == 1 else len(rows),
        "seeks": [seek for p in wanted for seek in _seeks(context, p, command)],
    }
    return Answer((Part("games", words),))


def running_rows(context: CommandContext, player: Player) -> list[dict[str, Any]]:
    """Return the lines of a player's boards that are played or proposed, newest first."""
    boards = boards_of(context, player, "active", None, LISTED).boards
    return [_row(context, board) for board in boards]


def _sender_players(context: CommandContext) -> list[Player]:
    """Return the players who ask without a userid: by reply address, else by the sender's address.

    The sender's address is not proved. But lists are not secret, and this one goes to that address.
    """
    if context.reply_address is not None:
        return [context.speaker(None)]
    address = context.actor.address
    senders = [p for p in players.by_address(context.connection, address) if p.active]
    if not senders:
        raise Refused("missing-userid", example="games USERID")
    return senders


def winners(names: Sequence[str], places: Sequence[int]) -> list[str]:
    """Return the players in first place; none if all places are equal or one player was alone."""
    if len(set(places)) == 1:
        return []
    return [name for name, place in zip(names, places, strict=True) if place == 1]


def is_drawn(places: Sequence[int]) -> bool:
    """Return whether several players share the only place."""
    return len(set(places)) == 1 and len(places) > 1


def _seeks(context: CommandContext, player: Player, command: Games) -> list[dict[str, Any]]:
    if command.which == "inactive":
        return []
    return [
        {
            "userid": player.userid,
            "game": seek.game,
            "seats": seek.seats,
            "options": list(seek.options),
            "since": f"{seek.created_at:%Y-%m-%d}",
        }
        for seek in seeks.of_player(context.connection, player.id)
        if command.game in {None, seek.game}
    ]


def _row(context: CommandContext, board: BoardRow) -> dict[str, Any]:
    """Return the line of a board in a list; a board that cannot be replayed has a line, too."""
    try:
        to_move = show_or_log(board.id, board.game, partial(_to_move, context, board))
    except TooMuch:
        to_move = None
    places = (board.outcome or {}).get("places", [])
    return {
        "board": board.id,
        "game": board.game,
        "players": list(board.names),
        "status": board.status,
        "winners": winners(board.names, places) if places else [],
        **(to_move or {"unshown": True, "waiting": [], "movers": [], "turns": []}),
    }


def _to_move(context: CommandContext, board: BoardRow) -> dict[str, Any]:
    """Return the players for whom a board waits, and the numbers of their turns."""
    waiting: list[str] = list(board.undecided)
    movers: list[str] = []
    turns: list[int] = []
    if board.status in RUNNING:
        position = context.position(board)
        to_act = sorted(position.game.to_act(position.state))
        movers = [board.names[seat] for seat in to_act]
    if board.status == BoardStatus.ACTIVE:
        waiting = movers
        # In a race, or with the same dice, the progress of others is hidden.
        if not (position.apart or position.is_duplicate):
            turns = [position.game.turn(position.state, seat) for seat in to_act]
    return {"waiting": waiting, "movers": movers, "turns": turns}


def history(context: CommandContext, command: History) -> Answer:
    """Answer ``game history [userid…]``: finished games; in a reply, the sender's own."""
    wanted = players_of(context, command.userids)
    if not wanted and context.actor.speaks_for:
        wanted = [context.speaker(None)]
    if not wanted:
        games = games_of(context, command.game)
        return Answer(tuple(_ended_of_game(context, game.info.key) for game in games))
    parts = []
    for player in wanted:
        ended = histories.of_player(context.connection, player.id, command.game, LISTED)
        total = len(ended)
        if total == LISTED:
            total = histories.count(context.connection, player.id, ("finished",), command.game)
        parts.append(
            Part(
                "history",
                {"of": player.userid, "game": command.game, "total": total, **_ended_rows(ended)},
            )
        )
    return Answer(tuple(parts))


def _ended_of_game(context: CommandContext, key: str) -> Part:
    ended = histories.of_game(context.connection, key, LISTED + 1)
    # To count all boards of a game takes long; the letter says only that there are more.
    words = {"of": "", "game": key, "total": len(ended), **_ended_rows(ended[:LISTED])}
    return Part("history", words)


def _ended_rows(games: Sequence[EndedGame]) -> dict[str, Any]:
    rows = [
        {
            "board": game.board,
            "game": game.game,
            "players": list(game.names),
            "winners": winners(game.names, game.places),
            "drawn": is_drawn(game.places),
            "reason": game.reason,
            "moves": game.turns,
            "ended": f"{game.ended_at:%Y-%m-%d}",
            "rated": game.rated,
        }
        for game in games
    ]
    return {"rows": rows}
