"""Renders pages with the facts that all of them share."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from jinja2 import Environment
from markupsafe import Markup
from starlette.responses import Response

from pbmserv.engine.types import GameInfo
from pbmserv.mail.networks import Network
from pbmserv.views.board import BoardScene
from pbmserv.views.game_templates import with_defaults
from pbmserv.views.shown_boards import show_or_log
from pbmserv.web.answers import PRIVATE, html


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """Facts about this server for its pages.

    Attributes:
        address: the address for commands.
        games: the games, in the order to show them.
        signup: ``"confirm"``, ``"open"`` or ``"closed"``, as in the settings.
        base: path under which a proxy shows these pages, without a slash at its end; "" for the
            root.
        origin: scheme and host of these pages for players, for absolute links.
        contact: URI of the person to tell about security problems; "" for none.
        bots: userids of the games' bots, by game.
        can_hide: whether a game can be set up by hand for another player at the same device.
        proxies: networks of the server's own proxies.
    """

    address: str
    games: tuple[GameInfo, ...]
    signup: str
    base: str
    origin: str = ""
    contact: str = ""
    bots: Mapping[str, Sequence[str]] = field(default_factory=dict)
    can_hide: bool = False
    proxies: Collection[Network] = ()

    @property
    def boxes(self) -> bool:
        """Whether a game has boxes for one player; see `GameInfo.boxes`."""
        return any(game.boxes for game in self.games)


class Printer:
    """Renders pages.

    Attributes:
        facts: facts about this server.
        base: see `SiteFacts`.
        templates: the templates.
        shared: values for every page.
        style: the stylesheet.
        icon: the icon.
        replay: the script that steps through a game.
        leave: the script that empties a page when its reader leaves it.
    """

    def __init__(self, facts: SiteFacts, templates: Environment) -> None:
        self.facts = facts
        self.base = facts.base
        self.templates = templates
        self._latest: dict[str, tuple[Mapping[str, Any], bytes]] = {}
        self.style = templates.get_template("web/style.css").render()
        self.icon = templates.get_template("web/icon.svg").render()
        self.replay = templates.get_template("web/replay.js").render()
        self.leave = templates.get_template("web/leave.js").render()
        self.shared = {
            "pages": facts,
            "style": f"{facts.base}/style.css?v={_version(self.style)}",
            "replay": f"{facts.base}/replay.js?v={_version(self.replay)}",
            "leave": f"{facts.base}/leave.js?v={_version(self.leave)}",
        }

    def url(self, path: str) -> str:
        """Return the whole URL of a path of this server, for links in other places."""
        return f"{self.facts.origin}{self.base}{path}"

    def text(self, name: str, **values: Any) -> str:
        """Render the page ``web/NAME.html.j2``."""
        scene = values.get("scene") or getattr(values.get("page"), "scene", None)
        render = partial(self._render, f"web/{name}.html.j2", self.shared | values)
        return with_defaults(scene.key, render) if isinstance(scene, BoardScene) else render()

    def _render(self, name: str, values: Mapping[str, Any]) -> str:
        return self.templates.get_template(name).render(values)

    def board(self, name: str, scene: BoardScene, **values: Any) -> Markup | None:
        """Render one board of several; ``None`` if its game raises an error."""
        page = show_or_log(scene.number, scene.key, partial(self.text, name, **values))
        return None if page is None else Markup(page)  # noqa: S704 - of a template that escapes

    def again(self, name: str, **values: Any) -> bytes:
        """Return a page as octets; render it only if its values have changed."""
        latest = self._latest.get(name)
        if latest is None or latest[0] != values:
            latest = self._latest[name] = values, self.text(name, **values).encode()
        return latest[1]

    def raw(self, name: str, **values: Any) -> str:
        """Render ``web/NAME.j2``, which is not HTML and escapes its values itself."""
        return self.templates.get_template(f"web/{name}.j2").render(self.shared | values)

    def failure(self, status: int, name: str, headers: Mapping[str, str] | None = None) -> Response:
        """Return the page of an error."""
        return html(self.text(name), status, {**PRIVATE, **(headers or {})})


def _version(text: str) -> str:
    """Return a word that changes with a file, for its address in browsers' caches."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]
