"""The parts of play that other processes use, as they see them: each call is a question."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from pbmserv.outbound.outbox import Result
from pbmserv.service.bots.bot_worker import Thought
from pbmserv.stages.messages import (
    ActForBot,
    ClaimLetters,
    KeepLetters,
    KeepReport,
    PutOffBot,
    RenewLetters,
    SettleLetters,
)
from pbmserv.stages.questions import Asking
from pbmserv.store.bots import ReportRequest
from pbmserv.store.delivery.outbox import QueuedLetter


class OutboxOfPlay:
    """`OutboxRows` for a post on SQLite, where play alone may change the outbox."""

    def __init__(self, play: Asking) -> None:
        self._play = play

    def claim(
        self,
        by: str,
        most: int,
        in_hand: Collection[int] = (),
        avoiding: Collection[str] = (),
        since: datetime | None = None,
    ) -> list[QueuedLetter]:
        request = ClaimLetters(by, most, tuple(in_hand), tuple(avoiding), since)
        return self._play.ask(request)

    def keep(self, packed: Mapping[int, bytes]) -> None:
        self._play.ask(KeepLetters(packed))

    def renew(self, ids: Sequence[int], until: datetime) -> None:
        self._play.ask(RenewLetters(tuple(ids), until))

    def settle(self, results: Sequence[Result]) -> None:
        self._play.ask(SettleLetters(tuple(results)))


class MovesOfPlay:
    """`Moves` for the process of the bots."""

    def __init__(self, play: Asking) -> None:
        self._play = play

    def act(self, board_id: int, thought: Thought | None) -> None:
        self._play.ask(ActForBot(board_id, thought))

    def put_off(self, board_id: int) -> None:
        self._play.ask(PutOffBot(board_id))

    def keep_report(self, asked: ReportRequest, words: Mapping[str, Any]) -> None:
        self._play.ask(KeepReport(asked, words))
