"""Looking: boards as spectators and as players see them, lists, and help."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pbmserv.commands.model import BoardRef, Games, Help, ListGames, Show, ShowAs
from pbmserv.engine.types import Seat
from pbmserv.errors import Refused
from pbmserv.service.answers import Answer, Part
from pbmserv.service.desk import Desk, Focus, not_seated, wrong_game
from pbmserv.store import boards, players
from pbmserv.store.boards import BoardRow
from pbmserv.store.players import Player

SHOWN = 10
"""Most boards in one answer."""

LISTED = 60
"""Most lines of a list of games."""

STATUSES = {
    "all": ("proposed", "active", "finished", "declined"),
    "active": ("proposed", "active"),
    "inactive": ("finished", "declined"),
    "next": ("proposed", "active"),
}


def help_on(desk: Desk, command: Help) -> Answer:  # noqa: ARG001 - every handler has a desk
    """``help [subject…]``"""
    return Answer((Part("help", {"subjects": list(command.subjects)}),))


def list_games(desk: Desk, command: ListGames) -> Answer:
    """``list [game…]``"""
    known = desk.rooms.registry
    for key in command.games:
        if key not in known:
            raise Refused("unknown-game", part=key, games=", ".join(g.info.key for g in known))
    wanted = command.games or tuple(game.info.key for game in known)
    return Answer((Part("list", {"games": list(wanted)}),))


def show(desk: Desk, command: Show) -> Answer:
    """What any spectator may see."""
    found = [(_board(desk, ref.board, command.game), ref.number) for ref in command.boards]
    for player in _players(desk, command.userids):
        found += [(b, None) for b in _boards_of(desk, player, command.which, command.game, SHOWN)]
    if not found:
        raise Refused(
            "no-boards",
            part=" ".join(command.userids),
            which=command.which,
            example=f"games {command.userids[0]} all",
        )
    parts = [
        Part("show", {}, board.id, _ply(desk, board, number), None)
        for board, number in found[:SHOWN]
    ]
    return Answer(tuple(parts))


def show_as(desk: Desk, command: ShowAs) -> Answer:
    """What the speaker may see of their own boards."""
    if command.who is None and not command.boards:
        board, sitter = desk.seat_at(None, command.game, None)
        return Answer((_own(desk, board, sitter.seat),))
    player = desk.speaker(command.who)
    if command.boards:
        seated = [_seated(desk, player, ref, command.game) for ref in command.boards]
    else:
        seated = [
            (board, None) for board in _boards_of(desk, player, command.which, command.game, SHOWN)
        ]
    if not seated:
        raise Refused(
            "no-boards",
            part=player.userid,
            which=command.which,
            example=f"games {player.userid} all",
        )
    parts = []
    for board, number in seated[:SHOWN]:
        sitter_seat = board.sitter_of(player.id)
        assert sitter_seat is not None
        parts.append(_own(desk, board, sitter_seat.seat, number))
    return Answer(tuple(parts))


def games(desk: Desk, command: Games) -> Answer:
    """A table of somebody's games; in a reply, of one's own."""
    wanted = _players(desk, command.userids) or [desk.speaker(None)]
    rows: list[dict[str, Any]] = []
    for player in wanted:
        for board in _boards_of(desk, player, command.which, command.game, LISTED):
            if all(row["board"] != board.id for row in rows):
                rows.append(_row(desk, board))
    words = {"userids": [p.userid for p in wanted], "which": command.which, "rows": rows}
    return Answer((Part("games", words),))


def _row(desk: Desk, board: BoardRow) -> dict[str, Any]:
    position = desk.position(board)
    waiting = position.game.to_act(position.state) if board.status == "active" else frozenset()
    outcome = board.outcome or {}
    places = outcome.get("places", [])
    return {
        "board": board.id,
        "game": board.game,
        "players": list(board.names),
        "status": board.status,
        "waiting": [board.names[seat] for seat in sorted(waiting)] or list(board.undecided),
        "winners": [board.names[s] for s, place in enumerate(places) if place == 1],
    }


def _own(desk: Desk, board: BoardRow, seat: Seat, number: int | None = None) -> Part:
    letter = "result" if board.status == "finished" and number is None else "board"
    words = {"event": "show", "undecided": list(board.undecided)}
    return Part(letter, words, board.id, _ply(desk, board, number), seat)


def _ply(desk: Desk, board: BoardRow, number: int | None) -> int:
    """The ply that ``board#number`` shows: turns are counted, past the end is the newest."""
    return board.plies if number is None else desk.position(board).at_turn(number).number


def _board(desk: Desk, board_id: int, game: str | None) -> BoardRow:
    board = boards.load(desk.connection, board_id)
    if board is None:
        raise Refused("no-such-board", part=str(board_id), example="games USERID")
    if game is not None and board.game != game:
        raise wrong_game(board, game)
    return board


def _seated(
    desk: Desk, player: Player, ref: BoardRef, game: str | None
) -> tuple[BoardRow, int | None]:
    board = _board(desk, ref.board, game)
    sitter = board.sitter_of(player.id)
    if sitter is None:
        raise not_seated(board)
    desk.focus = Focus(board, sitter.seat)
    return board, ref.number


def _players(desk: Desk, userids: Sequence[str]) -> list[Player]:
    """The players of these userids.

    Raises:
        Refused: one is unknown. Behind a userid it may be a password (``show alice secret``), so
            then nothing is repeated.
    """
    found: list[Player] = []
    for userid in userids:
        player = players.by_userid(desk.connection, userid)
        if player is None:
            desk.echo_hidden = bool(found)
            raise Refused("no-such-player", part="" if found else userid)
        found.append(player)
    return found


def _boards_of(
    desk: Desk, player: Player, which: str, game: str | None, most: int
) -> Sequence[BoardRow]:
    found = []
    for board_id in boards.of_player(desk.connection, player.id, STATUSES[which], game, LISTED):
        board = boards.load(desk.connection, board_id)
        if board is not None and (which != "next" or _is_next(desk, board, player)):
            found.append(board)
            if len(found) == most:
                break
    return found


def _is_next(desk: Desk, board: BoardRow, player: Player) -> bool:
    """Whether the game waits for this player (also for an answer to a challenge)."""
    if board.status == "proposed" and player.userid in board.undecided:
        return True
    position = desk.position(board)
    waiting = position.game.to_act(position.state)
    return any(s.player_id == player.id and s.seat in waiting for s in board.sitters)
