"""Which pages `make screenshots` photographs: `tests/web/test_pictures.py` asks the routes."""

from __future__ import annotations

from collections.abc import Mapping

PAGES: Mapping[str, tuple[str, ...]] = {
    "/": ("front",),
    "/help": ("help",),
    "/help/{topic}": ("help-blackbox", "help-prefs"),
    "/confirm/{token}": ("confirm", "confirm-expired"),
    "/unsubscribe/{token}": ("unsubscribe",),
    "/b/{token}": (
        *("board-asked", "board-hide", "board-turn", "board-draft", "board-trouble"),
        *("board-checked", "board-waits", "board-over", "board-wide"),
    ),
    "/game/{number:int}": ("game-running", "game-turn", "game-over"),
    "/today": ("today", "today-marked", "today-over"),
    "/daily": ("dailies",),
    "/daily/{number:int}": ("daily-shut", "daily-open"),
    "/seeks": ("seeks",),
    "/standings": ("standings",),
    "/players/{userid}": ("player",),
    "/mine": ("mine-link",),
    "/mine/{token}": ("mine",),
    "/{mailbox}/": ("mailbox",),
    "/{mailbox}/{address}/": ("mailbox-letters",),
    "/{mailbox}/{address}/write": ("mailbox-write",),
    "/{mailbox}/{address}/{key}": ("mailbox-letter", "mailbox-text"),
    "/{mailbox}/{address}/{key}/html": ("mailbox-frame",),
    "no such page": ("missing",),
}
"""Routes, and the names of their pictures."""
NO_PAGES = (
    *(".svg", ".png", ".atom", ".xml", ".txt", ".css", ".js", "/news"),
    *("/healthz", "/healthz/ready", "/healthz/live"),
)
"""How paths end that lead to no page."""
