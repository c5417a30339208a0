"""Renders pages with the facts that all of them share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from jinja2 import Environment
from markupsafe import Markup
from starlette.responses import Response

from pbmserv.engine.registry import Titles
from pbmserv.views.board import BoardScene
from pbmserv.views.game_templates import with_defaults
from pbmserv.views.shown_boards import show_or_log
from pbmserv.web.http.responses import PRIVATE, html_response, version_of
from pbmserv.web.rendering.site_facts import SiteFacts


class Printer:
    """Renders pages.

    Attributes:
        facts: facts about this server.
        base: see `SiteFacts`.
        templates: the templates.
        shared: values for every page.
        style: the stylesheet.
        icon: the icon.
        replay_script: the script that steps through a game.
        leave_script: the script that empties a page when its reader leaves it.
    """

    def __init__(self, facts: SiteFacts, templates: Environment) -> None:
        self.facts = facts
        self.base = facts.base
        self.templates = templates
        self.style = templates.get_template("web/style.css").render()
        self.icon = templates.get_template("web/icon.svg").render()
        self.replay_script = templates.get_template("web/replay.js").render()
        self.leave_script = templates.get_template("web/leave.js").render()
        self.shared = {
            "pages": facts,
            "titles": Titles({game.key: game.title for game in facts.games}),
            "style": f"{facts.base}/style.css?v={version_of(self.style)}",
            "replay": f"{facts.base}/replay.js?v={version_of(self.replay_script)}",
            "leave": f"{facts.base}/leave.js?v={version_of(self.leave_script)}",
        }

    def url(self, path: str) -> str:
        """Return the whole URL of a path of this server, for links in other places."""
        return f"{self.facts.origin}{self.base}{path}"

    def render(self, name: str, **values: Any) -> str:
        """Render the page ``web/NAME.html.j2``.

        If it shows a board, as ``scene`` or ``page.scene``, and a template of that game is broken,
        the template that all games share takes its place.
        """
        scene = values.get("scene") or getattr(values.get("page"), "scene", None)
        render = partial(self._render_template, f"web/{name}.html.j2", self.shared | values)
        return with_defaults(scene.key, render) if isinstance(scene, BoardScene) else render()

    def _render_template(self, name: str, values: Mapping[str, Any]) -> str:
        return self.templates.get_template(name).render(values)

    def render_board(self, name: str, scene: BoardScene, **values: Any) -> Markup | None:
        """Render one board of several; ``None`` if its game raises an error."""
        page = show_or_log(scene.number, scene.key, partial(self.render, name, **values))
        return None if page is None else Markup(page)  # noqa: S704 - of a template that escapes

    def render_plain(self, name: str, **values: Any) -> str:
        """Render ``web/NAME.j2``, which is not HTML and escapes its values itself."""
        return self._render_template(f"web/{name}.j2", self.shared | values)

    def error_page(
        self, status: int, name: str, headers: Mapping[str, str] | None = None
    ) -> Response:
        """Return the response with the page of an error."""
        return html_response(self.render(name), status, {**PRIVATE, **(headers or {})})
