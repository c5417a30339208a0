"""Removes addresses from the replies of mail servers, for the log."""

from __future__ import annotations

import re

_CODE = re.compile(r"\b[245]\d\d\b(?:[ -]\d\.\d{1,3}\.\d{1,3})?")
_ADDRESS = re.compile(r"(?<!\S)\S*@\S*")


def loggable_reply(reply: str) -> str:
    """Return the code of a relay's reply, whose text may quote addresses."""
    code = _CODE.search(reply)
    return code[0] if code else without_addresses(reply)


def without_addresses(text: str) -> str:
    """Replace every word that contains an @."""
    return _ADDRESS.sub("…", text)
