"""The Jinja environment of all templates.

A letter is one file, ``letters/NAME.j2``, with the blocks ``subject``, ``headline`` (one line),
``text`` and ``html``. It is compiled twice, as ``letters/NAME.txt.j2`` and as
``letters/NAME.html.j2``, since only HTML escapes the values that it prints.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined, Template

from pbmserv.drawing.filters import BOARD_FILTERS
from pbmserv.views.filters import FILTERS
from pbmserv.views.grids import GRID_FILTERS
from pbmserv.views.help_filters import HELP_FILTERS
from pbmserv.views.letter_styles import InlineStyles, classes_in, head_rules
from pbmserv.views.template_loader import ESCAPED, TemplateLoader


def templates_root() -> Path:
    """Return the folder of all templates: in the package of a wheel, else in the repository."""
    package = Path(__file__).resolve().parent.parent
    packed = package / "_templates"
    return packed if packed.is_dir() else package.parent / "templates"


class _Environment(Environment):
    """A Jinja environment that finds values faster than Jinja's own."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return an attribute, or a value of a dictionary, in half of Jinja's time for these."""
        if type(obj) is dict and attribute in obj:
            return obj[attribute]
        try:
            return getattr(obj, attribute)
        except AttributeError:
            return super().getattr(obj, attribute)

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """Return a dictionary: each rendering copies it, faster than Jinja's `ChainMap`."""
        return {**self.globals, **(d or {})}


@cache
def environment() -> Environment:
    """Return the environment of this process, which compiles each template once."""
    return environment_of(TemplateLoader(templates_root()))


def _is_escaped(name: str | None) -> bool:
    """Return whether a template escapes its values; *name* is `None` if it has no file."""
    return name is not None and name.endswith(ESCAPED)


def environment_of(loader: TemplateLoader) -> Environment:
    """Return an environment.

    Only templates whose names end in ``.html.j2`` escape values. Blanks at the beginning of a line
    are kept, since boards need them.
    """
    templates = _Environment(
        loader=loader,
        trim_blocks=True,
        lstrip_blocks=False,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        auto_reload=False,
        cache_size=-1,
        extensions=[InlineStyles],
        autoescape=_is_escaped,
    )
    for filters in (FILTERS, GRID_FILTERS, BOARD_FILTERS, HELP_FILTERS):
        templates.filters.update(filters)
    return templates


def loader_of(templates: Environment) -> TemplateLoader:
    """Return the loader of an environment that `environment_of` has made."""
    assert isinstance(templates.loader, TemplateLoader)
    return templates.loader


def with_head_styles(html: str, games: frozenset[str]) -> str:
    """Fill the style block of a letter with the rules that its elements and boards need."""
    rules = _rules(classes_in(html), games)
    return html.replace("<style></style>", f"<style>\n{rules}</style>", 1)


@lru_cache(maxsize=256)
def _rules(classes: frozenset[str], games: frozenset[str]) -> str:
    return head_rules(environment(), classes, sorted(games))


def template_of(name: str) -> Template:
    """Return a template by its name.

    Raises:
        TemplateNotFound: there is no such template.
    """
    return environment().get_template(name)


def forget_templates() -> None:
    """Load and compile all templates again when they are next used."""
    cache = environment().cache
    if cache is not None:
        cache.clear()
    _rules.cache_clear()
