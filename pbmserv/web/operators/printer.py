"""Renders the operators' pages, and their pages for errors."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from jinja2 import Environment
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.errors import ConfigError
from pbmserv.web.http.responses import (
    CSS,
    PRIVATE,
    SVG,
    file_route,
    html_response,
    version_of,
)
from pbmserv.web.operators.sessions import Session

log = logging.getLogger("pbmserv.web")


class OperatorPrinter:
    """Makes the answers of these pages.

    Args:
        base: the path of the pages behind a proxy, without a slash at its end.
    """

    def __init__(self, base: str, templates: Environment) -> None:
        self.base = base
        self._templates = templates
        self._style = "".join(
            templates.get_template(f"web/{name}.css").render()
            for name in ("style", "mailbox", "operators")
        )
        self._shared = {"base": base, "style": f"{base}/style.css?v={version_of(self._style)}"}
        self._icon = templates.get_template("web/icon.svg").render()

    def file_routes(self) -> list[Route]:
        """Return the routes of the stylesheet and the icon."""
        return [
            file_route("/style.css", self._style, CSS),
            file_route("/icon.svg", self._icon, SVG),
        ]

    def page(self, name: str, values: Mapping[str, Any], status: int = 200) -> Response:
        """Render ``web/operators-NAME.html.j2``."""
        template = self._templates.get_template(f"web/operators-{name}.html.j2")
        return html_response(template.render({**self._shared, **values}), status, PRIVATE)

    def notice(
        self, status: int, reason: str, session: Session | None = None, detail: str = ""
    ) -> Response:
        """Render the page that says why a request was not answered.

        Args:
            reason: a key of the texts in the template.
            detail: a sentence or a number for the text; ``""`` for none.
        """
        return self.page("notice", {"session": session, "why": reason, "detail": detail}, status)

    def redirect(self, path: str) -> Response:
        """Return a redirect to another page of the operators."""
        return Response(status_code=303, headers={**PRIVATE, "Location": self.base + path})

    def fault(self, error: BaseException) -> Response:
        """Return 500, or 503 if the token's file is unusable; the log says why, not the page."""
        if isinstance(error, ConfigError):
            log.error("operators' pages let nobody in", extra={"why": str(error)})
            return self.notice(503, "closed")
        log.error("a page of the operators failed", exc_info=error)
        return self.notice(500, "fault")

    def too_many_forms(self, seconds: int) -> Response:
        """Return 429: the reader's network has sent too many forms."""
        return self.notice(429, "too-many", detail=str(seconds))
