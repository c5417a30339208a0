"""Values of settings as text for screens and logs: on one line, without passwords."""

from __future__ import annotations

import re


def text_of(value: object) -> str:
    """Return a setting's value as an operator would write it, with its password blanked."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, frozenset):
        return ", ".join(sorted(value))
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return blank_passwords(str(value))


def blank_passwords(text: str) -> str:
    """Return *text* with ``***`` in place of anything that may be a password in a URL."""
    start = text.find("://")
    head, rest = ("", text) if start < 0 else (text[: start + 3], text[start + 3 :])
    rest = re.sub(r"\A([^:@]*):.*@", r"\1:***@", rest, flags=re.DOTALL)  # to the last @
    if head:  # if "@host" is missing, the password is where a port would be
        rest = re.sub(r"\A([^:@/\[]+):(?!\d{1,5}(?:[/?#]|\Z))[^@/]*\Z", r"\1:***", rest)
    return head + re.sub(r"((?:password|passwd|pwd)=)[^&\s]*", r"\1***", rest, flags=re.IGNORECASE)


def one_line(text: str) -> str:
    """Return *text* with a replacement character for each one that is not printable."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)
