"""Finds the templates of the server, of games, and of the operator."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, TemplateNotFound

from pbmserv.engine.adapter import adapted_games
from pbmserv.engine.registry import template_folders

_LETTER = re.compile(r"letters/([a-z-]+)\.(txt|html)\.j2")
_BLOCKS_OF_THE_OTHER = {
    "txt": re.compile(r"{% block html %}(?:(?!{% (?:end)?block ).)*{% endblock %}\n", re.DOTALL),
    "html": re.compile(
        r"{% block (?:subject|text) %}(?:(?!{% (?:end)?block ).)*{% endblock %}\n", re.DOTALL
    ),
}
ESCAPED = ".html.j2"
"""The end of the names of templates that escape values."""
_INCLUDED = re.compile(r'{% include "((?:letters|games)/[^"]+)" %}')


class TemplateLoader(FileSystemLoader):
    """Finds letters in either form, and replaces includes in them by the included text.

    An include costs a look-up and a copy of all values at each rendering, and a letter has twenty.
    It would also put a plain text into HTML as it is, with what players and operators wrote.
    Packages of games are searched only for a template that is not shipped, since that takes 9 ms.

    Attributes:
        overrides: the operator's files, by the names of shipped templates (see `overrides`).
        unused: keys of games whose own templates are broken; the shared ones are used.
    """

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.overrides: Mapping[str, Path] = {}
        self.unused: set[str] = set()

    def add_games(self) -> bool:
        """Search the packages of games, too, and return whether there are any."""
        folders = map(str, template_folders())
        more = [folder for folder in folders if folder not in self.searchpath]
        self.searchpath = [*self.searchpath, *more]
        return bool(more)

    def source_as_written(
        self, environment: Environment, path: str
    ) -> tuple[str, str, Callable[[], bool]]:
        """Return the same as `get_source`, for a file as it was written."""
        if own := self.overrides.get(path):
            return own.read_text("utf-8"), str(own), lambda: True
        if (shared := shared_template(path)) is not None and path.split("/")[1] in self.unused:
            return super().get_source(environment, shared)
        try:
            return super().get_source(environment, path)
        except TemplateNotFound:
            if self.add_games():
                return self.source_as_written(environment, path)
            if shared is None:
                raise
            return super().get_source(environment, shared)

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        """Return the template's text, its file, and a function that says whether it is current."""
        letter = _LETTER.fullmatch(template)
        path = f"letters/{letter[1]}.j2" if letter else template
        source, file, is_current = self.source_as_written(environment, path)
        if letter:
            source = _BLOCKS_OF_THE_OTHER[letter[2]].sub("", source)

        def piece(include: re.Match[str]) -> str:
            """Return an included text in a scope of its own; a plain text is escaped in HTML."""
            inside = self.get_source(environment, include[1])[0]
            if template.endswith(ESCAPED) and not include[1].endswith(ESCAPED):
                plain = f"{{% autoescape false %}}{inside}{{% endautoescape %}}"
                return f"{{% filter forceescape %}}{plain}{{% endfilter %}}"
            return f"{{% with %}}{inside}{{% endwith %}}"

        return _INCLUDED.sub(piece, source), file, is_current


def shared_template(path: str) -> str | None:
    """Return the template for a file that a game whose boards the server draws does not have."""
    folder, _, name = path.removeprefix("games/").partition("/")
    return f"games/shared/{name}" if name and folder in adapted_games else None
