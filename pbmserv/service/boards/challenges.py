"""Challenges: ``challenge``, ``rematch``, and the acceptance of a challenge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from pbmserv.commands.table.starting import Challenge, Rematch
from pbmserv.engine.clocks import USUAL
from pbmserv.engine.protocol import races
from pbmserv.engine.record import DUPLICATE
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.errors import OptionError, Refused
from pbmserv.service.boards import bot_turns, mail_invitations, opponents
from pbmserv.service.boards.acceptance import join, refuse_blocked_meeting
from pbmserv.service.boards.first_draws import draw_again
from pbmserv.service.boards.new_boards import Proposal
from pbmserv.service.boards.option_words import read_options
from pbmserv.service.boards.proposals import propose, sender_of
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import game_of_letter, is_player, known_game, unknown_player
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.said import Said
from pbmserv.service.core.words_for_others import words_for_others
from pbmserv.service.time import timekeeping
from pbmserv.service.time.time_options import terms_of_challenge
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import challenges
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.tables.boards import BoardStatus


def challenge(context: CommandContext, command: Challenge) -> Answer:
    """Begin a board of which the sender is a player; ask the others by mail."""
    command = replace(command, game=command.game or game_of_letter(context))
    if command.address:
        return mail_invitations.invite(context, command)
    written = opponents.with_usual_opponent(context, command)
    game = known_game(context, command.game)
    command = _with_writer(context, game, written)
    terms = terms_of_challenge(written)
    if command.alone and not races(game):
        options = tuple(option for option in command.options if option != "-race")
        command = replace(command, options=options)  # refused, since it needs another player
    _refuse_options_without_dash(context, game, command)
    _refuse_company(context, game, command)
    for place, userid in enumerate(written.userids, 1):
        _refuse_unknown_name(context, userid, place)
    options, rated = _options_of(game, command)
    sitting = tuple(
        _invited(context, game, userid, options, command.userids) for userid in command.userids
    )
    if command.credentials is not None:
        sender = context.authenticate(command.credentials)
    else:
        sender = sender_of(context, sitting, _example_of(command))
    return propose(context, sender, Proposal(game, options, rated, terms, sitting), {})


def _refuse_company(context: CommandContext, game: AnyGame, command: Challenge) -> None:
    """Refuse other names behind "solo"; people write a password there, as in other commands."""
    if not command.alone or len(command.userids) == 1:
        return
    context.current.echo_hidden = True
    player = players.active_by_userid(context.connection, command.userids[0])
    example = f"{game.info.key} solo {player.userid if player is not None else 'USERID'}"
    raise Refused("only-one-player", example=example)


def _options_of(game: AnyGame, command: Challenge) -> tuple[tuple[str, ...], bool]:
    """Return the options of a challenge, and whether its board is rated; see `read_options`."""
    seats, names = len(command.userids), " ".join(command.userids)
    is_alone = seats == 1 and "-race" in command.options
    line = f"{game.info.key} {'solo' if is_alone else 'challenge'} {names}"
    return read_options(game, command.options, seats, names, line, command.times)


def _example_of(command: Challenge) -> str:
    """Return the line that makes the same challenge, with ``{you}`` for its writer's userid."""
    settings = (*command.options, *command.times)
    if len(command.userids) == 1:
        settings = tuple(word for word in settings if word != "-race")
        return " ".join((command.game, "solo", "{you}", *settings))
    return " ".join((command.game, "challenge", "{you}", *command.userids[1:], *settings))


def _with_writer(context: CommandContext, game: AnyGame, command: Challenge) -> Challenge:
    """Add the writer to a challenge that does not name the writer: "challenge bob", "solo".

    The mail must show who writes, if only by an unverified From address. With such an address two
    names may be both players, as in the original's commands, unless the game has room for three.

    Raises:
        Refused: several players have that address.
    """
    if command.credentials is not None or (command.alone and command.userids):
        return command
    if writers := context.known_writers():
        named = {player.userid for player in writers} & set(command.userids)
        writer = None if named else context.speaker(None)
    else:
        owners = players.by_address(context.connection, context.actor.address)
        names_owner = any(owner.userid in command.userids for owner in owners)
        is_all = bool(command.userids[1:]) and not _has_room(game, command)
        writer = None if is_all or names_owner else context.claimed_writer()
    if writer is None or writer.userid in command.userids:
        return command
    return replace(command, userids=(writer.userid, *command.userids))


def _has_room(game: AnyGame, command: Challenge) -> bool:
    """Return whether one player more than a challenge names can sit at the board."""
    if "-race" in command.options:  # `read_options` refuses too many
        return True
    return not races(game) and len(command.userids) < game.info.max_seats


def rematch(context: CommandContext, command: Rematch) -> Answer:
    """Begin a board with the same players and options, and the other player first.

    If the other player has asked for the same rematch, accept it instead.
    """
    board, sitter = context.seat_of(command)
    if board.status == BoardStatus.PROPOSED and sitter.accepted_at is None:
        raise Refused("accept-how")  # "let's play again" is not a clear yes
    if board.status not in {BoardStatus.FINISHED, BoardStatus.DECLINED}:
        raise Refused("not-over", part=str(board.id), example=f"{board.game} show {board.id}")
    order = (*board.sitters[1:], board.sitters[0])
    seated = [player.player_id for player in order]
    waiting_for = partial(
        challenges.waiting_for,
        context.connection,
        game=board.game,
        options=board.options,
        sitting=seated,
    )
    asked_by_other = waiting_for(sitter.player_id)
    if asked_by_other is not None:
        return accept(context, *context.seat_at(asked_by_other, None, command.credentials))
    for player_id in seated:
        asked_before = waiting_for(player_id)
        if asked_before is not None:
            raise Refused("rematch-asked", part=str(asked_before), example=f"show {asked_before}")
    game = known_game(context, board.game)
    options, rated = _options_again(game, board)
    userids = tuple(player.userid for player in order)
    sitting = tuple(_invited(context, game, userid, options, userids) for userid in userids)
    sender = next(player for player in sitting if player.id == sitter.player_id)
    context.current.focus = None
    terms = USUAL if board.of_event else board.terms
    proposal = Proposal(game, options, rated, terms, sitting)
    return propose(context, sender, proposal, {"rematch": board.id})


def _options_again(game: AnyGame, board: BoardRow) -> tuple[tuple[str, ...], bool]:
    """Return the options of a rematch, which has another box, dice or deals; see `read_options`."""
    words = board.options
    if races(game):
        words = game.describe(game.without_box(game.options(words, board.seats)))
    words = tuple(word for word in words if word != DUPLICATE)
    return read_options(game, words, board.seats, " ".join(words), f"{game.info.key} seek")


def accept(context: CommandContext, board: BoardRow, sitter: Sitter) -> Answer:
    """Accept a challenge without a move."""
    if sitter.accepted_at is not None:
        raise Refused("already-accepted", part=str(board.id), example="show")
    refuse_blocked_meeting(context, board, sitter)
    undecided = join(context, board, sitter)
    board = draw_again(context, board, sitter)
    times = timekeeping.set_after_acceptance(context, board, undecided)
    begins = not undecided
    if begins:
        bot_turns.note_turn(context, board, context.position(board))
    words = words_for_others(context)

    def part_for(reader: Sitter, event: str, said: Mapping[str, Said]) -> Part:
        bank = timekeeping.bank_words(context, board, times, reader.seat) if begins else {}
        about = {"by": sitter.userid, "undecided": list(undecided), "event": event}
        return Part("board", {**about, **said, **bank}, board.id, board.plies, reader.seat)

    notifications = tuple(
        Notification.sitter(other, part_for(other, "accepted", {"said": words}))
        for other in board.sitters
        if other.player_id != sitter.player_id and other.userid not in undecided
    )
    return Answer((part_for(sitter, "joined", {"said_to": words}),), notifications)


def _refuse_options_without_dash(
    context: CommandContext, game: AnyGame, command: Challenge
) -> None:
    """Refuse names that look like options without "-": "challenge bob race", "… size 8x8".

    Raises:
        Refused: its example is the line with these options, if enough players are left.
    """
    split = _names_and_options(context, game, command.userids)
    if split is None:  # perhaps a password is among them
        return
    names, options = split
    if not options:
        return
    sender = context.actor.address
    if command.alone:
        names = names or [player.userid for player in context.known_writers()]
    elif len(names) == 1:  # the answer goes to this player only
        owners = players.by_address(context.connection, sender)
        names = [*[player.userid for player in owners if player.active][:1], *names]
    if not (command.alone or len(set(names)) > 1):
        return
    line = " ".join((game.info.key, "solo" if command.alone else "challenge", *names))
    words = (*command.options, *options)
    read_options(game, words, len(names) or 1, line, line, command.times)
    words = tuple(word for word in words if word != "-race" or not command.alone)
    example = " ".join((line, *words, *command.times))
    raise Refused("option-sign", part=options[0].strip("-="), example=example)


def _names_and_options(
    context: CommandContext, game: AnyGame, words: Sequence[str]
) -> tuple[list[str], list[str]] | None:
    """Split the names of a challenge into players and options without "-", which are completed.

    Return `None` if a word is neither.
    """
    forms = dict(form.removeprefix("-").partition("=")[::2] for form, _ in game.info.options)
    names: list[str] = []
    options: list[str] = []
    for word in words:
        if is_player(context, word):
            names.append(word)
        elif options and options[-1].endswith("=") and _is_option(game, options[-1] + word):
            options[-1] += word
        elif word in forms:
            options.append(f"-{word}=" if forms[word] else f"-{word}")
        elif fitting := _of_one_option(game, forms, word):
            options.append(fitting)
        else:
            return None
    return names, options


def _of_one_option(game: AnyGame, forms: Mapping[str, str], word: str) -> str:
    """Return the only option that takes this value ("8x8" is a size), ``""`` if there is none."""
    if not word[:1].isdigit():
        return ""
    strict_names = [
        name for name in forms if forms[name] and not _is_option(game, f"-{name}=anything")
    ]
    options = [f"-{name}={word}" for name in strict_names]
    fitting = [option for option in options if _is_option(game, option)]
    return fitting[0] if len(fitting) == 1 else ""


def _is_option(game: AnyGame, word: str) -> bool:
    with suppress(OptionError):
        game.options(("-race", word), 1)
        return True
    return False


_HOUSE = dict.fromkeys(("computer", "bot", "robot", "machine", "ai", "cpu"), "house-beginner") | {
    userid.removeprefix("house-"): userid for userid in BOT_USERIDS
}
"""Names of the house by people who do not know its userids."""


def _refuse_unknown_name(context: CommandContext, userid: str, place: int) -> None:
    """Refuse a challenge to an unknown name. The refusal repeats it only if it resembles a userid,
    since it may be a needless password.
    """
    if is_player(context, userid):
        return
    unknown = unknown_player(context, userid)
    if userid in _HOUSE:
        raise Refused("no-such-player", part=userid, suggestion=_HOUSE[userid])
    if unknown.refusal.values["suggestion"]:
        raise unknown
    context.current.echo_hidden = True
    raise Refused("no-such-player", place=place, invites=True)


def _invited(
    context: CommandContext,
    game: AnyGame,
    userid: str,
    options: tuple[str, ...],
    userids: tuple[str, ...],
) -> Player:
    if userid in BOT_USERIDS:
        return bot_turns.invited_bot(context, game, userid, options, userids)
    player = players.active_by_userid(context.connection, userid)
    if player is None:
        raise unknown_player(context, userid)
    return player
