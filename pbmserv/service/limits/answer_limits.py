"""Which answers are not given any more: loops and floods end by silence.

Only mails that lead nowhere are counted: those that move a game on, or tell somebody else
something, are the game itself. Letters that anybody can have sent to anybody (a signup's question,
a new password) have limits of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pbmserv.commands.table import model
from pbmserv.commands.table.model import Line
from pbmserv.errors import Refused
from pbmserv.mail.reply_address import Purpose
from pbmserv.service.core.answers import Answer
from pbmserv.service.core.context import Desk
from pbmserv.service.limits.rates import Idle, Reply
from pbmserv.store.accounts import players
from pbmserv.store.delivery.outbox import NewLetter

UNHUSHED = frozenset({"confirm", "reset", "welcome"})
"""Letters that go out however many answers there were: who asks for them may have nothing else."""


REACHING = frozenset({"message", "chat", "challenge", "started"})
"""Letters to others that come of a player's wish alone, not of a turn on a board."""


def must_not_reach_too_many(desk: Desk, answer: Answer) -> None:
    """Refuse what would reach too many people: they are counted one by one, not by the mail.

    Raises:
        Refused: it would; nothing of the command is done.
    """
    speaker = desk.sitter.player_id if desk.sitter is not None else None
    if desk.player is not None:
        speaker = desk.player.id
    others = [
        told
        for told in answer.told
        if told.part.letter in REACHING and told.player_id not in {None, speaker}
    ]
    if speaker is None or not others:
        return
    if not desk.rooms.traffic.may_reach(speaker, len(others)):
        raise Refused("reaches-many", count=len(others))


def leads_on(desk: Desk, line: Line, answer: Answer) -> bool:
    """Whether a command that was carried out has moved a game on or told somebody something."""
    if isinstance(line.asked, model.Signup | model.Forgot):
        return False  # anybody can ask for that in anybody's name
    return bool(desk.moved or answer.told) and not _is_talk(desk, line)


def outcome(desk: Desk, lines: Iterable[Line], *, done: bool, told: bool) -> Idle:
    """What a mail that led nowhere led to.

    Args:
        done: a command was carried out.
        told: there are letters to others.
    """
    if told and any(_is_talk(desk, line) for line in lines):
        return "talk"
    return "answered" if done else "refused"


def goes_on(desk: Desk, found: Idle, answers: Sequence[NewLetter]) -> Reply:
    """What becomes of the answers to a mail that led nowhere."""
    post = desk.post
    player = post.capability.player if post.capability else 0
    # The subject of a reply is ours, and changes with our letter; that of a command is all of it.
    words = post.text if player else f"{post.mail.subject}\n{post.text}"
    to = answers[0].recipient.lower() if answers else post.mail.sender.lower()
    stranger = to if _may_be_forged(desk, answers) else ""
    return desk.rooms.traffic.answers(_whose(desk), words, found, stranger, post.source)


def _whose(desk: Desk) -> str:
    """Whose mail it was, as far as it proves that; else whose it says, and where it came from."""
    post = desk.post
    sender = post.mail.sender.lower()
    if post.capability is not None and post.capability.player:
        return f"{sender} {post.capability.player}"
    if desk.counted:
        return f"players {sorted(desk.counted)}"
    return f"{sender} {'verified' if post.verdict.passed else post.source.neighbours}"


def must_not_flood(desk: Desk, addresses: Iterable[str]) -> None:
    """Refuse one more letter that asks for an answer at *addresses*, if there were some today.

    Who is proven to write from an address may ask there as often as it takes.
    """
    own = desk.post.mail.sender.lower() if desk.post.verdict.passed else ""
    asked = list(dict.fromkeys(address.lower() for address in addresses))
    others = [address for address in asked if address != own]
    full = desk.rooms.traffic.asks(others, desk.post.source)
    if full:
        raise Refused("asked-often", part=full)


def _is_talk(desk: Desk, line: Line) -> bool:
    """Whether a command only carries words to somebody: two programs can do that for ever."""
    is_message = desk.capability is not None and desk.capability.purpose is Purpose.MESSAGE
    return is_message or isinstance(line.asked, model.Chat | model.Message)


def _may_be_forged(desk: Desk, answers: Sequence[NewLetter]) -> bool:
    """Whether an answer goes to a From address that nothing shows to be the writer's own."""
    post = desk.post
    if desk.unproven:
        return True
    if post.verdict.passed or all(letter.player_id is not None for letter in answers):
        return False
    if desk.rooms.traffic.is_usual(post.mail.sender, post.source):
        return False
    if post.capability is None or not post.capability.player:
        return True
    player = players.by_id(desk.connection, post.capability.player)
    return (
        player is None
        or player.reply_epoch != post.capability.epoch
        or post.mail.sender.lower() not in players.addresses_of(desk.connection, player.id)
    )
