"""The answers of the door and of play to the requests of other processes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from pbmserv.outbound.outbox import OutboxRows
from pbmserv.service.bots.bot_worker import Moves
from pbmserv.service.limits.rates import Over, TooMany
from pbmserv.stages.messages import (
    ActForBot,
    AskState,
    CarryOutOrder,
    ClaimLetters,
    KeepLetters,
    KeepReport,
    ProbeWrite,
    PutOffBot,
    RenewLetters,
    RetryKeptMail,
    SettleLetters,
    StageState,
    StoreForm,
    StorePress,
)
from pbmserv.stages.parts import DoorStage, PlayStage
from pbmserv.stages.questions import Answers
from pbmserv.store.delivery import arrivals
from pbmserv.store.delivery.outbox import QueuedLetter
from pbmserv.store.operators import health


def of_door(
    stage: DoorStage, loop: asyncio.AbstractEventLoop, state: Callable[[], StageState]
) -> Answers:
    """Return the answers of a door whose event loop is *loop*."""
    door = stage.door

    def store_form(request: StoreForm) -> int:
        storing = door.form(request.kind, request.values)
        return asyncio.run_coroutine_threadsafe(storing, loop).result()

    def store_press(request: StorePress) -> int | Over:
        storing = door.press(request.request)
        try:
            return asyncio.run_coroutine_threadsafe(storing, loop).result()
        except TooMany as error:
            return error.over

    def probe_write(_: ProbeWrite) -> None:
        stage.writer.submit(partial(arrivals.write, now=stage.clock.now())).result()

    def ask_state(_: AskState) -> StageState:
        return state()

    return {
        StoreForm: store_form,
        StorePress: store_press,
        ProbeWrite: probe_write,
        AskState: ask_state,
    }


def of_play(stage: PlayStage, state: Callable[[], StageState]) -> Answers:
    """Return the answers of a play."""

    def carry_out(request: CarryOutOrder) -> str:
        return stage.carry_out(request.by, request.order)

    def retry(request: RetryKeptMail) -> str:
        return stage.kept_mails.retry(request.number, request.by)

    def probe_write(_: ProbeWrite) -> None:
        stage.writer.submit(partial(health.write, now=stage.clock.now())).result()

    def ask_state(_: AskState) -> StageState:
        return state()

    return {
        **_about_letters(stage.rows),
        **_about_bots(stage.bot_moves),
        CarryOutOrder: carry_out,
        RetryKeptMail: retry,
        ProbeWrite: probe_write,
        AskState: ask_state,
    }


def _about_letters(rows: OutboxRows) -> Answers:
    def claim(request: ClaimLetters) -> list[QueuedLetter]:
        return rows.claim(
            request.by, request.most, request.in_hand, request.avoiding, request.since
        )

    def keep(request: KeepLetters) -> None:
        rows.keep(request.packed)

    def renew(request: RenewLetters) -> None:
        rows.renew(request.ids, request.until)

    def settle(request: SettleLetters) -> None:
        rows.settle(request.results)

    return {ClaimLetters: claim, KeepLetters: keep, RenewLetters: renew, SettleLetters: settle}


def _about_bots(moves: Moves) -> Answers:
    def act(request: ActForBot) -> None:
        moves.act(request.board_id, request.thought)

    def put_off(request: PutOffBot) -> None:
        moves.put_off(request.board_id)

    def keep_report(request: KeepReport) -> None:
        moves.keep_report(request.asked, request.words)

    return {ActForBot: act, PutOffBot: put_off, KeepReport: keep_report}
