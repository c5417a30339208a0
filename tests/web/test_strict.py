"""Requests that two servers could read in two ways, over a real socket."""

from __future__ import annotations

import contextlib
import logging
import socket
from collections.abc import Iterator

import h11
import pytest
from rows import rows
from running import Running, start
from uvicorn.protocols.http.h11_impl import H11Protocol

from pbmserv.web.http.connections import HttpConnection
from pbmserv.web.http.strict_parser import StrictConnection

GET = b"GET / HTTP/1.1\r\nHost: games.example\r\n"
POST = b"POST /confirm/x HTTP/1.1\r\nHost: games.example\r\n"
NEXT = b"GET /healthz HTTP/1.1\r\nHost: games.example\r\n\r\n"
"""Texts that a proxy may take for the body."""
CLOSE = b"\r\nConnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("strict")
    with start(folder) as running:
        yield running


def exchange(server: Running, octets: bytes, *, hangs_up: bool = True) -> bytes:
    """Send octets; return the answer up to the end of the connection.

    Args:
        hangs_up: whether the client ends its half of the connection behind the octets.
    """
    read_octets = b""
    with socket.create_connection(("127.0.0.1", server.web_port), 20) as client:
        client.sendall(octets)
        if hangs_up:
            client.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            while more := client.recv(65_536):
                read_octets += more
    return read_octets


@rows(
    "head",
    [
        POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        POST + b"transfer-encoding: chunked\r\nCONTENT-LENGTH: 0\r\n\r\n0\r\n\r\n",
        POST + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n",
        POST + b"Content-Length: 0\r\nContent-Length: 5\r\n\r\n",
        POST + b"Content-Length: 0, 0\r\n\r\n",
        POST + b"Content-Length: 0, 5\r\n\r\n",
        POST + b"Content-Length: +0\r\n\r\n",
        POST + b"Content-Length: -1\r\n\r\n",
        POST + b"Content-Length:\r\n\r\n",
        POST + b"Content-Length : 0\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        GET + b"X-One: a\r\n b\r\n\r\n",
        GET + b"X-One: a\r\n\tb\r\n\r\n",
        GET + b"Content-Length:\r\n 5\r\n\r\n",
        b"GET / HTTP/1.1\r\n Host: games.example\r\n\r\n",
        GET + b"X-One: a\nTransfer-Encoding: chunked\r\n\r\n",
        GET.replace(b"\r\n", b"\n") + b"\n",
        GET + b"X-One: a\rb\r\n\r\n",
        GET + b"X-One: a\x00b\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        GET + b"Host: games.example\r\n\r\n",
        GET + b"hOST: elsewhere.example\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a:b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a,b\xff\r\n\r\n",
        b"GET ftp://games.example/ HTTP/1.1\r\nHost: games.example\r\n\r\n",
        b"GET http:/// HTTP/1.1\r\nHost: games.example\r\n\r\n",
        b"GET http://a@b/ HTTP/1.1\r\nHost: games.example\r\n\r\n",
        b"GET games.example HTTP/1.1\r\nHost: games.example\r\n\r\n",
        b"CONNECT games.example:443 HTTP/1.1\r\nHost: games.example:443\r\n\r\n",
        b"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        GET + b"X-One: " + b"a" * 20_000 + b"\r\n\r\n",
    ],
)
def test_a_request_with_two_meanings_is_refused_and_ends_the_connection(
    server: Running, head: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        answer = exchange(server, head + NEXT)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"connection: close" in answer.lower()
    assert answer.count(b"HTTP/1.1 ") == 1  # what follows is nobody's request
    assert caplog.records == []


@rows(
    ("request_line", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: games.example:8025", 200),
        (b"GET / HTTP/1.1\r\nHost: [::1]:8025", 200),
        (b"GET / HTTP/1.1\r\nHost:", 200),
        (b"GET / HTTP/1.0", 200),
        (b"GET http://games.example/healthz HTTP/1.1\r\nHost: games.example", 200),
        (b"GET HTTP://games.example HTTP/1.1\r\nHost: elsewhere.example", 200),
        (b"GET https://games.example?x=1 HTTP/1.1\r\nHost: games.example", 200),
        (b"GET http://games.example/nowhere HTTP/1.1\r\nHost: games.example", 404),
        (b"OPTIONS * HTTP/1.1\r\nHost: games.example", 404),
        (b"POST /confirm/x HTTP/1.1\r\nHost: a\r\nContent-Length: 0", 404),
    ],
)
def test_a_request_with_one_meaning_is_answered(
    server: Running, request_line: bytes, status: int
) -> None:
    answer = exchange(server, request_line + CLOSE, hangs_up=False)
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())


def test_the_host_of_a_whole_url_counts() -> None:
    connection = StrictConnection()
    connection.receive_data(b"GET http://a.example/b HTTP/1.1\r\nHost: c.example\r\n\r\n")
    request = connection.next_event()
    assert isinstance(request, h11.Request)
    assert (request.target, list(request.headers)) == (b"/b", [(b"host", b"a.example")])


@pytest.mark.parametrize("trailers", [b"", b"X-One: a\r\n", b"X-One: a\r\nX-Two: b\r\n"])
def test_a_body_in_chunks_is_read_and_the_next_request_as_well(
    server: Running, trailers: bytes
) -> None:
    body = b"Transfer-Encoding: chunked\r\n\r\n3\r\na=b\r\n0\r\n" + trailers + b"\r\n"
    answer = exchange(server, POST + body + NEXT.strip() + CLOSE, hangs_up=False)
    assert answer.count(b"HTTP/1.1 404 ") == 1
    assert answer.count(b"HTTP/1.1 200 ") == 1


@rows(
    "chunk",
    [
        b"x\r\n",
        b"-1\r\n",
        b"3\r\nabcd\r\n",
        b"5\nabcde\r\n0\r\n\r\n",
        b"0\r\n\n",
        b"0\r\nX-One: a\n\r\n",
        b"0\r\nX-One: a\r\n\n",
        b"0\r\nX-One: a\nX-Two: b\r\n\r\n",
        b"0\r\nX-One: a\rb\r\n\r\n",
        b"0\r\nX-One: a\r\n b\r\n\r\n",
        b"0\r\nX-One: a\r\n\tb\r\nX-Two: c\r\n\r\n",
        b"0\r\n X-One: a\r\n\r\n",
        b"0\r\nX-One: " + b"a" * 20_000 + b"\r\n\r\n",
    ],
)
def test_a_chunk_that_is_none_ends_the_connection_quietly(
    server: Running, chunk: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        answer = exchange(server, POST + b"Transfer-Encoding: chunked\r\n\r\n" + chunk + NEXT)
    assert answer.count(b"HTTP/1.1 ") <= 1
    assert b" 200 " not in answer
    assert caplog.records == []


def test_uvicorn_has_the_methods_that_ours_extend() -> None:
    """They are not documented, so a new version may rename them, and ours would never be called."""
    ours = {name for name in vars(HttpConnection) if not name.startswith("_")}
    assert ours <= set(dir(H11Protocol))
    assert "send_400_response" in ours
