"""Every setting that an operator can choose, what a person must know of each, and their reading."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from pbmserv.config import values
from pbmserv.config.incoming import Pages
from pbmserv.config.values import (
    PREFIX,
    Listen,
    LogFormat,
    Setting,
    Signup,
    blank_passwords,
    one_line,
)
from pbmserv.errors import ConfigError
from pbmserv.files import read_octets
from pbmserv.outbound.dkim import NamedFile, named_files


@dataclass(frozen=True, slots=True)
class Settings(Pages):
    """Everything an operator can choose, checked."""

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
            "8",
            "Letters to hand to an SMTP relay at once for one recipient domain, of 32 in all for "
            "each process; 0 = no limit.",
            values.whole(0, 1_000, "8"),
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
    templates: Annotated[
        Path | None,
        Setting(
            "PBMSERV_TEMPLATES",
            "directory",
            "",
            "Your own templates of letters, pages, help and boards, by the names that `pbmserv "
            "templates list` shows; empty = those of this version. They are programs: nobody else "
            "may write there.",
            values.folder,
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


CONFIG_FILE = "PBMSERV_CONFIG"
"""The environment variable that names the TOML file; itself no setting."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings together with where each came from.

    Attributes:
        settings: checked.
        sources: for each field ``"default"``, ``"environment PBMSERV_X"`` or
            ``"file PATH"``.
        unread: PBMSERV_ variables that are no setting: probably slips.
    """

    settings: Settings
    sources: Mapping[str, str]
    unread: tuple[str, ...] = ()


@cache
def described() -> tuple[Setting, ...]:
    """Every setting, in the order of `Settings`."""
    hints = get_type_hints(Settings, include_extras=True)
    return tuple(setting for hint in hints.values() for setting in hint.__metadata__)


def shown(settings: Settings, key: str) -> str:
    """One setting's value as text that is fit for a screen: passwords blanked."""
    value = getattr(settings, key)
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, frozenset):
        return ", ".join(sorted(value))
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "" if value is None else blank_passwords(str(value))


def public_url(web: Listen) -> str:
    """The base URL of pages served at *web*; wildcard addresses become localhost.

    With port 0 it is ``""``: call again with the port that was bound.
    """
    if not web.port:
        return ""
    host = "localhost" if web.host in {"0.0.0.0", "::"} else web.host  # noqa: S104 - compared only
    return f"http://{Listen(host, web.port)}"


def load(environ: Mapping[str, str], config_path: Path | None) -> Loaded:
    """Read the settings from the environment and from a TOML file.

    The file is *config_path*, else the one that PBMSERV_CONFIG names, else
    none. The environment wins over the file. In the file the keys are the
    names in lower case without their prefix, and values are strings; a number, a
    switch or a list of either says the same as its text.

    Raises:
        ConfigError: naming every wrong setting, its value and what is right.
    """
    named = environ.get(CONFIG_FILE, "")
    path = config_path or (Path(named) if named else None)
    problems: list[str] = []
    from_file = _read_file(path, problems) if path is not None else {}
    texts: dict[str, str] = {}
    sources: dict[str, str] = {}
    for setting in described():
        if setting.env in environ:
            texts[setting.key] = environ[setting.env].strip()
            sources[setting.key] = f"environment {setting.env}"
        elif setting.key in from_file:
            texts[setting.key] = from_file[setting.key].strip()
            sources[setting.key] = f"file {path}"
        else:
            sources[setting.key] = "default"

    values: dict[str, Any] = {}
    for setting in described():
        # data_dir and web stand before what is derived from them.
        text = texts[setting.key] if setting.key in texts else _default(setting, values)
        try:
            values[setting.key] = setting.read(text)
        except ValueError as error:
            given = f'{setting.env} = "{blank_passwords(one_line(text))}" ({sources[setting.key]})'
            problems.append(f"{given}: {_with_example(one_line(str(error)), setting, values)}")
    if not problems:
        if sources["mailbox"] == "default" and not _is_for_trying_out(values):
            values["mailbox"] = None
        problems += _contradictions(values)
    if problems:
        raise ConfigError("\n".join(problems))
    if not values["web_url"] and values["web"] is not None:
        values["web_url"] = public_url(values["web"])
    return Loaded(Settings(**values), sources, tuple(_unread(environ)))


def _is_for_trying_out(values: Mapping[str, Any]) -> bool:
    """Whether nobody but this machine plays: letters stay here, and so do the pages."""
    web = values["web"]
    stays = _letters_stay(values) and not values["web_url"] and values["smtp"] is not None
    return stays and web is not None and web.is_loopback


def _letters_stay(values: Mapping[str, Any]) -> bool:
    return str(values["relay"]).lower().startswith("maildir:")


def _contradictions(values: Mapping[str, Any]) -> Iterator[str]:
    for name in ("smtps", "tls_key"):
        if values[name] and not values["tls_cert"]:
            yield (
                f'PBMSERV_{name.upper()} = "{values[name]}": '
                "name the certificate's file in PBMSERV_TLS_CERT, too"
            )
    if values["mailbox"] and not _letters_stay(values):
        yield (
            f'PBMSERV_MAILBOX = "{values["mailbox"]}": it shows Maildirs, so PBMSERV_RELAY must be '
            "maildir:DIRECTORY"
        )
    if values["mailbox"] and values["smtp"] is None:
        yield f'PBMSERV_MAILBOX = "{values["mailbox"]}": it writes by SMTP, so set PBMSERV_SMTP'
    yield from _unguarded(values)


def _unguarded(values: Mapping[str, Any]) -> Iterator[str]:
    """Why operators' pages would be open to more than operators."""
    listen, url = values["operator_pages"], values["operator_url"]
    if listen is not None:
        if values["operator_token"] is None:
            yield (
                f'PBMSERV_OPERATOR_PAGES = "{listen}": name the file of their token in '
                "PBMSERV_OPERATOR_TOKEN; `pbmserv operator-token FILE` makes one"
            )
        if not listen.is_loopback and not url:
            yield (
                f'PBMSERV_OPERATOR_PAGES = "{listen}": other machines could connect; name '
                "this one alone, such as 127.0.0.1:8028, or say in PBMSERV_OPERATOR_URL how "
                "operators reach them"
            )
    if url and not url.lower().startswith("https://"):
        yield (
            f'PBMSERV_OPERATOR_URL = "{url}": the token would pass in the clear; write an https '
            "URL, such as https://operators.example.org"
        )


def _with_example(wrong: str, setting: Setting, values: Mapping[str, Any]) -> str:
    """What is wrong, with something that is right; the default, if its reader names nothing."""
    if "such as " in wrong or not setting.default:
        return wrong
    return f"{wrong}, such as {_default(setting, values)}"


def _default(setting: Setting, values: Mapping[str, Any]) -> str:
    return setting.default.replace("<data>", str(values.get("data_dir", "var")))


def _read_file(path: Path, problems: list[str]) -> dict[str, str]:
    try:
        table = tomllib.loads(read_octets(path).decode("utf-8-sig"))
    except OSError as error:
        problems.append(f"settings file {path}: {error.strerror or error}")
        return {}
    except UnicodeDecodeError:
        problems.append(f"settings file {path}: it is not UTF-8; save it as UTF-8")
        return {}
    except tomllib.TOMLDecodeError as error:
        problems.append(f"settings file {path}: not TOML: {error}")
        return {}
    keys = [setting.key for setting in described()]
    read: dict[str, str] = {}
    for key, value in table.items():
        if key not in keys:
            near = _near(key.lower().removeprefix(PREFIX.lower()), keys)
            told = f"did you mean {near}?" if near else f"there are {', '.join(keys)}"
            problems.append(f"{one_line(key)} (file {path}): no such setting; {told}")
        elif (text := _text(value)) is None:
            problems.append(f'{key} (file {path}): write it in quotes, as {key} = "…"')
        else:
            read[key] = text
    return read


def _text(value: object) -> str | None:
    """What the environment would say: of a number, a switch and a list, too; ``None``: nothing."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        texts = [_text(one) for one in value]
        return None if None in texts else ", ".join(map(str, texts))
    return str(value) if isinstance(value, (str, int)) else None


def _near(name: str, known: Iterable[str]) -> str:
    """The name that was probably meant; ``""``: there is none like it."""
    return next(iter(get_close_matches(name, list(known), 1, 0.8)), "")


def slip(name: str) -> str:
    """What to tell of a variable that is no setting, after its name."""
    near = _near(name, [setting.env for setting in described()] + [CONFIG_FILE])
    return "is not a setting; " + (f"did you mean {near}?" if near else "it does nothing")


def _unread(environ: Mapping[str, str]) -> Iterator[str]:
    known = {setting.env for setting in described()} | {CONFIG_FILE}
    # Kubernetes gives every pod PBMSERV_PORT… and PBMSERV_SERVICE_… for a service of that name.
    foreign = ("PBMSERV_PORT", "PBMSERV_SERVICE_", "PBMSERV_TEST_")
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in known and not name.startswith(foreign):
            yield name
