"""An HTTP parser that refuses requests which two servers could read in two ways.

h11 is more tolerant than RFC 9112: it ignores a length beside a transfer coding, joins folded lines
and equal lengths, and ends lines at a bare LF. If a proxy in front of us reads such a request in
another way, a stranger could smuggle a second request into another reader's connection.
"""

from __future__ import annotations

import re
from collections import Counter

import h11

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
    """The server's side of a connection, which hands on only requests with one meaning."""

    def __init__(self) -> None:
        super().__init__(h11.SERVER, LONGEST_HEAD)

    def next_event(self) -> type[h11.NEED_DATA | h11.PAUSED] | h11.Event:
        """Return h11's next event.

        Raises:
            h11.RemoteProtocolError: the request is wrong, or could be read in several ways.
        """
        before, _ = self.trailing_data
        event = super().next_event()
        if not isinstance(event, h11.Request | h11.EndOfMessage):
            return event
        after, _ = self.trailing_data
        # A head, or the end of a body: nothing, or the last chunk and its trailers.
        section = before[: len(before) - len(after)]
        fault = _line_fault(section)
        if isinstance(event, h11.Request):
            fault = fault or head_fault(section)
        if fault:
            raise h11.RemoteProtocolError(fault, error_status_hint=400)
        return _in_origin_form(event) if isinstance(event, h11.Request) else event


def _line_fault(section: bytes) -> str:
    """Return the fault in the lines of a head or of trailers; ``""`` for none."""
    if len(section) > LONGEST_HEAD:
        return "a head that is too long"
    if _LINE_END.search(section):
        return "a line that does not end in CRLF (section 2.2)"
    if _FOLDED.search(section):
        return "a folded line (section 5.2)"
    return ""


def head_fault(head: bytes) -> str:
    """Return the fault in the head of a request with its empty line; ``""`` for none."""
    request, *fields = head.split(b"\r\n")
    if not request.endswith((b" HTTP/1.1", b" HTTP/1.0")):
        return "a version that is not supported (section 2.5)"
    return _field_fault(fields, is_newest=request.endswith(b"1.1"))


def _field_fault(fields: list[bytes], *, is_newest: bool) -> str:
    """Return the fault in the fields for the host and the length of a request; ``""`` for none."""
    pairs = [
        (name.lower(), value.strip()) for name, _, value in (f.partition(b":") for f in fields)
    ]
    counts = Counter(name for name, _ in pairs)
    values = dict(pairs)
    if any(counts[name] > 1 for name in _ONCE):
        return "a repeated field that may occur once (sections 3.2, 6.1 and 6.3)"
    if b"," in values.get(b"content-length", b""):
        return "a list of lengths (section 6.3)"
    if b"transfer-encoding" in values and (b"content-length" in values or not is_newest):
        return "a transfer coding beside a length, or in HTTP/1.0 (section 6.1)"
    if not _HOST.fullmatch(values.get(b"host", b"")):
        return "a malformed Host (section 3.2)"
    return ""


def _in_origin_form(request: h11.Request) -> h11.Request:
    """Return the request with a path as its target; clients may send a whole URL (section 3.2.2).

    Raises:
        h11.RemoteProtocolError: the target is neither a path, nor a URL, nor ``*``.
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
