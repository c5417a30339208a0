"""The one Jinja environment: where templates lie, and what becomes of them when they are loaded.

A letter is one file, ``letters/NAME.j2``, with four blocks: ``subject``, ``headline`` (one line:
what this letter is), ``text`` and ``html``. It is compiled twice, as ``letters/NAME.txt.j2`` and as
``letters/NAME.html.j2``, since what is printed is escaped in HTML alone.

Mail programs throw stylesheets away, so every element must carry its own style (Gmail does so
with answers and forwarded mail). Templates name elements and classes, ``letters/letter.css`` says
how these look, and css_inline, which knows how selectors work, works out the style of each start
tag. A letter that is rendered costs nothing more for it. Colours and type are those of the pages:
``palette.j2`` has them.

What stands outside one tag (`div p`, `:hover`) cannot be used in that file; what must stay in
the head (dark mode) is in ``letters/adaptive.css``, and only classes named there stay.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Callable, Mapping, MutableMapping
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from jinja2 import (
    BaseLoader,
    BytecodeCache,
    Environment,
    FileSystemLoader,
    StrictUndefined,
    Template,
    TemplateNotFound,
    select_autoescape,
)
from jinja2.bccache import Bucket
from jinja2.ext import Extension
from markupsafe import Markup

from pbmserv import files
from pbmserv.engine.registry import template_folders
from pbmserv.errors import OperatorError
from pbmserv.letters.filters import FILTERS


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
    "txt": re.compile(r"{% block html %}(?:(?!{% (?:end)?block ).)*{% endblock %}\n", re.DOTALL),
    "html": re.compile(
        r"{% block (?:subject|text) %}(?:(?!{% (?:end)?block ).)*{% endblock %}\n", re.DOTALL
    ),
}
_ESCAPED = ".html.j2"
_INCLUDED = re.compile(r'{% include "((?:letters|games)/[^"]+)" %}')


class TemplateLoader(FileSystemLoader):
    """Finds letters in either form, and writes the pieces that they name into them.

    An include costs a look-up and a copy of all values each time; a letter has twenty of them.

    What is not ours is a game's in a package of its own. To look for these takes 9 ms, which who
    draws a board in a terminal need not wait for.
    """

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.overrides: Mapping[str, Path] = {}
        """Files of the operator, by the names of the shipped templates (see `overrides`)."""

    def add_games(self) -> bool:
        """Look for templates in the packages of games, too; tell whether there are more."""
        more = [one for one in map(str, template_folders()) if one not in self.searchpath]
        self.searchpath = [*self.searchpath, *more]
        return bool(more)

    def written(self, environment: Environment, path: str) -> tuple[str, str, Callable[[], bool]]:
        """Return the same as `get_source` for a file as somebody wrote it."""
        if own := self.overrides.get(path):
            return own.read_text("utf-8"), str(own), lambda: True
        try:
            return super().get_source(environment, path)
        except TemplateNotFound:
            if not self.add_games():
                raise
            return super().get_source(environment, path)

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        """Return the template's text, its file, and a check whether that is still the same."""
        found = _LETTER.fullmatch(template)
        path = f"letters/{found[1]}.j2" if found else template
        source, file, is_same = self.written(environment, path)
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


class LetterEnvironment(Environment):
    """Jinja's, with plain dictionaries of globals, which never change here: each `import` in each
    letter compares their keys, and those of a chain of mappings are Python code."""

    def markup(self, html: Any) -> Any:
        """HTML that its template has escaped, as templates print it as it is."""
        return Markup(html)  # noqa: S704

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """The names that a template knows."""
        return {**self.globals, **(d or {})}


@cache
def environment() -> LetterEnvironment:
    """The environment that renders every letter and page; templates are compiled once."""
    return environment_of(LetterEnvironment, TemplateLoader(templates_root()))


_OfLetters = TypeVar("_OfLetters", bound=LetterEnvironment)


def environment_of(kind: type[_OfLetters], loader: BaseLoader | None) -> _OfLetters:
    """An environment as letters need it.

    Only names that end in ``.html.j2`` escape what they print. Blanks at the
    beginning of a line are kept, since boards need them.
    """
    templates = kind(
        loader=loader,
        trim_blocks=True,
        lstrip_blocks=False,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        auto_reload=False,  # a letter has several templates: no asking the disk about each
        cache_size=-1,  # all that there are: a limited one is searched from its end each time
        extensions=[InlineStyles],
        autoescape=cache(
            select_autoescape(
                (_ESCAPED.removeprefix("."),), (), default=False, default_for_string=False
            )
        ),
    )
    templates.filters.update(FILTERS)
    return templates


class CompiledTemplates(BytecodeCache):
    """Keeps compiled templates from one start to the next: compiling all of them takes three
    seconds, and ten megabytes that a process does not give back.

    Each file begins with the hash of the rest. What cannot be read or written is compiled anew.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take what is kept, if it was made of the same source by the same code."""
        with contextlib.suppress(OSError):
            kept = self._file(bucket).read_bytes()
            if hashlib.sha256(kept[_HASHED:]).digest() == kept[:_HASHED]:
                bucket.bytecode_from_string(kept[_HASHED:])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled."""
        made = bucket.bytecode_to_string()
        with contextlib.suppress(OSError, OperatorError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with files.written(self._file(bucket), files.over) as part:
                part.write_bytes(hashlib.sha256(made).digest() + made)

    def get_source_checksum(self, source: str) -> str:
        """What a template is compiled from, beside its own text: see `_code`."""
        return hashlib.sha256(self._code + source.encode()).hexdigest()

    @cached_property
    def _code(self) -> bytes:
        """Styles go into templates when they are compiled, and what filters make of constants."""
        found = hashlib.sha256(f"{version('jinja2')} {version('css-inline')}".encode())
        for file in sorted(Path(__file__).parent.glob("*.py")):
            found.update(file.read_bytes())
        loader = environment().loader
        assert loader is not None
        for name in _SHEETS:
            found.update(loader.get_source(environment(), name)[0].encode())
        return found.digest()

    def _file(self, bucket: Bucket) -> Path:
        return self._folder / f"{type(bucket.environment).__name__}-{bucket.key}"


_HASHED = hashlib.sha256().digest_size
_SHEETS = ("letters/letter.css", "letters/adaptive.css", "palette.j2")


def keep_compiled(folder: Path) -> None:
    """Keep compiled templates in *folder*, which nobody else may write to: what is there is run.
    The first folder of a process counts."""
    if environment().bytecode_cache is None:
        environment().bytecode_cache = CompiledTemplates(folder)


@cache
def template_of(name: str) -> Template:
    """A template by its name.

    Raises:
        TemplateNotFound: there is none.
    """
    return environment().get_template(name)


# Bounded, so that a template full of tags that nothing closes is read in linear time.
_EXPRESSION = r"\{\{(?:[^}]|\}(?!\})){0,200}\}\}"
_STATEMENT = r"\{%(?:[^%]|%(?!\})){0,200}%\}"
_VALUE = rf'"(?:{_EXPRESSION}|{_STATEMENT}|[^"{{]|\{{(?![{{%]))*"'
_TAG = re.compile(rf"<(?P<name>[a-z][a-z0-9]*)(?P<said>(?:\s+[a-z-]+={_VALUE}|{_STATEMENT})*)\s*>")
_CLASS = re.compile(r'(?<!\s)\s+class="([^"{}]*)"')
_STYLE = re.compile(r'(?<!\s)\s+style="([^"]*)"')
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
        if not name.startswith(("letters/", "games/")) or name.endswith("/page.html.j2"):
            return source  # a page has a stylesheet
        if self._sheets is None:
            sheet = self.environment.get_template("letters/letter.css").render()
            adaptive = self.environment.get_template("letters/adaptive.css").render()
            self._sheets = (sheet, adaptive)
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
    found = re.search(rf'<{name}(?=[\s>])[^<>]* style="([^"]*)"', inliner.inline(tag))
    return found[1].removesuffix(";") if found else ""
