"""Settings of what comes in, by mail and by browser: who may send it, how much of it, what of it is
kept and where."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pbmserv.config import values
from pbmserv.config.values import Listen, Setting
from pbmserv.mail.envelope import Network


@dataclass(frozen=True, slots=True)
class Storage:
    """What is kept."""

    data_dir: Annotated[
        Path,
        Setting(
            "PBMSERV_DATA_DIR",
            "directory",
            "var",
            "Where the server keeps its files. It makes var itself, but no other folder.",
            values.directory,
        ),
    ]
    database: Annotated[
        str,
        Setting(
            "PBMSERV_DATABASE",
            "URL",
            "sqlite:///<data>/pbmserv.sqlite3",
            "Players and boards: sqlite:///PATH or postgresql+psycopg://USER:PASSWORD@HOST/NAME.",
            values.database,
        ),
    ] = field(repr=False)  # may carry a password
    mail_days: Annotated[
        int,
        Setting(
            "PBMSERV_MAIL_DAYS",
            "days",
            "14",
            "How long to keep the text of a mail that is carried out; passwords are in it.",
            values.days,
        ),
    ]
    letter_days: Annotated[
        int,
        Setting(
            "PBMSERV_LETTER_DAYS",
            "days",
            "7",
            "How long to keep a letter, as it was mailed, after it was sent.",
            values.days,
        ),
    ]
    unused_days: Annotated[
        int,
        Setting(
            "PBMSERV_UNUSED_DAYS",
            "days",
            "0",
            "How long to keep the text of a mail that led to nothing, or that no player is proved "
            "to have written; 0 = not at all.",
            values.days,
        ),
    ]
    inbox_octets: Annotated[
        int,
        Setting(
            "PBMSERV_INBOX_OCTETS",
            "octets",
            "2G",
            "Room for the texts of all mails, such as 500M or 2G; deploy/README.md says which go "
            "first.",
            values.octets,
        ),
    ]


@dataclass(frozen=True, slots=True)
class Incoming(Storage):
    """What comes in."""

    smtp: Annotated[
        Listen | None,
        Setting(
            "PBMSERV_SMTP",
            "host:port",
            "127.0.0.1:2525",
            "Takes mail by SMTP; empty = off, port 0 = any free port.",
            values.network,
        ),
    ]
    smtps: Annotated[
        Listen | None,
        Setting(
            "PBMSERV_SMTPS",
            "host:port",
            "",
            "Takes mail by SMTP that is encrypted from its first octet; empty = off.",
            values.network,
        ),
    ]
    lmtp: Annotated[
        Listen | None,
        Setting(
            "PBMSERV_LMTP",
            "host:port or socket path",
            "",
            "Takes mail by LMTP, from a mail server in front; empty = off.",
            values.network_or_path,
        ),
    ]
    tls_cert: Annotated[
        Path | None,
        Setting(
            "PBMSERV_TLS_CERT",
            "PEM file",
            "",
            "Certificate chain, for STARTTLS and PBMSERV_SMTPS; read again when it changes.",
            values.file,
        ),
    ]
    tls_key: Annotated[
        Path | None,
        Setting(
            "PBMSERV_TLS_KEY",
            "PEM file",
            "",
            "The certificate's key, without a passphrase; empty = it is in PBMSERV_TLS_CERT.",
            values.file,
        ),
    ]
    mail_servers: Annotated[
        tuple[Network, ...],
        Setting(
            "PBMSERV_MAIL_SERVERS",
            "networks with commas",
            "127.0.0.1, ::1",
            "Your own mail servers, which pass on the mails of others: neither limits for networks "
            "nor SPF apply to them.",
            values.networks,
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
            values.places,
        ),
    ]
    sessions_network: Annotated[
        int,
        Setting(
            "PBMSERV_SESSIONS_NETWORK",
            "number",
            "20",
            "Of these, for one network (/24, /64).",
            values.places,
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
            values.on_or_off,
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
            values.authserv_id,
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
            values.whole(0, 25, "1"),
        ),
    ]
    arc_sealers: Annotated[
        frozenset[str],
        Setting(
            "PBMSERV_ARC_SEALERS",
            "domains with commas",
            "",
            "Forwarders whose ARC seals you trust, such as google.com; empty = none.",
            values.domains,
        ),
    ]
    rate_player: Annotated[
        str,
        Setting(
            "PBMSERV_RATE_PLAYER",
            "number/span",
            "240/hour",
            "Mails to take from one player; empty = no limit.",
            values.rate,
        ),
    ]
    rate_address: Annotated[
        str,
        Setting(
            "PBMSERV_RATE_ADDRESS",
            "number/span",
            "240/hour",
            "Mails to take from one address; empty = no limit.",
            values.rate,
        ),
    ]
    rate_network: Annotated[
        str,
        Setting(
            "PBMSERV_RATE_NETWORK",
            "number/span",
            "1200/hour",
            "Mails to take from one network (/24, /64); empty = no limit.",
            values.rate,
        ),
    ]
    rate_refusals: Annotated[
        str,
        Setting(
            "PBMSERV_RATE_REFUSALS",
            "number/span",
            "20/hour; 40/day",
            "Answers to one sender that only refuse; empty = no limit.",
            values.rate,
        ),
    ]
    rate_answers: Annotated[
        str,
        Setting(
            "PBMSERV_RATE_ANSWERS",
            "number/span",
            "20/hour; 60/day",
            "Answers to one address whose mails prove nothing, from one network; empty = no limit.",
            values.rate,
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
            values.rate,
        ),
    ]
    rate_resets: Annotated[
        str,
        Setting(
            "PBMSERV_RATE_RESETS",
            "number/span",
            "3/day",
            "Letters to one player that offer a new password; empty = no limit.",
            values.rate,
        ),
    ]


def _contact(text: str) -> str:
    """Where somebody is to be told something, as a URI; empty stays empty."""
    if not text or re.fullmatch(r"https://[!-;=?-~]+", text):
        return text
    if re.fullmatch(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+", text):
        return f"mailto:{text}"
    raise ValueError("write a mail address or an https URL, such as security@example.org")


@dataclass(frozen=True, slots=True)
class Pages(Incoming):
    """What is served to browsers."""

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
            "Your own proxies in front of the pages: no limit for networks applies to them, and "
            "X-Forwarded-For says for whom they ask.",
            values.networks,
        ),
    ]
    security_contact: Annotated[
        str,
        Setting(
            "PBMSERV_SECURITY_CONTACT",
            "mail address or https URL",
            "",
            "Whom to tell of a hole here, for /.well-known/security.txt; empty = no such file.",
            _contact,
        ),
    ]
    mailbox: Annotated[
        Listen | None,
        Setting(
            "PBMSERV_MAILBOX",
            "host:port",
            "127.0.0.1:8027",
            "A mailbox in the browser, to try the server out, for this machine alone: it reads the "
            "Maildirs of PBMSERV_RELAY; empty = off. The default is off, too, where letters go "
            "elsewhere, or PBMSERV_WEB_URL is set.",
            values.loopback,
        ),
    ]
    operator_pages: Annotated[
        Listen | None,
        Setting(
            "PBMSERV_OPERATOR_PAGES",
            "host:port",
            "",
            "Pages on which operators do what they can do at the command line, such as "
            "127.0.0.1:8028; empty = off.",
            values.network,
        ),
    ]
    operator_token: Annotated[
        Path | None,
        Setting(
            "PBMSERV_OPERATOR_TOKEN",
            "file",
            "",
            "The token that opens them; `pbmserv operator-token FILE` makes one.",
            values.file,
        ),
    ]
    operator_url: Annotated[
        str,
        Setting(
            "PBMSERV_OPERATOR_URL",
            "https URL",
            "",
            "How operators reach them through a proxy of your own; empty = only this machine does.",
            values.web_url,
        ),
    ]
