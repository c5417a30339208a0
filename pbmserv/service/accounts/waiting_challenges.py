"""Challenges of newcomers, which wait until a signup proves the newcomer's address.

Anybody can write a challenge with somebody else's address. So nothing of it reaches the friend
before the signup is confirmed, and only the challenge that the signup's letter named is issued. An
address has one waiting challenge, the latest; it expires with the signup.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from pbmserv.commands.grammar.readings import Line
from pbmserv.commands.table.starting import Challenge
from pbmserv.errors import PlayerError, Refused
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.service.boards import challenges
from pbmserv.service.boards.option_words import read_options
from pbmserv.service.core.command_state import CurrentCommand, Proofs
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import is_player, known_game
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.said import CheckedWords
from pbmserv.service.core.submission import NO_COMMANDS
from pbmserv.service.time.time_options import read_times
from pbmserv.store.accounts import signups
from pbmserv.store.accounts.players import Player
from pbmserv.store.accounts.signups import WaitingChallenge
from pbmserv.store.core.prepared import Savepoint

MOST_FRIENDS = 8
"""Most players of a challenge that waits."""

LONGEST_OPTIONS = 200
"""Most characters of its options and times."""

_ISSUE = Savepoint("waiting_challenge")


def keep(context: CommandContext) -> WaitingChallenge | None:
    """Return the first challenge of a stranger's mail that can wait, `None` if there is none.

    It takes the place of an earlier one of the same address. If enough challenges of its network
    wait already, the earlier one stays.
    """
    challenge = next(_challenges(context), None)
    neighbours = context.actor.source.neighbours
    if challenge is None or not context.services.traffic.may("kept", neighbours):
        return None
    signups.forget_challenge(context.connection, context.actor.address.lower())
    return challenge


def _challenges(context: CommandContext) -> Iterator[WaitingChallenge]:
    for line in context.submission.reading.lines:
        command = _challenge_in(line)
        challenge = None if command is None else _waiting(context, command)
        if challenge is not None:
            yield challenge


def _challenge_in(line: Line) -> Challenge | None:
    """Return the challenge that a line means, which may name no writer ("challenge bob")."""
    if isinstance(line.meaning, PlayerError) and line.without_writer is not None:
        unnamed = line.without_writer()
        line = line if unnamed is None else unnamed
    return line.meaning if isinstance(line.meaning, Challenge) else None


def _waiting(context: CommandContext, command: Challenge) -> WaitingChallenge | None:
    """Return a challenge as it waits; `None` if it could not be issued as it is.

    An unknown first name is the newcomer's own. Beside an address all names are left out, since one
    may be a needless password.
    """
    friends = () if command.address else command.userids
    if friends and not is_player(context, friends[0]):
        friends = friends[1:]
    if command.alone or not (command.address or friends) or len(friends) > MOST_FRIENDS:
        return None
    if not all(is_player(context, userid) for userid in friends):
        return None
    if len(" ".join((*command.options, *command.times))) > LONGEST_OPTIONS:
        return None
    seats = 2 if command.address else 1 + len(friends)
    try:
        game = known_game(context, command.game or context.usual_game)
        read_times(command.times)
        read_options(game, command.options, seats, game.info.key, game.info.key)
    except PlayerError:
        return None
    return WaitingChallenge(
        game.info.key, friends, command.address, tuple(command.options), tuple(command.times)
    )


def words_of(context: CommandContext, challenge: WaitingChallenge | None) -> dict[str, Any]:
    """Return the words of letters about a waiting challenge. They hold no mail address, which
    somebody else may have written for an advertisement."""
    if challenge is None:
        return {}
    title = context.services.registry.titles[challenge.game]
    return {"challenge": {"friends": list(challenge.friends), "title": title}}


@dataclass(frozen=True, slots=True)
class Issued:
    """A challenge that has waited, and was carried out or refused.

    Attributes:
        letters: the answer to the player, and the letters to friends.
    """

    letters: tuple[Notification, ...]
    is_refused: bool


def issue(context: CommandContext, player: Player, challenge: WaitingChallenge) -> Issued:
    """Carry out the waiting challenge of a signup that is confirmed.

    If it is refused, the player gets the reason, and the signup stays.
    """
    own_context = _speaking_for(context, player)
    command = Challenge(
        challenge.game,
        () if challenge.address else (player.userid, *challenge.friends),
        challenge.options,
        challenge.times,
        address=challenge.address,
    )
    effects = context.effects.copy()
    is_refused = False
    _ISSUE.begin(context.connection)
    try:
        _refuse_missing_friends(context, challenge)
        answer = challenges.challenge(own_context, command)
    except PlayerError as error:
        _ISSUE.undo(context.connection)
        context.take_back(effects)
        is_refused = True
        answer = Answer((_refusal(command, error),))
    _ISSUE.end(context.connection)
    own_letters = (Notification(player.address, player.id, part) for part in answer.parts)
    return Issued((*own_letters, *answer.notifications), is_refused)


def _refuse_missing_friends(context: CommandContext, challenge: WaitingChallenge) -> None:
    """Refuse a challenge to players who have left while it waited."""
    missing = [userid for userid in challenge.friends if not is_player(context, userid)]
    if missing:
        raise Refused("friend-left", friends=" and ".join(missing), count=len(missing))


def _speaking_for(context: CommandContext, player: Player) -> CommandContext:
    """Return a context in which this player is proven to speak, with the same effects."""
    address = ReplyAddress(Purpose.PLAYER, player=player.id, epoch=player.reply_epoch)
    return replace(
        context,
        actor=replace(context.actor, reply_address=address),
        submission=NO_COMMANDS,
        proofs=Proofs(),
        current=CurrentCommand(),
        checked_words=CheckedWords(),
    )


def _refusal(command: Challenge, error: PlayerError) -> Part:
    names = (command.address,) if command.address else command.userids
    front = f"{command.game} challenge".strip()
    line = " ".join((front, *names, *command.options, *command.times))
    refusal = error.refusal
    words = {
        "refusal": asdict(refusal),
        "echo": line,
        "may_say": False,
    }
    return Part("refusal", words)
