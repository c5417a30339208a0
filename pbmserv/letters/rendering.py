"""Renders letters: the blocks of a template become a subject, a headline, text and HTML.

A letter of its own gets a frame around it; a part of a summary or a digest has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal, NamedTuple, TypeAlias

from markupsafe import Markup

from pbmserv.views.environment import template_of, with_head_styles

ROOM = 55_000
"""Most characters of an HTML letter: 60 kB with players' words in any script."""

LONGEST_HTML = 60_000
"""Most octets of HTML; a letter with more is sent as text alone (`LetterTexts.html` is empty)."""

_GAP = re.compile("\n\n\n+")


class Links(StrEnum):
    """The number of links that a board has, if the board is drawn at all.

    A letter takes the next lower level until it is short enough.
    """

    ALL = "all"
    FEW = "few"
    NONE = "none"
    UNDRAWN = "undrawn"


@dataclass(frozen=True, slots=True)
class LetterTexts:
    """The texts of a letter; `html` is empty if it would be too long for mail programs."""

    subject: str
    headline: str
    text: str
    html: str


class Share(NamedTuple):
    """The room for a part of a letter.

    Attributes:
        fair: most characters of HTML with links.
        most: most characters of HTML without links.
        most_text: most octets of text with the board.
    """

    fair: int
    most: int
    most_text: int


def render_letter(letter: str, values: Mapping[str, Any]) -> LetterTexts:
    """Return the texts of a letter of its own.

    Args:
        letter: its name.
        values: all values that its templates name.
    """
    texts = _fitted(_in_frame, letter, values, ROOM, ROOM)
    is_short = len(texts.html.encode()) < LONGEST_HTML
    return texts if is_short else replace(texts, html="")


def render_part(letter: str, values: Mapping[str, Any], share: Share) -> LetterTexts:
    """Return the texts of a letter without its frame, as a part of a summary or a digest.

    Args:
        letter: its name.
        values: all values that its templates name.
        share: the room for it.
    """
    texts = _fitted(_without_frame, letter, values, share.fair, share.most)
    if len(texts.text.encode()) > share.most_text and values.get("scene") is not None:
        undrawn = {**values, "drawn": False, "links": Links.UNDRAWN}
        texts = _fitted(_without_frame, letter, undrawn, share.fair, share.most)
    return replace(texts, html=Markup(texts.html))  # noqa: S704 - of templates that escape


Render: TypeAlias = Callable[[str, Mapping[str, Any]], LetterTexts]
"""A function that renders a letter, by its name, with these values."""


def _fitted(
    render: Render, letter: str, values: Mapping[str, Any], fair: int, most: int
) -> LetterTexts:
    """Return a letter's texts, its HTML with as many links as there is room for.

    Links are left out if the HTML is longer than *fair*, and the board if it is longer than *most*.
    """
    first = None
    levels = list(Links)
    for links in levels[levels.index(values.get("links", Links.NONE)) :]:
        texts = render(letter, {**values, "links": links})
        first = first or texts
        room = most if links is Links.NONE else fair
        if len(texts.html) <= room or values.get("scene") is None:
            break
    assert first is not None
    # Pieces that print nothing leave blank lines.
    text = _GAP.sub("\n\n", first.text.strip("\n") + "\n")
    return LetterTexts(" ".join(first.subject.split()), first.headline, text, texts.html)


def _in_frame(letter: str, values: Mapping[str, Any]) -> LetterTexts:
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
    return LetterTexts(words["subject"], headline, text, html)


def _without_frame(letter: str, values: Mapping[str, Any]) -> LetterTexts:
    """Return a letter without its frame."""
    words, page = _blocks(letter, "txt", values), _blocks(letter, "html", values)
    return LetterTexts(words["subject"], words["headline"].strip(), words["text"], page["html"])


def _blocks(letter: str, form: Literal["txt", "html"], values: Mapping[str, Any]) -> dict[str, str]:
    """Return the blocks of one form of a letter by their names."""
    template = template_of(f"letters/{letter}.{form}.j2")
    context = template.new_context({**values, "is_html": form == "html"})
    return {name: "".join(block(context)) for name, block in template.blocks.items()}


def _framed(form: str, values: Mapping[str, Any]) -> str:
    return template_of(f"letters/pieces/layout.{form}.j2").render(values)
