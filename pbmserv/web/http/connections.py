"""HTTP connections of strangers: each has a place, and a deadline for each step.

`HttpConnection` extends uvicorn's protocol class; uvicorn gets it by the setting ``http``. Every
step has a deadline, so that idle clients cannot hold all places.
"""

from __future__ import annotations

import asyncio
from enum import Enum
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from pbmserv.net.connection_limits import ConnectionLimits, Place, Stage, peer_of
from pbmserv.web.http.strict_parser import StrictConnection

HEAD_S = 10.0
"""Seconds for a request's head, from its first octet; and seconds until that octet arrives."""
BODY_S = 10.0
"""Seconds for the body; our forms are short."""
ANSWER_S = 60.0
"""Seconds to make an answer, and as many for the client to read it."""

FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 10\r\n"
    b"Connection: close\r\n\r\n"
)
"""Answer to a client that gets no place."""


class Step(Enum):
    """The thing that a connection waits for."""

    IDLE = "a request"
    HEAD = "the rest of a request's head"
    BODY = "the rest of a request's body"
    ANSWER = "our answer"
    READING = "the client to read our answer"

    @property
    def seconds(self) -> float:
        """Seconds until the connection is closed; between requests uvicorn closes it sooner."""
        match self:
            case Step.IDLE | Step.HEAD:
                return HEAD_S
            case Step.BODY:
                return BODY_S
            case Step.ANSWER | Step.READING:
                return ANSWER_S

    @property
    def stage(self) -> Stage:
        """The stage that decides how soon the connection loses its place."""
        match self:
            case Step.ANSWER:
                return Stage.SERVED
            case Step.HEAD | Step.BODY:
                return Stage.ASKING
            case Step.IDLE | Step.READING:
                return Stage.IDLE


class HttpConfig(uvicorn.Config):
    """uvicorn's settings, and the limits on connections."""

    limits: ConnectionLimits


class HttpConnection(H11Protocol):
    """An HTTP connection that is closed if a step takes too long."""

    def __init__(self, config: HttpConfig, **others: Any) -> None:
        super().__init__(config, **others)
        self.conn = StrictConnection()
        self._limits = config.limits
        self._place: Place | None = None
        self._answers_sent = 0
        self._timed_step: tuple[Step, int] | None = None
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a place, or refuse the client if there is none."""
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
        """Hand octets to uvicorn; ignore those of a client without a place."""
        if self._place is not None:
            super().data_received(data)
            self._set_deadline()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._answers_sent += 1
        if self._place is not None:
            self._limits.renew(self._place)
        super().on_response_complete()
        self._set_deadline()

    def send_400_response(self, msg: str) -> None:
        """Refuse a malformed request; if another answer has begun, close the connection."""
        is_answering = self.cycle is not None and not self.cycle.response_complete
        if not is_answering and self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            super().send_400_response(msg)
        else:
            self.transport.abort()

    def _set_deadline(self) -> None:
        """Set the deadline of the current step, unless it is set already."""
        step = self._current_step()
        if self._timed_step == (step, self._answers_sent):
            return
        self._timed_step = step, self._answers_sent
        if self._place is not None:
            self._place.stage = step.stage
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(step.seconds, self.transport.abort)

    def _current_step(self) -> Step:
        if self.conn.their_state is h11.SEND_BODY and not self.transport.is_closing():
            return Step.BODY
        if self.cycle is not None and not self.cycle.response_complete:
            return Step.ANSWER
        if self.transport.is_closing() or self.transport.get_write_buffer_size():
            return Step.READING
        return Step.HEAD if self.conn.trailing_data[0] else Step.IDLE
