"""Boards that somebody wants: their options, whether they may be, and how they come to be.

A board that a mail asks for in a player's name without proving to be that player's, and that would
ask nobody else, waits: it would begin at once, and count against what the player may have; anybody
could make as many as that. A letter to the player's own address asks, and a yes makes the board.
What nobody answers is forgotten, and never counted.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from pbmserv.commands.grammar.words import slip_of, time_meant
from pbmserv.commands.table.looking import ShowAs
from pbmserv.commands.table.model import BoardRef
from pbmserv.engine.clocks import Terms
from pbmserv.engine.position import opening
from pbmserv.engine.protocol import races
from pbmserv.engine.record import GameRecord
from pbmserv.engine.registry import AnyGame, shown_options
from pbmserv.engine.types import Rng
from pbmserv.errors import OptionError, Refusal, Refused, is_form
from pbmserv.mail.reply_address import ReplyAddress
from pbmserv.service.auth.verified_sender import is_proven
from pbmserv.service.boards import queries
from pbmserv.service.bots import bot_moves
from pbmserv.service.core import contact
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import (
    board_of,
    known_game,
    must_be_open,
    must_not_spoil,
    origin_of,
)
from pbmserv.service.core.results import Answer, Notification, Part
from pbmserv.store.accounts import persons, players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards, challenges
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.boards.challenges import Unconfirmed
from pbmserv.store.tables.boards import BoardStatus

OPEN_CHALLENGES = 10
"""Challenges of one player that may wait for an answer."""

ALONE = 20
"""Boards that a player may have running alone."""

TOWARDS_ONE = 3
"""Challenges of one player that may wait for the same person's answer. Those who are challenged
at once are asked, too, when they have this many games with the challenger already."""

ANSWERED_DAYS = 7
"""Days for which a letter can be answered that asks whether a board is to begin."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A board that somebody wants.

    Attributes:
        options: canonical words.
        sitting: its players, by seat.
        origin: the board whose box it is to have, if it is to be a copy.
        sender: the player who chose the options; ``None`` = all of its players, or the server.
    """

    game: AnyGame
    options: tuple[str, ...]
    rated: bool
    terms: Terms
    sitting: tuple[Player, ...]
    origin: int | None = None
    sender: Player | None = None


def make_board(
    context: CommandContext, proposal: Proposal, there: set[int], *, proven: bool = True
) -> BoardRow:
    """A board in the database; *there* are the ids of players who need not be asked.

    A board of two names of one person is unrated.

    *proven*: whoever asked for it has proved to be one of its players.
    """
    game, seats = proposal.game, len(proposal.sitting)
    seed = secrets.token_bytes(32)
    options = proposal.options
    comparable, chosen_by = True, None
    if races(game):
        chosen = game.options(options, seats)
        comparable = game.anew(chosen) == chosen  # else somebody may know the box
        if not comparable and seats > 1 and proposal.sender is not None:
            chosen_by = proposal.sender.id
        options = game.describe(game.fixed(chosen, Rng(seed, 0)))
    record = GameRecord(game.info.key, game.info.rules_version, seats, options, seed)
    first = opening(game, record)
    bots = {seat for seat, one in enumerate(proposal.sitting) if bot_moves.is_bot(one)}
    ids = [player.id for player in proposal.sitting]
    repeated = seats > 1 and persons.persons_of(context.connection, ids).repeated(ids)
    board_id = boards.create(
        context.connection,
        game=game.info.key,
        rules_version=game.info.rules_version,
        options=options,
        seed=seed,
        thread=secrets.token_hex(8),
        rated=proposal.rated and not repeated,
        comparable=comparable,
        origin=proposal.origin,
        chosen_by=chosen_by,
        proven=proven,
        sitting=ids,
        accepted=sorted(there),
        now=context.now,
        terms=proposal.terms,
        waiting=game.to_act(first.state) - bots,
    )
    board = boards.load(context.connection, board_id)
    assert board is not None
    if board.status == BoardStatus.ACTIVE:
        bot_moves.take_note(context, board, first)
    return board


def read_options(
    game: AnyGame,
    words: tuple[str, ...],
    seats: int,
    part: str,
    line: str,
    times: tuple[str, ...] | None = None,
) -> tuple[tuple[str, ...], bool]:
    """Canonical option words, and whether a board with them is rated.

    *line* is the command without its options, for the example of a refusal, and *times* are those
    beside them; ``None`` = the command takes none.

    Raises:
        Refused: the game is not for so many; *part* is what is wrong then.
        OptionError: an option is unknown or has a wrong value.
    """
    fits = game.info.min_seats <= seats <= game.info.max_seats
    if not fits and not races(game):  # a race may have others
        raise Refused(
            "wrong-seats",
            part=part,
            game=game.info.title,
            fewest=game.info.min_seats,
            most=game.info.max_seats,
        )
    try:
        options = game.options(words, seats)
        described = game.describe(options)
    except OptionError as error:
        refusal = error.refusal
        if not refusal.example:
            time = "" if times is None else time_meant(refusal.part)
            meant = _meant(game, words, seats, refusal.part) or time
            refusal = replace(refusal, example=meant)
        kept = (*(times or ()), *_kept(game, words, seats, refusal))
        raise _whole_line(refusal, line, kept) from error
    return described, game.rated(options)


def _kept(game: AnyGame, words: tuple[str, ...], seats: int, refusal: Refusal) -> tuple[str, ...]:
    """Option words that can stay beside the one that a refusal gives as its example."""
    changed = {word.partition("=")[0] for word in (refusal.part, *refusal.example.split())}
    kept = tuple(word for word in words if word.partition("=")[0] not in changed)
    if is_form(refusal.example):
        return kept
    try:
        game.options((*kept, *(w for w in refusal.example.split() if w[:2] != "--")), seats)
    except OptionError:
        return ()
    return kept


def _meant(game: AnyGame, words: tuple[str, ...], seats: int, wrong: str) -> str:
    """The option that a wrong word is a slip of, with its value; "" where none is near that fits
    the others: "-sise=5x5", "-fari"."""
    name, _, value = wrong.lstrip("-").replace(":", "=", 1).partition("=")
    forms = dict(form.removeprefix("-").partition("=")[::2] for form, _ in game.info.options)
    if name.lower() not in forms and (near := slip_of(name.lower(), forms)):
        meant = f"-{near}={value}" if forms[near] else f"-{near}"
        with suppress(OptionError):
            game.options((*(word for word in words if word != wrong), meant), seats)
            return meant
    return ""


def _whole_line(refusal: Refusal, line: str, kept: tuple[str, ...]) -> OptionError:
    """The same refusal, with the whole command as the example instead of one option."""
    words = " ".join((line, *kept, refusal.example)).split()
    example = " ".join(word for word in words if word != "-race" or words[1] != "solo")
    return OptionError(refusal.code, part=refusal.part, example=example, **refusal.values)


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
    people = [player for player in others if not bot_moves.is_bot(player)]
    for player in people:
        if not takes_challenges(player):
            raise Refused("unavailable", part=player.userid)
    contact.must_meet(context, sender.id, people, people)
    asked = [player for player in others if not _at_once(context, player, sender)]
    proven = is_proven(context, sender)
    if not (proven or asked):
        return wait_for_yes(context, sender, proposal, words.get("replay"))
    _not_too_many(context, sender, asked, proven=proven)
    if not others and challenges.alone(context.connection, sender.id) >= ALONE:
        raise Refused("many-alone", most=ALONE, example=f"games {sender.userid}")
    there = {player.id for player in proposal.sitting} - {player.id for player in asked}
    rated = proposal.rated and bot_moves.rates(proposal.game, proposal.sitting)
    proposal = replace(proposal, rated=rated, sender=sender)
    board = make_board(context, proposal, there, proven=proven)
    context.player, context.sitter = sender, None
    words = {
        **words,
        "by": sender.userid,
        "others": [player.userid for player in others],
        "house": [player.userid for player in others if bot_moves.is_bot(player)],
        "race": _is_race(proposal),
        "undecided": list(board.undecided),
        "unreachable": [player.userid for player in others if player.unreachable_since],
        "said": context.words if not all(map(bot_moves.is_bot, others)) else "",
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


def takes_challenges(player: Player) -> bool:
    """Whether a player takes challenges at all."""
    return player.active and player.accept != "none"


def _is_race(proposal: Proposal) -> bool:
    game = proposal.game
    options = game.options(proposal.options, len(proposal.sitting))
    return races(game) and game.is_race(options)


def _at_once(context: CommandContext, player: Player, sender: Player) -> bool:
    """Whether a game with this player begins without asking."""
    if bot_moves.is_bot(player):
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

    A reply address proves it. Otherwise the From address decides: alone it proves nothing, but all
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


def wait_for_yes(
    context: CommandContext, sender: Player, proposal: Proposal, replayed: int | None
) -> Answer:
    """Ask the player at the player's own address; until then there is no board.

    Raises:
        Refused: that was asked a few times today.
    """
    game, options = proposal.game, proposal.options
    words = shown_options(game, options, len(proposal.sitting))
    source = context.incoming.source
    if context.services.traffic.asks([sender.address], source):
        raise Refused("begin-often", part=sender.userid, example=f"{game.info.key} help")
    number = challenges.add_unconfirmed(
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
    context.player, context.sitter, context.unproven = sender, None, True
    others = [player.userid for player in proposal.sitting if player.id != sender.id]
    asked = {
        "number": number,
        "userid": sender.userid,
        "title": game.info.title,
        "others": others,
        "options": list(words),
        "replay": replayed,
        "days": ANSWERED_DAYS,
    }
    return Answer((Part("begin-asked", asked),))


def begin_confirmed(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``yes``: the board is made, once, however often that is said.

    Raises:
        Refused: it comes too late, or the board could not be made today, either.
    """
    player = context.speaker(None)
    wanted = _wanted(context, reply_address, player)
    if wanted.board_id is not None:
        return queries.show_as(context, ShowAs(None, None, (BoardRef(wanted.board_id, None),)))
    game = known_game(context, wanted.game)
    seats = len(wanted.sitting)
    options, rated = read_options(game, wanted.options, seats, game.info.key, game.info.key)
    origin, words = None, {}
    if wanted.replayed is not None:
        board = board_of(context, wanted.replayed, None)
        must_not_spoil(context, board)
        origin, words = origin_of(board), {"replay": board.id}
    sitting = []
    for player_id in wanted.sitting:
        one = players.by_id(context.connection, player_id)
        assert one is not None
        sitting.append(one)
    proposal = Proposal(game, options, rated, wanted.terms, tuple(sitting), origin)
    answer = invite(context, player, proposal, words)
    number = answer.parts[0].board
    assert number is not None
    challenges.confirmed(context.connection, reply_address.about, number)
    return answer


def drop_unconfirmed(context: CommandContext, reply_address: ReplyAddress) -> Answer:
    """``no``: nothing is made of it.

    Raises:
        Refused: it is settled already.
    """
    player = context.speaker(None)
    wanted = _wanted(context, reply_address, player)
    if wanted.board_id is not None:
        raise Refused("begun-already", part=str(wanted.board_id))
    challenges.drop_unconfirmed(context.connection, reply_address.about)
    return Answer((Part("not-begun", {"title": known_game(context, wanted.game).info.title}),))


def _wanted(
    context: CommandContext, reply_address: ReplyAddress, player: Player
) -> challenges.Unconfirmed:
    found = challenges.lock_unconfirmed(context.connection, reply_address.about)
    late = found is not None and context.now > found.created_at + timedelta(days=ANSWERED_DAYS)
    if found is None or found.player_id != player.id or (late and found.board_id is None):
        example = f"games {player.userid}"
        raise Refused("begin-late", part="yes", days=ANSWERED_DAYS, example=example)
    return found
