"""Commands about the settings, and about the keys and the token that they name: ``config``,
``dkim`` and ``operator-token``. All other commands load the settings by `loaded`.
"""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pbmserv.cli.output import complain, failure, say, table
from pbmserv.config.descriptions import descriptions
from pbmserv.config.display import text_of
from pbmserv.config.settings import Loaded, load
from pbmserv.config.sources import variable_of

if TYPE_CHECKING:
    from pbmserv.outbound.dkim_keys import Key

ConfigFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Settings file (TOML); `pbmserv config` lists the settings.",
    ),
]


def loaded(config: Path | None) -> Loaded:
    """Return the settings of this process.

    Raises:
        ConfigError: see `pbmserv.config.settings.load`.
    """
    return load(os.environ, config)


def config(
    config: ConfigFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Show every setting, its value and its source. Example: pbmserv config --json"""
    current = loaded(config)
    values = {key: text_of(value) for key, value in current.settings}
    if as_json:
        from json import dumps

        facts = {
            key: {"env": variable_of(key), "value": value, "source": current.sources[key]}
            for key, value in values.items()
        }
        say(dumps(facts, indent=2))
    else:
        table(
            ("setting", "value", "from"),
            [
                (variable_of(key), value or "(empty)", _short(current.sources[key]))
                for key, value in values.items()
            ],
            fixed=1,
        )
        say("")
        for setting in descriptions():
            say(f"{setting.variable} ({setting.unit}; default {setting.default or 'empty'})")
            say(f"    {setting.meaning}")
    for warning in current.warnings:
        complain(warning)
    if current.settings.templates is not None:
        from pbmserv.views import overrides

        for fault in overrides.check(current.settings.templates).faults:
            complain(str(fault))


def _short(source: str) -> str:
    """Leave out the environment variable's name, which is in the first column already."""
    return source.partition(" ")[0] if source.startswith("environment") else source


def operator_token(
    file: Annotated[Path, typer.Argument(help="A new file for the token.")],
) -> None:
    """Make the token for the operators' pages, which do in a browser what user, board, game,
    rating, inbox, outbox, status and audit do here.

    Only the user who runs this can read the file, so run it as the server's user.

    Example: pbmserv operator-token /etc/pbmserv/operator-token
    """
    from pbmserv import files
    from pbmserv.web.operator_sessions import new_token

    if os.path.lexists(file):
        raise failure(f"{file} exists already. Remove it to end all sessions with a new token.")
    with files.written(file, files.new) as unfinished:
        unfinished.write_text(f"{new_token()}\n")
    say(f"The token is in {file}. Everybody who has it can do what you can do: keep it secret.\n")
    say(f'Then set operator_token = "{file}" and operator_pages = "127.0.0.1:8028",')
    say("or PBMSERV_OPERATOR_TOKEN and PBMSERV_OPERATOR_PAGES, and start the server again.")


dkim = typer.Typer(
    no_args_is_help=True, help="Look after the keys that sign letters, so that they arrive."
)


@dkim.command()
def new(
    file: Annotated[Path, typer.Argument(help="A new file for the key.")],
    selector: Annotated[
        str, typer.Option(help="The key's name in DNS; default: the file's name.")
    ] = "",
    kind: Annotated[str, typer.Option(help="rsa or ed25519.")] = "rsa",
    config: ConfigFile = None,
) -> None:
    """Make a key. Example: pbmserv dkim new /var/lib/pbmserv/s2026.pem

    Only the user who runs this can read the file, so run it as the server's user.
    """
    from pbmserv.outbound.dkim_keys import KeyFile, make_key, parse_key_files

    if kind not in {"rsa", "ed25519"}:
        raise failure(f"--kind {kind}: write rsa or ed25519.")
    current = loaded(config)
    settings = current.settings
    unused = (
        path
        for number in count(2026)
        if not os.path.lexists(path := settings.data_dir / f"s{number}.pem")
    )
    example = f"such as `pbmserv dkim new {next(unused)}`"
    key_file = KeyFile((selector or file.stem).lower(), file)
    try:
        is_name = parse_key_files(f"{key_file.selector}=x") == (
            KeyFile(key_file.selector, Path("x")),
        )
    except ValueError:
        is_name = False
    if not is_name:
        raise failure(
            f"{key_file.selector} cannot be a name in DNS: write letters, digits and hyphens, as "
            f"the file's name, {example}, or with --selector, such as --selector s2026."
        )
    try:
        if "," in str(file):
            raise OSError("in dkim_keys commas stand between files")
        key = make_key(key_file.selector, kind, key_file.path)
    except OSError as error:
        why = error.strerror or str(error)
        if isinstance(error, FileExistsError):
            why = "it exists already, and keys are never overwritten"
        raise failure(f"FILE {file}: {why}; name a new file, {example}.") from None
    if current.sources["address"] == "default":
        complain(
            "PBMSERV_ADDRESS is not set, so this record is for localhost. "
            "Name the server's settings with --config FILE or PBMSERV_CONFIG.\n"
        )
    say(f"The key is in {file}. Publish this record:\n")
    _print_record(key, settings.address)
    key_files = ", ".join(map(str, (*settings.dkim_keys, key_file)))
    say(f'\nThen set dkim_keys = "{key_files}", or PBMSERV_DKIM_KEYS.')


@dkim.command()
def show(config: ConfigFile = None) -> None:
    """Print the records of all keys in use. Example: pbmserv dkim show"""
    keys, address = _keys(config)
    for number, key in enumerate(keys):
        say("" if number else "Publish these records:\n")
        _print_record(key, address)
    if not keys:
        say("There are no keys, so letters are not signed. `pbmserv dkim new FILE` makes a key.")


@dkim.command()
def check(config: ConfigFile = None) -> None:
    """Check the records with name servers; exit code 1 if one is wrong.

    Example: pbmserv dkim check
    """
    from pbmserv.errors import NamesUnavailable
    from pbmserv.mail.dns import SystemResolver
    from pbmserv.outbound.dkim_keys import record_fault

    keys, address = _keys(config)
    if not keys:
        raise failure(
            "There are no keys, so letters are not signed. `pbmserv dkim new FILE` makes a key."
        )
    domain = address.rpartition("@")[2]
    faults = 0
    for key in keys:
        try:
            fault = record_fault(key, domain, SystemResolver())
        except NamesUnavailable as error:
            fault = f"no name server answered ({error})"
        faults += bool(fault)
        (complain if fault else say)(f"{key.name(domain)}: {fault or 'right'}")
    if faults:
        raise typer.Exit(1)


def _keys(config: Path | None) -> tuple[list[Key], str]:
    from pbmserv.outbound.dkim_keys import load_key

    settings = loaded(config).settings
    return [load_key(key_file) for key_file in settings.dkim_keys], settings.address


def _print_record(key: Key, address: str) -> None:
    from pbmserv.outbound.dkim_keys import quoted_strings

    say(f"{key.name(address.rpartition('@')[2])}. IN TXT {quoted_strings(key.record)}")
