"""The readers of answers, and whether an answer may go to a stranger."""

from __future__ import annotations

from collections.abc import Iterable

from pbmserv.service.core.context import CommandContext


def reader_of_answer(context: CommandContext) -> tuple[str, int | None]:
    """Return the address and the player id for the answer to the present command.

    If a handler has found the speaker, it is the speaker's own address. Otherwise, if the writer is
    known, the answer goes to that player, so that a reply to it is proven again.
    """
    speaker = context.current.speaker
    if speaker is not None:
        return speaker.address, speaker.player_id
    sender, writers = context.actor.address, context.known_writers()
    if len(writers) != 1:
        return sender, None
    return (writers[0].address if context.actor.speaks_for else sender), writers[0].id


def may_be_forged(context: CommandContext, readers: Iterable[int | None]) -> bool:
    """Return whether answers go to a From address that may not be the writer's own.

    Args:
        readers: player ids of the readers of the answers; `None` for an address alone.
    """
    if context.proofs.unproven:
        return True
    actor = context.actor
    if actor.is_verified or None not in set(readers):
        return False
    return not context.services.traffic.is_known_source(actor.address, actor.source)
