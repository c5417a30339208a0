"""Renders letters: the blocks of a template become a subject, a headline, text and HTML.

A letter of its own gets a layout around it; an excerpt is a part of a summary or a digest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, NamedTuple, TypeAlias

from markupsafe import Markup

from pbmserv.views.environment import template_of, with_head_styles

ROOM = 55_000
"""Most characters of an HTML letter: 60 kB with players' words in any script."""

LONGEST_HTML = 60_000
"""Most octets of HTML; a letter with more is sent as text alone (`Composed.html` is empty)."""

_GAP = re.compile("\n\n\n+")


class Links(StrEnum):
    """The links that a board has, or that it is left out.

    A letter takes the next lower level until it is short enough.
    """

    ALL = "all"
    FEW = "few"
    NONE = "none"
    UNDRAWN = "undrawn"


_DOWN_FROM = {links: tuple(Links)[place:] for place, links in enumerate(Links)}


@dataclass(frozen=True, slots=True)
class Composed:
    """The texts of a letter; `html` is empty if it would be too long for mail programs."""

    subject: str
    headline: str
    text: str
    html: str


def compose(letter: str, values: Mapping[str, Any]) -> Composed:
    """Return a letter's subject, headline, text and HTML.

    Args:
        letter: its name.
        values: all values that its templates name.
    """
    texts = _fitted(_letter, letter, values, ROOM, ROOM)
    is_short = len(texts.html.encode()) < LONGEST_HTML
    return Composed(texts.subject, texts.headline, texts.text, texts.html if is_short else "")


def excerpt(
    letter: str, values: Mapping[str, Any], fair: int, most: int, most_text: int
) -> Composed:
    """Return a letter without its frame, as a part of a summary or a digest.

    Args:
        letter: its name.
        values: all values that its templates name.
        fair: most characters of HTML with links.
        most: most characters of HTML without links.
        most_text: most octets of text with the board.
    """
    texts = _fitted(_part, letter, values, fair, most)
    if len(texts.text.encode()) > most_text and values.get("scene") is not None:
        undrawn = {**values, "drawn": False, "links": Links.UNDRAWN}
        texts = _fitted(_part, letter, undrawn, fair, most)
    html = Markup(texts.html)  # noqa: S704 - of templates that escape
    return Composed(texts.subject, texts.headline, texts.text, html)


def _fitted(draw: Draw, letter: str, values: Mapping[str, Any], fair: int, most: int) -> _Texts:
    """Return a letter's texts, its HTML with as many links as there is room for.

    Links are left out if the HTML is longer than *fair*, and the board if it is longer than *most*.
    """
    values = {"links": Links.NONE, **values}
    first = texts = draw(letter, values)
    for links in _DOWN_FROM[values["links"]]:
        if links != values["links"]:
            values["links"] = links
            texts = draw(letter, values)
        room = most if links is Links.NONE else fair
        if len(texts.html) <= room or values.get("scene") is None:
            break
    # Pieces that print nothing leave blank lines.
    text = _GAP.sub("\n\n", first.text.strip("\n") + "\n")
    return _Texts(" ".join(first.subject.split()), first.headline, text, texts.html)


class _Texts(NamedTuple):
    """The texts of a letter before it is shortened."""

    subject: str
    headline: str
    text: str
    html: str


Draw: TypeAlias = Callable[[str, Mapping[str, Any]], _Texts]
"""A function that renders a letter, by its name, with these values."""


def _letter(letter: str, values: Mapping[str, Any]) -> _Texts:
    """Return a letter in its frame."""
    words, page = _blocks(letter, "txt", values), _blocks(letter, "html", values)
    frame = {
        name: values.get(name) for name in ("house", "title", "scene", "others", "proof", "opened")
    }
    own_page = "" if letter == "page-link" else values.get("own_page")
    frame["browser"] = values.get("board_page") or own_page
    headline = words["headline"].strip()
    text = _framed("txt", {**frame, "headline": headline, "body": words["text"]})
    shown = {"headline": Markup(page["headline"]), "body": Markup(page["html"])}  # noqa: S704 - of templates that escape
    html = with_head_styles(
        _framed("html", {**frame, **shown}), values.get("drawn_games", frozenset())
    )
    return _Texts(words["subject"], headline, text, html)


def _part(letter: str, values: Mapping[str, Any]) -> _Texts:
    """Return a letter without its frame."""
    words, page = _blocks(letter, "txt", values), _blocks(letter, "html", values)
    return _Texts(words["subject"], words["headline"].strip(), words["text"], page["html"])


def _blocks(letter: str, form: Literal["txt", "html"], values: Mapping[str, Any]) -> dict[str, str]:
    """Return the blocks of one form of a letter by their names."""
    template = template_of(f"letters/{letter}.{form}.j2")
    context = template.new_context({**values, "is_html": form == "html"})
    return {name: "".join(block(context)) for name, block in template.blocks.items()}


def _framed(form: str, values: Mapping[str, Any]) -> str:
    return template_of(f"letters/pieces/layout.{form}.j2").render(values)
