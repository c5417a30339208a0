"""Public facts about players: ratings, ladders, seeks, finished boards, and a player's page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.routing import Route

from pbmserv.service.core.context import CommandContext
from pbmserv.service.pages import public_players
from pbmserv.views.public_facts import FinishedBoard, PublicPlayer
from pbmserv.web.pages.public_routes import PublicRoutes
from pbmserv.web.pages.rating_graph import rating_graph

IN_A_FEED = 30


def player_routes(public: PublicRoutes) -> list[Route]:
    """Return the routes of these pages and of their feeds."""
    return [
        public.page("/seeks", "seeks", "seeks", public_players.open_seeks),
        public.page("/standings", "standings", "tables", public_players.standings),
        public.page("/ladder", "ladders", "ladders", public_players.ladders),
        public.page("/ladder/{key}", "ladder", "page", public_players.ladder),
        public.page(
            "/players/{userid}", "player", "player", public_players.player_page, more=_graphs
        ),
        public.feed("/games.atom", "games", "games", _finished),
        public.feed("/players/{userid}/games.atom", "games", "games", _finished),
        public.feed("/ladder/{key}/ladder.atom", "ladder", "page", public_players.ladder),
    ]


def _graphs(player: PublicPlayer) -> Mapping[str, Any]:
    return {"graphs": {played.game: rating_graph(played.changes) for played in player.ratings}}


def _finished(context: CommandContext, userid: str = "") -> Sequence[FinishedBoard] | None:
    """Return finished boards, of all players or of one."""
    return public_players.finished_of(context, userid, IN_A_FEED)
