"""Answers commands that only look: boards as spectators or players see them, lists and help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pbmserv.commands.table.command_types import BoardRef
from pbmserv.commands.table.looking import Games, Help, History, ListGames, Show, ShowAs
from pbmserv.engine.types import Seat
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import Purpose
from pbmserv.service.core.budget import TooMuch, Work
from pbmserv.service.core.command_state import Focus
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import board_of, games_of, players_of
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.service.core.refusals import not_seated
from pbmserv.service.core.secret_boxes import is_shut, spoils
from pbmserv.service.ratings import rating
from pbmserv.service.time import timekeeping
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards, challenges, histories
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.boards.histories import EndedGame
from pbmserv.store.tables.boards import RUNNING, BoardStatus
from pbmserv.views.shown_boards import show_or_log
from pbmserv.views.spoilers import Spoils

SHOWN = 10
"""Most boards in one answer."""

LISTED = 60
"""Most lines of a list of games."""

SEARCHED = 500
"""Most boards that are replayed to find those that wait for a player."""

STATUSES = {
    "all": tuple(BoardStatus),
    "active": RUNNING,
    "inactive": (BoardStatus.FINISHED, BoardStatus.DECLINED),
    "next": RUNNING,
}


def help_on(context: CommandContext, command: Help) -> Answer:
    """Answer ``help [subject…]``. A sign is one of the game of the answered letter."""
    subjects = command.subjects
    if _answers_board_letter(context) and subjects[:1] == ("sign",):
        board, _ = context.seat_at(None, None, None)
        subjects = ("sign", board.game, *subjects[1:])
    return Answer((Part("help", {"subjects": list(subjects)}),))


def list_games(context: CommandContext, command: ListGames) -> Answer:
    """Answer ``list [game…]``."""
    registry = context.services.registry
    for key in command.games:
        if key not in registry:
            games = ", ".join(g.info.key for g in registry)
            raise Refused("unknown-game", part=key, games=games, suggestion="")
    wanted = command.games or tuple(game.info.key for game in registry)
    return Answer((Part("list", {"games": list(wanted)}),))


def show(context: CommandContext, command: Show) -> Answer:
    """Answer ``show``: boards as any spectator may see them."""
    if not (command.boards or command.userids):  # the sender's own boards
        return show_as(context, ShowAs(command.game, None))
    parts = []
    for ref in command.boards:
        board = board_of(context, ref.board, command.game)
        parts.append(_shown(board, partial(watched, context, board, ref.number)))
    for player in players_of(context, command.userids):
        listed = _boards_of(context, player, command.which, command.game, SHOWN)
        parts += [_shown(board, partial(watched, context, board, None)) for board in listed.boards]
        parts += _more(listed, player, command.which)
    if not parts:
        raise Refused(
            "no-boards",
            part=" ".join(command.userids),
            which=command.which,
            example=f"games {command.userids[0]} all",
        )
    return Answer(tuple(parts))


def show_as(context: CommandContext, command: ShowAs) -> Answer:
    """Answer ``showas``: the speaker's boards as the speaker may see them."""
    if (
        command.who is None
        and not (command.boards or command.which)
        and _answers_board_letter(context)
    ):
        board, sitter = context.seat_at(None, command.game, None)
        return Answer((_shown(board, partial(_own, context, board, sitter.seat)),))
    player = context.speaker(command.who)
    if command.boards:
        parts = [_seated(context, player, ref, command.game) for ref in command.boards]
        return Answer(tuple(parts))
    which = command.which or "active"
    listed = _boards_of(context, player, which, command.game, SHOWN)
    if not listed.boards:
        raise Refused(
            "no-boards",
            part=player.userid,
            which=which,
            example=f"games {player.userid} all",
        )
    parts = [
        _shown(board, partial(_as_player, context, board, player, None)) for board in listed.boards
    ]
    return Answer((*parts, *_more(listed, player, which)))


def _answers_board_letter(context: CommandContext) -> bool:
    """Return whether the mail answers a letter about one board."""
    reply_address = context.reply_address
    return reply_address is not None and reply_address.purpose is Purpose.BOARD


def games(context: CommandContext, command: Games) -> Answer:
    """Answer ``games``: a table of players' games; in a reply, of the sender's own."""
    own = [] if command.userids else _sender_players(context)
    wanted = own or players_of(context, command.userids)
    rows: dict[int, dict[str, Any]] = {}
    total = 0
    for player in wanted:
        listed = _boards_of(context, player, command.which, command.game, LISTED)
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
    boards = _boards_of(context, player, "active", None, LISTED).boards
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
        for seek in challenges.seeks_of(context.connection, player.id)
        if command.game in {None, seek.game}
    ]


def _shown(board: BoardRow, show: Callable[[], Part]) -> Part:
    """Return the part that *show* returns, or one that says that the board cannot be shown now."""
    part = show_or_log(board.id, board.game, show)
    return part or Part("unshown", {"board": board.id})


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


def watched(context: CommandContext, board: BoardRow, number: int | None) -> Part:
    """Return a board as any spectator may see it, after turn *number* or now."""
    ply, kept = watched_ply(context, board, number)
    words = {"declined": board.status == BoardStatus.DECLINED, "kept": kept}
    return Part("show", words, board.id, ply, None)


def watched_ply(context: CommandContext, board: BoardRow, number: int | None) -> tuple[int, Spoils]:
    """Return the ply that spectators may see, and why a board is shown at its start.

    A box is solved unseen, so that nobody wonders about a running one.

    Args:
        context: the request.
        board: the board.
        number: a turn; ``None`` for the newest.

    Raises:
        Refused: so many turns have not been made.
    """
    kept = spoils(context, board)
    ply = _ply(context, board, 0 if kept else number, None)
    return ply, kept if board.status == BoardStatus.FINISHED or kept == "event-game-runs" else ""


def _own(context: CommandContext, board: BoardRow, seat: Seat, number: int | None = None) -> Part:
    """Return a board as one of its players may see it, after turn *number* or now."""
    over = board.status == BoardStatus.FINISHED and number is None
    words: dict[str, Any] = {
        "event": "show",
        "undecided": list(board.undecided),
        "ratings": rating.words_of(context, board) if over else [],
    }
    if board.status == BoardStatus.FINISHED and not is_shut(context, board):
        words["opened"] = True
    elif board.status == BoardStatus.ACTIVE and number is None:
        words |= timekeeping.bank_words(context, board, board.clocks, seat)
    ply = _ply(context, board, number, seat)
    return Part("result" if over else "board", words, board.id, ply, seat)


def _as_player(
    context: CommandContext, board: BoardRow, player: Player, number: int | None
) -> Part:
    sitter = board.sitter_of(player.id)
    if sitter is None:
        raise not_seated(board)
    context.current.focus = Focus(board, sitter.seat)
    return _own(context, board, sitter.seat, number)


def _ply(context: CommandContext, board: BoardRow, number: int | None, seat: Seat | None) -> int:
    """Return the ply that ``board#number`` shows. While a race runs, a seat counts its own turns.

    Raises:
        Refused: so many turns have not been made.
    """
    position = context.position(board)
    if number is None:
        return board.plies
    turns_made = position.turns
    # While a race runs, the number of the others' turns is hidden.
    if number > turns_made and not (position.apart and position.outcome is None):
        raise Refused(
            "no-such-turn",
            part=f"#{number}",
            board=board.id,
            made=turns_made,
            example=f"{board.game} show {board.id}#{turns_made}",
        )
    return position.at_turn(number, seat).number


def _seated(context: CommandContext, player: Player, ref: BoardRef, game: str | None) -> Part:
    board = board_of(context, ref.board, game)
    return _shown(board, partial(_as_player, context, board, player, ref.number))


@dataclass(frozen=True, slots=True)
class _Listed:
    """The newest boards of a player, and the number of all."""

    boards: tuple[BoardRow, ...]
    total: int


def _boards_of(
    context: CommandContext, player: Player, which: str, game: str | None, most: int
) -> _Listed:
    statuses = STATUSES[which]
    most_read = SEARCHED if which == "next" else most
    listed: list[BoardRow] = []
    total = 0
    for board_id in boards.of_player(context.connection, player.id, statuses, game, most_read):
        context.budget.spend(Work.BOARD)
        board = boards.load(context.connection, board_id)
        if board is None:
            continue
        is_next = partial(_is_next, context, board, player)
        # A board that cannot be replayed is listed, too.
        if which == "next" and show_or_log(board.id, board.game, is_next) is False:
            continue
        total += 1
        if len(listed) < most:
            listed.append(board)
    if which != "next" and total == most:
        total = histories.count(context.connection, player.id, statuses, game)
    return _Listed(tuple(listed), total)


def _more(listed: _Listed, player: Player, which: str) -> tuple[Part, ...]:
    """Return the part that says that not all boards of a player are shown."""
    if listed.total <= len(listed.boards):
        return ()
    words = {
        "of": player.userid,
        "which": which,
        "shown": len(listed.boards),
        "total": listed.total,
    }
    return (Part("more", words),)


def _is_next(context: CommandContext, board: BoardRow, player: Player) -> bool:
    """Return whether the board waits for a move, or an answer to a challenge, of this player."""
    if board.status == BoardStatus.PROPOSED and player.userid in board.undecided:
        return True
    position = context.position(board)
    waiting = position.game.to_act(position.state)
    return any(s.player_id == player.id and s.seat in waiting for s in board.sitters)


def history(context: CommandContext, command: History) -> Answer:
    """Answer ``game history [userid…]``: finished games; in a reply, the sender's own."""
    wanted = players_of(context, command.userids)
    if not wanted and context.reply_address is not None and context.reply_address.player:
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
