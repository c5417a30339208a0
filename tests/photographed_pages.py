"""Pages that `make screenshots` photographs; `tests/web/test_pictures.py` compares the routes."""

from __future__ import annotations

from collections.abc import Mapping

PAGES: Mapping[str, tuple[str, ...]] = {
    "/": ("front",),
    "/signup": ("signup",),
    "/help": ("help",),
    "/help/{topic}": ("help-tutorial", "help-blackbox", "help-prefs"),
    "/confirm/{token}": ("confirm", "confirm-expired"),
    "/unsubscribe/{token}": ("unsubscribe",),
    "/b/{token}": (
        *("board-asked", "board-hide", "board-turn", "board-draft", "board-trouble"),
        *("board-ray", "board-checked", "board-waits", "board-over", "board-wide"),
    ),
    "/game/{number:nine_digits}": ("game-running", "game-turn", "game-over"),
    "/today": ("today", "today-marked", "today-over"),
    "/hide": ("hide",),
    "/hide/{key}": ("hide-open", "hide-shut", "hide-played"),
    "/daily": ("dailies",),
    "/daily/{number:nine_digits}": ("daily-shut", "daily-open"),
    "/events": ("events",),
    "/events/{number:nine_digits}": ("event-open", "event-over"),
    "/seeks": ("seeks",),
    "/proof": ("proof",),
    "/standings": ("standings",),
    "/ladder": ("ladders",),
    "/ladder/{key}": ("ladder",),
    "/teams": ("teams",),
    "/teams/{key}": ("team",),
    "/players/{userid}": ("player",),
    "/mine": ("mine-link",),
    "/mine/{token}": ("mine",),
    "/{mailbox}/": ("mailbox",),
    "/{mailbox}/{address}/": ("mailbox-letters",),
    "/{mailbox}/{address}/write": ("mailbox-write",),
    "/{mailbox}/{address}/{key}": ("mailbox-letter", "mailbox-text"),
    "/{mailbox}/{address}/{key}/html": ("mailbox-frame",),
    "/{operators}/server": ("operators-server",),
    "/{operators}/sign-in": ("operators-sign-in",),
    "/{operators}/": ("operators",),
    "/{operators}/mails": ("operators-mails",),
    "/{operators}/mails/{number}": ("operators-mail",),
    "/{operators}/letters": ("operators-letters",),
    "/{operators}/letters/{number}": ("operators-letter",),
    "/{operators}/players": ("operators-players",),
    "/{operators}/players/{userid}": ("operators-player",),
    "/{operators}/boards": ("operators-boards",),
    "/{operators}/boards/{number}": ("operators-board",),
    "/{operators}/events": ("operators-events",),
    "/{operators}/correspondence": ("operators-correspondence",),
    "/{operators}/games": ("operators-games",),
    "/{operators}/games/{game}": ("operators-game",),
    "/{operators}/audit": ("operators-audit",),
    "no such page": ("missing",),
}
"""Names of pictures by route."""
NO_PAGES = (
    *(".svg", ".png", ".atom", ".xml", ".txt", ".css", ".js", ".ics", "/news"),
    *("/healthz", "/healthz/ready", "/healthz/live", "/sign-out"),
)
"""Ends of paths that lead to no page."""
