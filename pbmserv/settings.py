"""Every setting that an operator can choose, each with what a person must know about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pbmserv import setting_values
from pbmserv.networks import Network
from pbmserv.send.signing import NamedFile, named_files
from pbmserv.setting_values import Listen, LogFormat, Signup

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


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything an operator can choose, checked."""

    data_dir: Annotated[
        Path,
        Setting(
            "PBMSERV_DATA_DIR",
            "directory",
            "var",
            "Where the server keeps its files; only var is made when it is missing.",
            setting_values.directory,
        ),
    ]
    database: Annotated[
        str,
        Setting(
            "PBMSERV_DATABASE",
            "URL",
            "sqlite:///<data>/pbmserv.sqlite3",
            "Players and boards: sqlite:///PATH or postgresql+psycopg://USER:PASSWORD@HOST/NAME.",
            setting_values.database,
        ),
    ] = field(repr=False)  # may carry a password
    mail_days: Annotated[
        int,
        Setting(
            "PBMSERV_MAIL_DAYS",
            "days",
            "14",
            "How long the text of a mail is kept after it was carried out; passwords are in it.",
            setting_values.days,
        ),
    ]
    letter_days: Annotated[
        int,
        Setting(
            "PBMSERV_LETTER_DAYS",
            "days",
            "7",
            "How long a letter is kept as it was mailed, after it was sent.",
            setting_values.days,
        ),
    ]
    unused_days: Annotated[
        int,
        Setting(
            "PBMSERV_UNUSED_DAYS",
            "days",
            "0",
            "How long the text of a mail is kept that no player has proved to write, or that led "
            "to nothing; 0 = not at all.",
            setting_values.days,
        ),
    ]
    inbox_octets: Annotated[
        int,
        Setting(
            "PBMSERV_INBOX_OCTETS",
            "octets",
            "2G",
            "What the texts of all mails may take, such as 500M or 2G; what goes first is in "
            "deploy/README.md.",
            setting_values.octets,
        ),
    ]
    smtp: Annotated[
        Listen | None,
        Setting(
            "PBMSERV_SMTP",
            "host:port",
            "127.0.0.1:2525",
            "Takes mail by SMTP; empty = off, port 0 = any free port.",
            setting_values.network,
        ),
    ]
    smtps: Annotated[
        Listen | None,
        Setting(
            "PBMSERV_SMTPS",
            "host:port",
            "",
            "Takes mail by SMTP that is encrypted from its first octet; empty = off.",
            setting_values.network,
        ),
    ]
    lmtp: Annotated[
        Listen | None,
        Setting(
            "PBMSERV_LMTP",
            "host:port or socket path",
            "",
            "Takes mail by LMTP, from a mail server in front; empty = off.",
            setting_values.network_or_path,
        ),
    ]
    tls_cert: Annotated[
        Path | None,
        Setting(
            "PBMSERV_TLS_CERT",
            "PEM file",
            "",
            "Certificate chain, for STARTTLS and PBMSERV_SMTPS; read again when it changes.",
            setting_values.file,
        ),
    ]
    tls_key: Annotated[
        Path | None,
        Setting(
            "PBMSERV_TLS_KEY",
            "PEM file",
            "",
            "The certificate's key, without a passphrase; empty = it is in PBMSERV_TLS_CERT.",
            setting_values.file,
        ),
    ]
    mail_servers: Annotated[
        tuple[Network, ...],
        Setting(
            "PBMSERV_MAIL_SERVERS",
            "networks with commas",
            "127.0.0.1, ::1",
            "Your own mail servers, which hand on what others sent: no limit for networks applies "
            "to them, and no SPF.",
            setting_values.networks,
        ),
    ]
    sessions: Annotated[
        int,
        Setting(
            "PBMSERV_SESSIONS",
            "number",
            "100",
            "Sessions that strangers may have open at each of the mail ports; your own mail "
            "servers have as many for themselves.",
            setting_values.places,
        ),
    ]
    sessions_network: Annotated[
        int,
        Setting(
            "PBMSERV_SESSIONS_NETWORK",
            "number",
            "20",
            "Of these, for one network (/24, /64).",
            setting_values.places,
        ),
    ]
    sender_checks: Annotated[
        bool,
        Setting(
            "PBMSERV_SENDER_CHECKS",
            "on or off",
            "on",
            "Ask name servers (SPF, DKIM, DMARC) who sent a mail, so that a password may be left "
            "out; off = nobody's sender is ever proven.",
            setting_values.on_or_off,
        ),
    ]
    authserv_id: Annotated[
        str,
        Setting(
            "PBMSERV_AUTHSERV_ID",
            "name",
            "",
            "The name in the Authentication-Results that your own mail servers write, which must "
            "remove any such field from mails that come in; empty = theirs are not read.",
            setting_values.authserv_id,
        ),
    ]
    authserv_hops: Annotated[
        int,
        Setting(
            "PBMSERV_AUTHSERV_HOPS",
            "number",
            "0",
            "Received fields of your own mail servers that stand above those "
            "Authentication-Results; 0 = none, so nobody else can have written them.",
            setting_values.whole(0, 25, "1"),
        ),
    ]
    arc_sealers: Annotated[
        frozenset[str],
        Setting(
            "PBMSERV_ARC_SEALERS",
            "domains with commas",
            "",
            "Forwarders whose ARC seals are believed, such as google.com; empty = none.",
            setting_values.domains,
        ),
    ]
    rate_player: Annotated[
        str,
        Setting(
            "PBMSERV_RATE_PLAYER",
            "number/span",
            "240/hour",
            "Mails that are taken from one player; empty = no limit.",
            setting_values.rate,
        ),
    ]
    rate_address: Annotated[
        str,
        Setting(
            "PBMSERV_RATE_ADDRESS",
            "number/span",
            "240/hour",
            "Mails that are taken from one address; empty = no limit.",
            setting_values.rate,
        ),
    ]
    rate_network: Annotated[
        str,
        Setting(
            "PBMSERV_RATE_NETWORK",
            "number/span",
            "1200/hour",
            "Mails that are taken from one network (/24, /64); empty = no limit.",
            setting_values.rate,
        ),
    ]
    rate_refusals: Annotated[
        str,
        Setting(
            "PBMSERV_RATE_REFUSALS",
            "number/span",
            "20/hour; 40/day",
            "Answers to one sender that say nothing could be done; empty = no limit.",
            setting_values.rate,
        ),
    ]
    rate_answers: Annotated[
        str,
        Setting(
            "PBMSERV_RATE_ANSWERS",
            "number/span",
            "20/hour; 60/day",
            "Answers to one address that nothing proves to be the writer's, from one network; "
            "empty = no limit.",
            setting_values.rate,
        ),
    ]
    rate_confirmations: Annotated[
        str,
        Setting(
            "PBMSERV_RATE_CONFIRMATIONS",
            "number/span",
            "5/day",
            "Letters that ask one address to confirm a signup, a change of address or a new "
            "board, from one network; empty = no limit.",
            setting_values.rate,
        ),
    ]
    rate_resets: Annotated[
        str,
        Setting(
            "PBMSERV_RATE_RESETS",
            "number/span",
            "3/day",
            "Letters to one player that offer a new password; empty = no limit.",
            setting_values.rate,
        ),
    ]
    web: Annotated[
        Listen | None,
        Setting(
            "PBMSERV_WEB",
            "host:port",
            "127.0.0.1:8025",
            "Web pages; empty = off, port 0 = any free port.",
            setting_values.network,
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
            setting_values.network,
        ),
    ]
    web_url: Annotated[
        str,
        Setting(
            "PBMSERV_WEB_URL",
            "http(s) URL",
            "",
            "How players reach the web pages, for links in letters; empty = made from PBMSERV_WEB.",
            setting_values.web_url,
        ),
    ]
    web_proxies: Annotated[
        tuple[Network, ...],
        Setting(
            "PBMSERV_WEB_PROXIES",
            "networks with commas",
            "127.0.0.1, ::1",
            "Your own proxies in front of the pages: no limit for networks applies to them.",
            setting_values.networks,
        ),
    ]
    address: Annotated[
        str,
        Setting(
            "PBMSERV_ADDRESS",
            "mail address",
            "pbmserv@localhost",
            "The address players write to; at most 18 characters before the @.",
            setting_values.address,
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
            setting_values.relay,
        ),
    ] = field(repr=False)  # may carry a password
    domain_letters: Annotated[
        int,
        Setting(
            "PBMSERV_DOMAIN_LETTERS",
            "number",
            "4",
            "Letters that are handed to an SMTP relay at a time for one recipient domain, of 8 in "
            "all and for each process; 0 = no limit.",
            setting_values.whole(0, 1_000, "4"),
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
            setting_values.signup,
        ),
    ]
    operators: Annotated[
        frozenset[str],
        Setting(
            "PBMSERV_OPERATORS",
            "userids with commas",
            "",
            "Players who may write to everybody with broadcast; empty = nobody.",
            setting_values.operators,
        ),
    ]
    away_days: Annotated[
        int,
        Setting(
            "PBMSERV_AWAY_DAYS",
            "days",
            "30",
            "Days of a calendar year that a player can be away, so that no clock runs.",
            setting_values.days_of_a_year,
        ),
    ]
    log_level: Annotated[
        str,
        Setting(
            "PBMSERV_LOG_LEVEL",
            "debug, info, warning or error",
            "info",
            "What the log tells: info = a line for each mail, letter and refusal, warning = only "
            "what is wrong.",
            setting_values.log_level,
        ),
    ]
    log_format: Annotated[
        LogFormat,
        Setting(
            "PBMSERV_LOG_FORMAT",
            "text or json",
            "text",
            "How the log is written: text = key=value, json = an object in each line.",
            setting_values.log_format,
        ),
    ]
