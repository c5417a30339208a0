"""The results of jobs of play: what the process has to remember, to ring for, and to log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pbmserv.engine.position import Position

MailOutcome: TypeAlias = Literal["taken", "copy", "ignored", "kept", "put-off"]
"""How a mail or press ended in play: carried out, a copy of an earlier one, not to be answered,
left to the operator, or waiting."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The inbox row of a mail or press, and a summary of its effects for the log.

    Attributes:
        mail: number of the row; of a copy, that of the first one.
        player: who gave the commands, 0 if unknown.
        plies: board and number of each ply that it added.
        done, refused: numbers of its commands.
        letters: number of letters that it queued.
        because: why it was not carried out; ``""`` if it was, or if the outcome says it.
    """

    mail: int
    outcome: MailOutcome
    player: int = 0
    plies: tuple[tuple[int, int], ...] = ()
    done: int = 0
    refused: int = 0
    letters: int = 0
    because: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """The effects of a committed job that concern memory and other stages.

    Attributes:
        played: newest positions by board.
        letters: number of letters that it queued.
        has_bot_work: a bot is to move, or the coach to report, on some board.
        receipt: of the mail or press that the job carried out.
    """

    played: Mapping[int, Position]
    letters: int
    has_bot_work: bool = False
    receipt: Receipt | None = None


NOTHING = Done({}, 0)
