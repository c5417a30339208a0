"""Makes the shapes of the API of the same values that pages show."""

from __future__ import annotations

from typing import Any

from pbmserv.engine.types import GameInfo
from pbmserv.service.boards.board_page import BoardPage
from pbmserv.service.solo.guest_box import GuestPage
from pbmserv.views.board import BoardScene
from pbmserv.views.board_forms import board_facts, board_text
from pbmserv.views.public_facts import (
    PublicBoardPage,
    shape_from,
)
from pbmserv.web.api.shapes import (
    Board,
    Game,
    Outcome,
    Seat,
    Today,
)


def shown_fields(scene: BoardScene) -> dict[str, Any]:
    """Return the fields of `Shown`."""
    end = scene.outcome
    return {
        "board": scene.number,
        "game": scene.key,
        "title": scene.title,
        "players": scene.names,
        "options": scene.options,
        "rated": scene.rated,
        "chooser": scene.chooser,
        "events": scene.events,
        "scores": scene.scores,
        "outcome": None if end is None else shape_from(Outcome, end, points=end.scores),
        "text": board_text(scene),
        "facts": board_facts(scene),
    }


def board_of(page: PublicBoardPage, url: str) -> Board:
    """Return a board as everybody may see it."""
    scene = page.scene
    is_shared_game = page.kept == "event-game-runs"  # it runs until all have finished it
    over = bool(page.ended or (page.kept and not is_shared_game) or scene.outcome)
    is_open = not (over or page.kept or page.declined) and scene.moves == page.turns
    return shape_from(
        Board,
        scene,
        **shown_fields(scene),
        status="declined" if page.declined else "finished" if over else "running",
        kept=page.kept,
        turn=scene.moves,
        turns=page.turns,
        waiting=scene.waiting if is_open else (),
        ended=f"{page.ended:%Y-%m-%dT%H:%M:%SZ}" if page.ended else None,
        url=url,
    )


def seat_of(page: BoardPage) -> Seat:
    """Return a board as its player sees it."""
    scene, runs = page.scene, page.is_running
    assert scene.you is not None
    legal = scene.game.legal(scene.view) if runs and not scene.undrawn else ()
    ended = "declined" if page.declined else "finished"
    return shape_from(
        Seat,
        scene,
        **shown_fields(scene),
        seat=scene.you,
        userid=page.userid,
        status=("proposed" if page.undecided else "running") if runs else ended,
        undecided=page.undecided,
        your_turn=runs and scene.your_turn,
        waiting=scene.waiting if runs else (),
        legal=None if legal is None else list(legal),
    )


def today_of(page: GuestPage) -> Today:
    """Return the guests' box of today."""
    facts = {"full": page.is_nearly_full, "anew": page.state_refused}
    return shape_from(Today, page, **facts, **shown_fields(page.scene))


def game_of(info: GameInfo) -> Game:
    """Return a game of this server."""
    return shape_from(Game, info, game=info.key, options=dict(info.options))
