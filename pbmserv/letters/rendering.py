"""Renders letters: the blocks of a template become a subject, a headline, text and HTML.

A letter of its own gets a frame around it; a part of a summary or a digest has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from markupsafe import Markup

from pbmserv.letters.lengths import LONGEST, LONGEST_HTML, Lengths
from pbmserv.views.environment import template_of, with_head_styles

_OF_FRAME = ("house", "title", "scene", "others", "proof", "opened", "browser")
"""The values of the frame around a letter."""

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

    @property
    def lengths(self) -> Lengths:
        return Lengths(len(self.text.encode()), len(self.html.encode()))


def render_letter(letter: str, values: Mapping[str, Any]) -> LetterTexts:
    """Return the texts of a letter of its own.

    Args:
        letter: its name.
        values: all values that its templates name.
    """
    texts = _fitted(_in_frame, letter, values, Lengths(LONGEST, LONGEST_HTML))
    return texts if len(texts.html.encode()) <= LONGEST_HTML else replace(texts, html="")


def render_part(letter: str, values: Mapping[str, Any], most: Lengths) -> LetterTexts:
    """Return the texts of a letter without its frame, as a part of a summary or a digest.

    Args:
        letter: its name.
        values: all values that its templates name.
        most: the room for it. A part without a board may be longer.
    """
    texts = _fitted(_without_frame, letter, values, most)
    return replace(texts, html=Markup(texts.html))  # noqa: S704 - of templates that escape


Render: TypeAlias = Callable[[str, Mapping[str, Any]], LetterTexts]
"""A function that renders a letter, by its name, with these values."""


def _fitted(render: Render, letter: str, values: Mapping[str, Any], most: Lengths) -> LetterTexts:
    """Return a letter's texts, its HTML with as many links as there is room for.

    HTML that is too long even without links does not draw the board, nor does a text that is too
    long.
    """
    levels = list(Links)
    for links in levels[levels.index(values.get("links", Links.NONE)) :]:
        shown = {**values, "links": links}
        texts = render(letter, shown)
        if len(texts.html.encode()) <= most.html or values.get("scene") is None:
            break
    if len(texts.text.encode()) > most.text and values.get("scene") is not None:
        texts = render(letter, {**shown, "drawn": False})
    # Pieces that print nothing leave blank lines.
    text = _GAP.sub("\n\n", texts.text.strip("\n") + "\n")
    return replace(texts, subject=" ".join(texts.subject.split()), text=text)


def _in_frame(letter: str, values: Mapping[str, Any]) -> LetterTexts:
    """Return a letter in its frame."""
    words, page = _blocks(letter, "txt", values), _blocks(letter, "html", values)
    frame = {name: values.get(name) for name in _OF_FRAME}
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
