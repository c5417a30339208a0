"""``pbmserv config``: shows all settings. Other commands load the settings with `loaded`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from pbmserv.cli.output import complain, say, table
from pbmserv.config.descriptions import descriptions
from pbmserv.config.display import text_of
from pbmserv.config.settings import Loaded, load
from pbmserv.config.sources import variable_of

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
    """Return a source without the variable's name, which is in the first column already."""
    return source.partition(" ")[0] if source.startswith("environment") else source
