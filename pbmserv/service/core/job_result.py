"""The results of jobs of play: what the process has to remember, to ring for, to log, and to tell a
page that waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection

from pbmserv.engine.position import Position

MailOutcome: TypeAlias = Literal["taken", "copy", "ignored", "kept", "put-off"]
"""The result of a mail or press in play: carried out, a copy of an earlier one, not to be answered,
left to the operator, or waiting."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The inbox row of a mail or press, and a summary of its effects for the log.

    Attributes:
        mail: number of the row; of a copy, that of the first one.
        player: row id of the player who gave the commands, 0 if unknown.
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


FAILED: Mapping[str, bool] = {"failed": True}
"""The result of a form or press on which our code failed, for the page that waits for it."""


@dataclass(frozen=True, slots=True)
class Done:
    """The effects of a committed job that concern memory, other stages and pages.

    Attributes:
        played: newest positions by board.
        letters: number of letters that it queued.
        has_bot_work: a bot is to move, or the coach to report, on some board.
        receipt: of the mail or press that the job carried out.
        page_result: the result of a form or press, as JSON, for the page that waits for it.
    """

    played: Mapping[int, Position] = field(default_factory=dict)
    letters: int = 0
    has_bot_work: bool = False
    receipt: Receipt | None = None
    page_result: Any = None


NOTHING = Done()

Job: TypeAlias = Callable[[Connection], Done]
"""A job of play; the writer runs it in a transaction."""
