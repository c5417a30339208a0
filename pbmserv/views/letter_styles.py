"""Styles of letters: in the start tags of their HTML, and in the style block of their head.

Some mail programs drop style blocks (Gmail does so in answers and forwarded mail), so elements
carry their own styles. Templates name classes; when a template is loaded, css_inline writes the
rules of ``letters/letter.css`` into its start tags. ``letters/head.css`` has rules that a tag
cannot carry, such as those for dark screens: each is a line, and a letter has those that it needs.
A game adds ``games/KEY/letter.css`` and ``games/KEY/head.css``, which only letters with its boards
have. Classes that no head.css names are dropped. Colours and fonts are in ``palette.j2``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache

from jinja2 import Environment, TemplateNotFound
from jinja2.ext import Extension

_HEAD, _TAGS = "head.css", "letter.css"
_CLASSES = re.compile(r'class=(?:"([a-z0-9 ]*)"|([a-z0-9]+))')
_SELECTED = re.compile(r"\.[a-z][a-z0-9]*")


def classes_in(html: str) -> frozenset[str]:
    """Return the classes of the elements of a letter."""
    return frozenset(
        word for quoted, bare in _CLASSES.findall(html) for word in (quoted or bare).split()
    )


def head_rules(templates: Environment, classes: Collection[str], games: Iterable[str]) -> str:
    """Return the lines of head.css with the selectors whose classes are among these.

    Args:
        games: keys of the games whose boards the letter draws.
    """
    words = {f".{word}" for word in classes}
    lines = []
    for line in _sheets(templates, _HEAD, games).splitlines(keepends=True):
        selectors, brace, rule = line.partition("{")
        used = [
            selector
            for selector in selectors.split(",")
            if words.issuperset(_SELECTED.findall(selector))
        ]
        if used:
            lines.append(",".join(used) + brace + rule)
    return "".join(lines)


def _sheets(templates: Environment, name: str, games: Iterable[str]) -> str:
    """Return a stylesheet of letters, followed by the games' own ones."""
    sheet = templates.get_template(f"letters/{name}").render()
    for game in games:
        try:
            sheet += templates.get_template(f"games/{game}/{name}").render()
        except TemplateNotFound:
            continue  # the game needs none
    return sheet


# Bounded, so that a template with many unclosed tags is read in linear time.
_EXPRESSION = r"\{\{(?:[^}]|\}(?!\})){0,200}\}\}"
_STATEMENT = r"\{%(?:[^%]|%(?!\})){0,200}%\}"
_VALUE = rf'"(?:{_EXPRESSION}|{_STATEMENT}|[^"{{]|\{{(?![{{%]))*"'
_TAG = re.compile(
    rf"<(?P<name>[a-z][a-z0-9]*)(?P<attributes>(?:\s+[a-z-]+={_VALUE}|{_STATEMENT})*)\s*>"
)
_CLASS = re.compile(r'(?<!\s)\s+class="([^"{}]*)"')
_STYLE = re.compile(r'(?<!\s)\s+style="([^"]*)"')
_INSIDE = {"tr": "<table>", "caption": "<table>", "td": "<table><tr>", "th": "<table><tr>"}
"""Tags that an HTML parser requires in front of a tag."""


class InlineStyles(Extension):
    """Writes styles into the start tags of HTML letters, and of games' templates for them."""

    def preprocess(
        self,
        source: str,
        name: str | None,
        filename: str | None = None,  # noqa: ARG002
    ) -> str:
        """Return the template with styles in place of classes."""
        if name is None or not name.endswith(".html.j2"):
            return source
        if not name.startswith(("letters/", "games/")) or name.endswith("page.html.j2"):
            return source  # a page has a stylesheet
        folder, game, *_ = name.split("/")
        games = [game] if folder == "games" else []
        sheet, head = (_sheets(self.environment, kind, games) for kind in (_TAGS, _HEAD))
        return with_styles(source, sheet, head)


def with_styles(source: str, sheet: str, head: str) -> str:
    """Return HTML, with Jinja in it, whose start tags have the styles of *sheet*.

    Classes that *head*, the rules for the head of a letter, does not name are dropped.
    """

    def restyled(tag: re.Match[str]) -> str:
        attributes = tag["attributes"]
        classes = _CLASS.search(attributes)
        kept = [word for word in classes[1].split() if f".{word}" in head] if classes else []
        name, own = tag["name"], _STYLE.search(attributes)
        style = _style(name, classes[1] if classes else "", own[1] if own else "", sheet)
        rest = _STYLE.sub("", _CLASS.sub("", attributes))
        if kept:
            rest += f' class="{" ".join(kept)}"'
        return f"<{name}{rest}" + (f' style="{style}">' if style else ">")

    return _TAG.sub(restyled, source)


@cache
def _style(name: str, classes: str, own: str, sheet: str) -> str:
    import css_inline  # slow to load, and needed only where letters are made

    inliner = css_inline.CSSInliner(extra_css=sheet, load_remote_stylesheets=False, minify_css=True)
    tag = f'{_INSIDE.get(name, "")}<{name} class="{classes}" style="{own}">'
    # The parser adds html, head and body, and "<b" must not match "<body".
    styled = re.search(rf'<{name}(?=[\s>])[^<>]* style="([^"]*)"', inliner.inline(tag))
    return styled[1].removesuffix(";") if styled else ""
