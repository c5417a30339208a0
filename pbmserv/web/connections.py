"""A connection to the pages: uvicorn's, with a place in the crowd and a deadline for each step."""

from __future__ import annotations

import asyncio
from enum import Enum
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from pbmserv.net.connection_limits import ConnectionLimits, Place, Stage
from pbmserv.net.listening import Listening
from pbmserv.web.strict import StrictConnection

HEAD_S = 10.0
"""Seconds from the connection, or from a request's first octet, to the end of its head."""
BODY_S = 10.0
"""Seconds for the body; our forms say nothing that is long."""
ANSWER_S = 60.0
"""Seconds to make an answer, and as many for the client to read it."""


class Step(Enum):
    """What a connection waits for."""

    FIRST = "the head of the first request"
    NEXT = "another request, for which uvicorn has a timer"
    HEAD = "the rest of a head"
    BODY = "the rest of a body"
    ANSWER = "our answer"
    READER = "a client that reads what we have said"

    @property
    def seconds(self) -> float | None:
        """How long this may take."""
        match self:
            case Step.FIRST | Step.HEAD:
                return HEAD_S
            case Step.BODY:
                return BODY_S
            case Step.ANSWER | Step.READER:
                return ANSWER_S
            case _:
                return None

    @property
    def stage(self) -> Stage:
        """Whether the connection may be ended for a newcomer."""
        if self is Step.ANSWER:
            return Stage.SERVED
        return Stage.ASKING if self in {Step.HEAD, Step.BODY} else Stage.IDLE


class PagesConfig(uvicorn.Config):
    """uvicorn's settings, with the place where connections are made and who may stay there."""

    listening: Listening
    limits: ConnectionLimits


class PageConnection(H11Protocol):
    """An HTTP connection that ends when its client takes too long over anything."""

    def __init__(self, config: PagesConfig, **others: Any) -> None:
        super().__init__(config, **others)
        self.conn = StrictConnection()
        self._limits, self._listening = config.limits, config.listening
        self._place: Place | None = None
        self._step: tuple[Step, int] | None = None
        self._answered = 0
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the place that there is."""
        assert isinstance(transport, asyncio.Transport)
        super().connection_made(transport)
        self._place = self._listening.place_of(transport)
        if self._place is not None:
            self._place.end = transport.abort
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection and its timers."""
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        if self._deadline is not None:
            self._deadline.cancel()

    def data_received(self, data: bytes) -> None:
        """Read on, and see what is waited for then."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """An answer is on its way: as it fills here, the next request is waited for less long."""
        self._answered += 1
        if self._place is not None:
            self._limits.renew(self._place)
        self.timeout_keep_alive = round(self._limits.idle_limit)
        super().on_response_complete()
        self._look()

    def send_400_response(self, msg: str) -> None:
        """Refuse what cannot be read; where another answer is on its way, just hang up."""
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if not is_answering and self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            super().send_400_response(msg)
        else:
            self.transport.abort()

    def _look(self) -> None:
        """Set the deadline of the step that the connection is at now."""
        step = self._now()
        if self._step == (step, self._answered):
            return
        self._step = (step, self._answered)
        if self._place is not None:
            self._place.stage = step.stage
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if step.seconds is not None:
            self._deadline = self.loop.call_later(step.seconds, self.transport.abort)

    def _now(self) -> Step:
        if self.conn.their_state is h11.SEND_BODY and not self.transport.is_closing():
            return Step.BODY
        if self.cycle is not None and not self.cycle.response_complete:
            return Step.ANSWER
        if self.transport.is_closing() or self.transport.get_write_buffer_size():
            return Step.READER
        if self.conn.trailing_data[0]:
            return Step.HEAD
        return Step.NEXT if self._answered else Step.FIRST
