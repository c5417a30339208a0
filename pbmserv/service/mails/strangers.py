"""The greeting for strangers who do not know yet how to play."""

from __future__ import annotations

from dataclasses import replace

from pbmserv.commands.grammar.game_names import GameTitles, game_in_front
from pbmserv.commands.grammar.line import EMPTY
from pbmserv.service.accounts import signing_up
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Part
from pbmserv.service.mails.answers import CommandResult
from pbmserv.store.accounts import players

_LOST = frozenset(
    ("not-a-command", "unknown-command", "unknown-change", "unknown-game", "no-commands",
     "board-first", "missing-board", "missing-players", "missing-userid",
     "missing-password", "missing-shown", "one-player", "challenge-not-you", "who-are-you")
)  # fmt: skip
"""Refusals of lines by which a newcomer can be recognised."""

_LOST_IN_CHALLENGE = frozenset(("no-such-player", "invite-unproven"))
"""Refusals of challenges by which a newcomer can be recognised."""

_OPEN = frozenset(("signup", "forgot", "whoami", "list"))
"""Commands that a stranger may have every reason to write; their refusals say what is wrong."""


def greet_if_lost(context: CommandContext, results: list[CommandResult]) -> list[CommandResult]:
    """Return the results of a mail that proves nothing; for a lost stranger, one letter that
    explains how to begin."""
    if not results:
        return results
    sender = context.actor.address.lower()
    titles = context.services.registry.titles
    are_lost = all(_is_lost(result, titles) for result in results)
    if not are_lost or players.is_address(context.connection, sender):
        return results
    is_closed = context.services.signup == "closed"
    part = Part("stranger-refused", {}) if is_closed else signing_up.ask_to_join(context)
    return [replace(results[0], parts=(part,), stopped=None)]


def _is_lost(result: CommandResult, titles: GameTitles) -> bool:
    """Return whether a line failed only because its writer is new."""
    if result.echo == EMPTY.echo or result.stopped is not None:
        return True
    refused = [part.words["refusal"] for part in result.parts if part.letter == "refusal"]
    echo = result.echo.lower().split()
    _, named = game_in_front(echo, titles)
    words = {
        *echo[: max(named + 1, 2)],
        *(refusal["values"].get("command") for refusal in refused),
    }
    if not _OPEN.isdisjoint(words):
        return False
    begins = not {"challenge", "solo"}.isdisjoint(words)
    lost = _LOST | _LOST_IN_CHALLENGE if begins else _LOST
    return result.status == "refused" and lost.issuperset(refusal["code"] for refusal in refused)
