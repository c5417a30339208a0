"""Values in the paths and queries of our URLs, which anybody may write."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.requests import Request

LONGEST_NUMBER = 9
"""Digits of a number in a URL."""


class _NineDigits(IntegerConvertor):
    """A number in a path that fits into every database; Starlette's own has any number of digits.

    Routes ask for it by ``{number:nine_digits}``.
    """

    regex = f"[0-9]{{1,{LONGEST_NUMBER}}}"


register_url_convertor("nine_digits", _NineDigits())


def is_number(text: str) -> bool:
    """Return whether a text can be a number in an address of these pages."""
    return text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER


def step_of(query: Mapping[str, str]) -> int | None:
    """Return the number of moves after which to show a board; ``None`` for the newest."""
    text = query.get("step", "")
    return int(text) if is_number(text) else None


def group_of(request: Request) -> Mapping[str, int]:
    """Return the group from which on an event is shown, as ``first``; 1 without a number."""
    text = request.query_params.get("group", "1")
    return {"first": max(1, int(text)) if is_number(text) else 1}
