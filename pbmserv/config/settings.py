"""The settings that an operator can choose, and their loading.

Each field of `Settings` is one setting: PBMSERV_ and its name in capitals in the environment, its
name in a TOML file. The text below a field is its description; ``pbmserv config`` prints it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Self

from pydantic import (
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from pbmserv.config import kinds
from pbmserv.config.listen import Listen, public_url
from pbmserv.config.refusals import NOT_A_TEXT, sentences
from pbmserv.config.sources import (
    CONFIG_FILE,
    PREFIX,
    Environment,
    read_file,
    unknown_variables,
    variable_of,
)
from pbmserv.errors import ConfigError
from pbmserv.mail.networks import Network

_MAILBOX = Listen("127.0.0.1", 8027)

_THIS_MACHINE: tuple[Network, ...] = (ip_network("127.0.0.1"), ip_network("::1"))


class Settings(BaseSettings):
    """Everything that an operator can choose, checked."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        case_sensitive=True,
        enable_decoding=False,  # lists are words with commas, not JSON
        frozen=True,
        hide_input_in_errors=True,  # URLs carry passwords
        use_attribute_docstrings=True,
        validate_default=False,
    )

    # -- storage -------------------------------------------------------------------------------

    data_dir: kinds.Directory = Path("var")
    """Where the server keeps its files. It makes var itself, but no other folder."""

    database: kinds.Database = Field(
        default_factory=lambda settings: f"sqlite:///{settings['data_dir']}/pbmserv.sqlite3",
        repr=False,
    )
    """Players and boards: sqlite:///PATH or postgresql+psycopg://USER:PASSWORD@HOST/NAME. The
    default is in PBMSERV_DATA_DIR."""

    distributed: kinds.Switch = False
    """The database is a PostgreSQL of several nodes, each of which has a share of the queues;
    docs/operating/distributed.md says how to make one."""

    mail_days: kinds.Days = 14
    """Days to keep the text of a mail after it was carried out; it can contain passwords."""

    unused_days: kinds.Days = 0
    """Days to keep the text of a mail without effect or without a proven sender; 0 = not at all."""

    inbox_octets: kinds.Octets = 2 << 30
    """Room for the texts of all mails, such as 500M or 2G; docs/operating/limits.md says which
    ones are deleted first."""

    # -- incoming mail -------------------------------------------------------------------------

    smtp: kinds.Port = Listen("127.0.0.1", 2525)
    """Accepts mail by SMTP; empty = off, port 0 = any free port."""

    smtps: kinds.Port = None
    """Accepts mail by SMTP with TLS from the first octet; empty = off."""

    lmtp: kinds.PortOrSocket = None
    """Accepts mail by LMTP, from a mail server in front; empty = off."""

    tls_cert: kinds.PemFile = None
    """Certificate chain, for STARTTLS and PBMSERV_SMTPS; read again when it changes."""

    tls_key: kinds.PemFile = None
    """The certificate's key, without a passphrase; empty = it is in PBMSERV_TLS_CERT."""

    mail_servers: kinds.Networks = _THIS_MACHINE
    """Your own mail servers, which pass on the mails of others; limits for networks and SPF do not
    apply to them."""

    sessions: kinds.Sessions = 100
    """Sessions of strangers at each mail port at a time; your own mail servers can have as many in
    addition."""

    sessions_network: kinds.Sessions = 20
    """Of these, for one network (/24, /64)."""

    sender_checks: kinds.Switch = True
    """Check the sender of a mail (SPF, DKIM, DMARC), so that players may leave out their password;
    off = no sender is ever proven."""

    authserv_id: kinds.AuthservId = ""
    """The name in the Authentication-Results of your own mail servers, which must remove such
    fields from incoming mails; empty = they are not read."""

    authserv_hops: kinds.Hops = 0
    """Number of your own mail servers' Received fields above those Authentication-Results; 0 =
    none, so that nobody else can have written them."""

    arc_sealers: kinds.Domains = frozenset()
    """Forwarders whose ARC seals you trust, such as google.com; empty = none."""

    # -- limits --------------------------------------------------------------------------------

    rate_player: kinds.Rate = "240/hour"
    """Mails to accept from one player; empty = no limit."""

    rate_address: kinds.Rate = "240/hour"
    """Mails to accept from one address; empty = no limit."""

    rate_network: kinds.Rate = "1200/hour"
    """Mails to accept from one network (/24, /64); empty = no limit."""

    rate_refusals: kinds.Rate = "20/hour; 40/day"
    """Answers to one sender that only refuse; empty = no limit."""

    rate_answers: kinds.Rate = "20/hour; 60/day"
    """Answers to one address whose mails prove nothing, from one network; empty = no limit."""

    rate_confirmations: kinds.Rate = "5/day"
    """Letters that ask one address to confirm a signup, a change of address or a new board, from
    one network; empty = no limit."""

    rate_resets: kinds.Rate = "3/day"
    """Letters to one player that offer a new password; empty = no limit."""

    mail_seconds: kinds.Seconds = 15
    """Seconds that one mail may block others (PostgreSQL: four times as many) before the server
    tries it alone; if it blocks them again, the server keeps the mail for you."""

    # -- letters -------------------------------------------------------------------------------

    address: kinds.Address = "pbmserv@localhost"
    """The address to which players write; at most 18 characters before the @."""

    relay: kinds.Relay = Field(
        default_factory=lambda settings: f"maildir:{settings['data_dir']}/mail",
        repr=False,
    )
    """Where letters go: maildir:DIRECTORY, smtp://HOST:PORT, smtps://USER:PASSWORD@HOST,
    lmtp://HOST:PORT. The default is in PBMSERV_DATA_DIR."""

    dkim_keys: kinds.KeyFiles = ()
    """Keys that sign letters; see `pbmserv dkim`. Empty = letters are not signed."""

    templates: kinds.Folder = None
    """Your own templates of letters, pages, help and boards, with the names of `pbmserv templates
    list`; empty = those of this version. Templates are programs, so only you may write there."""

    # -- pages ---------------------------------------------------------------------------------

    web: kinds.Port = Listen("127.0.0.1", 8025)
    """Web pages; empty = off, port 0 = any free port."""

    metrics: kinds.Port = None
    """Numbers for Prometheus (/metrics) and all of /healthz, for your own machines only, such as
    127.0.0.1:8026; empty = off."""

    web_url: kinds.WebUrl = Field(default="", validate_default=True)
    """The URL of the web pages for players, for links in letters; empty = made from PBMSERV_WEB."""

    web_proxies: kinds.Networks = _THIS_MACHINE
    """Your own proxies in front of the pages; limits for networks do not apply to them, but to the
    clients that they name in X-Forwarded-For."""

    security_contact: kinds.Contact = ""
    """Where to report a security hole, for /.well-known/security.txt; empty = no such file."""

    mailbox: kinds.LoopbackPort = Field(
        default_factory=lambda settings: _MAILBOX if _is_for_trying_out(settings) else None
    )
    """A mailbox in the browser, to try the server out on this machine: it reads the Maildirs of
    PBMSERV_RELAY; empty = off. The default is also off if letters go elsewhere or PBMSERV_WEB_URL
    is set."""

    operator_pages: kinds.Port = None
    """Pages with the operators' commands, such as 127.0.0.1:8028; empty = off."""

    operator_token: kinds.File = None
    """The file of the token for these pages; `pbmserv operator-token FILE` makes one."""

    operator_url: kinds.OperatorUrl = ""
    """The URL of these pages through a proxy of your own; empty = only this machine has access."""

    # -- players -------------------------------------------------------------------------------

    signup: kinds.Signup = "confirm"
    """New players: confirm = answer a letter first, open = at once, closed = none."""

    operators: kinds.Userids = frozenset()
    """Players who may write to everybody (broadcast); empty = nobody."""

    away_days: kinds.DaysOfAYear = 30
    """Days in a calendar year that a player can be away, while no clock runs."""

    invitations: kinds.SmallNumber = 3
    """Friends a player can invite by mail address in a day; 0 = nobody can."""

    # -- log -----------------------------------------------------------------------------------

    log_level: kinds.LogLevel = "info"
    """Events in the log: info = a line for each mail, letter and refusal, warning = only
    problems."""

    log_format: kinds.LogFormat = "text"
    """The form of the log: text = key=value, json = an object in each line."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Use arguments only: `load` reads the sources and records the source of each value."""
        return (init_settings,)

    @field_validator("*", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> str:
        """Return the text that the environment would hold for a value of a TOML file."""
        text = _text_of_toml(value)
        if text is None:
            raise PydanticCustomError(NOT_A_TEXT, "write it in quotes")
        return text.strip()

    @field_validator("web_url")
    @classmethod
    def _url_of_pages(cls, url: str, info: ValidationInfo) -> str:
        web = info.data.get("web")
        return url or (public_url(web) if web else "")

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if contradictions := list(_contradictions(self)):
            raise ValueError("\n".join(contradictions))
        return self


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings together with the source of each.

    Attributes:
        settings: the checked settings.
        sources: for each field ``"default"``, ``"environment PBMSERV_X"`` or ``"file PATH"``.
        warnings: sentences about PBMSERV_ variables that are not settings: probably misspelt.
    """

    settings: Settings
    sources: Mapping[str, str]
    warnings: tuple[str, ...] = ()


def load(environ: Mapping[str, str], config_path: Path | None) -> Loaded:
    """Read the settings from the environment and from a TOML file.

    The environment wins over the file.

    Args:
        environ: environment variables.
        config_path: the TOML file; `None` for the one that PBMSERV_CONFIG names, if any.

    Raises:
        ConfigError: the text names every wrong setting, its value and what to write instead.
    """
    name = environ.get(CONFIG_FILE, "")
    path = config_path or (Path(name) if name else None)
    keys = list(Settings.model_fields)
    file, faults = read_file(path, keys) if path else ({}, [])
    variables = Environment(Settings, environ)()
    sources = dict.fromkeys(keys, "default")
    sources |= dict.fromkeys(file, f"file {path}")
    sources |= {key: f"environment {variable_of(key)}" for key in variables}
    try:
        settings = Settings(**(file | variables))
    except ValidationError as error:
        raise ConfigError("\n".join([*faults, *sentences(error, Settings, sources)])) from None
    if faults:
        raise ConfigError("\n".join(faults))
    return Loaded(settings, sources, tuple(unknown_variables(environ, keys)))


def _text_of_toml(value: object) -> str | None:
    """Return a string, number, switch or list as text; `None` for other values."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        texts = [_text_of_toml(item) for item in value]
        return None if None in texts else ", ".join(map(str, texts))
    return str(value) if isinstance(value, (str, int)) else None


# -- settings that depend on each other --------------------------------------------------------


def _is_for_trying_out(settings: Mapping[str, Any]) -> bool:
    """Return whether the server is only for this machine: its letters and pages stay here."""
    web = settings["web"]
    return (
        _keeps_letters(settings["relay"])
        and settings["smtp"] is not None
        and web is not None
        and web.is_loopback
        and settings["web_url"] == public_url(web)
    )


def _keeps_letters(relay: str) -> bool:
    return relay.lower().startswith("maildir:")


def _contradictions(settings: Settings) -> Iterator[str]:
    """Yield a sentence for each setting that contradicts another."""
    if settings.smtps and not settings.tls_cert:
        yield _wants_certificate("PBMSERV_SMTPS", settings.smtps)
    if settings.tls_key and not settings.tls_cert:
        yield _wants_certificate("PBMSERV_TLS_KEY", settings.tls_key)
    if settings.mailbox and not _keeps_letters(settings.relay):
        yield (
            f'PBMSERV_MAILBOX = "{settings.mailbox}": it shows Maildirs, so PBMSERV_RELAY must be '
            "maildir:DIRECTORY"
        )
    if settings.mailbox and settings.smtp is None:
        yield f'PBMSERV_MAILBOX = "{settings.mailbox}": it writes by SMTP, so set PBMSERV_SMTP'
    if settings.distributed and settings.database.startswith("sqlite"):
        yield "PBMSERV_DISTRIBUTED = on: SQLite has one node; name a PostgreSQL in PBMSERV_DATABASE"
    yield from _open_operator_pages(settings)


def _wants_certificate(name: str, value: object) -> str:
    return f'{name} = "{value}": name the certificate\'s file in PBMSERV_TLS_CERT, too'


def _open_operator_pages(settings: Settings) -> Iterator[str]:
    """Yield a sentence for each way in which others than operators could use their pages."""
    listen, url = settings.operator_pages, settings.operator_url
    if listen is not None:
        if settings.operator_token is None:
            yield (
                f'PBMSERV_OPERATOR_PAGES = "{listen}": name the file of their token in '
                "PBMSERV_OPERATOR_TOKEN; `pbmserv operator-token FILE` makes one"
            )
        if not listen.is_loopback and not url:
            yield (
                f'PBMSERV_OPERATOR_PAGES = "{listen}": other machines could connect; write an '
                "address of this machine only, such as 127.0.0.1:8028, or set "
                "PBMSERV_OPERATOR_URL to the URL for operators"
            )
    if url and not url.lower().startswith("https://"):
        yield (
            f'PBMSERV_OPERATOR_URL = "{url}": the token would be sent unencrypted; write an https '
            "URL, such as https://operators.example.org"
        )
