"""``pbmserv config``, and how every command finds its settings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from pbmserv.cli.output import complain, say, table
from pbmserv.config.settings import Loaded, described, load, shown

ConfigFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Settings file (TOML); `pbmserv config` lists the settings.",
    ),
]


def loaded(config: Path | None) -> Loaded:
    """The settings that this process was given.

    Raises:
        ConfigError: see `pbmserv.config.load`.
    """
    return load(os.environ, config)


def config(
    config: ConfigFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Show every setting, its value and its source. Example: pbmserv config --json"""
    found = loaded(config)
    rows = [(s, shown(found.settings, s.key), found.sources[s.key]) for s in described()]
    if as_json:
        from json import dumps

        facts = {s.key: {"env": s.env, "value": v, "source": where} for s, v, where in rows}
        say(dumps(facts, indent=2))
    else:
        table(
            ("setting", "value", "from"),
            [(s.env, value or "(empty)", _short(where)) for s, value, where in rows],
            fixed=1,
        )
        say("")
        for setting in described():
            say(f"{setting.env} ({setting.unit}; default {setting.default or 'empty'})")
            say(f"    {setting.meaning}")
    for name in found.unread:
        complain(f"{name} is set, but there is no such setting.")


def _short(source: str) -> str:
    """The environment variable's name stands in the first column already."""
    return source.partition(" ")[0] if source.startswith("environment") else source
