"""Numbers with their nouns, for sentences of the code; templates of letters have their own."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number and the words that follow it, such as ``1 letter`` or ``1,200 letters``.

    Args:
        one: the words behind 1, such as ``letter`` or ``row differs``.
        many: the words behind other numbers; default: *one* with an ``s``.
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
