"""Boards in letters that show more than the record: previews, and players' own marks tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pbmserv.engine.protocol import Aided, Previewing
from pbmserv.engine.types import Seat
from pbmserv.errors import Refusal
from pbmserv.letters.scene import BoardScene, note_sentences, why
from pbmserv.mail.letter_kinds import kind_of


def foreseen(letter: str, words: Mapping[str, Any], scene: BoardScene) -> BoardScene:
    """The scene as this letter shows it: what a move would do, or what one's markers explain.

    Made of the reader's view alone, so nothing hidden can get into it.
    """
    game = scene.game
    if kind_of(letter).beyond_record and isinstance(game, Previewing):
        preview = game.preview(scene.view, Seat(words["mover"]), words["move"])
        notes = note_sentences(game, preview.notes, scene.names, scene.you)
        return replace(scene, view=preview.view, events=tuple(notes))
    if letter == "check" and isinstance(game, Aided) and words.get("drawn"):
        drawn = game.drawn(scene.view, words["drawn"])
        notes = note_sentences(game, drawn.notes, scene.names, scene.you)
        return replace(scene, view=drawn.view, events=tuple(notes))
    if letter == "check" and isinstance(game, Aided):
        notes = note_sentences(game, game.check(scene.view), scene.names, scene.you)
        return replace(scene, events=tuple(notes))
    return scene


def plan_dropped(words: Mapping[str, Any]) -> str:
    """Why a queued move could not be played; "" when none was dropped."""
    plan = words.get("plan") or {}
    dropped = plan.get("dropped")
    return why(Refusal(**dropped["refusal"])) if dropped else ""
