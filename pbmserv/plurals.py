"""Words for numbers: `counted` for sentences of the code, `pluralize` for those of templates."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number and the words that follow it, such as ``1 letter`` or ``1,200 letters``.

    Args:
        one: the words behind 1, such as ``letter`` or ``row differs``.
        many: the words behind other numbers; default: *one* with an ``s``.
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def pluralize(number: int | str, one: str = "", many: str = "s") -> str:
    """Return the ending of a word that belongs to a number, as in ``move{{ moves|pluralize }}``.

    Args:
        number: a count; options of games write it as text.
        one: the ending for 1.
        many: the ending for other numbers.
    """
    return one if number in (1, "1") else many
