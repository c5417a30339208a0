"""A connection to the pages: uvicorn's, with limits, deadlines, and requests that mean one thing.

It has a place among the connections of its listener, a deadline for each step, and HTTP requests as
RFC 9112 has them: what two servers could read in two ways is refused. h11 is kinder: of a length
and a transfer coding it believes one, it joins folded lines and equal lengths, and ends lines at a
bare LF. Behind a proxy that reads such a request in another way, a stranger could put words into
the next reader's mouth.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from enum import Enum
from typing import Any

import h11
import uvicorn
from h11._receivebuffer import ReceiveBuffer
from uvicorn.protocols.http.h11_impl import H11Protocol

from pbmserv.net.connection_limits import ConnectionLimits, Place, Stage
from pbmserv.net.listening import Listening

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


# -- requests with one meaning -----------------------------------------------------------------


LONGEST_HEAD = 16_384
"""Octets of a request line and its fields."""

_LINE_END = re.compile(rb"(?<!\r)\n|\r(?!\n)")
_FOLDED = re.compile(rb"\n[ \t]")
_HOST = re.compile(
    rb"(?:\[[0-9A-Fa-f:.]+\]|(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)(?::[0-9]*)?"
)
_ABSOLUTE = re.compile(rb"https?://(?P<host>[^/?#]*)(?P<rest>.*)", re.IGNORECASE)
_ONCE = (b"host", b"content-length", b"transfer-encoding")


class StrictConnection(h11.Connection):
    """A server's side of a connection that hands on only what has one meaning."""

    def __init__(self) -> None:
        super().__init__(h11.SERVER, LONGEST_HEAD)
        self._receive_buffer = self._octets = StrictOctets()

    def next_event(self) -> type[h11.NEED_DATA | h11.PAUSED] | h11.Event:
        """As h11's.

        Raises:
            h11.RemoteProtocolError: the request is wrong, or could be read in several ways.
        """
        event = super().next_event()
        if not isinstance(event, h11.Request):
            return event
        fault = head_fault(self._octets.section)
        if fault:
            raise h11.RemoteProtocolError(fault, error_status_hint=400)
        return _in_origin_form(event)


class StrictOctets(ReceiveBuffer):
    """What has come; its heads and trailers, which h11 takes out in one way, have strict lines."""

    section = b""
    """The newest of them as it came, its empty line included."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """As h11's.

        Raises:
            h11.RemoteProtocolError: a line could be read in several ways.
        """
        octets = bytes(self)
        lines = super().maybe_extract_lines()
        if lines is None:
            return None
        self.section = octets[: len(octets) - len(self)]
        if fault := _line_fault(self.section):
            raise h11.RemoteProtocolError(fault, error_status_hint=400)
        return lines


def _line_fault(section: bytes) -> str:
    """What is wrong with the lines of a head or of trailers; ``""`` = nothing."""
    if len(section) > LONGEST_HEAD:
        return "a head without measure"
    if _LINE_END.search(section):
        return "a line that does not end in CRLF (section 2.2)"
    if _FOLDED.search(section):
        return "a folded line (section 5.2)"
    return ""


def head_fault(head: bytes) -> str:
    """What is wrong with the head of a request, its empty line included; ``""`` = nothing."""
    request, *fields = head.split(b"\r\n")
    if not request.endswith((b" HTTP/1.1", b" HTTP/1.0")):
        return "a version that is not spoken here (section 2.5)"
    return _field_fault(fields, is_newest=request.endswith(b"1.1"))


def _field_fault(fields: list[bytes], *, is_newest: bool) -> str:
    """What is wrong with the fields that say whom a request is for, and how long it is."""
    named = [
        (name.lower(), value.strip()) for name, _, value in (f.partition(b":") for f in fields)
    ]
    counts = Counter(name for name, _ in named)
    values = dict(named)
    if any(counts[name] > 1 for name in _ONCE):
        return "a field twice that there can be once (sections 3.2, 6.1 and 6.3)"
    if b"," in values.get(b"content-length", b""):
        return "a list of lengths (section 6.3)"
    if b"transfer-encoding" in values and (b"content-length" in values or not is_newest):
        return "a transfer coding beside a length, or in HTTP/1.0 (section 6.1)"
    if not _HOST.fullmatch(values.get(b"host", b"")):
        return "a Host that is none (section 3.2)"
    return ""


def _in_origin_form(request: h11.Request) -> h11.Request:
    """A request whose target is a path: servers take whole URLs, too (section 3.2.2).

    Raises:
        h11.RemoteProtocolError: it is neither (nor ``*``): we are nobody's proxy.
    """
    if request.target.startswith(b"/") or request.target == b"*":
        return request
    absolute = _ABSOLUTE.fullmatch(request.target)
    if absolute is None or not absolute["host"] or not _HOST.fullmatch(absolute["host"]):
        raise h11.RemoteProtocolError("a target of another form (section 3.2)")
    rest = absolute["rest"].partition(b"#")[0]
    headers = [(name, value) for name, value in request.headers if name != b"host"]
    return h11.Request(
        method=request.method,
        target=rest if rest.startswith(b"/") else b"/" + rest,
        headers=[(b"host", absolute["host"]), *headers],
        http_version=request.http_version,
    )
