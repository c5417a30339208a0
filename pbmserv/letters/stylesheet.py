"""Writes the letters' stylesheet into their templates, once, when a template is loaded.

Mail programs throw stylesheets away, so every element must carry its own style (Gmail does so
with answers and forwarded mail). Templates name elements and classes, ``letters/letter.css`` says
how these look, and css_inline, which knows how selectors work, works out the style of each start
tag. A letter that is rendered costs nothing more for it.

What stands outside one tag (`div p`, `:hover`) cannot be used in that file; what must stay in
the head (dark mode) is in ``letters/adaptive.css``, and only classes named there stay.
"""

from __future__ import annotations

import re
from functools import cache

from jinja2 import Environment
from jinja2.ext import Extension

_VALUE = r'"(?:\{\{.*?\}\}|\{%.*?%\}|[^"{]|\{(?![{%]))*"'
_TAG = re.compile(
    rf"<(?P<name>[a-z][a-z0-9]*)(?P<said>(?:\s+[a-z-]+={_VALUE}|{{%.*?%}})*)\s*>", re.DOTALL
)
_CLASS = re.compile(r'\s+class="([^"{}]*)"')
_STYLE = re.compile(r'\s+style="([^"]*)"')
_INSIDE = {"tr": "<table>", "caption": "<table>", "td": "<table><tr>", "th": "<table><tr>"}
"""What an HTML parser wants to see in front of a tag, else it drops it."""


class InlineStyles(Extension):
    """Gives the start tags of HTML letters, and of games' boards in them, their style."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self._sheets: tuple[str, str] | None = None

    def preprocess(  # the third argument is the signature's; no template here asks for it
        self,
        source: str,
        name: str | None,
        filename: str | None = None,  # noqa: ARG002
    ) -> str:
        """The template with styles in place of classes."""
        if name is None or not name.endswith(".html.j2"):
            return source
        if not name.startswith(("letters/", "games/")):
            return source
        if self._sheets is None:
            assert self.environment.loader is not None
            load = self.environment.loader.get_source
            self._sheets = (
                load(self.environment, "letters/letter.css")[0],
                load(self.environment, "letters/adaptive.css")[0],
            )
        return with_styles(source, *self._sheets)


def with_styles(source: str, sheet: str, adaptive: str) -> str:
    """HTML (with Jinja in it) whose start tags have the style that *sheet* gives them.

    Classes that *adaptive* does not name are dropped.
    """

    def restyled(found: re.Match[str]) -> str:
        said = found["said"]
        classes = _CLASS.search(said)
        kept = [word for word in classes[1].split() if f".{word}" in adaptive] if classes else []
        name, own = found["name"], _STYLE.search(said)
        style = _style(name, classes[1] if classes else "", own[1] if own else "", sheet)
        rest = _STYLE.sub("", _CLASS.sub("", said))
        if kept:
            rest += f' class="{" ".join(kept)}"'
        return f"<{name}{rest}" + (f' style="{style}">' if style else ">")

    return _TAG.sub(restyled, source)


@cache
def _style(name: str, classes: str, own: str, sheet: str) -> str:
    import css_inline  # takes a moment to load, and only who sends letters needs it

    inliner = css_inline.CSSInliner(extra_css=sheet, load_remote_stylesheets=False, minify_css=True)
    tag = f'{_INSIDE.get(name, "")}<{name} class="{classes}" style="{own}">'
    # The parser puts html, head and body around it: a name ends where it ends.
    found = re.search(rf'<{name}(?=[\s>])[^>]* style="([^"]*)"', inliner.inline(tag))
    return found[1].removesuffix(";") if found else ""
