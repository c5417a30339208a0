"""Every setting that an operator can choose, each with what a person must know about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pbmserv.config import values
from pbmserv.config.incoming import Incoming
from pbmserv.config.values import Listen, LogFormat, Setting, Signup
from pbmserv.mail.networks import Network
from pbmserv.outbound.dkim import NamedFile, named_files


@dataclass(frozen=True, slots=True)
class Settings(Incoming):
    """Everything an operator can choose, checked."""

    web: Annotated[
        Listen | None,
        Setting(
            "PBMSERV_WEB",
            "host:port",
            "127.0.0.1:8025",
            "Web pages; empty = off, port 0 = any free port.",
            values.network,
        ),
    ]
    metrics: Annotated[
        Listen | None,
        Setting(
            "PBMSERV_METRICS",
            "host:port",
            "",
            "Numbers for Prometheus (/metrics) and the whole of /healthz, for machines of your own "
            "only; such as 127.0.0.1:8026; empty = off.",
            values.network,
        ),
    ]
    web_url: Annotated[
        str,
        Setting(
            "PBMSERV_WEB_URL",
            "http(s) URL",
            "",
            "How players reach the web pages, for links in letters; empty = made from PBMSERV_WEB.",
            values.web_url,
        ),
    ]
    web_proxies: Annotated[
        tuple[Network, ...],
        Setting(
            "PBMSERV_WEB_PROXIES",
            "networks with commas",
            "127.0.0.1, ::1",
            "Your own proxies in front of the pages: no limit for networks applies to them.",
            values.networks,
        ),
    ]
    address: Annotated[
        str,
        Setting(
            "PBMSERV_ADDRESS",
            "mail address",
            "pbmserv@localhost",
            "The address players write to; at most 18 characters before the @.",
            values.address,
        ),
    ]
    relay: Annotated[
        str,
        Setting(
            "PBMSERV_RELAY",
            "URL",
            "maildir:<data>/mail",
            "Where letters go: maildir:DIRECTORY, smtp://HOST:PORT, smtps://USER:PASSWORD@HOST, "
            "lmtp://HOST:PORT.",
            values.relay,
        ),
    ] = field(repr=False)  # may carry a password
    domain_letters: Annotated[
        int,
        Setting(
            "PBMSERV_DOMAIN_LETTERS",
            "number",
            "4",
            "Letters to hand to an SMTP relay at once for one recipient domain, of 8 in all for "
            "each process; 0 = no limit.",
            values.whole(0, 1_000, "4"),
        ),
    ]
    dkim_keys: Annotated[
        tuple[NamedFile, ...],
        Setting(
            "PBMSERV_DKIM_KEYS",
            "SELECTOR=FILE with commas",
            "",
            "Keys that sign letters; see `pbmserv dkim`. Empty = letters are not signed.",
            named_files,
        ),
    ]
    signup: Annotated[
        Signup,
        Setting(
            "PBMSERV_SIGNUP",
            "confirm, open or closed",
            "confirm",
            "New players: confirm = answer a letter first, open = at once, closed = none.",
            values.signup,
        ),
    ]
    operators: Annotated[
        frozenset[str],
        Setting(
            "PBMSERV_OPERATORS",
            "userids with commas",
            "",
            "Players who may write to everybody (broadcast); empty = nobody.",
            values.operators,
        ),
    ]
    away_days: Annotated[
        int,
        Setting(
            "PBMSERV_AWAY_DAYS",
            "days",
            "30",
            "Days a player can be away in a calendar year, while no clock runs.",
            values.days_of_a_year,
        ),
    ]
    invitations: Annotated[
        int,
        Setting(
            "PBMSERV_INVITATIONS",
            "number",
            "3",
            "Friends a player can invite by mail address in a day; 0 = nobody can.",
            values.whole(0, 1_000, "3"),
        ),
    ]
    mail_seconds: Annotated[
        int,
        Setting(
            "PBMSERV_MAIL_SECONDS",
            "seconds",
            "15",
            "How long one mail may keep the others waiting (PostgreSQL: four times as long) before "
            "the server tries it alone; the second time it keeps the mail for you.",
            values.whole(1, 600, "15"),
        ),
    ]
    log_level: Annotated[
        str,
        Setting(
            "PBMSERV_LOG_LEVEL",
            "debug, info, warning or error",
            "info",
            "What the log has: info = a line for each mail, letter and refusal, warning = only "
            "what goes wrong.",
            values.log_level,
        ),
    ]
    log_format: Annotated[
        LogFormat,
        Setting(
            "PBMSERV_LOG_FORMAT",
            "text or json",
            "text",
            "The form of the log: text = key=value, json = an object in each line.",
            values.log_format,
        ),
    ]
