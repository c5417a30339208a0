"""Ports and sockets at which the server listens, as operators write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

_LONGEST_SOCKET_PATH = 103
"""Bytes: sockaddr_un.sun_path holds 108 on Linux and 104 on BSD, with the NUL."""

_HOST_AND_PORT = re.compile(
    r"(?:\[([0-9A-Fa-f:.%\w]+)\]|([^\s:\[\]]+)):([0-9]{1,5})",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Listen:
    """A host and port, or a Unix socket, to listen at.

    Attributes:
        host: name or address, without brackets; ``""`` for a Unix socket.
        port: 0 to 65535; 0 = any free port; 0 for a Unix socket.
        path: path of the Unix socket, or `None`.
    """

    host: str
    port: int
    path: Path | None = None

    def __str__(self) -> str:
        """Return the text that `parse` reads as this value."""
        if self.path is not None:
            return str(self.path)
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host.lower() == "localhost"

    @classmethod
    def parse(cls, text: str) -> Listen:
        """Read ``host:port``, ``[::1]:port`` or the full path of a Unix socket.

        Raises:
            ValueError: the text is none of these; the message says what to write.
        """
        if text.startswith("/"):
            if not text.isprintable() or len(text.encode()) > _LONGEST_SOCKET_PATH:
                raise ValueError(
                    f"a Unix socket's path has at most {_LONGEST_SOCKET_PATH} bytes, all "
                    "printable, such as /run/pbmserv/lmtp.sock"
                )
            return cls("", 0, Path(text))
        match = _HOST_AND_PORT.fullmatch(text)
        if match is None:
            raise ValueError(
                "write host:port, such as 127.0.0.1:2525, [::1]:2525, "
                "or 0.0.0.0:2525 for every address"
            )
        port = int(match[3])
        if port > 65535:
            raise ValueError("a port is a number from 0 to 65535, such as 127.0.0.1:2525")
        return cls(match[1] or match[2], port)


def public_url(web: Listen) -> str:
    """Return the base URL of pages served at *web*; wildcard addresses become localhost.

    Returns:
        ``""`` for port 0, until the port is known.
    """
    if not web.port:
        return ""
    host = "localhost" if web.host in {"0.0.0.0", "::"} else web.host  # noqa: S104 - compared only
    return f"http://{Listen(host, web.port)}"
