"""Renders the help texts of the letters as web pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from jinja2 import Environment, TemplateNotFound
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.commands.help_topics import HelpTopic, help_pages, rows_for, topic
from pbmserv.commands.table.row_types import Kind, Row, Scope, Trait
from pbmserv.engine.types import GameInfo
from pbmserv.views.environment import loader_of
from pbmserv.web.http.responses import SHARED, existing, tagged_response
from pbmserv.web.pages.help_blocks import Block, blocks_of, slug_of, titled

_INCOMPLETE = frozenset({"load", "ladder join", "ladder challenge", "team"})
"""Commands that may be refused alone: they need a file, the game of the ladder, or a team."""


def help_routes(pages: HelpPages) -> list[Route]:
    """Return the routes of the table of contents and of each page of the help."""

    async def show(request: Request) -> Response:
        """Show the table of contents, or a page of the help."""
        page = existing(pages.page(request.path_params.get("topic", "").lower()))
        return tagged_response(request, page, SHARED)

    return [Route("/help", show), Route("/help/{topic}", show)]


class HelpPages:
    """The help pages. A page is rendered when it is first read.

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
        self._titles = {game.key: game.title for game in games}
        pages = help_pages(self._titles, boxes=self._boxes)
        self._topics = {slug_of(t.subject): t for t in pages if self._exists(t)}
        self._pages: dict[str, str] = {}
        self._rules: dict[str, Markup] = {}

    def page(self, slug: str) -> str | None:
        """Return the page with this slug, `None` if there is none; ``""`` is the contents."""
        about = topic(slug.replace("-", " "), self._titles, boxes=self._boxes)
        slug = slug_of(about.subject)
        if not about.is_known or slug not in self._topics:
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
        _, text = titled(self._text(about.template, about))
        blocks = self._blocks(text)
        page = self._templates.get_template("web/help-blocks.html.j2")
        rules = page.render({**self._shared, "blocks": blocks, "level": "h3"})
        return Markup(rules)  # noqa: S704 - of a template that escapes

    def _exists(self, about: HelpTopic) -> bool:
        try:
            loader_of(self._templates).get_source(self._templates, about.template)
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
        title, text = titled(self._text(about.template, about))
        page = "help-tutorial" if about.subject == "tutorial" else "help-text"
        return self._render(page, title=title, blocks=self._blocks(text))

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

    def _blocks(self, text: str) -> tuple[Block, ...]:
        return blocks_of(text, self._topics)

    def _text(self, template: str, about: HelpTopic) -> str:
        info = self._infos.get(about.subject)
        return self._templates.get_template(template).render(
            {**about.values, "info": info, "infos": self._infos}
        )

    def _render(self, name: str, **values: Any) -> str:
        page = self._templates.get_template(f"web/{name}.html.j2")
        return page.render({**self._shared, **values})


def _line_alone(row: Row, game: str) -> str:
    """Return a command that works as it is, without words of its writer; ``""`` for none."""
    needed = row.without(Kind.USERID, Kind.PASSWORD, Kind.ALONE)
    does_harm = not {Trait.FINAL, Trait.WORDS}.isdisjoint(row.traits)
    is_whole = row.command is not None and row.name not in _INCOMPLETE
    if not (row.in_line and is_whole) or needed.min_words or does_harm:
        return ""
    return f"{game} {row.name}" if row.scope is Scope.GAME else row.name
