"""``pbmserv dkim``: the keys that sign letters, and the records that name servers need."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pbmserv.cli.output import complain, failure, say
from pbmserv.cli.settings import ConfigFile, loaded

if TYPE_CHECKING:
    from pbmserv.outbound.dkim import Key

app = typer.Typer(
    no_args_is_help=True, help="Look after the keys that sign letters, so that they arrive."
)


@app.command()
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
    from pbmserv.outbound import dkim

    if kind not in {"rsa", "ed25519"}:
        raise failure(f"--kind {kind}: write rsa or ed25519.")
    found = loaded(config)
    settings = found.settings
    if found.sources["address"] == "default":
        complain(
            "PBMSERV_ADDRESS is not set, so this record is for localhost. "
            "Name the server's settings with --config FILE or PBMSERV_CONFIG.\n"
        )
    try:
        (named,) = dkim.named_files(f"{(selector or file.stem).lower()}={file}")
    except ValueError:
        raise failure("Add a --selector of letters, digits and hyphens, such as s2026.") from None
    key = dkim.make(named.selector, kind, named.path)
    say(f"The key is in {file}. Publish this record:\n")
    _print_record(key, settings.address)
    given = ", ".join(map(str, (*settings.dkim_keys, named)))
    say(f'\nThen set dkim_keys = "{given}", or PBMSERV_DKIM_KEYS.')


@app.command()
def show(config: ConfigFile = None) -> None:
    """Print the records of all keys in use. Example: pbmserv dkim show"""
    keys, address = _keys(config)
    for number, key in enumerate(keys):
        say("" if number else "Publish these records:\n")
        _print_record(key, address)
    if not keys:
        say("There are no keys, so letters are not signed. `pbmserv dkim new FILE` makes a key.")


@app.command()
def check(config: ConfigFile = None) -> None:
    """Check the records with name servers; exit code 1 if one is wrong.

    Example: pbmserv dkim check
    """
    from pbmserv.errors import NamesUnavailable
    from pbmserv.mail.dns import SystemResolver
    from pbmserv.outbound.dkim import published

    keys, address = _keys(config)
    if not keys:
        raise failure(
            "There are no keys, so letters are not signed. `pbmserv dkim new FILE` makes a key."
        )
    domain = address.rpartition("@")[2]
    wrong = 0
    for key in keys:
        try:
            fault = published(key, domain, SystemResolver())
        except NamesUnavailable as error:
            fault = f"no name server answered ({error})"
        wrong += bool(fault)
        (complain if fault else say)(f"{key.name(domain)}: {fault or 'right'}")
    if wrong:
        raise typer.Exit(1)


def _keys(config: Path | None) -> tuple[list[Key], str]:
    from pbmserv.outbound.dkim import load

    settings = loaded(config).settings
    return [load(named) for named in settings.dkim_keys], settings.address


def _print_record(key: Key, address: str) -> None:
    from pbmserv.outbound.dkim import strings

    say(f"{key.name(address.rpartition('@')[2])}. IN TXT {strings(key.record)}")
