"""The sources of settings: environment variables and a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic_settings import BaseSettings, EnvSettingsSource

from pbmserv.config.display import one_line
from pbmserv.files import read_octets

PREFIX = "PBMSERV_"

CONFIG_FILE = "PBMSERV_CONFIG"
"""The environment variable that names the TOML file; not a setting itself."""

_FOREIGN = ("PBMSERV_PORT", "PBMSERV_SERVICE_", "PBMSERV_TEST_")
"""Prefixes of variables that are not settings. Kubernetes sets PBMSERV_PORT… and PBMSERV_SERVICE_…
in every pod if there is a service called pbmserv."""


def variable_of(key: str) -> str:
    """Return the name of a setting's environment variable."""
    return PREFIX + key.upper()


class Environment(EnvSettingsSource):
    """The settings in a given environment, which need not be that of this process."""

    def __init__(self, settings_class: type[BaseSettings], environ: Mapping[str, str]) -> None:
        super().__init__(settings_class)
        # The library looks up the prefix followed by the field's name in lower case.
        self.env_vars = {
            f"{PREFIX}{key}": environ[variable_of(key)]
            for key in settings_class.model_fields
            if variable_of(key) in environ
        }


def unknown_variables(environ: Mapping[str, str], keys: Sequence[str]) -> Iterator[str]:
    """Yield a warning about each PBMSERV_ variable that is not a setting.

    Args:
        environ: environment variables.
        keys: all settings.
    """
    names = [*map(variable_of, keys), CONFIG_FILE]
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in names and not name.startswith(_FOREIGN):
            similar = _most_similar(name, names)
            hint = f"did you mean {similar}?" if similar else "it does nothing"
            yield f"{name} is not a setting; {hint}"


def read_file(path: Path, keys: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Read a TOML file.

    Args:
        path: the file.
        keys: all settings.

    Returns:
        The file's values by key, and a sentence about each fault of the file.
    """
    try:
        table = tomllib.loads(read_octets(path).decode("utf-8-sig"))
    except OSError as error:
        return {}, [f"settings file {path}: {error.strerror or error}"]
    except UnicodeDecodeError:
        return {}, [f"settings file {path}: it is not UTF-8; save it as UTF-8"]
    except tomllib.TOMLDecodeError as error:
        return {}, [f"settings file {path}: not TOML: {error}"]
    values = {key: value for key, value in table.items() if key in keys}
    faults = []
    for key in table.keys() - values.keys():
        similar = _most_similar(key.lower().removeprefix(PREFIX.lower()), keys)
        hint = f"did you mean {similar}?" if similar else f"there are {', '.join(keys)}"
        faults.append(f"{one_line(key)} (file {path}): no such setting; {hint}")
    return values, sorted(faults)


def early_log_format(environ: Mapping[str, str], path: Path | None) -> str:
    """Return the format of the log before the settings are checked; ``""`` if it is not set.

    Args:
        path: the TOML file that the command names.
    """
    if variable_of("log_format") in environ:
        return environ[variable_of("log_format")].lower()
    named = path or environ.get(CONFIG_FILE)
    values, _ = read_file(Path(named), ["log_format"]) if named else ({}, [])
    return str(values.get("log_format", "")).lower()


def _most_similar(name: str, names: Sequence[str]) -> str:
    """Return the name that was probably meant; ``""`` if none is similar."""
    return next(iter(get_close_matches(name, names, n=1, cutoff=0.8)), "")
