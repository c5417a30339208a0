"""What there is to know about a setting, and the readers of each kind of text.

Every reader raises ValueError with an instruction (``write host:port …``);
`pbmserv.config.load` puts the setting's name and value before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Literal, TypeAlias, get_args
from urllib.parse import urlsplit

from pbmserv.errors import ConfigError
from pbmserv.mail.envelope import Network

PREFIX = "PBMSERV_"


@dataclass(frozen=True, slots=True)
class Setting:
    """What a person needs to know about one setting.

    Attributes:
        env: name of the environment variable.
        unit: what kind of text it takes.
        default: the text that is used when nothing is said; ``<data>`` stands
            for PBMSERV_DATA_DIR, ``""`` = off or derived (see `meaning`).
        meaning: one sentence.
        read: makes the value from the text; ValueError says what would be right.
    """

    env: str
    unit: str
    default: str
    meaning: str
    read: Callable[[str], object]

    @property
    def key(self) -> str:
        """The name in a TOML file, which is also the field of `Settings`."""
        return self.env.removeprefix(PREFIX).lower()


MOST_OF_A_RATE = 1_000_000
LONGEST_SPAN_S = 31 * 24 * 3600
"""Every hit of a window is remembered for as long."""

Signup: TypeAlias = Literal["confirm", "open", "closed"]

LogFormat: TypeAlias = Literal["text", "json"]

_LOG_FORMATS: tuple[LogFormat, ...] = get_args(LogFormat)
_SIGNUPS: tuple[Signup, ...] = get_args(Signup)
_POSTGRES = "write a URL such as postgresql+psycopg://USER:PASSWORD@HOST/NAME"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"


@dataclass(frozen=True, slots=True)
class Listen:
    """Where a server listens: a host and port, or a Unix socket.

    Attributes:
        host: name or address, without brackets; ``""`` for a Unix socket.
        port: 0 to 65535; 0 = any free port; 0 for a Unix socket.
        path: of the Unix socket, or ``None``.
    """

    host: str
    port: int
    path: Path | None = None

    def __str__(self) -> str:
        """The text that parses to this value again."""
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
            ValueError: saying what would be right.
        """
        if text.startswith("/"):
            # sockaddr_un.sun_path holds 108 bytes on Linux, 104 on BSD, with the NUL.
            if not text.isprintable() or len(text.encode()) > 103:
                raise ValueError(
                    "a Unix socket's path has at most 103 bytes, all printable, "
                    "such as /run/pbmserv/lmtp.sock"
                )
            return cls("", 0, Path(text))
        match = re.fullmatch(
            r"(?:\[([0-9A-Fa-f:.%\w]+)\]|([^\s:\[\]]+)):([0-9]{1,5})", text, re.ASCII
        )
        if match is None:
            raise ValueError(
                "write host:port, such as 127.0.0.1:2525, [::1]:2525, "
                "or 0.0.0.0:2525 for every address"
            )
        port = int(match[3])
        if port > 65535:
            raise ValueError("a port is a number from 0 to 65535, such as 127.0.0.1:2525")
        return cls(match[1] or match[2], port)


def blank_passwords(text: str) -> str:
    """The same text with ``***`` for what may be a password in a URL."""
    start = text.find("://")
    head, rest = ("", text) if start < 0 else (text[: start + 3], text[start + 3 :])
    rest = re.sub(r"\A([^:@]*):.*@", r"\1:***@", rest, flags=re.DOTALL)  # to the last @
    if head:  # whoever forgets "@host" has the password where a port would be
        rest = re.sub(r"\A([^:@/\[]+):(?!\d{1,5}(?:[/?#]|\Z))[^@/]*\Z", r"\1:***", rest)
    return head + re.sub(r"((?:password|passwd|pwd)=)[^&\s]*", r"\1***", rest, flags=re.IGNORECASE)


def one_line(text: str) -> str:
    return "".join(char if char.isprintable() else "\ufffd" for char in text)


def at_home(text: str) -> Path:
    """A path, in which ``~`` is the home directory.

    Raises:
        ValueError: nobody of that name has one.
    """
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise ValueError(
            f"{one_line(text)}: no such user; write the full path, such as /var/lib/pbmserv"
        ) from None


def directory(text: str) -> Path:
    """A directory that exists or can be made; ``~`` is the home directory."""
    if not text:
        raise ValueError("name a directory, such as /var/lib/pbmserv")
    # A "?" would begin the options of the database URL that is made from this path.
    if "?" in text or not text.isprintable():
        raise ValueError(
            "use a path without question marks and control characters, such as /var/lib/pbmserv"
        )
    path = at_home(text)
    if str(path).startswith(":"):  # SQLite would take that for a database in memory
        raise ValueError(
            "a directory whose name begins with a colon cannot hold the database; "
            "write its full path, such as /var/lib/pbmserv"
        )
    try:
        is_file = path.exists() and not path.is_dir()
    except OSError as error:
        raise ValueError(f"{error.strerror}; name a directory, such as /var/lib/pbmserv") from None
    if is_file:
        raise ValueError("there is a file of that name; name a directory, such as /var/lib/pbmserv")
    return path


def database(text: str) -> str:
    """A database URL that this server can use."""
    if text.startswith("sqlite:///"):
        name, options, _ = text.removeprefix("sqlite:///").partition("?")
        if options:
            raise ValueError(
                "a file has no options; name it alone, such as sqlite:///var/pbmserv.sqlite3"
            )
        if name and not name.startswith(":") and not name.endswith("/"):
            return text
        raise ValueError("name the file, such as sqlite:///var/pbmserv.sqlite3")
    if text.startswith("postgresql+psycopg://"):
        from pbmserv.store.core.postgresql import wrong_in

        if wrong := wrong_in(text):
            raise ValueError(f"{one_line(wrong)}; {_POSTGRES}")
        return text
    if text.startswith(("postgres://", "postgresql://")):
        raise ValueError(_POSTGRES)
    raise ValueError(f"name a file, such as sqlite:///var/pbmserv.sqlite3, or {_POSTGRES}")


def network(text: str) -> Listen | None:
    """``host:port``; empty = off (``None``)."""
    if not text:
        return None
    if text.startswith("/"):
        raise ValueError("only LMTP takes a path; write host:port, such as 127.0.0.1:2525")
    return Listen.parse(text)


def loopback(text: str) -> Listen | None:
    """``host:port`` that only this machine reaches; empty = off (``None``)."""
    listen = network(text)
    if listen is not None and not listen.is_loopback:
        raise ValueError("it is for this machine alone; name that, such as 127.0.0.1:8027")
    return listen


def network_or_path(text: str) -> Listen | None:
    """``host:port`` or the path of a Unix socket; empty = off (``None``)."""
    if "/" in text[1:] and not text.startswith("/"):
        raise ValueError("write a socket's full path alone, such as /run/pbmserv/lmtp.sock")
    return Listen.parse(text) if text else None


def file(text: str) -> Path | None:
    """The name of a file; whether it can be read is found out where it is used."""
    if not text:
        return None
    if not text.isprintable():
        raise ValueError(
            "write the name of a file, without control characters, such as /etc/pbmserv/cert.pem"
        )
    return at_home(text)


def folder(text: str) -> Path | None:
    """Read the name of a folder, empty = none; whether it can be read is found out later."""
    if text and not text.isprintable():
        raise ValueError(
            "write the name of a folder, without control characters, such as /etc/pbmserv/templates"
        )
    return at_home(text) if text else None


def networks(text: str) -> tuple[Network, ...]:
    """Addresses and networks; empty = none."""
    found = []
    for word in re.split(r"[,\s]+", text):
        try:
            if word:
                found.append(ip_network(word))
        except ValueError:
            raise ValueError(
                f"{one_line(word)} is not a network; put commas between networks, "
                "such as 127.0.0.1,10.1.2.0/24"
            ) from None
    return tuple(found)


def rate(text: str) -> str:
    """How many in how long, such as ``240/hour``; several with semicolons; empty = no limit."""
    from limits import parse_many

    wanted = (
        f"write a number (up to {MOST_OF_A_RATE}) and a span (up to 31 days), such as 240/hour, "
        "or several with semicolons"
    )
    try:
        limits = parse_many(text) if text else []
        if re.search(r"(?<![0-9])0+(?![0-9])", text):  # the library takes 0 hours for one
            raise ValueError(wanted)
    except ValueError:
        raise ValueError(wanted) from None
    for limit in limits:
        is_span = 0 < limit.get_expiry() <= LONGEST_SPAN_S
        if not is_span or not 0 < limit.amount <= MOST_OF_A_RATE:
            raise ValueError(wanted)
    return text


def web_url(text: str) -> str:
    """A base URL without a slash at its end; empty stays empty."""
    if not text:
        return ""
    wanted = "write a base URL, such as https://play.example.org"
    try:
        parts = urlsplit(text)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        raise ValueError(wanted) from None
    if not usable or not re.fullmatch(r"[!-~]+", text) or re.search(r"[\"'<>\\`{}|^]", text):
        raise ValueError(wanted)
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError(f"leave password, query and # out; {wanted}")
    return text.rstrip("/")


def address(text: str) -> str:
    """The server's own address, its domain in lower case."""
    local, at, domain = text.rpartition("@")
    if not at or not re.fullmatch(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*", local):
        raise ValueError(
            "before the @ letters, digits, dots, _ and - are possible; "
            "write one plain address, such as pbmserv@example.org"
        )
    # Reply addresses are LOCAL+TOKEN@DOMAIN with a token of at most 45 characters;
    # RFC 5321 section 4.5.3.1.1 allows 64 before the @, and 254 in all.
    if len(local) > 18:
        raise ValueError(
            "at most 18 characters before the @, so that reply addresses fit, "
            "such as pbmserv@example.org"
        )
    if len(domain) > 189 or not re.fullmatch(rf"{_LABEL}(?:\.{_LABEL})*", domain):
        raise ValueError(
            "after the @ write a domain name in ASCII of at most 189 characters, "
            "such as pbmserv@play.example.org"
        )
    return f"{local}@{domain.lower()}"


def relay(text: str) -> str:
    """A relay URL, as `pbmserv.outbound.relay_url` understands it."""
    from pbmserv.outbound.relay_url import read_relay_url

    try:
        read_relay_url(text)
    except ConfigError as error:
        raise ValueError(str(error).removeprefix("relay: ")) from None
    return text


def operators(text: str) -> frozenset[str]:
    """Userids, in lower case."""
    userids = [word for word in re.split(r"[,\s]+", text.lower()) if word]
    for userid in userids:
        if not re.fullmatch(r"[a-z0-9_-]{2,20}", userid):
            raise ValueError("write userids with commas between them, such as alice,bob")
    return frozenset(userids)


def signup(text: str) -> Signup:
    """One of the three ways to take new players."""
    for known in _SIGNUPS:
        if text == known:
            return known
    raise ValueError("write confirm, open or closed")


def on_or_off(text: str) -> bool:
    """A switch."""
    if text.lower() not in {"on", "off"}:
        raise ValueError("write on or off")
    return text.lower() == "on"


def log_level(text: str) -> str:
    """From which level on events are logged."""
    if text.lower() not in {"debug", "info", "warning", "error"}:
        raise ValueError("write debug, info, warning or error, such as info")
    return text.lower()


def log_format(text: str) -> LogFormat:
    """How a line of the log is written."""
    for known in _LOG_FORMATS:
        if text == known:
            return known
    raise ValueError("write text or json, such as text")


def octets(text: str) -> int:
    """A number of octets, also as K, M or G (of 1024); at least 1M."""
    found = re.fullmatch(r"([0-9]{1,12})([KMG]?)", text.upper())
    number = int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[found[2]] if found else 0
    if number < 1 << 20:
        raise ValueError("write a number of octets, at least 1M, such as 500M or 2G")
    return number


def whole(least: int, most: int, example: str) -> Callable[[str], int]:
    """A reader of whole numbers from *least* to *most*."""

    def read(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", text) or not least <= int(text) <= most:
            raise ValueError(f"write a number from {least} to {most}, such as {example}")
        return int(text)

    return read


number = whole(0, 999_999, "4")
"""A number that is not negative."""
places = whole(1, 99_999, "100")
"""How many may be somewhere at a time."""
days = whole(0, 36_500, "14")
"""Up to a hundred years: moments beyond the calendar cannot be reckoned with."""
days_of_a_year = whole(0, 366, "30")


def authserv_id(text: str) -> str:
    """The authserv-id of Authentication-Results (RFC 8601 section 2.5); empty = none."""
    if text and not re.fullmatch(r"[A-Za-z0-9_.-]{1,253}", text):
        raise ValueError(
            "write the first word of its Authentication-Results, such as mx.example.org"
        )
    return text.lower()


def domains(text: str) -> frozenset[str]:
    """Domain names in ASCII, in lower case; empty = none."""
    found = [word for word in re.split(r"[,\s]+", text.lower()) if word]
    for word in found:
        if not re.fullmatch(rf"{_LABEL}(?:\.{_LABEL})+", word):
            raise ValueError(
                f"{one_line(word)} is not a domain; put commas between domains, such as google.com"
            )
    return frozenset(found)
