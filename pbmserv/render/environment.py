"""The one Jinja environment: where templates lie and how they are read."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape


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
    return Environment(
        loader=FileSystemLoader(templates_root()),
        trim_blocks=True,
        lstrip_blocks=False,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        autoescape=select_autoescape(("html.j2",), (), default=False, default_for_string=False),
    )
