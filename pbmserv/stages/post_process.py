"""The process of post: makes letters and sends them. A server has one for each core."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from functools import partial
from random import random

from pbmserv.letters.compose import Composer
from pbmserv.monitoring.vitals import Vital, Watch
from pbmserv.outbound.dkim import Signer
from pbmserv.outbound.dkim_keys import load_key
from pbmserv.outbound.outbox import Outbox
from pbmserv.outbound.outbox_writer import DirectOutboxWriter, OutboxWriter
from pbmserv.outbound.relay import Relay
from pbmserv.outbound.relay_url import read_relay_url
from pbmserv.outbound.relays import open_relay
from pbmserv.outbound.results import Result
from pbmserv.outbound.sender import Sender
from pbmserv.service.boards import game_pauses
from pbmserv.service.delivery import bounces
from pbmserv.service.operators.health import RelayState
from pbmserv.stages.base import Base
from pbmserv.stages.current_work import CurrentWork
from pbmserv.stages.messages import (
    ClaimLetters,
    ReleaseLostLetters,
    RenewLetters,
    SettleLetters,
    StageState,
)
from pbmserv.stages.process import STOP_S, Process, Setup
from pbmserv.stages.questions import Asking, tell_play_of_stops
from pbmserv.stages.run_folders import claimant
from pbmserv.store.boards.game_pauses import Stop
from pbmserv.store.boards.positions import Positions
from pbmserv.store.core.writer import open_writer
from pbmserv.store.delivery.letter_claims import ClaimedLetter

DELIVERIES = {"maildir": 8, "lmtp": 8, "smtp": 16, "smtps": 16}
"""Letters that one post claims, makes and delivers at a time, by the scheme of its relay."""


def post_process(setup: Setup) -> Process:
    """Return the process of a post."""
    base = setup.base
    play = Asking(setup.folder / "play.sock")
    if base.game.is_sqlite:
        writer: OutboxWriter = OutboxWriterInPlay(play)
        close = play.close
        tell_play_of_stops(play, setup.stops)
    else:
        writer, close = _direct_writer(base, setup.stops)
    stage = PostStage(base, writer, claimant(setup.folder, setup.name), watch=setup.current)

    def state() -> StageState:
        return StageState(tuple(stage.vitals()), relay=stage.relay_state())

    async def start() -> None:
        stage.start()

    async def stop() -> None:
        play.end()
        await asyncio.to_thread(stage.stop)
        close()

    return Process(
        start=start, stop=stop, state=state, woken=stage.sender.wake, signer=stage.signer
    )


def _direct_writer(base: Base, stops: Sequence[Stop]) -> tuple[OutboxWriter, Callable[[], None]]:
    """Return what changes the outbox in this process, on PostgreSQL, and what closes it.

    Args:
        stops: the latest processes that hung or died in the rules of games, to be stored.
    """
    writer = open_writer(base.game)
    services = base.services_beside_play()
    if stops:
        writer.submit(partial(game_pauses.note_stops, services, stops, base.clock.now())).result()
    handle_failure = partial(bounces.handle_failure, services)
    return DirectOutboxWriter(writer, base.clock, handle_failure, base.shares), writer.close


class PostStage:
    """The sender with its outbox and its relay.

    Args:
        base: settings and databases.
        writer: changes the outbox.
        by: name under which this process claims letters; no two live ones have the same.
        relay: where letters go; `None`: where the settings say.
        watch: tells the supervisor which letter is being made.
    """

    def __init__(
        self,
        base: Base,
        writer: OutboxWriter,
        by: str,
        relay: Relay | None = None,
        watch: Watch | None = None,
    ) -> None:
        settings = base.settings
        self.relay = relay or open_relay(settings.relay)
        keys = [load_key(named) for named in settings.dkim_keys]
        self.signer = Signer(base.mail_domain.domain, keys)
        positions = Positions(base.registry)
        composer = Composer(base.mail_domain, base.registry, positions, settings.web_url)
        self.outbox = Outbox(by, base.game, writer, composer, self.signer, watch or CurrentWork())
        self.sender = Sender(
            self.outbox,
            self.relay,
            base.clock,
            random,
            threads=DELIVERIES[read_relay_url(settings.relay).scheme],
            poll_s=5.0 if base.game.is_sqlite else 1.0,
        )

    def start(self) -> None:
        """Begin to send, first of all what a dead process of the same name had claimed."""
        self.sender.start()

    def stop(self) -> None:
        """Finish the letters in hand."""
        self.sender.stop(STOP_S)
        self.relay.close()

    def relay_state(self) -> RelayState:
        """Return the state of the relay."""
        breaker = self.sender.breaker
        return RelayState(
            breaker.failures,
            breaker.is_open,
            breaker.fault,
            breaker.last_reply,
            breaker.last_failure,
        )

    def vitals(self) -> list[Vital]:
        """Return the states of the threads."""
        return self.sender.vitals()


class OutboxWriterInPlay:
    """Changes the outbox on SQLite, where play alone may do so: each call asks play."""

    def __init__(self, play: Asking) -> None:
        self._play = play

    def claim(self, by: str, most: int) -> list[ClaimedLetter]:
        return self._play.ask(ClaimLetters(by, most))

    def release_lost(self, by: str, in_hand: Collection[int]) -> None:
        self._play.ask(ReleaseLostLetters(by, tuple(in_hand)))

    def renew(self, ids: Sequence[int]) -> None:
        self._play.ask(RenewLetters(tuple(ids)))

    def settle(self, results: Sequence[Result]) -> None:
        self._play.ask(SettleLetters(tuple(results)))
