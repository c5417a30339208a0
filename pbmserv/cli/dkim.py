"""``pbmserv dkim``: the keys that sign letters, and their DNS records."""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pbmserv.cli.output import complain, failure, say
from pbmserv.cli.settings import ConfigFile, loaded

if TYPE_CHECKING:
    from pbmserv.outbound.dkim_keys import Key

NO_KEYS = "There are no keys, so letters are not signed. `pbmserv dkim new FILE` makes a key."

app = typer.Typer(
    no_args_is_help=True, help="Look after the keys that sign letters, so that they arrive."
)


@app.command()
def new(
    file: Annotated[Path, typer.Argument(help="A new file for the key.")],
    selector: Annotated[
        str, typer.Option(help="The key's name in DNS; default: the file's name.")
    ] = "",
    kind: Annotated[Literal["rsa", "ed25519"], typer.Option(help="The kind of key.")] = "rsa",
    config: ConfigFile = None,
) -> None:
    """Make a key. Example: pbmserv dkim new /var/lib/pbmserv/s2026.pem

    Only the user who runs this can read the file, so run it as the server's user.
    """
    from pbmserv.outbound.dkim_keys import KeyFile, make_key

    current = loaded(config)
    settings = current.settings
    unused = (
        path
        for number in count(2026)
        if not os.path.lexists(path := settings.data_dir / f"s{number}.pem")
    )
    example = f"such as `pbmserv dkim new {next(unused)}`"
    key_file = KeyFile((selector or file.stem).lower(), file)
    if not _is_selector(key_file.selector):
        raise failure(
            f"{key_file.selector} cannot be a name in DNS: write letters, digits and hyphens, as "
            f"the file's name, {example}, or with --selector, such as --selector s2026."
        )
    advice = f"name a new file, {example}."
    if "," in str(file):
        raise failure(f"FILE {file}: in dkim_keys commas stand between files; {advice}")
    try:
        key = make_key(key_file.selector, kind, key_file.path)
    except FileExistsError:
        why = "it exists already, and keys are never overwritten"
        raise failure(f"FILE {file}: {why}; {advice}") from None
    except OSError as error:
        raise failure(f"FILE {file}: {error.strerror or error}; {advice}") from None
    if current.sources["address"] == "default":
        complain(
            "PBMSERV_ADDRESS is not set, so this record is for localhost. "
            "Name the server's settings with --config FILE or PBMSERV_CONFIG.\n"
        )
    say(f"The key is in {file}. Publish this record:\n")
    _print_record(key, settings.address)
    key_files = ", ".join(map(str, (*settings.dkim_keys, key_file)))
    say(f'\nThen set dkim_keys = "{key_files}", or PBMSERV_DKIM_KEYS.')


@app.command()
def show(config: ConfigFile = None) -> None:
    """Print the records of all keys in use. Example: pbmserv dkim show"""
    keys, address = _keys(config)
    for number, key in enumerate(keys):
        say("" if number else "Publish these records:\n")
        _print_record(key, address)
    if not keys:
        say(NO_KEYS)


@app.command()
def check(config: ConfigFile = None) -> None:
    """Check the records with name servers; exit code 1 if one is wrong.

    Example: pbmserv dkim check
    """
    from pbmserv.errors import NamesUnavailable
    from pbmserv.mail.dns import SystemResolver
    from pbmserv.outbound.dkim_keys import record_fault

    keys, address = _keys(config)
    if not keys:
        raise failure(NO_KEYS)
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


def _is_selector(text: str) -> bool:
    """Return whether the setting dkim_keys can name a key so."""
    from pbmserv.outbound.dkim_keys import KeyFile, parse_key_files

    file = Path("x")
    try:
        return parse_key_files(f"{text}={file}") == (KeyFile(text, file),)
    except ValueError:
        return False


def _keys(config: Path | None) -> tuple[list[Key], str]:
    from pbmserv.outbound.dkim_keys import load_key

    settings = loaded(config).settings
    return [load_key(key_file) for key_file in settings.dkim_keys], settings.address


def _print_record(key: Key, address: str) -> None:
    from pbmserv.outbound.dkim_keys import quoted_strings

    say(f"{key.name(address.rpartition('@')[2])}. IN TXT {quoted_strings(key.record)}")
