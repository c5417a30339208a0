"""A way to PostgreSQL that can fall silent: packets are swallowed, and nobody hangs up."""

from __future__ import annotations

import contextlib
import socket
import threading
from urllib.parse import quote

from sqlalchemy.engine import make_url


class SilentWay:
    """Forwards TCP connections to a PostgreSQL until it is told to be silent.

    Connections that were open then stay silent for good, as those to a machine that is gone.

    Args:
        url: of the PostgreSQL, on a Unix socket or a port.
    """

    def __init__(self, url: str) -> None:
        self._target = make_url(url)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self._silence = threading.Event()
        self._silences = [self._silence]
        self._is_silent = False
        threading.Thread(target=self._accept, name="silent way", daemon=True).start()

    def url(self, **words: str) -> str:
        """The same database by this way, with small timeouts and *words* in its URL."""
        query = {"connect_timeout": "2", "tcp_user_timeout": "500", **words}
        parameters = "&".join(f"{name}={quote(value)}" for name, value in query.items())
        user = self._target.username or "postgres"
        password = f":{quote(self._target.password)}" if self._target.password else ""
        port = self._listening.getsockname()[1]
        where = f"{user}{password}@127.0.0.1:{port}/{self._target.database}"
        return f"postgresql+psycopg://{where}?{parameters}"

    def fall_silent(self) -> None:
        """Swallow whatever is sent; new connections are taken, and never answered."""
        self._is_silent = True
        self._silence.set()

    def speak(self) -> None:
        """Forward new connections again."""
        self._silence = threading.Event()
        self._is_silent = False

    def close(self) -> None:
        """Hang up everywhere."""
        for connection in (self._listening, *self._sockets):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client = self._listening.accept()[0]
                self._sockets.append(client)
                if not self._is_silent:
                    server = self._connected()
                    for source, target in ((client, server), (server, client)):
                        threading.Thread(
                            target=_forward, args=(source, target, self._silence), daemon=True
                        ).start()

    def _connected(self) -> socket.socket:
        folder = self._target.query.get("host")
        port = self._target.port or 5432
        if folder:
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(f"{folder}/.s.PGSQL.{port}")
        else:
            connection = socket.create_connection((self._target.host or "127.0.0.1", port))
        self._sockets.append(connection)
        return connection


def _forward(source: socket.socket, target: socket.socket, silence: threading.Event) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            if not silence.is_set():
                target.sendall(piece)
        target.shutdown(socket.SHUT_RDWR)
