"""The stored data of a player, for the player alone: ``whoami`` and ``export``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pbmserv.commands.table.accounts import Export, WhoAmI
from pbmserv.commands.table.catalogue import ROWS
from pbmserv.commands.table.command_types import VOUCHED, Credentials
from pbmserv.commands.table.row_types import Trait
from pbmserv.service.core.answer_readers import reader_of_answer
from pbmserv.service.core.budget import Work
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player

_FREE = [
    row.name
    for row in ROWS
    if row.command is not None and row.in_line and (not row.secrets or Trait.BARE in row.traits)
]
"""Commands that need no password from anybody."""


def whoami(context: CommandContext, command: WhoAmI) -> Answer:
    """Say who speaks, and whether the From address is verified.

    Anybody can write any From address. So the answer names the players of a verified address only.
    To other addresses it is the same whether or not they belong to players.

    Raises:
        Refused: the password or the reply address is not valid.
    """
    is_named = command.credentials is not None or bool(context.actor.speaks_for)
    speaker = context.speaker(command.credentials) if is_named else None
    owners: list[Player] = []
    if (
        context.actor.is_verified
        and reader_of_answer(context)[0].lower() == context.actor.address.lower()
    ):
        owners = players.by_address(context.connection, context.actor.address.lower())
    candidates = {player.id: player for player in (*([speaker] if speaker else ()), *owners)}
    words: dict[str, Any] = {
        "sender": context.actor.address,
        "proof": context.actor.verdict.result,
        "here": [player.userid for player in owners],
        "speaker": speaker.userid if speaker else "",
        "by": _shown_by(command),
        "addresses": players.addresses_of(context.connection, speaker.id) if speaker else [],
        "lost": _unreachable(list(candidates.values())),
        "free": _FREE,
    }
    return Answer((Part("whoami", words),))


def _shown_by(command: WhoAmI) -> str:
    """Return the proof of the speaker: ``"reply"``, ``"sender"`` or ``"password"``."""
    if command.credentials is None:
        return "reply"
    return "sender" if command.credentials.password == VOUCHED else "password"


def _unreachable(candidates: Sequence[Player]) -> list[dict[str, str]]:
    """Return the players whose letters came back, each with the day since when."""
    return [
        {"userid": player.userid, "since": f"{player.unreachable_since:%Y-%m-%d}"}
        for player in candidates
        if player.unreachable_since is not None
    ]


def export(context: CommandContext, command: Export) -> Answer:
    """``export userid password``: send all stored data to the player's own address."""
    player, home = player_and_home(context, command.credentials)
    context.budget.spend(Work.EXPORT)
    return Answer((), (Notification(home, player.id, Part("export", {"userid": player.userid})),))


def player_and_home(context: CommandContext, credentials: Credentials | None) -> tuple[Player, str]:
    """Return the speaker, who may have signed off, and the address for the player's letters."""
    if credentials is None:
        player = context.speaker(None)
    else:
        player = context.identify(credentials)
        context.current.speaker = player if player.active else None
    return player, home_of(context, player)


def home_of(context: CommandContext, player: Player) -> str:
    """Return the address for a player's letters; after signing off, a confirmed one."""
    return player.address or players.addresses_of(context.connection, player.id)[0]
