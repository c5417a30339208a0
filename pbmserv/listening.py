"""Binds listening sockets before anything is served, so that a wrong address is told at once."""

from __future__ import annotations

import errno
import socket

from pbmserv.errors import ConfigError
from pbmserv.setting_values import Listen


def bind(listen: Listen, setting: str) -> socket.socket:
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


def _network(listen: Listen) -> socket.socket:
    family, _, protocol, _, address = socket.getaddrinfo(
        listen.host, listen.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    # asyncio turns Nagle's delay off (40 ms in every session) only where the protocol is named.
    bound = socket.socket(family, socket.SOCK_STREAM, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(256)
    except OSError:
        bound.close()
        raise
    return bound


def _unix(listen: Listen) -> socket.socket:
    assert listen.path is not None
    name = str(listen.path)
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        try:
            bound.bind(name)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or _answers(name):
                raise
            listen.path.unlink()  # left behind by a process that was killed
            bound.bind(name)
        listen.path.chmod(0o660)
        bound.listen(256)
    except OSError:
        bound.close()
        raise
    return bound


def _answers(name: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(name) == 0
