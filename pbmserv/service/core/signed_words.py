"""Removes signatures from words for others: they may tell a writer's name and place of work."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from pbmserv.inbound.quotes.line_signs import is_closing

_MOST_LINES = 8
"""Most lines of a signature."""
_MOST_NAMES = 4
"""Most words of a person's full name."""
_NAME = re.compile(r"[^\W\d_]+")
_SIX_WORDS = re.compile(r"\S{2} \S+ \S+ \S+ \S+ \S")


def names_of_writer(userid: str, address: str) -> set[str]:
    """Return words with which a writer may sign, in lower case."""
    return {userid, *_NAME.findall(address.partition("@")[0].lower())}


def without_signature(written: str, names: Collection[str]) -> str:
    """Return a text without its signature, ``""`` if it is nothing else.

    Args:
        names: see `names_of_writer`.
    """
    text = _without_name(without_goodbye(written), names)
    return "" if _is_signature(text, names) else text


def without_goodbye(written: str) -> str:
    """Return a text without a goodbye and the few lines below it that are not sentences."""
    lines = written.rstrip().split("\n")
    for place in range(max(1, len(lines) - _MOST_LINES), len(lines) - 1):
        if is_closing(lines[place].strip()) and not _has_sentence(_stripped(lines[place + 1 :])):
            return "\n".join(lines[:place]).rstrip()
    return written


def _without_name(written: str, names: Collection[str]) -> str:
    """Return a text without a last paragraph that begins with its writer's full name, such as
    "Alice Liddell" above an office and a telephone number."""
    head, _, last = written.rstrip().rpartition("\n\n")
    lines = _stripped(last.split("\n"))
    if not _may_be_signature(lines):
        return written
    words = lines[0].split()
    is_name = 1 < len(words) <= _MOST_NAMES and all(word[:1].isupper() for word in words)
    return head.rstrip() if is_name and words[0].lower() in names else written


def _is_signature(written: str, names: Collection[str]) -> bool:
    """Return whether the text below a command is only a signature: a goodbye or a name."""
    lines = _stripped(written.split("\n"))
    if not _may_be_signature(lines):
        return False
    if is_closing(lines[0]):
        return len(lines) > 1
    words = _NAME.findall(lines[0].lower())
    return len(lines) == 1 and bool(words) and set(words).issubset(names)


def _may_be_signature(lines: Sequence[str]) -> bool:
    return 0 < len(lines) <= _MOST_LINES and not _has_sentence(lines)


def _has_sentence(lines: Sequence[str]) -> bool:
    return any(map(_is_sentence, lines))


def _is_sentence(line: str) -> bool:
    """Return whether a stripped line ends like a sentence, as few lines of signatures do."""
    if line.endswith(("?", "!")):
        return True
    return line.endswith(".") and _SIX_WORDS.search(line[:-1]) is not None


def _stripped(lines: Sequence[str]) -> list[str]:
    """Return the lines that are not blank, without the blanks around them."""
    return [stripped for line in lines if (stripped := line.strip())]
