"""Invitations: challenge, rematch, accept, reject; how a board comes to life or does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pbmserv.commands.table.model import Accept, Challenge, Reject, Rematch
from pbmserv.engine.protocol import races
from pbmserv.engine.registry import AnyGame, shown_options
from pbmserv.engine.types import HOUSE
from pbmserv.errors import Refused
from pbmserv.service.auth.proof import is_proven, wait_for_yes
from pbmserv.service.boards.followers import not_played
from pbmserv.service.boards.game_options import read_options
from pbmserv.service.boards.proposals import Proposal, make_board
from pbmserv.service.bots import bot_moves
from pbmserv.service.core.answers import Answer, Notification, Part
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game, must_be_open, unknown_player
from pbmserv.service.time import clocks
from pbmserv.store.accounts import players, preferences
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards, challenges
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.tables import BoardStatus

OPEN_CHALLENGES = 10
"""Challenges of one player that may wait for an answer."""

ALONE = 20
"""Boards that a player may have running alone."""

TOWARDS_ONE = 3
"""Challenges of one player that may wait for the same person's answer. Those who are challenged
at once are asked, too, when they have this many games with the challenger already."""


def challenge(context: CommandContext, command: Challenge) -> Answer:
    """A new board. The sender is one of its players; the others are asked by mail."""
    command = _with_writer(context, command)
    terms = clocks.read_times(command.times)
    game = known_game(context, command.game)
    for place, userid in enumerate(command.userids, 1):
        _must_play(context, userid, place)
    part = " ".join(command.userids)
    options, rated = read_options(
        game, command.options, len(command.userids), part, f"{game.info.key} challenge {part}"
    )
    sitting = tuple(
        _invited(context, game, userid, options, command.userids) for userid in command.userids
    )
    said = (*command.options, *command.times)
    words = (command.game, "challenge", "{you}", *command.userids[1:], *said)
    if len(command.userids) == 1:
        words = (command.game, "solo", "{you}", *(word for word in said if word != "-race"))
    example = " ".join(words)
    if command.who is not None:
        sender = context.authenticate(command.who)
    else:
        sender = sender_of(context, sitting, example)
    return invite(context, sender, Proposal(game, options, rated, terms, sitting), {})


def _with_writer(context: CommandContext, command: Challenge) -> Challenge:
    """In a reply nobody need name themselves: "challenge bob" means "me and bob"."""
    solo = len(command.userids) == 1 and "-race" in command.options
    if solo or context.reply_address is None or not context.reply_address.player:
        return command
    writer = context.speaker(None).userid
    if writer in command.userids:
        return command
    return replace(command, userids=(writer, *command.userids))


def rematch(context: CommandContext, command: Rematch) -> Answer:
    """The same players and options once more, the other side first.

    When the other one has asked for just that already, it is accepted instead.
    """
    board, sitter = context.seat_at(command.board, command.game, command.who)
    if board.status not in {BoardStatus.FINISHED, BoardStatus.DECLINED}:
        raise Refused("not-over", part=str(board.id), example=f"{board.game} show {board.id}")
    order = (*board.sitters[1:], board.sitters[0])
    waiting = challenges.waiting_for(
        context.connection,
        sitter.player_id,
        board.game,
        board.options,
        [one.player_id for one in order],
    )
    if waiting is not None:
        return accept(context, Accept(None, waiting, command.who))
    game = known_game(context, board.game)
    words = board.options
    if races(game):  # another box
        words = game.describe(game.anew(game.options(words, board.seats)))
    options, rated = read_options(
        game, words, board.seats, " ".join(words), f"{game.info.key} seek"
    )
    userids = tuple(one.userid for one in order)
    sitting = tuple(_invited(context, game, userid, options, userids) for userid in userids)
    sender = next(player for player in sitting if player.id == sitter.player_id)
    context.focus = None
    proposal = Proposal(game, options, rated, board.terms, sitting)
    return invite(context, sender, proposal, {"rematch": board.id})


def invite(
    context: CommandContext, sender: Player, proposal: Proposal, words: dict[str, Any]
) -> Answer:
    """Make a board of a proposal and tell everybody; *words* go into their letters.

    Raises:
        Refused: somebody does not take it, or too many wait for an answer already.
    """
    must_be_open(context, proposal.game)
    others = [player for player in proposal.sitting if player.id != sender.id]
    bot_moves.must_have_room(context, sender, others)
    for player in others:
        if not bot_moves.is_house(player) and not takes_from(context, player, sender.id):
            raise Refused(
                "unavailable",
                part=player.userid,
                example=f"{proposal.game.info.key} seek {sender.userid} PASSWORD",
            )
    asked = [player for player in others if not _at_once(context, player, sender)]
    proven = is_proven(context, sender)
    if not (proven or asked):
        return wait_for_yes(context, sender, proposal, words.get("replay"))
    _not_too_many(context, sender, asked, proven=proven)
    if not others and challenges.alone(context.connection, sender.id) >= ALONE:
        raise Refused("many-alone", most=ALONE, example=f"games {sender.userid}")
    there = {player.id for player in proposal.sitting} - {player.id for player in asked}
    if any(map(bot_moves.is_house, others)):  # people are rated by games between people
        proposal = replace(proposal, rated=False)
    board = make_board(context, proposal, there, proven=proven)
    context.player, context.sitter = sender, None
    words = {
        **words,
        "by": sender.userid,
        "others": [player.userid for player in others],
        "house": [player.userid for player in others if bot_moves.is_house(player)],
        "race": _is_race(proposal),
        "undecided": list(board.undecided),
        "unreachable": [player.userid for player in others if player.unreachable_since],
        "said": context.words if not all(map(bot_moves.is_house, others)) else "",
    }
    own, told = [], []
    for sitter in board.sitters:
        if sitter.player_id == sender.id:
            letter = "challenged" if asked else "started"
            own.append(Part(letter, words, board.id, 0, sitter.seat, board.thread))
        else:
            letter = "challenge" if sitter.accepted_at is None else "started"
            part = Part(letter, words, board.id, 0, sitter.seat, board.thread)
            told.append(Notification.sitter(sitter, part))
    return Answer(tuple(own), tuple(told))


def takes_from(context: CommandContext, player: Player, sender_id: int) -> bool:
    """Whether a player takes challenges of this sender; why not is nobody's business."""
    return (
        player.active
        and player.accept != "none"
        and not preferences.blocks_player(context.connection, player.id, sender_id)
    )


def accept(context: CommandContext, command: Accept) -> Answer:
    """Say yes to a challenge."""
    board, sitter = context.seat_at(command.board, command.game, command.who)
    must_run(context, board)
    if sitter.accepted_at is not None:
        raise Refused("already-accepted", part=str(board.id), example="show")
    undecided = join(context, board, sitter)
    clocks.accepted(context, board, undecided)
    bot_moves.take_note(context, board, context.position(board), runs=not undecided)
    common = {"by": sitter.userid, "undecided": list(undecided)}
    told = tuple(
        Notification.sitter(
            other,
            Part(
                "board",
                {**common, "event": "accepted", "said": context.words},
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
        {**common, "event": "joined", "said_to": context.words},
        board.id,
        board.plies,
        sitter.seat,
    )
    return Answer((own,), told)


def reject(context: CommandContext, command: Reject) -> Answer:
    """Say no to a challenge."""
    board, sitter = context.seat_at(command.board, command.game, command.who)
    must_run(context, board)
    if board.status != BoardStatus.PROPOSED:
        raise Refused("nothing-to-reject", part=str(board.id), example="resign")
    return decline(context, board, sitter)


def join(context: CommandContext, board: BoardRow, sitter: Sitter) -> tuple[str, ...]:
    """Note that *sitter* plays along (making a move says so too); who is still undecided."""
    if board.status != BoardStatus.PROPOSED:
        return ()
    undecided = board.undecided
    if sitter.accepted_at is None:
        boards.accept(context.connection, board.id, sitter.player_id, context.now)
        undecided = tuple(userid for userid in undecided if userid != sitter.userid)
    if not undecided:
        boards.set_status(context.connection, board.id, BoardStatus.ACTIVE)
    return undecided


def decline(context: CommandContext, board: BoardRow, sitter: Sitter) -> Answer:
    """The board will not be played; it counts for nothing."""
    boards.set_status(context.connection, board.id, BoardStatus.DECLINED)
    words = {"by": sitter.userid, "players": list(board.names), "said": context.words}
    told = tuple(
        Notification.sitter(other, Part("declined", words, board.id, board.plies, other.seat))
        for other in board.sitters
        if other.player_id != sitter.player_id
    )
    own = Part("declined", {**words, "said": ""}, board.id, board.plies, sitter.seat)
    return Answer((own,), told + not_played(context, board))


def must_run(context: CommandContext, board: BoardRow) -> None:
    """Refuse what only a board that is not over can be asked for."""
    if board.status == BoardStatus.FINISHED:
        raise Refused("board-over", part=str(board.id), example=another_game(context, board))
    if board.status == BoardStatus.DECLINED:
        raise Refused("board-declined", part=str(board.id), example=another_game(context, board))


def another_game(context: CommandContext, board: BoardRow) -> str:
    """The command for one more game of the same kind."""
    game = context.services.registry.version(board.game, board.rules_version)
    options = shown_options(game, board.options, board.seats)
    if board.seats == 1:
        return " ".join((board.game, "solo", *board.names, *(w for w in options if w != "-race")))
    return " ".join((board.game, "challenge", *board.names, *options))


def _is_race(proposal: Proposal) -> bool:
    game = proposal.game
    options = game.options(proposal.options, len(proposal.sitting))
    return races(game) and game.is_race(options)


def _must_play(context: CommandContext, userid: str, place: int) -> None:
    """Refuse a challenge to nobody. Such a name is repeated only if it nearly is somebody's:
    it may be a password that nobody has asked for.
    """
    if userid in HOUSE or players.by_userid(context.connection, userid) is not None:
        return
    unknown = unknown_player(context, userid)
    if unknown.refusal.values["suggestion"]:
        raise unknown
    context.echo_hidden = True
    raise Refused("no-such-player", place=place)


def _invited(
    context: CommandContext,
    game: AnyGame,
    userid: str,
    options: tuple[str, ...],
    userids: tuple[str, ...],
) -> Player:
    if userid in HOUSE:
        return bot_moves.invited(context, game, userid, options, userids)
    player = players.by_userid(context.connection, userid)
    if player is None:
        raise unknown_player(context, userid)
    return player


def _at_once(context: CommandContext, player: Player, sender: Player) -> bool:
    """Whether a game with this player begins without asking."""
    if bot_moves.is_house(player):
        return True
    if player.accept != "auto" or player.unreachable_since is not None:
        return False
    return challenges.running_between(context.connection, sender.id, player.id) < TOWARDS_ONE


def _not_too_many(
    context: CommandContext, sender: Player, asked: list[Player], *, proven: bool
) -> None:
    """Challenges that nothing proves have limits of their own: they use up nobody's."""
    if not asked:
        return
    example = f"games {sender.userid}"
    connection = context.connection
    if challenges.open_by(connection, sender.id, proven=proven) >= OPEN_CHALLENGES:
        code = "many-challenges" if proven else "many-unproven"
        raise Refused(code, most=OPEN_CHALLENGES, example=example)
    for player in asked:
        towards = challenges.open_towards(connection, sender.id, player.id, proven=proven)
        if towards >= TOWARDS_ONE:
            raise Refused("many-towards-one", part=player.userid, most=TOWARDS_ONE, example=example)


def sender_of(context: CommandContext, sitting: tuple[Player, ...], example: str) -> Player:
    """Which of the players sends this challenge.

    A reply address proves it. Otherwise the From address decides: it proves nothing, but all
    that a forger wins is a question to the others, who must accept before anything starts, or to
    the player, where nobody else is to be asked.

    Args:
        example: the command as it would be right, with ``{you}`` for the sender's own userid.
    """
    reply_address = context.reply_address
    if reply_address is not None and reply_address.player:
        here = {(player := context.speaker(None)).id: player}
    else:
        found = players.by_address(context.connection, context.incoming.mail.sender)
        here = {player.id: player for player in found if player.active}
    for player in sitting:
        if player.id in here:
            return player
    right = f"signup {context.incoming.mail.sender.partition('@')[0]} PASSWORD"
    for player in here.values():
        right = example.replace("{you}", player.userid)
        break
    raise Refused("challenge-not-you", part=context.incoming.mail.sender, example=right)
