"""Binds listening sockets before anything is served, so that errors are reported at once."""

from __future__ import annotations

import errno
import socket

from pbmserv.config.listen import Listen
from pbmserv.errors import ConfigError

QUEUE = 256
"""Connections that the kernel holds until they are accepted."""
ACCEPTED_AT_ONCE = 16
"""Connections that asyncio accepts before it does other work: ``backlog`` of `create_server`. For a
moment, open connections may exceed the limits by this number. `create_server` also sets the
kernel's queue to it, so the socket must `listen` again with `QUEUE`."""


def bind(listen: Listen, setting: str) -> socket.socket:
    """Return a listening socket for *listen*, the value of the setting *setting*.

    Raises:
        ConfigError: the address is in use, or does not belong to this machine.
    """
    try:
        return _unix(listen) if listen.path is not None else _network(listen)
    except OSError as error:
        why, advice = error.strerror or str(error), _advice(listen, error)
        raise ConfigError(
            f'{setting} = "{listen}": {why}; {advice}, or leave it empty to turn it off'
        ) from None


def _advice(listen: Listen, error: OSError) -> str:
    """Return what the operator can do about an error."""
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


def port_of(bound: socket.socket, listen: Listen) -> Listen:
    """Return the real address of a socket: port 0 becomes the port that the system chose."""
    if listen.path is not None:
        return listen
    return Listen(listen.host, bound.getsockname()[1])


def _network(listen: Listen) -> socket.socket:
    family, _, protocol, _, address = socket.getaddrinfo(
        listen.host, listen.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    # asyncio turns off Nagle's delay (40 ms in every session) only if the protocol is named.
    bound = socket.socket(family, socket.SOCK_STREAM, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(QUEUE)
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
            if listen.path.is_dir():
                raise IsADirectoryError(errno.EISDIR, "this is a folder") from None
            if error.errno != errno.EADDRINUSE or _answers(name):
                raise
            if not listen.path.is_socket():  # named by mistake: not ours to remove
                raise FileExistsError(errno.EEXIST, "there is a file that is no socket") from None
            listen.path.unlink()  # left by a process that was killed
            bound.bind(name)
        listen.path.chmod(0o660)
        bound.listen(QUEUE)
    except OSError:
        bound.close()
        raise
    return bound


def _answers(name: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(name) == 0
