"""Limits on letters that one person can have sent to many."""

from __future__ import annotations

from collections.abc import Iterable

from pbmserv.errors import Refused
from pbmserv.mail.letter_kinds import kind_of
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification


def refuse_too_many_letters(context: CommandContext, letters: Iterable[Notification]) -> None:
    """Count letters of the speaker to others, and refuse the command if those are too many.

    Only letters that the mere wish of their writer causes are counted
    (`LetterKind.reaches_others`).

    Raises:
        Refused: the speaker's limit is reached.
    """
    speaker = context.current.speaker
    if speaker is None:
        return
    others = [
        letter
        for letter in letters
        if kind_of(letter.part.letter).reaches_others
        and letter.player_id not in {None, speaker.player_id}
    ]
    if others and not context.services.traffic.may("reached", str(speaker.player_id), len(others)):
        raise Refused("reaches-many", count=len(others))


def refuse_too_many_questions(context: CommandContext, addresses: Iterable[str]) -> None:
    """Count a letter that asks a question at each of *addresses*, or refuse the command.

    An address gets few such letters a day, and a network or player can cause few to others. A
    writer with a verified address may ask there without limit.

    Raises:
        Refused: a limit is reached.
    """
    own = context.actor.address.lower() if context.actor.is_verified else ""
    recipients = dict.fromkeys(address.lower() for address in addresses)
    others = [address for address in recipients if address != own]
    speaker = context.current.speaker
    player_id = speaker.player_id if speaker is not None else 0
    traffic, source = context.services.traffic, context.actor.source
    full_address = traffic.count_questions(others, source)
    if full_address:
        raise Refused("asked-often", part=full_address)
    if others:
        limit = traffic.count_letters_to_strangers(others, source, player_id)
        if limit:
            raise Refused("asked-many", why=limit)
