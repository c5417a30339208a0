"""The one Jinja environment: where templates lie and how they are read.

A letter is one file, ``letters/NAME.j2``, with four blocks: ``subject``, ``headline`` (one line:
what this letter is), ``text`` and ``html``. It is compiled twice, as ``letters/NAME.txt.j2`` and as
``letters/NAME.html.j2``, since what is printed is escaped in HTML alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from pbmserv.letters.stylesheet import InlineStyles


def templates_root() -> Path:
    """The folder of all templates.

    In an installed wheel it lies inside the package; in a checkout it is the
    repository's ``templates``.
    """
    package = Path(__file__).resolve().parent.parent
    packed = package / "_templates"
    return packed if packed.is_dir() else package.parent / "templates"


_LETTER = re.compile(r"letters/([a-z-]+)\.(txt|html)\.j2")
_BLOCKS_OF_THE_OTHER = {
    "txt": re.compile(r"{% block html %}.*?{% endblock %}\n", re.DOTALL),
    "html": re.compile(r"{% block (?:subject|text) %}.*?{% endblock %}\n", re.DOTALL),
}
_ESCAPED = ".html.j2"
_INCLUDED = re.compile(r'{% include "((?:letters|games)/[^"]+)" %}')


class TemplateLoader(FileSystemLoader):
    """Finds letters in either form, and writes the pieces that they name into them.

    An include costs a look-up and a copy of all values each time; a letter has twenty of them.
    """

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        """The template's text, its file, and whether that is still the same."""
        found = _LETTER.fullmatch(template)
        path = f"letters/{found[1]}.j2" if found else template
        source, file, is_same = super().get_source(environment, path)
        if found:
            source = _BLOCKS_OF_THE_OTHER[found[2]].sub("", source)
        if not template.startswith(("letters/", "games/")):
            return source, file, is_same

        def piece(include: re.Match[str]) -> str:
            """A piece in a scope of its own, as an include has one, escaped as its name says."""
            inside = self.get_source(environment, include[1])[0]
            if template.endswith(_ESCAPED) and not include[1].endswith(_ESCAPED):
                return f"{{% autoescape false %}}{inside}{{% endautoescape %}}"
            return f"{{% with %}}{inside}{{% endwith %}}"

        return _INCLUDED.sub(piece, source), file, is_same


@cache
def environment() -> Environment:
    """The environment that renders every letter and page; templates are compiled once.

    Only names that end in ``.html.j2`` escape what they print. Blanks at the
    beginning of a line are kept, since boards need them.
    """
    templates = Environment(
        loader=TemplateLoader(templates_root()),
        trim_blocks=True,
        lstrip_blocks=False,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        auto_reload=False,  # a letter has two dozen templates: no asking the disk about each
        extensions=[InlineStyles],
        autoescape=select_autoescape(
            (_ESCAPED.removeprefix("."),), (), default=False, default_for_string=False
        ),
    )
    templates.filters["padded"] = padded
    templates.filters["forms"] = forms
    templates.filters["row_spots"] = row_spots
    templates.filters["spots"] = spots
    return templates


def padded(values: Sequence[str], between: str) -> str:
    """A line of a grid: every value two columns wide.

    Grids are most of a letter; Jinja takes a hundred times as long for a loop over the cells.
    """
    return between.join([value.ljust(2) for value in values])


Forms = Mapping[str, tuple[list[str], bool]]
"""For each kind of spot its HTML, cut where the name belongs; whether it shows more than that."""


def forms(written: Mapping[str, str]) -> Forms:
    """HTML for each kind of spot, in which ``[name]``, ``[shown]`` and ``[more]`` may stand."""
    return {kind: _cut(str(form)) for kind, form in written.items()}


@lru_cache(maxsize=1_024)  # most of them are the same in every letter
def _cut(form: str) -> tuple[list[str], bool]:
    return form.split("[name]"), "[shown]" in form or "[more]" in form


def spots(found: Iterable[Sequence[str]], filled: Forms) -> Markup:
    """The cells of a grid in HTML, a line each: for each spot the form of its kind, filled in.

    *found* are (kind, name, shown, more) for each spot, the way a game's view lists them.
    """
    return Markup("\n".join([_spot(spot, filled) for spot in found]))  # noqa: S704 - see `_spot`


def row_spots(row: Sequence[Any], labels: Forms, ends: Forms, cells: Forms) -> Markup:
    """A row of a grid: label and spot of its left end, its cells, spot and label of its right."""
    left, inside, right = row
    made = [_spot(left, labels), _spot(left, ends)]
    made += [_spot(spot, cells) for spot in inside]
    made += (_spot(right, ends), _spot(right, labels))
    return Markup("\n".join(made))  # noqa: S704 - see `_spot`


def _spot(spot: Sequence[str], filled: Forms) -> str:
    """One cell; its form is a template's own, all else is escaped."""
    kind, name, shown, more = spot
    pieces, rich = filled[kind]
    form = (name if name.isalnum() else str(escape(name))).join(pieces)
    if rich:
        form = form.replace("[more]", escape(more)).replace("[shown]", escape(shown))
    return form
