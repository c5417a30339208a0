"""One sentence for each wrong setting: its name, text and source, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings

from pbmserv.config.display import blank_passwords, one_line, text_of
from pbmserv.config.sources import variable_of

NOT_A_TEXT = "not_a_text"
"""Type of the error about a TOML value that no environment variable could hold."""

_CONSEQUENCE = "default_factory_not_called"
"""Type of pydantic's error about a default that depends on a wrong setting."""


def sentences(
    error: ValidationError, settings_class: type[BaseSettings], sources: Mapping[str, str]
) -> Iterator[str]:
    """Yield a sentence for each wrong setting.

    Args:
        error: the settings class's refusal.
        settings_class: names all settings and their defaults.
        sources: for each key that was given, ``"environment PBMSERV_X"`` or ``"file PATH"``.
    """
    for detail in error.errors(include_url=False):
        if not detail["loc"]:  # settings that contradict each other
            yield from str(detail["ctx"]["error"]).splitlines()
            continue
        if detail["type"] == _CONSEQUENCE:
            continue
        key = str(detail["loc"][0])
        if detail["type"] == NOT_A_TEXT:
            yield f'{key} ({sources[key]}): write it in quotes, as {key} = "…"'
        else:
            text = blank_passwords(one_line(text_of(detail["input"])))
            instruction = _with_example(one_line(_instruction(detail)), key, settings_class)
            yield f'{variable_of(key)} = "{text}" ({sources[key]}): {instruction}'


def _instruction(detail: ErrorDetails) -> str:
    """Return an instruction that says what to write instead."""
    match detail["type"]:
        case "value_error":  # raised by a parser of `pbmserv.config.kinds`
            return str(detail["ctx"]["error"])
        case "literal_error":
            words: str = detail["ctx"]["expected"]
            return "write " + words.replace("'", "")
        case "bool_parsing":
            return "write on or off"
        case _:
            return detail["msg"]


def _with_example(instruction: str, key: str, settings_class: type[BaseSettings]) -> str:
    """Add the setting's default as an example, unless the instruction has one."""
    field = settings_class.model_fields[key]
    has_example = field.default is False or bool(field.default)
    if "such as " in instruction or field.default_factory or not has_example:
        return instruction
    return f"{instruction}, such as {text_of(field.default)}"
