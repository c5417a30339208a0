"""Changes that mail programs and players make to a quoted letter."""

from __future__ import annotations

import html
import random
import re
import textwrap
from collections.abc import Callable

from indoors import Posted

from pbmserv.inbound.html import read_html

Mangler = Callable[[Posted, random.Random], str]

_ATTRIBUTIONS = (
    "",
    "Am 3. M\u00e4rz 2026 schrieb pbmserv das Folgende\n",
    "Vuonna 2026 pbmserv kirjoitti n\u00e4in\n",
    "2026\u5e743\u6708\u306b pbmserv \u3055\u3093\u306f\u66f8\u304d\u307e\u3057\u305f\n",
)


def text_of(letter: Posted) -> str:
    """The letter's text without the words above which a reply is to stand."""
    return letter.text.replace("-- Reply above this line --", "").strip()


def marked(letter: Posted, dice: random.Random) -> str:
    """A mark in front of each line that few programs set."""
    mark = dice.choice(("# ", "* ", "| ", "#", "~ ", ": ", "- ", "\u2022 ", "    ", "% "))
    return "\n".join(mark + line for line in text_of(letter).split("\n"))


def wrapped(letter: Posted, dice: random.Random) -> str:
    """All of it wrapped anew, at any width, and marked or not."""
    width = dice.choice((30, 40, 55, 66, 90, 120))
    mark = dice.choice(("", "# ", "* ", "\u201c"))
    lines = textwrap.wrap(" ".join(text_of(letter).split()), width)
    return "\n".join(mark + line for line in lines)


def broken(letter: Posted, dice: random.Random) -> str:
    """Long lines broken into two, as programs with a narrow limit do."""
    width = dice.choice((20, 33, 47, 60))
    return "\n".join(
        piece
        for line in text_of(letter).split("\n")
        for piece in textwrap.wrap(line, width) or [""]
    )


def in_one_line(letter: Posted, _: random.Random) -> str:
    """All of it in one line."""
    return " ".join(text_of(letter).split())


def without_its_marks(letter: Posted, dice: random.Random) -> str:
    """The HTML as text, as by a program that quotes without any tag of its own."""
    reading = read_html(letter.html)
    assert reading is not None
    text = reading.text.replace("-- Reply above this line --", "")
    return text if dice.random() < 0.5 else re.sub(r"\n\s*\n", "\n", text)


def without_tags(letter: Posted, _: random.Random) -> str:
    """The HTML with its tags taken out, lines as they were."""
    body = letter.html.partition("<body")[2].partition(">")[2]
    plain = html.unescape(re.sub(r"<[^>]*>", " ", body)).replace("-- Reply above this line --", "")
    return "\n".join(line.strip() for line in plain.split("\n") if line.strip())


def typeset(letter: Posted, _: random.Random) -> str:
    """Straight quotes, hyphens and blanks made into others."""
    text = text_of(letter).replace('"', "\u201d").replace("'", "\u2019").replace("-", "\u2011")
    return text.replace("  ", "\u00a0 ").replace("...", "\u2026")


def shouted(letter: Posted, _: random.Random) -> str:
    """Write the text in capitals, as some programs for screen readers do."""
    return text_of(letter).upper()


MANGLERS: tuple[Mangler, ...] = (
    marked, wrapped, broken, in_one_line, without_its_marks, without_tags, typeset, shouted,
)  # fmt: skip


def quoted(letter: Posted, mangle: Mangler, dice: random.Random) -> str:
    """The letter as a mail might quote it, below words in front of which it does not say so."""
    return dice.choice(_ATTRIBUTIONS) + mangle(letter, dice)
