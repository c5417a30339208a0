"""The types of settings, each with its unit and its parser.

A parser makes the value from the text that an operator wrote. If the text is wrong, it raises
`ValueError` with an instruction ("write host:port, such as 127.0.0.1:2525");
`pbmserv.config.refusals` adds the setting's name and text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import PlainValidator

from pbmserv.config.display import one_line
from pbmserv.config.listen import Listen
from pbmserv.errors import ConfigError
from pbmserv.extras import why_missing
from pbmserv.mail.networks import Network
from pbmserv.outbound.dkim_keys import KeyFile, parse_key_files


@dataclass(frozen=True, slots=True)
class Unit:
    """The kind of text that a setting takes, in a few words for the operator."""

    name: str


# -- numbers and switches ----------------------------------------------------------------------


def whole_number(least: int, most: int, example: str) -> PlainValidator:
    """Return a parser of whole numbers from *least* to *most*."""

    def read(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", text) or not least <= int(text) <= most:
            raise ValueError(f"write a number from {least} to {most}, such as {example}")
        return int(text)

    return PlainValidator(read)


Days = Annotated[int, Unit("days"), whole_number(0, 36_500, "14")]
"""Up to a hundred years, because the calendar of `datetime` ends."""

DaysOfAYear = Annotated[int, Unit("days"), whole_number(0, 366, "30")]
Seconds = Annotated[int, Unit("seconds"), whole_number(1, 600, "15")]
Sessions = Annotated[int, Unit("number"), whole_number(1, 99_999, "100")]
Hops = Annotated[int, Unit("number"), whole_number(0, 25, "1")]
SmallNumber = Annotated[int, Unit("number"), whole_number(0, 1_000, "8")]
Switch = Annotated[bool, Unit("on or off")]


def _read_octets(text: str) -> int:
    """Read a number of octets, also in K, M or G (1024 each); at least 1M."""
    match = re.fullmatch(r"([0-9]{1,12})([KMG]?)", text.upper())
    octets = int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2]] if match else 0
    if octets < 1 << 20:
        raise ValueError("write a number of octets, at least 1M, such as 500M or 2G")
    return octets


Octets = Annotated[int, Unit("octets"), PlainValidator(_read_octets)]


# -- one of a few words ------------------------------------------------------------------------


Signup = Annotated[Literal["confirm", "open", "closed"], Unit("confirm, open or closed")]
LogFormat = Annotated[Literal["text", "json"], Unit("text or json")]


def _read_log_level(text: str) -> str:
    """Read the lowest level of logged events."""
    if text.lower() not in {"debug", "info", "warning", "error"}:
        raise ValueError("write debug, info, warning or error, such as info")
    return text.lower()


LogLevel = Annotated[str, Unit("debug, info, warning or error"), PlainValidator(_read_log_level)]


# -- files and folders -------------------------------------------------------------------------


def _expand_home(text: str) -> Path:
    """Return a path with ``~`` replaced by the home directory."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise ValueError(
            f"{one_line(text)}: no such user; write the full path, such as /var/lib/pbmserv"
        ) from None


def path_of(thing: str, example: str) -> PlainValidator:
    """Return a parser of names of files or folders, which need not exist yet; empty = none
    (`None`)."""

    def read(text: str) -> Path | None:
        if not text.isprintable():
            raise ValueError(
                f"write the name of a {thing}, without control characters, such as {example}"
            )
        return _expand_home(text) if text else None

    return PlainValidator(read)


def _read_directory(text: str) -> Path:
    """Read the name of a directory that exists or can be made."""
    if not text:
        raise ValueError("name a directory, such as /var/lib/pbmserv")
    # In the database URL, a "?" in this path would begin the options.
    if "?" in text or not text.isprintable():
        raise ValueError(
            "use a path without question marks and control characters, such as /var/lib/pbmserv"
        )
    path = _expand_home(text)
    if str(path).startswith(":"):  # SQLite would open a database in memory
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


_ANY_FILE = path_of("file", "/etc/pbmserv/cert.pem")
PemFile = Annotated[Path | None, Unit("PEM file"), _ANY_FILE]
File = Annotated[Path | None, Unit("file"), _ANY_FILE]
Folder = Annotated[Path | None, Unit("directory"), path_of("folder", "/etc/pbmserv/templates")]
Directory = Annotated[Path, Unit("directory"), PlainValidator(_read_directory)]
KeyFiles = Annotated[
    tuple[KeyFile, ...], Unit("SELECTOR=FILE with commas"), PlainValidator(parse_key_files)
]


# -- places to listen --------------------------------------------------------------------------


def _read_port(text: str) -> Listen | None:
    """Read ``host:port``; empty = off (`None`)."""
    if not text:
        return None
    if text.startswith("/"):
        raise ValueError("only LMTP takes a path; write host:port, such as 127.0.0.1:2525")
    return Listen.parse(text)


def _read_loopback_port(text: str) -> Listen | None:
    """Read a ``host:port`` of the loopback interface; empty = off (`None`)."""
    listen = _read_port(text)
    if listen is not None and not listen.is_loopback:
        raise ValueError("it is for this machine only; write its address, such as 127.0.0.1:8027")
    return listen


def _read_port_or_socket(text: str) -> Listen | None:
    """Read ``host:port`` or the path of a Unix socket; empty = off (`None`)."""
    if "/" in text[1:] and not text.startswith("/"):
        raise ValueError("write a socket's full path alone, such as /run/pbmserv/lmtp.sock")
    return Listen.parse(text) if text else None


Port = Annotated[Listen | None, Unit("host:port"), PlainValidator(_read_port)]
LoopbackPort = Annotated[Listen | None, Unit("host:port"), PlainValidator(_read_loopback_port)]
PortOrSocket = Annotated[
    Listen | None, Unit("host:port or socket path"), PlainValidator(_read_port_or_socket)
]


# -- networks, domains and addresses -----------------------------------------------------------


_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
"""A label of a domain name."""

_MOST_LOCAL = 18
"""Characters before the @ of the server's address. Reply addresses are LOCAL+TOKEN@DOMAIN with a
token of at most 45 characters, and RFC 5321 section 4.5.3.1.1 allows 64 before the @."""

_MOST_DOMAIN = 189
"""Characters of the server's domain, so that a reply address has at most 254."""


def _read_networks(text: str) -> tuple[Network, ...]:
    """Read addresses and networks; empty = none.

    The whole Internet is refused, since mails and requests of these networks are trusted to name
    the machine that they come from.
    """
    networks = []
    for word in re.split(r"[,\s]+", text):
        try:
            if word:
                networks.append(ip_network(word))
        except ValueError:
            raise ValueError(
                f"{one_line(word)} is not a network; put commas between networks, "
                "such as 127.0.0.1,10.1.2.0/24"
            ) from None
        if networks and not networks[-1].prefixlen:
            raise ValueError(
                f"{word} is the whole Internet; name machines of your own, "
                "such as 127.0.0.1,10.1.2.0/24"
            )
    return tuple(networks)


def _read_domains(text: str) -> frozenset[str]:
    """Read domain names in ASCII, in lower case; empty = none."""
    domains = [word for word in re.split(r"[,\s]+", text.lower()) if word]
    for domain in domains:
        if not re.fullmatch(rf"{_LABEL}(?:\.{_LABEL})+", domain):
            raise ValueError(
                f"{one_line(domain)} is not a domain; put commas between domains, "
                "such as google.com"
            )
    return frozenset(domains)


def _read_authserv_id(text: str) -> str:
    """Read the authserv-id of Authentication-Results (RFC 8601 section 2.5); empty = none."""
    if text and not re.fullmatch(r"[A-Za-z0-9_.-]{1,253}", text):
        raise ValueError(
            "write the first word of its Authentication-Results, such as mx.example.org"
        )
    return text.lower()


def _read_address(text: str) -> str:
    """Read the server's own address, its domain in lower case."""
    local, at, domain = text.rpartition("@")
    if not at or not re.fullmatch(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*", local):
        raise ValueError(
            "before the @ letters, digits, dots, _ and - are possible; "
            "write one plain address, such as pbmserv@example.org"
        )
    if len(local) > _MOST_LOCAL:
        raise ValueError(
            f"at most {_MOST_LOCAL} characters before the @, so that reply addresses fit, "
            "such as pbmserv@example.org"
        )
    if len(domain) > _MOST_DOMAIN or not re.fullmatch(rf"{_LABEL}(?:\.{_LABEL})*", domain):
        raise ValueError(
            f"after the @ write a domain name in ASCII of at most {_MOST_DOMAIN} characters, "
            "such as pbmserv@play.example.org"
        )
    return f"{local}@{domain.lower()}"


def _read_contact(text: str) -> str:
    """Read a mail address or https URL, as a URI; empty = none."""
    if not text or re.fullmatch(r"https://[!-;=?-~]+", text):
        return text
    if re.fullmatch(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+", text):
        return f"mailto:{text}"
    raise ValueError("write a mail address or an https URL, such as security@example.org")


def _read_userids(text: str) -> frozenset[str]:
    """Read userids, in lower case; empty = none."""
    userids = [word for word in re.split(r"[,\s]+", text.lower()) if word]
    for userid in userids:
        if not re.fullmatch(r"[a-z0-9_-]{2,20}", userid):
            raise ValueError("write userids with commas between them, such as alice,bob")
    return frozenset(userids)


Networks = Annotated[
    tuple[Network, ...], Unit("networks with commas"), PlainValidator(_read_networks)
]
Domains = Annotated[frozenset[str], Unit("domains with commas"), PlainValidator(_read_domains)]
AuthservId = Annotated[str, Unit("name"), PlainValidator(_read_authserv_id)]
Address = Annotated[str, Unit("mail address"), PlainValidator(_read_address)]
Contact = Annotated[str, Unit("mail address or https URL"), PlainValidator(_read_contact)]
Userids = Annotated[frozenset[str], Unit("userids with commas"), PlainValidator(_read_userids)]


# -- URLs --------------------------------------------------------------------------------------


_POSTGRESQL = "write a URL such as postgresql+psycopg://USER:PASSWORD@HOST/NAME"


def _read_database(text: str) -> str:
    """Check a database URL."""
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
        if missing := why_missing("psycopg"):
            raise ValueError(missing)
        from pbmserv.store.core.postgresql import url_fault

        if fault := url_fault(text):
            raise ValueError(f"{one_line(fault)}; {_POSTGRESQL}")
        return text
    if text.startswith(("postgres://", "postgresql://")):
        raise ValueError(_POSTGRESQL)
    raise ValueError(f"name a file, such as sqlite:///var/pbmserv.sqlite3, or {_POSTGRESQL}")


def _read_relay(text: str) -> str:
    """Check a relay URL, as `pbmserv.outbound.relay_url` reads it."""
    from pbmserv.outbound.relay_url import read_relay_url

    try:
        read_relay_url(text)
    except ConfigError as error:
        raise ValueError(str(error).removeprefix("relay: ")) from None
    return text


def _read_base_url(text: str) -> str:
    """Read a base URL, without a slash at its end; empty = none."""
    if not text:
        return ""
    instruction = "write a base URL, such as https://play.example.org"
    try:
        parts = urlsplit(text)
        is_usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        raise ValueError(instruction) from None
    if not is_usable or not re.fullmatch(r"[!-~]+", text) or re.search(r"[\"'<>\\`{}|^]", text):
        raise ValueError(instruction)
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError(f"leave password, query and # out; {instruction}")
    return text.rstrip("/")


Database = Annotated[str, Unit("URL"), PlainValidator(_read_database)]
Relay = Annotated[str, Unit("URL"), PlainValidator(_read_relay)]
WebUrl = Annotated[str, Unit("http(s) URL"), PlainValidator(_read_base_url)]
OperatorUrl = Annotated[str, Unit("https URL"), PlainValidator(_read_base_url)]


# -- limits ------------------------------------------------------------------------------------


_MOST_OF_A_RATE = 1_000_000

_LONGEST_SPAN_S = 31 * 24 * 3600
"""A limiter stores each hit for as long."""


def _read_rate(text: str) -> str:
    """Check limits such as ``240/hour``, with semicolons between them; empty = no limit."""
    from limits import parse_many

    instruction = (
        f"write a number (up to {_MOST_OF_A_RATE}) and a span (up to 31 days), such as 240/hour, "
        "or several with semicolons"
    )
    try:
        limits = parse_many(text) if text else []
    except ValueError:
        raise ValueError(instruction) from None
    if re.search(r"(?<![0-9])0+(?![0-9])", text):  # the library reads 0 hours as one hour
        raise ValueError(instruction)
    for limit in limits:
        is_span = 0 < limit.get_expiry() <= _LONGEST_SPAN_S
        if not is_span or not 0 < limit.amount <= _MOST_OF_A_RATE:
            raise ValueError(instruction)
    return text


Rate = Annotated[str, Unit("number/span"), PlainValidator(_read_rate)]
