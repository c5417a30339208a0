"""Connections to the pages: uvicorn's, with a place for each and a deadline for each step."""

from __future__ import annotations

import asyncio
from enum import Enum
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from pbmserv.net.connection_limits import ConnectionLimits, Place, Stage, peer_of
from pbmserv.web.strict_http import StrictConnection

HEAD_S = 10.0
"""Seconds from the connection, or from a request's first octet, to the end of its head."""
BODY_S = 10.0
"""Seconds for the body; our forms are short."""
ANSWER_S = 60.0
"""Seconds to make an answer, and as many for the client to read it."""

FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 10\r\n"
    b"Connection: close\r\n\r\n"
)
"""Answer to a client for which there is no place."""


class Step(Enum):
    """The next thing that must happen on a connection."""

    FIRST = "the head of the first request"
    NEXT = "another request, for which uvicorn has a timer"
    HEAD = "the rest of a head"
    BODY = "the rest of a body"
    ANSWER = "our answer"
    READER = "a client that reads our answer"

    @property
    def seconds(self) -> float | None:
        """Seconds until the connection is closed; `None` for no limit."""
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
        """How soon the connection loses its place."""
        if self is Step.ANSWER:
            return Stage.SERVED
        return Stage.ASKING if self in {Step.HEAD, Step.BODY} else Stage.IDLE


class PagesConfig(uvicorn.Config):
    """uvicorn's settings, and the limits on connections."""

    limits: ConnectionLimits


class PageConnection(H11Protocol):
    """An HTTP connection that is closed if its client takes too long over a step."""

    def __init__(self, config: PagesConfig, **others: Any) -> None:
        super().__init__(config, **others)
        self.conn = StrictConnection()
        self._limits = config.limits
        self._place: Place | None = None
        self._step: tuple[Step, int] | None = None
        self._answered = 0
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a place, or say that there is none."""
        assert isinstance(transport, asyncio.Transport)
        peer = peer_of(transport.get_extra_info("peername"))
        place = self._limits.enter(peer, transport.abort)
        if isinstance(place, str):
            transport.write(FULL)
            transport.close()
            return
        self._place = place
        super().connection_made(transport)
        self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Free the place of the connection."""
        if self._place is None:
            return
        self._limits.leave(self._place)
        super().connection_lost(exc)
        if self._deadline is not None:
            self._deadline.cancel()

    def data_received(self, data: bytes) -> None:
        """Read on."""
        if self._place is not None:
            super().data_received(data)
            self._set_deadline()

    def on_response_complete(self) -> None:
        """Wait for the next request, for a shorter time if many places are taken."""
        self._answered += 1
        if self._place is not None:
            self._limits.renew(self._place)
        self.timeout_keep_alive = round(self._limits.idle_limit)
        super().on_response_complete()
        self._set_deadline()

    def send_400_response(self, msg: str) -> None:
        """Refuse a malformed request; in the middle of another answer, close the connection."""
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if not is_answering and self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            super().send_400_response(msg)
        else:
            self.transport.abort()

    def _set_deadline(self) -> None:
        """Set the deadline of the current step, if it is a new one."""
        step = self._current_step()
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

    def _current_step(self) -> Step:
        if self.conn.their_state is h11.SEND_BODY and not self.transport.is_closing():
            return Step.BODY
        if self.cycle is not None and not self.cycle.response_complete:
            return Step.ANSWER
        if self.transport.is_closing() or self.transport.get_write_buffer_size():
            return Step.READER
        if self.conn.trailing_data[0]:
            return Step.HEAD
        return Step.NEXT if self._answered else Step.FIRST
