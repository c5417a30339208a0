"""The Jinja environment of all templates: it finds them, and prepares them when it loads them.

A letter is one file, ``letters/NAME.j2``, with the blocks ``subject``, ``headline`` (one line),
``text`` and ``html``. It is compiled twice, as ``letters/NAME.txt.j2`` and as
``letters/NAME.html.j2``, since only HTML escapes the values that it prints.

Some mail programs drop style blocks (Gmail does so in answers and forwarded mail), so elements
carry their own styles. Templates name classes; when a template is loaded, css_inline writes the
rules of ``letters/letter.css`` into its start tags. ``letters/head.css`` has rules that a tag
cannot carry, such as those for dark screens: each is a line, and a letter has those that it needs.
A game adds ``games/KEY/letter.css`` and ``games/KEY/head.css``, which only letters with its boards
have. Classes that no head.css names are dropped. Colours and fonts are in ``palette.j2``.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar

from jinja2 import (
    Environment,
    FileSystemBytecodeCache,
    FileSystemLoader,
    StrictUndefined,
    Template,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
)
from jinja2.ext import Extension

from pbmserv import __version__
from pbmserv.boards.filters import BOARD_FILTERS
from pbmserv.engine.adapter import adapted_games
from pbmserv.engine.registry import template_folders
from pbmserv.views.filters import FILTERS

T = TypeVar("T")
log = logging.getLogger("pbmserv.games")


def templates_root() -> Path:
    """Return the folder of all templates: in the package of a wheel, else in the repository."""
    package = Path(__file__).resolve().parent.parent
    packed = package / "_templates"
    return packed if packed.is_dir() else package.parent / "templates"


_LETTER = re.compile(r"letters/([a-z-]+)\.(txt|html)\.j2")
_BLOCKS_OF_THE_OTHER = {
    "txt": re.compile(r"{% block html %}(?:(?!{% (?:end)?block ).)*{% endblock %}\n", re.DOTALL),
    "html": re.compile(
        r"{% block (?:subject|text) %}(?:(?!{% (?:end)?block ).)*{% endblock %}\n", re.DOTALL
    ),
}
_ESCAPED = ".html.j2"
_INCLUDED = re.compile(r'{% include "((?:letters|games)/[^"]+)" %}')


class TemplateLoader(FileSystemLoader):
    """Finds letters in either form, and replaces includes in them by the included text.

    An include costs a look-up and a copy of all values at each rendering, and a letter has twenty.
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

    def written(self, environment: Environment, path: str) -> tuple[str, str, Callable[[], bool]]:
        """Return the same as `get_source`, for a file as it was written."""
        if own := self.overrides.get(path):
            return own.read_text("utf-8"), str(own), lambda: True
        if (shared := shared_template(path)) is not None and path.split("/")[1] in self.unused:
            return super().get_source(environment, shared)
        try:
            return super().get_source(environment, path)
        except TemplateNotFound:
            if self.add_games():
                return self.written(environment, path)
            if shared is None:
                raise
            return super().get_source(environment, shared)

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        """Return the template's text, its file, and a function that says whether it is current."""
        letter = _LETTER.fullmatch(template)
        path = f"letters/{letter[1]}.j2" if letter else template
        source, file, is_current = self.written(environment, path)
        if letter:
            source = _BLOCKS_OF_THE_OTHER[letter[2]].sub("", source)
        if not template.startswith(("letters/", "games/")):
            return source, file, is_current

        def piece(include: re.Match[str]) -> str:
            """Return an included text in a scope of its own, escaped as its name says."""
            inside = self.get_source(environment, include[1])[0]
            if template.endswith(_ESCAPED) and not include[1].endswith(_ESCAPED):
                return f"{{% autoescape false %}}{inside}{{% endautoescape %}}"
            return f"{{% with %}}{inside}{{% endwith %}}"

        return _INCLUDED.sub(piece, source), file, is_current


def shared_template(path: str) -> str | None:
    """Return the template for a file that a game whose boards the server draws does not have."""
    folder, _, name = path.removeprefix("games/").partition("/")
    return f"games/shared/{name}" if name and folder in adapted_games else None


class _Environment(Environment):
    """A Jinja environment whose templates have no global values of their own."""

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
    """Whether the values of a template are escaped; *name* is `None` for one without a file."""
    return name is not None and name.endswith(_ESCAPED)


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
    templates.filters.update(FILTERS)
    templates.filters.update(BOARD_FILTERS)
    return templates


_HEAD, _TAGS = "head.css", "letter.css"
_CLASSES = re.compile(r'class=(?:"([a-z0-9 ]*)"|([a-z0-9]+))')
_SELECTED = re.compile(r"\.[a-z][a-z0-9]*")
_STYLES = re.compile(rf"(?:letters|games/[^/]+)/(?:{_HEAD}|{_TAGS})|palette\.j2")


def with_head_styles(html: str, games: frozenset[str]) -> str:
    """Fill the style block of a letter with the rules that its elements and boards need."""
    rules = _rules(frozenset(_CLASSES.findall(html)), games)
    return html.replace("<style></style>", f"<style>\n{rules}</style>", 1)


@lru_cache(maxsize=256)
def _rules(classes: frozenset[tuple[str, str]], games: frozenset[str]) -> str:
    """Return the lines of head.css with the selectors whose classes are among these.

    Args:
        classes: values of attributes ``class``, those in quotes and those without.
    """
    words = {f".{word}" for quoted, bare in classes for word in (quoted or bare).split()}
    lines = []
    for line in _sheets(environment(), _HEAD, sorted(games)).splitlines(keepends=True):
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


def keep_compiled(folder: Path) -> None:
    """Keep compiled templates in *folder*, to which only the server may write: its files are code.

    Compiled templates contain styles, so each version of the styles has a folder. A second call in
    a process does nothing.
    """
    if environment().bytecode_cache is None:
        loader = environment().loader
        assert loader is not None
        names = filter(_STYLES.fullmatch, loader.list_templates())
        styles = "".join(loader.get_source(environment(), name)[0] for name in names)
        place = folder / f"{__version__}-{hashlib.sha256(styles.encode()).hexdigest()[:12]}"
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        environment().bytecode_cache = FileSystemBytecodeCache(str(place))


@cache
def template_of(name: str) -> Template:
    """Return a template by its name.

    Raises:
        TemplateNotFound: there is no such template.
    """
    return environment().get_template(name)


def with_defaults(game: str, render: Callable[[], T]) -> T:
    """Return what *render* returns; if the game's own templates are broken, with the shared ones.

    These are used from then on, in this process. An error that has another cause is raised.
    """
    try:
        return render()
    except Exception as error:
        if not own_templates(game) or not _use_own(game, wanted=False):
            raise
        try:
            result = render()
        except Exception:
            _use_own(game, wanted=True)
            raise
        log.error(
            "a template of a game is broken; the shared ones are used",
            exc_info=error,
            extra={"game": game},
        )
        return result


def drop_broken_templates() -> list[str]:
    """Use the shared templates for games whose own cannot be read; return a sentence for each."""
    sentences = []
    for game in sorted(adapted_games):
        for name in own_templates(game):
            try:
                environment().get_template(name)
            except TemplateError as error:
                _use_own(game, wanted=False)
                line = f", line {error.lineno}" if isinstance(error, TemplateSyntaxError) else ""
                sentences.append(
                    f"{name}{line}: {error.message}; the shared templates are used for {game}"
                )
                break
    return sentences


def own_templates(game: str) -> list[str]:
    """Return the names of the templates that the package of a game brings, if others could do."""
    if game not in adapted_games:
        return []
    folders = [folder / "games" / game for folder in template_folders()]
    files = [file for folder in folders if folder.is_dir() for file in folder.iterdir()]
    return sorted(f"games/{game}/{file.name}" for file in files if file.suffix in {".j2", ".css"})


def _use_own(game: str, *, wanted: bool) -> bool:
    """Use or do not use a game's own templates; return whether that has changed."""
    loader = environment().loader
    assert isinstance(loader, TemplateLoader)
    if wanted == (game not in loader.unused):
        return False
    (loader.unused.discard if wanted else loader.unused.add)(game)
    cache = environment().cache
    if cache is not None:
        cache.clear()
    template_of.cache_clear()
    _rules.cache_clear()
    for extension in environment().extensions.values():
        if isinstance(extension, InlineStyles):
            extension.forget()
    return True


# Bounded, so that a template with many unclosed tags is read in linear time.
_EXPRESSION = r"\{\{(?:[^}]|\}(?!\})){0,200}\}\}"
_STATEMENT = r"\{%(?:[^%]|%(?!\})){0,200}%\}"
_VALUE = rf'"(?:{_EXPRESSION}|{_STATEMENT}|[^"{{]|\{{(?![{{%]))*"'
_TAG = re.compile(rf"<(?P<name>[a-z][a-z0-9]*)(?P<said>(?:\s+[a-z-]+={_VALUE}|{_STATEMENT})*)\s*>")
_CLASS = re.compile(r'(?<!\s)\s+class="([^"{}]*)"')
_STYLE = re.compile(r'(?<!\s)\s+style="([^"]*)"')
_INSIDE = {"tr": "<table>", "caption": "<table>", "td": "<table><tr>", "th": "<table><tr>"}
"""Tags that an HTML parser requires in front of a tag."""


class InlineStyles(Extension):
    """Writes styles into the start tags of HTML letters, and of games' templates for them."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self._sheets: dict[str, tuple[str, str]] = {}

    def forget(self) -> None:
        """Read the stylesheets again."""
        self._sheets.clear()

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
        folder, _, path = name.partition("/")
        game = path.partition("/")[0] if folder == "games" else ""
        if game not in self._sheets:
            games = [game] if game else []
            self._sheets[game] = (
                _sheets(self.environment, _TAGS, games),
                _sheets(self.environment, _HEAD, games),
            )
        return with_styles(source, *self._sheets[game])


def with_styles(source: str, sheet: str, head: str) -> str:
    """Return HTML, with Jinja in it, whose start tags have the styles of *sheet*.

    Classes that *head*, the rules for the head of a letter, does not name are dropped.
    """

    def restyled(tag: re.Match[str]) -> str:
        attributes = tag["said"]
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
