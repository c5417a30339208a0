"""What the server knows of the writer of a mail, and what shows it: ``whoami``.

Whom nobody knows, and who asks for nothing that a stranger can have, is told how to begin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pbmserv.commands.grammar.line import EMPTY
from pbmserv.commands.table.accounts import WhoAmI
from pbmserv.commands.table.catalogue import ROWS
from pbmserv.commands.table.model import VOUCHED
from pbmserv.commands.table.row_types import Trait
from pbmserv.service.accounts import account
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.results import Answer, CommandResult, Part
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player

_FREE = [
    row.name
    for row in ROWS
    if row.asks is not None and row.in_line and (not row.secrets or Trait.BARE in row.traits)
]
"""Commands that need no password, whoever writes."""


def whoami(context: CommandContext, command: WhoAmI) -> Answer:
    """Tell who speaks, and whether the mail proves its address.

    Anybody can write any From address. So only to one that is proven the answer tells which
    players have it, and to all others the same, whether somebody plays there or not.

    Raises:
        Refused: a password or a reply address is there, but proves nothing.
    """
    mail, verdict = context.incoming.mail, context.incoming.verdict
    by_reply = context.reply_address is not None and bool(context.reply_address.player)
    speaker = context.speaker(command.who) if command.who is not None or by_reply else None
    here: list[Player] = []
    if verdict.passed and context.answer_to[0].lower() == mail.sender.lower():
        here = players.by_address(context.connection, mail.sender.lower())
    known = {player.id: player for player in (*([speaker] if speaker else ()), *here)}
    words: dict[str, Any] = {
        "sender": mail.sender,
        "proof": verdict.result,
        "here": [player.userid for player in here],
        "speaker": speaker.userid if speaker else "",
        "by": _shown_by(command),
        "addresses": players.addresses_of(context.connection, speaker.id) if speaker else [],
        "lost": _unreachable(list(known.values())),
        "free": _FREE,
    }
    return Answer((Part("whoami", words),))


_LOST = frozenset(
    ("not-a-command", "unknown-command", "unknown-change", "unknown-game", "no-commands",
     "board-first", "missing-game", "missing-board", "missing-players", "missing-userid",
     "missing-password", "missing-shown", "one-player", "challenge-not-you", "who-are-you")
)  # fmt: skip
"""Refusals of what somebody writes who does not know yet how things go here."""


_OPEN = frozenset(("signup", "forgot", "whoami", "list"))
"""Commands that a stranger may have every reason to write; their refusals say what is wrong."""


def greeted(context: CommandContext, said: list[CommandResult]) -> list[CommandResult]:
    """What became of the lines of a mail that proves nothing; for a stranger who is lost, one
    letter that says how to begin."""
    if not said:
        return said
    sender = context.incoming.mail.sender.lower()
    if not all(map(_is_lost, said)) or players.is_address(context.connection, sender):
        return said
    closed = context.services.signup == "closed"
    words = {"signup": "" if closed else account.free_signup(context)}
    return [replace(said[0], parts=(Part("stranger", words),), stopped=None)]


def _is_lost(one: CommandResult) -> bool:
    """Whether a line came to nothing, and for no better reason than that its writer is new."""
    if one.echo == EMPTY.echo or one.stopped is not None:
        return True
    refused = [part.words["refusal"] for part in one.parts if part.letter == "refusal"]
    words = {*one.echo.lower().split()[:2], *(each["values"].get("command") for each in refused)}
    if not _OPEN.isdisjoint(words):
        return False
    begins = not {"challenge", "solo"}.isdisjoint(words)
    lost = _LOST | {"no-such-player"} if begins else _LOST
    return one.status == "refused" and lost.issuperset(each["code"] for each in refused)


def _shown_by(command: WhoAmI) -> str:
    """What shows who speaks: ``"reply"``, ``"sender"`` or ``"password"``."""
    if command.who is None:
        return "reply"
    return "sender" if command.who.password == VOUCHED else "password"


def _unreachable(found: Sequence[Player]) -> list[dict[str, str]]:
    """Players to whom letters came back, and since when they get none."""
    return [
        {"userid": player.userid, "since": f"{player.unreachable_since:%Y-%m-%d}"}
        for player in found
        if player.unreachable_since is not None
    ]
