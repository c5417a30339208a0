"""Proposals of boards: their options, their limits, and making the board.

If an unproven mail asks for a board that asks no other player, the board waits for a yes from the
player's own address. Otherwise anybody could begin boards that count against a player's limit.
Proposals without an answer are dropped, and never count.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from pbmserv.commands.table.command_types import BoardRef
from pbmserv.commands.table.looking import ShowAs
from pbmserv.engine.chance import drawn_sides
from pbmserv.engine.clocks import Terms
from pbmserv.engine.position import opening
from pbmserv.engine.protocol import races
from pbmserv.engine.record import GameRecord
from pbmserv.engine.registry import AnyGame, shown_options
from pbmserv.engine.rng import Rng
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.service.boards import bot_turns, showing
from pbmserv.service.boards.option_words import read_options
from pbmserv.service.core import contact
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import board_of, known_game, refuse_closed_game
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.secret_boxes import origin_of, refuse_spoiler
from pbmserv.service.core.words_for_others import words_for_others
from pbmserv.store.accounts import persons, players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards, challenges, unconfirmed_boards
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.boards.unconfirmed_boards import Unconfirmed
from pbmserv.store.tables.boards import BoardStatus

OPEN_CHALLENGES = 10
"""Most challenges of one player that wait for an answer."""

ALONE = 20
"""Most running boards of one player alone."""

TOWARDS_ONE = 3
"""Most challenges of one player that wait for the same person. Players who accept at once are asked
when they have this many games with the challenger."""

ANSWERED_DAYS = 7
"""Days for which the question whether to begin a board can be answered."""


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
        is_comparable: the options do not name the box, which a player may know then.
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
        sitting = {player.userid: player for player in proposal.sitting}
        drawn = tuple(sitting[userid] for userid in drawn_sides(seed, sitting, mark))
        proposal = replace(proposal, sitting=drawn)
    box = _drawn_box(proposal, seed)
    record = GameRecord(game.info.key, game.info.rules_version, seats, box.options, seed)
    first = opening(game, record)
    bots = {seat for seat, player in enumerate(proposal.sitting) if bot_turns.is_bot(player)}
    ids = [player.id for player in proposal.sitting]
    repeated = seats > 1 and persons.persons_of(context.connection, ids).repeated(ids)
    board_id = boards.create(
        context.connection,
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
        now=context.now,
        terms=proposal.terms,
        waiting=game.to_act(first.state) - bots,
    )
    board = boards.load(context.connection, board_id)
    assert board is not None
    if board.status == BoardStatus.ACTIVE:
        bot_turns.note_turn(context, board, first)
    return board


def invite(
    context: CommandContext, sender: Player, proposal: Proposal, words: dict[str, Any]
) -> Answer:
    """Make a board of a proposal and tell everybody.

    Args:
        words: added to all letters.

    Raises:
        Refused: a player takes no challenges, or too many challenges wait for an answer.
    """
    refuse_closed_game(context, proposal.game)
    others = [player for player in proposal.sitting if player.id != sender.id]
    bot_turns.refuse_too_many_bot_boards(context, sender, others)
    people = [player for player in others if not bot_turns.is_bot(player)]
    for player in people:
        if not takes_challenges(player):
            raise Refused("unavailable", part=player.userid)
    contact.refuse_blocked_players(context, sender.id, people)
    contact.refuse_blocks_among(context, people)
    invited = [player for player in others if not _at_once(context, player, sender)]
    proven = context.is_proven(sender.id, sender.userid)
    if not (proven or invited):
        return wait_for_yes(context, sender, proposal, words.get("replay"))
    _not_too_many(context, sender, invited, proven=proven)
    if not others and challenges.count_alone(context.connection, sender.id) >= ALONE:
        raise Refused("many-alone", most=ALONE, example=f"games {sender.userid}")
    accepted = {player.id for player in proposal.sitting} - {player.id for player in invited}
    rated = proposal.rated and bot_turns.rates(proposal.game, proposal.sitting)
    proposal = replace(proposal, rated=rated, sender=sender)
    board = make_board(context, proposal, accepted, proven=proven)
    context.current.player, context.current.sitter = sender, None
    words = {
        **words,
        "by": sender.userid,
        "others": [player.userid for player in others],
        "house": [player.userid for player in others if bot_turns.is_bot(player)],
        "race": _is_race(proposal),
        "undecided": list(board.undecided),
        "unreachable": [player.userid for player in others if player.unreachable_since],
        "said": words_for_others(context) if not all(map(bot_turns.is_bot, others)) else "",
    }
    own, notifications = [], []
    for sitter in board.sitters:
        if sitter.player_id == sender.id:
            letter = "challenged" if invited else "started"
            own.append(Part(letter, words, board.id, 0, sitter.seat, board.thread))
        else:
            letter = "challenge" if sitter.accepted_at is None else "started"
            part = Part(letter, words, board.id, 0, sitter.seat, board.thread)
            notifications.append(Notification.sitter(sitter, part))
    return Answer(tuple(own), tuple(notifications))


def takes_challenges(player: Player) -> bool:
    """Return whether a player takes challenges."""
    return player.active and player.accept != "none"


def _is_race(proposal: Proposal) -> bool:
    game = proposal.game
    options = game.options(proposal.options, len(proposal.sitting))
    return races(game) and game.is_race(options)


def _at_once(context: CommandContext, player: Player, sender: Player) -> bool:
    """Return whether a game with this player begins without a question."""
    if bot_turns.is_bot(player):
        return True
    if player.accept != "auto" or player.unreachable_since is not None:
        return False
    return challenges.count_running_between(context.connection, sender.id, player.id) < TOWARDS_ONE


def _not_too_many(
    context: CommandContext, sender: Player, asked: list[Player], *, proven: bool
) -> None:
    """Limit unproven challenges, which do not count against a player's own limit."""
    if not asked:
        return
    example = f"games {sender.userid}"
    connection = context.connection
    if challenges.count_open(connection, sender.id, proven=proven) >= OPEN_CHALLENGES:
        code = "many-challenges" if proven else "many-unproven"
        raise Refused(code, most=OPEN_CHALLENGES, example=example)
    for player in asked:
        towards = challenges.count_open_towards(connection, sender.id, player.id, proven=proven)
        if towards >= TOWARDS_ONE:
            raise Refused("many-towards-one", part=player.userid, most=TOWARDS_ONE, example=example)


def sender_of(context: CommandContext, sitting: tuple[Player, ...], example: str) -> Player:
    """Return the player who sends a challenge.

    A reply address proves it. Otherwise the From address decides. It proves nothing, but a forger
    only causes a question to the others, or to the player if nobody else is asked.

    Args:
        example: the right command, with ``{you}`` for the sender's userid.
    """
    reply_address = context.reply_address
    if reply_address is not None and reply_address.player:
        writers = {(player := context.speaker(None)).id: player}
    else:
        owners = players.by_address(context.connection, context.actor.address)
        writers = {player.id: player for player in owners if player.active}
    for player in sitting:
        if player.id in writers:
            return player
    right = f"signup {context.actor.address.partition('@')[0]} PASSWORD"
    for player in writers.values():
        right = example.replace("{you}", player.userid)
        break
    raise Refused("challenge-not-you", part=context.actor.address, example=right)


def wait_for_yes(
    context: CommandContext, sender: Player, proposal: Proposal, replayed: int | None
) -> Answer:
    """Ask the player by a letter to the player's own address whether to begin the board.

    Raises:
        Refused: the player was asked too often today.
    """
    game, options = proposal.game, proposal.options
    words = shown_options(game, options, len(proposal.sitting))
    source = context.actor.source
    if context.services.traffic.count_questions([sender.address], source):
        raise Refused("begin-often", part=sender.userid, example=f"{game.info.key} help")
    number = unconfirmed_boards.add(
        context.connection,
        Unconfirmed(
            sender.id,
            game.info.key,
            options,
            tuple(player.id for player in proposal.sitting),
            proposal.terms,
            replayed,
            context.now,
        ),
    )
    context.current.player, context.current.sitter, context.proofs.unproven = sender, None, True
    others = [player.userid for player in proposal.sitting if player.id != sender.id]
    letter_words = {
        "number": number,
        "userid": sender.userid,
        "title": game.info.title,
        "others": others,
        "options": list(words),
        "replay": replayed,
        "days": ANSWERED_DAYS,
    }
    return Answer((Part("begin-asked", letter_words),))


def begin_confirmed(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``yes``: make the board, once.

    Raises:
        Refused: the answer is too late, or the board cannot be made today.
    """
    player = context.speaker(None)
    wanted = _wanted(context, reply_address, player)
    if wanted.board_id is not None:
        return showing.show_as(context, ShowAs(None, None, (BoardRef(wanted.board_id, None),)))
    game = known_game(context, wanted.game)
    seats = len(wanted.sitting)
    options, rated = read_options(game, wanted.options, seats, game.info.key, game.info.key)
    origin, words = None, {}
    if wanted.replayed is not None:
        board = board_of(context, wanted.replayed, None)
        refuse_spoiler(context, board)
        origin, words = origin_of(board), {"replay": board.id}
    sitting = []
    for player_id in wanted.sitting:
        player_there = players.by_id(context.connection, player_id)
        assert player_there is not None
        sitting.append(player_there)
    proposal = Proposal(game, options, rated, wanted.terms, tuple(sitting), origin)
    answer = invite(context, player, proposal, words)
    number = answer.parts[0].board
    assert number is not None
    unconfirmed_boards.note_created(context.connection, reply_address.about, number)
    return answer


def drop_unconfirmed(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``no``: drop the proposal.

    Raises:
        Refused: it was answered before.
    """
    player = context.speaker(None)
    wanted = _wanted(context, reply_address, player)
    if wanted.board_id is not None:
        raise Refused("begun-already", part=str(wanted.board_id))
    unconfirmed_boards.drop(context.connection, reply_address.about)
    return Answer((Part("not-begun", {"title": known_game(context, wanted.game).info.title}),))


def _wanted(context: CommandContext, reply_address: ReplyAddress, player: Player) -> Unconfirmed:
    proposed = unconfirmed_boards.lock(context.connection, reply_address.about)
    late = proposed is not None and context.now > proposed.created_at + timedelta(
        days=ANSWERED_DAYS
    )
    if proposed is None or proposed.player_id != player.id or (late and proposed.board_id is None):
        example = f"games {player.userid}"
        raise Refused("begin-late", part="yes", days=ANSWERED_DAYS, example=example)
    return proposed
