"""Divides a help text into blocks and links, from which a page is made."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from textwrap import dedent

from pbmserv.views.filters import definitions

_HELP_ON = re.compile(r'"help ([a-z]+(?: [a-z]+)?)"')
_WHOLE = re.compile(r'("[^"\s]{0,10}-"|(?<![^\s("])--?[a-z][a-z0-9=-]{1,24})')
"""Words that a browser would break at a hyphen: quoted ones that end with it, and options."""
_STEP, _ITEM = 3, 2
"""Indentation of text that belongs to a numbered step, and to an item of a list. Other text that is
indented is code."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some words of a paragraph.

    Attributes:
        slug: the help page that the words link to; ``""`` for none.
        whole: a browser must not break the words over two lines.
    """

    words: str
    slug: str = ""
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a help text.

    Attributes:
        kind: ``heading``, ``text``, ``list``, ``code`` or ``terms``.
        pieces: the words of a heading or a paragraph.
        items: the items of a list.
        code: lines that are shown unchanged.
        terms: pairs of a term and its explanation.
    """

    kind: str
    pieces: tuple[Piece, ...] = ()
    items: tuple[tuple[Piece, ...], ...] = ()
    code: str = ""
    terms: tuple[tuple[str, tuple[Piece, ...]], ...] = ()


def slug_of(name: str) -> str:
    """Return the last part of a page's path."""
    return name.replace(" ", "-")


def titled(text: str) -> tuple[str, str]:
    """Return the title of a help text, and the text below it."""
    title, _, rest = text.lstrip("\n").partition("\n")
    return title, rest.lstrip("=\n")


def blocks_of(text: str, slugs: Collection[str]) -> tuple[Block, ...]:
    """Return the blocks of a help text.

    Args:
        slugs: the help pages to which the text may link.
    """
    return tuple(_block(lines, slugs) for lines in _parts(text))


def _block(lines: list[str], slugs: Collection[str]) -> Block:
    indent = _indent(lines[0])
    if not indent and len(lines) == 1 and lines[0].isupper():
        return Block("heading", (Piece(lines[0].capitalize()),))
    if len(lines) == 2 and not lines[1].strip("-"):
        return Block("heading", (Piece(lines[0]),))
    if lines[0].startswith("- "):
        return Block("list", items=tuple(_pieces(item, slugs) for item in _items(lines)))
    if indent in {0, _STEP}:
        return Block("text", _pieces(" ".join(line.strip() for line in lines), slugs))
    terms = definitions("\n".join(lines))
    if terms:
        return Block("terms", terms=tuple((term, _pieces(why, slugs)) for term, why in terms))
    return Block("code", code=dedent("\n".join(lines)))


def _items(lines: Sequence[str]) -> list[str]:
    """Return the items of a list, each of which begins with a dash."""
    items: list[str] = []
    for line in lines:
        if line.startswith("- "):
            items.append(line[2:])
        else:
            items[-1] += f" {line.strip()}"
    return items


def _pieces(text: str, slugs: Collection[str]) -> tuple[Piece, ...]:
    """Divide a text into links to other help pages and the words between them."""
    pieces: list[Piece] = []
    at = 0
    for link in _HELP_ON.finditer(text):
        slug = slug_of(link[1])
        if slug in slugs:
            pieces += [*_plain(text[at : link.start()]), Piece(link[0], slug)]
            at = link.end()
    return (*pieces, *_plain(text[at:]))


def _plain(text: str) -> Iterator[Piece]:
    for place, words in enumerate(_WHOLE.split(text)):
        yield Piece(words, whole=place % 2 == 1)


def _parts(text: str) -> Iterator[list[str]]:
    """Yield groups of lines: a group ends at a blank line, or where the indentation begins or ends.

    A numbered step and a list are one group each, although some of their lines are indented.
    """
    part: list[str] = []
    for line in [*text.splitlines(), ""]:
        if part and (not line.strip() or not _belong_together(part, line)):
            yield part
            part = []
        if line.strip():
            part.append(line)


def _belong_together(part: list[str], line: str) -> bool:
    first, indent = _indent(part[0]), _indent(line)
    if bool(first) == bool(indent):
        return True
    is_step = indent == _STEP and part[0][0].isdigit()
    return is_step or (indent == _ITEM and part[0].startswith("- "))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
