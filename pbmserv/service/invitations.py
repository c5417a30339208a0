"""Invitations: challenge, accept, reject; how a board comes to life or does not."""

from __future__ import annotations

import secrets

from pbmserv.commands.model import Accept, Challenge, Reject
from pbmserv.errors import OptionError, Refused
from pbmserv.service.answers import Answer, Part, Told
from pbmserv.service.desk import Desk
from pbmserv.store import boards, players
from pbmserv.store.boards import BoardRow, Sitter
from pbmserv.store.players import Player


def challenge(desk: Desk, command: Challenge) -> Answer:
    """A new board. The sender is one of its players; the others are asked by mail."""
    registry = desk.rooms.registry
    if command.game not in registry:
        raise Refused(
            "unknown-game", part=command.game, games=", ".join(g.info.key for g in registry)
        )
    game = registry.newest(command.game)
    if command.times:
        raise Refused("times-later", part=command.times[0])
    seats = len(command.userids)
    if not game.info.min_seats <= seats <= game.info.max_seats:
        raise Refused(
            "wrong-seats",
            part=" ".join(command.userids),
            game=command.game,
            fewest=game.info.min_seats,
            most=game.info.max_seats,
        )
    try:
        options = game.options(command.options, seats)
    except OptionError as error:
        raise _whole_line(error, command) from error
    sitting = [_invited(desk, userid) for userid in command.userids]
    sender = _sender_among(desk, sitting)
    board_id = boards.create(
        desk.connection,
        game=game.info.key,
        rules_version=game.info.rules_version,
        options=game.describe(options),
        seed=secrets.token_bytes(32),
        thread=secrets.token_hex(8),
        rated=game.rated(options),
        sitting=[player.id for player in sitting],
        accepted=[sender.id],
        now=desk.now,
    )
    board = boards.load(desk.connection, board_id)
    assert board is not None
    desk.player = sender
    words = {"by": sender.userid, "undecided": list(board.undecided), "said": desk.words}
    own, told = [], []
    for sitter in board.sitters:
        if sitter.player_id == sender.id:
            own.append(Part("challenged", words, board_id, 0, sitter.seat, board.thread))
        else:
            part = Part("challenge", words, board_id, 0, sitter.seat, board.thread)
            told.append(Told.sitter(sitter, part))
    return Answer(tuple(own), tuple(told))


def accept(desk: Desk, command: Accept) -> Answer:
    """Say yes to a challenge."""
    board, sitter = desk.seat_at(command.board, command.game, command.who)
    if board.status in {"finished", "declined"}:
        code = "board-over" if board.status == "finished" else "board-declined"
        raise Refused(code, part=str(board.id), example=another_game(board))
    if sitter.accepted_at is not None:
        raise Refused("already-accepted", part=str(board.id), example="show")
    undecided = join(desk, board, sitter)
    common = {"by": sitter.userid, "undecided": list(undecided)}
    told = tuple(
        Told.sitter(
            other,
            Part(
                "board",
                {**common, "event": "accepted", "said": desk.words},
                board.id,
                board.plies,
                other.seat,
            ),
        )
        for other in board.sitters
        if other.player_id != sitter.player_id and other.userid not in undecided
    )
    own = Part(
        "board",
        {**common, "event": "joined", "said_to": desk.words},
        board.id,
        board.plies,
        sitter.seat,
    )
    return Answer((own,), told)


def reject(desk: Desk, command: Reject) -> Answer:
    """Say no to a challenge."""
    board, sitter = desk.seat_at(command.board, command.game, command.who)
    if board.status != "proposed":
        raise Refused("nothing-to-reject", part=str(board.id), example="resign")
    return decline(desk, board, sitter)


def join(desk: Desk, board: BoardRow, sitter: Sitter) -> tuple[str, ...]:
    """Note that *sitter* plays along (making a move says so too); who is still undecided."""
    if board.status != "proposed":
        return ()
    undecided = board.undecided
    if sitter.accepted_at is None:
        boards.accept(desk.connection, board.id, sitter.player_id, desk.now)
        undecided = tuple(userid for userid in undecided if userid != sitter.userid)
    if not undecided:
        boards.set_status(desk.connection, board.id, "active")
    return undecided


def decline(desk: Desk, board: BoardRow, sitter: Sitter) -> Answer:
    """The board will not be played; it counts for nothing."""
    boards.set_status(desk.connection, board.id, "declined")
    words = {"by": sitter.userid, "players": list(board.names), "said": desk.words}
    told = tuple(
        Told.sitter(other, Part("declined", words, board.id, board.plies, other.seat))
        for other in board.sitters
        if other.player_id != sitter.player_id
    )
    own = Part("declined", {**words, "said": ""}, board.id, board.plies, sitter.seat)
    return Answer((own,), told)


def _whole_line(error: OptionError, command: Challenge) -> OptionError:
    """The same refusal, with the whole challenge as the example instead of one option."""
    refusal = error.refusal
    line = (command.game, "challenge", *command.userids, refusal.example)
    return OptionError(
        refusal.code, part=refusal.part, example=" ".join(line).strip(), **refusal.values
    )


def another_game(board: BoardRow) -> str:
    """The command for one more game of the same kind."""
    return " ".join((board.game, "challenge", *board.names, *board.options))


def _invited(desk: Desk, userid: str) -> Player:
    player = players.by_userid(desk.connection, userid)
    if player is None:
        raise Refused("no-such-player", part=userid)
    return player


def _sender_among(desk: Desk, sitting: list[Player]) -> Player:
    """Which of the players sends this challenge.

    A reply address proves it. Otherwise the From address decides: it proves nothing, but all
    that a forger wins is a question to the others, who must accept before anything starts.
    """
    capability = desk.capability
    if capability is not None and capability.player:
        player = desk.speaker(None)
        if player.id in {p.id for p in sitting}:
            return player
    else:
        here = {p.id for p in players.by_address(desk.connection, desk.post.mail.sender)}
        for player in sitting:
            if player.id in here:
                return player
    raise Refused(
        "challenge-not-you",
        part=desk.post.mail.sender,
        example=f"signup {desk.post.mail.sender.partition('@')[0]} PASSWORD",
    )
