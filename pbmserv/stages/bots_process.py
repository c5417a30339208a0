"""The process of the bots: chooses moves for the house, and works out reports and hints."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping
from typing import Any

from pbmserv.engine.protocol import Equipped
from pbmserv.engine.registry import OURS
from pbmserv.monitoring.vitals import Watch
from pbmserv.service.bots.bot_moves import Moves, Thought
from pbmserv.service.bots.bot_worker import TICK_S, BotWorker
from pbmserv.stages.base import Base
from pbmserv.stages.current_work import CurrentWork
from pbmserv.stages.messages import ActForBot, KeepReport, PutOffBot, StageState
from pbmserv.stages.process import STOP_S, Process, Setup
from pbmserv.stages.questions import Asking
from pbmserv.store.boards.positions import Positions
from pbmserv.store.bots import ReportRequest

log = logging.getLogger("pbmserv.stages")


def bots_process(setup: Setup) -> Process:
    """Return the process of the bots of one package of games."""
    base = setup.base
    play = Asking(setup.folder / "play.sock")
    package = setup.name.partition("-")[2] or OURS
    games = [game for game in base.registry if base.registry.package_of(game.info.key) == package]
    keys = tuple(game.info.key for game in games)
    worker = make_bot_worker(base, MovesOfPlay(play), setup.current, TICK_S, keys)
    equipment = "; ".join(game.equipment() for game in games if isinstance(game, Equipped))
    log.debug("bots think", extra={"equipment": equipment})

    def state() -> StageState:
        return StageState((worker.vital(),), doing=equipment)

    async def start() -> None:
        worker.start()

    async def stop() -> None:
        play.end()
        await asyncio.to_thread(worker.stop, STOP_S)

    return Process(start=start, stop=stop, state=state, woken=worker.ask)


def make_bot_worker(
    base: Base,
    moves: Moves,
    watch: Watch | None = None,
    tick_s: float = 0.0,
    games: Collection[str] | None = None,
) -> BotWorker:
    """Return the worker that thinks for the bots.

    Args:
        moves: makes the moves.
        watch: tells the supervisor which board the bots think about.
        tick_s: see `BotWorker`.
        games: the keys of its games; `None` for all.
    """
    keys = [game.info.key for game in base.registry] if games is None else games
    positions = Positions(base.registry)
    return BotWorker(positions, base.game, base.clock, moves, watch or CurrentWork(), tick_s, keys)


class MovesOfPlay:
    """Makes the bots' moves by asking play, which alone changes games."""

    def __init__(self, play: Asking) -> None:
        self._play = play

    def act(self, board_id: int, thought: Thought | None) -> None:
        self._play.ask(ActForBot(board_id, thought))

    def put_off(self, board_id: int) -> None:
        self._play.ask(PutOffBot(board_id))

    def keep_report(self, asked: ReportRequest, words: Mapping[str, Any]) -> None:
        self._play.ask(KeepReport(asked, words))
