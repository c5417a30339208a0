"""The one Jinja environment: where templates lie and how they are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from pbmserv.render.stylesheet import InlineStyles


def templates_root() -> Path:
    """The folder of all templates.

    In an installed wheel it lies inside the package; in a checkout it is the
    repository's ``templates``.
    """
    package = Path(__file__).resolve().parent.parent
    packed = package / "_templates"
    return packed if packed.is_dir() else package.parent / "templates"


@cache
def environment() -> Environment:
    """The environment that renders every letter and page; templates are compiled once.

    Only names that end in ``.html.j2`` escape what they print. Blanks at the
    beginning of a line are kept, since boards need them.
    """
    templates = Environment(
        loader=FileSystemLoader(templates_root()),
        trim_blocks=True,
        lstrip_blocks=False,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        auto_reload=False,  # a letter has two dozen templates: no asking the disk about each
        extensions=[InlineStyles],
        autoescape=select_autoescape(("html.j2",), (), default=False, default_for_string=False),
    )
    templates.filters["padded"] = padded
    templates.filters["spots"] = spots
    return templates


def padded(values: Sequence[str], between: str) -> str:
    """A line of a grid: every value two columns wide.

    Grids are most of a letter; Jinja takes a hundred times as long for a loop over the cells.
    """
    return between.join([value.ljust(2) for value in values])


def spots(found: Iterable[Sequence[str]], forms: Mapping[str, str]) -> Markup:
    """The cells of a grid in HTML: for each spot the form of its kind, filled in.

    Args:
        found: (kind, name, shown, more) for each spot, the way a game's view lists them.
        forms: HTML for each kind, in which ``[name]``, ``[shown]`` and ``[more]`` stand for those.
    """
    made = []
    for kind, name, shown, more in found:
        form = str(forms[kind]).replace("[name]", escape(name))
        if "[shown]" in form:
            form = form.replace("[more]", escape(more)).replace("[shown]", escape(shown))
        made.append(form)
    return Markup("".join(made))  # noqa: S704 - forms are templates' own, the rest is escaped
