"""Clients that only sit at the ports: the game goes on, by SMTP, by LMTP and on the pages."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import socket
import ssl
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from processes import Process
from rows import rows
from running import Running, start
from smtp_client import Wire, mail
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from pbmserv.net.connection_limits import Bounds, ConnectionLimits
from pbmserv.smtpd import listener
from pbmserv.stages import web_ports
from pbmserv.web.http import connections, server

ALICE = "alice@players.example"
OURS = "pbmserv@games.example"
FIVE = [f"127.0.{n}.1" for n in range(20, 25)]
STRANGER = "127.0.30.1"
PATIENCE_S = 60


@contextlib.contextmanager
def a_server(folder: Path, **settings: str) -> Iterator[Running]:
    """Ten places for strangers at each mail port, two of them for one network."""
    few = {"sessions": "10", "sessions_network": "2", "lmtp": "127.0.0.1:0"}
    with start(folder, **few | settings) as running:
        yield running


@pytest.fixture
def few_places(tmp_path: Path) -> Iterator[Running]:
    with a_server(tmp_path) as running:
        yield running


def take_all_places(port: int, hello: str = "") -> list[Wire]:
    wires = [Wire(port, hello=hello, source=source) for source in FIVE for _ in range(2)]
    assert all(wire.greeting.startswith("220") for wire in wires)
    return wires


def a_mail(number: int) -> bytes:
    return mail(ALICE, f"help {number}", Message_ID=f"<{number}@players.example>")


def get(port: int, source: str = STRANGER, path: str = "/") -> bytes:
    """The first octets of a page."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S, (source, 0)) as client:
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: games.example\r\n\r\n".encode())
        return client.recv(100)


def sits(port: int, source: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), PATIENCE_S, (source, 0))


def ends(client: socket.socket) -> bool:
    """Read a connection until the server closes it, and return whether it did."""
    with client, contextlib.suppress(ConnectionResetError):
        while client.recv(4096):
            pass
    return True


def reset(client: socket.socket) -> None:
    """Close a connection by a reset, as a machine does that has lost it."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def test_a_crowd_of_strangers_keeps_nobody_out(tmp_path: Path) -> None:
    with a_server(tmp_path) as running:
        limits = take_all_places(running.port, hello="EHLO idle.example")
        # Our own mail server has places of its own at either port.
        for port, hello in ((running.port, "EHLO own"), (running.lmtp_port, "LHLO own")):
            with Wire(port, hello=hello) as own:
                assert own.mail(ALICE, OURS, a_mail(port)).startswith("250")
        # A newcomer gets the place of who has idled longest.
        with Wire(running.port, source=STRANGER) as late:
            assert limits[0].answer().startswith("421 4.3.2 others are waiting")
            assert limits[0].answer() == ""
            assert late.mail(ALICE, OURS, a_mail(1)).startswith("250")
        # Each port counts for itself.
        with Wire(running.lmtp_port, hello="LHLO stranger", source=STRANGER) as other:
            assert other.mail(ALICE, OURS, a_mail(2)).startswith("250")
        assert limits[-1].ask("NOOP").startswith("250")  # there was room again for the rest
        for wire in limits:
            wire.close()


def test_a_network_has_its_places_and_no_more(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with a_server(tmp_path) as running, caplog.at_level(logging.INFO, "pbmserv.crowd"):
        limits = [Wire(running.port, source=f"127.0.20.{n}") for n in (1, 2)]
        for _ in range(20):
            late = Wire(running.port, hello="", source="127.0.20.3")
            assert late.greeting.startswith("421 4.3.2 too many sessions from your network, please")
            assert late.answer() == ""
            late.close()
        lines = [vars(record) for record in caplog.records if record.name == "pbmserv.crowd"]
        assert {(line["network"], line["listener"]) for line in lines} == {
            ("127.0.20.0/24", "smtp")
        }
        limits[0].ask("QUIT")
        for _ in range(100):  # its place is free as soon as the server has closed it
            with Wire(running.port, hello="", source="127.0.20.3") as again:
                if again.greeting.startswith("220"):
                    break
        else:
            pytest.fail("the network was not let in again")
        for wire in limits:
            wire.close()


def test_a_mail_on_its_way_gives_way_after_those_who_sit(tmp_path: Path) -> None:
    with a_server(tmp_path) as running:
        limits = take_all_places(running.port, hello="EHLO a.example")
        limits[0].begin(ALICE, OURS)
        newcomers = [Wire(running.port, hello="", source=f"127.0.{40 + n}.1") for n in range(9)]
        assert all(wire.greeting.startswith("220") for wire in newcomers)
        limits[0].say(b"From: alice@players.example\r\nSubject: help\r\n\r\n")
        limits[0].say(b"x" * 70 + b"\r\n")
        assert limits[0].ask(b".\r\n").startswith("250")
        for wire in (*limits, *newcomers):
            wire.close()


@contextlib.contextmanager
def an_encrypted_server(folder: Path) -> Iterator[tuple[Running, ssl.SSLContext]]:
    """A server with TLS at once on a port, and the context of its clients."""
    authority = trustme.CA()
    issued = authority.issue_cert("games.example")
    issued.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    issued.private_key_pem.write_to_path(folder / "key.pem")
    files = {"tls_cert": f"{folder}/cert.pem", "tls_key": f"{folder}/key.pem"}
    context = ssl.create_default_context()
    authority.configure_trust(context)
    with a_server(folder, smtps="127.0.0.1:0", **files) as running:
        yield running, context


def test_a_handshake_that_fails_gives_its_place_back(tmp_path: Path) -> None:
    with an_encrypted_server(tmp_path) as (running, context):
        for _ in range(5):  # its network has two places
            client = sits(running.smtps_port, STRANGER)
            client.sendall(b"EHLO stranger.example\r\n")
            assert ends(client)
        with context.wrap_socket(
            sits(running.smtps_port, STRANGER), server_hostname="games.example"
        ) as encrypted:
            assert encrypted.recv(100).startswith(b"220 games.example")


def test_clients_that_are_lost_in_their_handshake_give_their_places_back(tmp_path: Path) -> None:
    with an_encrypted_server(tmp_path) as (running, context):
        lost = [sits(running.smtps_port, STRANGER) for _ in range(2)]
        with sits(running.smtps_port, STRANGER) as third:  # refused, so the others have places
            assert third.recv(100) == b""
        for client in lost:
            reset(client)
        for _ in range(100):  # their places are free as soon as the server has seen them go
            with contextlib.suppress(OSError), sits(running.smtps_port, STRANGER) as client:
                context.wrap_socket(client, server_hostname="games.example").close()
                break
        else:
            pytest.fail("the network was not let in again")


def test_a_handshake_that_never_comes_takes_a_place_as_well(tmp_path: Path) -> None:
    """With TLS at once nothing is known of a session before it is encrypted."""
    with an_encrypted_server(tmp_path) as (running, context):
        limits = [sits(running.smtps_port, source) for source in FIVE for _ in range(2)]
        with context.wrap_socket(
            sits(running.smtps_port, STRANGER), server_hostname="games.example"
        ) as client:
            assert client.recv(100).startswith(b"220 games.example")
        assert ends(limits[0])
        with sits(running.smtps_port, FIVE[1]) as third:  # of its network, which has two already
            assert third.recv(100) == b""
        for limit in limits:
            limit.close()


def test_a_client_that_never_reads_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pbmserv.smtpd.session.LINGER_S", 0.01)
    monkeypatch.setattr(listener, "SESSION_TIMEOUT_S", 0.05)
    with a_server(tmp_path) as running:
        client = sits(running.port, STRANGER)
        assert ends(client)


def test_idle_connections_to_the_pages_keep_no_page_from_a_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MOST_FROM_NETWORK", 4)
    monkeypatch.setattr(web_ports, "WEB", 10)
    with a_server(tmp_path) as running:
        idle = [sits(running.web_port, source) for source in FIVE for _ in range(2)]
        for n in range(12):
            assert get(running.web_port, f"127.0.{60 + n}.1").startswith(b"HTTP/1.1 200 ")
        assert ends(idle[0])
        for connection in idle:
            connection.close()
        assert get(running.web_port).startswith(b"HTTP/1.1 200 ")  # by then it has seen them go
        one_network = [sits(running.web_port, FIVE[0]) for _ in range(4)]
        assert get(running.web_port, FIVE[0]).startswith(b"HTTP/1.1 503 ")
        assert get(running.web_port).startswith(b"HTTP/1.1 200 ")
        assert get(running.web_port, "127.0.0.1").startswith(b"HTTP/1.1 200 ")  # a proxy of ours
        for connection in one_network:
            connection.close()


@rows(
    ("request_part", "which"),
    [
        (b"", "HEAD_S"),
        (b"GET / HTTP/1.1\r\nHost: games", "HEAD_S"),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n", "HEAD_S"),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx", "BODY_S"),
        (b"POST /confirm/x HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n", "BODY_S"),
    ],
)
def test_each_step_of_a_request_has_a_deadline(
    few_places: Running, monkeypatch: pytest.MonkeyPatch, request_part: bytes, which: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(connections, which, 0.05)
        client = sits(few_places.web_port, STRANGER)
        client.sendall(request_part)
        assert ends(client)


def test_a_reader_who_does_not_read_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "ANSWER_S", 0.05)
    many = b"GET /help HTTP/1.1\r\nHost: a\r\n\r\n" * 500_000
    with (
        a_server(tmp_path) as running,
        sits(running.web_port, STRANGER) as client,
        pytest.raises((ConnectionResetError, BrokenPipeError)),
    ):
        client.sendall(many)  # more than fits anywhere on the way


def test_a_connection_that_is_kept_alive_ends_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "KEEP_ALIVE_S", 0.0)
    with a_server(tmp_path) as running:
        client = sits(running.web_port, STRANGER)
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        assert ends(client)


def test_a_page_that_is_being_made_keeps_its_place() -> None:
    """A crowd that comes meanwhile displaces only those who sit."""

    async def meet_a_crowd() -> bytes:
        is_asked, is_made = asyncio.Event(), asyncio.Event()

        async def slow_page(scope: Scope, receive: Receive, send: Send) -> None:
            is_asked.set()
            await is_made.wait()
            await PlainTextResponse("made")(scope, receive, send)

        bound = socket.create_server(("127.0.0.1", 0))
        few = Bounds(strangers=4, from_network=4, own=1)
        site = server.WebServer(slow_page, bound, ConnectionLimits("web", few, own=()))
        _, port = await site.start()
        clients = []

        async def connect(source: str) -> asyncio.StreamReader:
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", port, local_addr=(source, 0)
            )
            clients.append(writer)
            return reader

        answer = await connect(STRANGER)
        clients[0].write(b"GET / HTTP/1.1\r\nHost: games.example\r\n\r\n")
        await is_asked.wait()
        sitting = [await connect(f"127.0.{40 + n}.1") for n in range(8)]
        assert await sitting[0].read() == b""
        is_made.set()
        status_line = await answer.readline()
        for client in clients:
            client.close()
        await site.stop()
        return status_line

    assert asyncio.run(meet_a_crowd()) == b"HTTP/1.1 200 OK\r\n"


def test_three_hundred_idle_clients_keep_neither_mail_nor_pages_out(tmp_path: Path) -> None:
    """With the limits as they are set by default, from many networks and from this machine."""
    process = Process(tmp_path, web="127.0.0.1:0")
    (page,) = re.findall(r"http://127\.0\.0\.1:(\d+)", process.greeting)
    for sources in ([f"127.0.{40 + n}.1" for n in range(15)], ["127.0.0.1"]):
        with contextlib.ExitStack() as stack:
            for port in (process.port, int(page)):
                for n in range(300):
                    stack.enter_context(sits(port, sources[n % len(sources)]))
            for newcomer in (STRANGER, "127.0.0.1"):
                number = len(newcomer) * len(sources)
                with Wire(process.port, source=newcomer) as wire:
                    assert wire.mail(ALICE, OURS, a_mail(number)).startswith("250")
                assert get(int(page), newcomer).startswith(b"HTTP/1.1 200 ")
    assert process.stop() == 0
