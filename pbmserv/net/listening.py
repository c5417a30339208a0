"""Binds listening sockets before anything is served, so that a wrong address is reported at once.

Each knows its `ConnectionLimits`, so that a connection without a place is closed where it is made.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
from collections.abc import Callable
from time import monotonic
from typing import Any

from pbmserv.config.listen import Listen
from pbmserv.errors import ConfigError
from pbmserv.net.connection_limits import ConnectionLimits, Place, peer_of

QUEUE = 256
"""Connections that the kernel holds for us."""
AT_ONCE = 16
"""Connections that are accepted before the event loop goes on with others; by so many the open
ones may exceed the places for a moment. To be given to `create_server` as its ``backlog``."""
PAUSE_S = 0.5
"""Less than the second for which asyncio leaves a socket alone that could not accept."""

_EXHAUSTED = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))


class Listening(socket.socket):
    """A listening socket that accepts only connections for which its limits leave a place.

    Attributes:
        limits: who may stay; without them everybody may.
        farewell: makes the last words to a client that may not stay, from the reason.
    """

    limits: ConnectionLimits | None = None

    def __init__(self, family: int, kind: int, protocol: int = 0) -> None:
        super().__init__(family, kind, protocol)
        self.farewell: Callable[[str], bytes] = lambda _: b""
        self._places: dict[int, Place] = {}
        self._spare: int | None = None
        self._gave_up_at = -PAUSE_S

    def listen(self, _backlog: int = QUEUE, /) -> None:
        """Begin to queue connections: as many as the kernel is to hold, however few at once."""
        super().listen(QUEUE)
        self._open_spare()

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection that there is a place for.

        Raises:
            BlockingIOError: there is none now, or the event loop shall go on.
            OSError: no file descriptor was left, and asyncio is to wait for a second.
        """
        if self.limits is None:
            return super().accept()
        for _ in range(AT_ONCE):
            try:
                plain, address = super().accept()
            except OSError as error:
                if error.errno in _EXHAUSTED:
                    self._without_files(error, self.limits)
                raise
            connection = Connection(self.family, self.type, self.proto, plain.detach())
            reason = self._seat(connection, address, self.limits)
            if not reason:
                return connection, address
            with contextlib.suppress(OSError):
                connection.setblocking(False)
                connection.send(self.farewell(reason))
            connection.close()
        raise BlockingIOError(errno.EAGAIN, "enough for now")

    def place_of(self, transport: Any) -> Place | None:
        """The place of a connection that was accepted here."""
        connection = transport.get_extra_info("socket")
        return None if connection is None else self._places.get(connection.fileno())

    def close(self) -> None:
        """Close it, and what it kept for hard times."""
        if self._spare is not None:
            os.close(self._spare)
            self._spare = None
        super().close()

    def _seat(self, connection: Connection, address: Any, limits: ConnectionLimits) -> str:
        """Find a place for a connection; else why there is none."""
        number = connection.fileno()
        place = limits.enter(peer_of(address), connection.hang_up)
        if isinstance(place, str):
            return place

        def leave() -> None:
            self._places.pop(number, None)
            limits.leave(place)

        self._places[number] = place
        connection.when_closed = leave
        return ""

    def _without_files(self, error: OSError, limits: ConnectionLimits) -> None:
        """Turn one client away with the descriptor that was kept for this.

        A connection that is left in the queue would wake the event loop again and again.

        Raises:
            BlockingIOError: that was done, or asyncio knows already that it must wait.
        """
        if self._open_spare():
            assert self._spare is not None
            os.close(self._spare)
            self._spare = None
            with contextlib.suppress(OSError):
                plain, address = super().accept()
                plain.close()
                limits.no_files(peer_of(address))
            self._open_spare()
        elif monotonic() - self._gave_up_at >= PAUSE_S:
            self._gave_up_at = monotonic()
            return  # asyncio takes its hands off this socket for a second
        raise BlockingIOError(errno.EAGAIN, "no file descriptors are left") from error

    def _open_spare(self) -> bool:
        """Whether a descriptor is kept for hard times, now."""
        if self._spare is None:
            with contextlib.suppress(OSError):
                self._spare = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        return self._spare is not None


class Connection(socket.socket):
    """An accepted socket that tells when its descriptor is free again."""

    def __init__(self, family: int, kind: int, protocol: int, number: int) -> None:
        super().__init__(family, kind, protocol, number)
        self.when_closed: Callable[[], None] = lambda: None

    def hang_up(self) -> None:
        """End it before any protocol has it, such as in a TLS handshake."""
        with contextlib.suppress(OSError):
            self.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close it; its place is free."""
        super().close()
        self.when_closed()


def bind(listen: Listen, setting: str) -> Listening:
    """A bound socket for *listen*, which the setting *setting* asked for.

    Raises:
        ConfigError: the address is taken, or not this machine's.
    """
    try:
        return _unix(listen) if listen.path is not None else _network(listen)
    except OSError as error:
        why, advice = error.strerror or str(error), _advice(listen, error)
        raise ConfigError(
            f'{setting} = "{listen}": {why}; {advice}, or leave it empty to turn it off'
        ) from None


def _advice(listen: Listen, error: OSError) -> str:
    """What would help."""
    if error.errno == errno.EISDIR:
        return f"name the socket in it, such as {listen.path}/lmtp.sock"
    if listen.path is not None and error.errno in {errno.EEXIST, errno.EADDRINUSE}:
        return f"name another path, such as {listen.path}.sock"
    if listen.path is not None:
        return f"name a path in a folder that this user may write to (here {listen.path.parent})"
    if error.errno in {errno.EACCES, errno.EPERM}:
        return (
            "ports below 1024 are root's; let systemd give this one (AmbientCapabilities="
            "CAP_NET_BIND_SERVICE), name another"
        )
    return "name a free port of this machine"


def port_of(bound: socket.socket | None, listen: Listen | None) -> Listen | None:
    """Where a socket really listens; port 0 becomes the port that was found."""
    if bound is None or listen is None or listen.path is not None:
        return listen
    return Listen(listen.host, bound.getsockname()[1])


def _network(listen: Listen) -> Listening:
    family, _, protocol, _, address = socket.getaddrinfo(
        listen.host, listen.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    # asyncio turns Nagle's delay off (40 ms in every session) only where the protocol is named.
    bound = Listening(family, socket.SOCK_STREAM, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen()
    except OSError:
        bound.close()
        raise
    return bound


def _unix(listen: Listen) -> Listening:
    assert listen.path is not None
    name = str(listen.path)
    bound = Listening(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        try:
            bound.bind(name)
        except OSError as error:
            if listen.path.is_dir():
                raise IsADirectoryError(errno.EISDIR, "this is a folder") from None
            if error.errno != errno.EADDRINUSE or _answers(name):
                raise
            if not listen.path.is_socket():  # somebody has named it by mistake: not ours to remove
                raise FileExistsError(errno.EEXIST, "there is a file that is no socket") from None
            listen.path.unlink()  # left behind by a process that was killed
            bound.bind(name)
        listen.path.chmod(0o660)
        bound.listen()
    except OSError:
        bound.close()
        raise
    return bound


def _answers(name: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(name) == 0
