"""Renders the help texts of the letters as web pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from textwrap import dedent
from typing import Any

from jinja2 import Environment, TemplateNotFound
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.commands.help_topics import HelpTopic, help_pages, rows_for, topic
from pbmserv.commands.table.row_types import Kind, Row, Scope, Trait
from pbmserv.engine.types import GameInfo
from pbmserv.web.answers import SHARED, existing, tagged

_HELP_ON = re.compile(r'"help ([a-z]+(?: [a-z]+)?)"')
_COLUMNS = re.compile(r" +\S(?:.*?\S)?? {2,}(\S.*)")
_WHOLE = re.compile(r'("[^"\s]{0,10}-"|(?<![^\s("])--?[a-z][a-z0-9=-]{1,24})')
"""Words that a browser would break at a hyphen: quoted ones that end with it, and options."""
_INCOMPLETE = frozenset({"load", "ladder join", "ladder challenge", "team"})
"""Commands that may be refused alone: they need a file, the game of the ladder, or a team."""
_STEP = 3
"""Indentation of text that belongs to a numbered step; code is indented by 2, or by more than 3."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some words of a paragraph.

    Attributes:
        slug: the help page that the words link to; ``""`` for none.
        whole: a browser must not break the words over two lines.
    """

    words: str
    slug: str = ""
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a help text.

    Attributes:
        kind: ``heading``, ``text``, ``code`` or ``terms``.
        pieces: the words of a heading or a paragraph.
        code: lines that are shown unchanged.
        terms: pairs of a term and its explanation.
    """

    kind: str
    pieces: tuple[Piece, ...] = ()
    code: str = ""
    terms: tuple[tuple[str, tuple[Piece, ...]], ...] = ()


def help_routes(help_pages: HelpPages) -> list[Route]:
    """Return the routes of the table of contents and of each page of the help."""

    async def show(request: Request) -> Response:
        """Show the table of contents, or a page of the help."""
        page = existing(help_pages.page(request.path_params.get("topic", "").lower()))
        return tagged(request, page, headers=SHARED)

    return [Route("/help", show), Route("/help/{topic}", show)]


def slug_of(name: str) -> str:
    """Return the last part of a page's path."""
    return name.replace(" ", "-")


class HelpPages:
    """All help pages, each rendered when somebody first reads it.

    Args:
        games: the server's games.
        templates: the environment of the help texts.
        shared: values for every page's template.
    """

    def __init__(
        self, games: Sequence[GameInfo], templates: Environment, shared: Mapping[str, Any]
    ) -> None:
        self._templates = templates
        self._shared = shared
        self._infos = {game.key: game for game in games}
        self._boxes = any(game.boxes for game in games)
        pages = help_pages(self._infos, boxes=self._boxes)
        self._topics = {slug_of(t.subject): t for t in pages if self._exists(t)}
        self._pages: dict[str, str] = {}
        self._rules: dict[str, Markup] = {}

    def page(self, slug: str) -> str | None:
        """Return the page with this slug, `None` if there is none; ``""`` is the contents."""
        about = topic(slug.replace("-", " "), self._infos, boxes=self._boxes)
        slug = slug_of(about.subject)
        if not about.known or slug not in self._topics:
            return None
        if slug not in self._pages:
            self._pages[slug] = self._page(self._topics[slug])
        return self._pages[slug]

    def has(self, slug: str) -> bool:
        """Return whether there is a page with this slug."""
        return slug in self._topics

    def rules(self, key: str) -> Markup:
        """Return the rules of a game for a part of another page; empty if there are none."""
        about = self._topics.get(key)
        if about is None:
            return Markup()
        if key not in self._rules:
            self._rules[key] = self._rendered_rules(about)
        return self._rules[key]

    def _rendered_rules(self, about: HelpTopic) -> Markup:
        text = self._text(about.template, about).lstrip("\n").partition("\n")[2]
        blocks = self._blocks(text.lstrip("=\n"))
        page = self._templates.get_template("web/help-blocks.html.j2")
        rules = page.render({**self._shared, "blocks": blocks, "level": "h3"})
        return Markup(rules)  # noqa: S704 - of a template that escapes

    def _exists(self, about: HelpTopic) -> bool:
        try:
            self._templates.get_template(about.template)
        except TemplateNotFound:
            return False
        return True

    def _page(self, about: HelpTopic) -> str:
        if about.subject == "index":
            return self._render("help", **self._contents())
        row = about.values.get("row")
        if isinstance(row, Row):
            text = self._text(f"help/commands/{row.page}.txt.j2", about)
            game = str(about.values["game"])
            return self._render(
                "help-command",
                row=row,
                form=row.form(game),
                example=about.values["example"],
                line=_line_alone(row, next(iter(self._infos), game)),
                blocks=self._blocks(text),
            )
        text = self._text(about.template, about)
        title, _, rest = text.lstrip("\n").partition("\n")
        blocks = self._blocks(rest.lstrip("=\n"))
        page = "help-tutorial" if about.subject == "tutorial" else "help-text"
        return self._render(page, title=title, blocks=blocks)

    def _contents(self) -> dict[str, Any]:
        """Return the values of the table of contents: commands by section, and other pages."""
        game = next(iter(self._infos)) if len(self._infos) == 1 else "game"
        sections = [
            (name, [(slug_of(row.name), row.form(game), row.summary) for row in rows])
            for name, rows in groupby(rows_for(boxes=self._boxes), key=lambda row: row.section)
        ]
        texts = [slug for slug, about in self._topics.items() if "rows" in about.values]
        rules = [info for key, info in self._infos.items() if key in self._topics]
        return {"sections": sections, "texts": texts[1:], "rules": rules}

    def _text(self, template: str, about: HelpTopic) -> str:
        info = self._infos.get(about.subject)
        return self._templates.get_template(template).render(
            {**about.values, "info": info, "infos": self._infos}
        )

    def _render(self, name: str, **values: Any) -> str:
        page = self._templates.get_template(f"web/{name}.html.j2")
        return page.render({**self._shared, **values})

    # -- from text to blocks ---------------------------------------------------------------

    def _blocks(self, text: str) -> tuple[Block, ...]:
        return tuple(self._block(lines) for lines in _parts(text))

    def _block(self, lines: list[str]) -> Block:
        indent = _indent(lines[0])
        if not indent and len(lines) == 1 and lines[0].isupper():
            return Block("heading", (Piece(lines[0].capitalize()),))
        if indent in {0, _STEP}:
            return Block("text", self._pieces(" ".join(line.strip() for line in lines)))
        terms = _terms(lines)
        if terms:
            return Block("terms", terms=tuple((term, self._pieces(why)) for term, why in terms))
        return Block("code", code=dedent("\n".join(lines)))

    def _pieces(self, text: str) -> tuple[Piece, ...]:
        """Divide a text into links to other help pages and the words between them."""
        pieces: list[Piece] = []
        at = 0
        for link in _HELP_ON.finditer(text):
            slug = slug_of(link[1])
            if slug in self._topics:
                pieces += [*_plain(text[at : link.start()]), Piece(link[0], slug)]
                at = link.end()
        return (*pieces, *_plain(text[at:]))


def _line_alone(row: Row, game: str) -> str:
    """Return a command that works as it is, without words of its writer; ``""`` for none."""
    needed = row.without(Kind.USERID, Kind.PASSWORD, Kind.ALONE)
    does_harm = not {Trait.FINAL, Trait.WORDS}.isdisjoint(row.traits)
    is_whole = row.command is not None and row.name not in _INCOMPLETE
    if not (row.in_line and is_whole) or needed.min_words or does_harm:
        return ""
    return f"{game} {row.name}" if row.scope is Scope.GAME else row.name


def _plain(text: str) -> Iterator[Piece]:
    for place, words in enumerate(_WHOLE.split(text)):
        yield Piece(words, whole=place % 2 == 1)


def _parts(text: str) -> Iterator[list[str]]:
    """Yield groups of lines: a group ends at a blank line, or where the indentation begins or ends.

    A numbered step is one group, although all lines but the first are indented.
    """
    part: list[str] = []
    for line in [*text.splitlines(), ""]:
        if part and (not line.strip() or not _belong_together(part, line)):
            yield part
            part = []
        if line.strip():
            part.append(line)


def _belong_together(part: list[str], line: str) -> bool:
    first, indent = _indent(part[0]), _indent(line)
    return bool(first) == bool(indent) or (indent == _STEP and part[0][0].isdigit())


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _terms(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Return two columns as pairs; an empty list if the lines are not two aligned columns."""
    columns = _COLUMNS.fullmatch(lines[0])
    if columns is None:
        return []
    column = columns.start(1)
    pairs: list[tuple[str, str]] = []
    for line in lines:
        term, gap, meaning = line[:column].strip(), line[column - 2 : column], line[column:]
        if gap.strip() or not meaning or meaning[0] == " ":
            return []
        if term:
            pairs.append((term, meaning))
        elif pairs:
            pairs[-1] = (pairs[-1][0], f"{pairs[-1][1]} {meaning}")
    return pairs
