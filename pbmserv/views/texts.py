"""Sentences and texts from templates: notes, refusals, and pages of plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import Note, Seat
from pbmserv.errors import Refusal, ServerFault
from pbmserv.views.environment import template_of, templates_root

_TAKEN_BACK = frozenset({"undone", "redone", "restarted"})


def note_sentences(
    game: AnyGame, notes: Iterable[Note], names: Sequence[str], seat: Seat | None
) -> list[str]:
    """Return a sentence for each note that *seat* (``None`` for a spectator) may read."""
    own, undone = f"games/{game.info.key}/notes.j2", "letters/pieces/undone.j2"
    return [
        template_of(undone if note.kind in _TAKEN_BACK else own)
        .render(note=note, names=names, you=seat)
        .strip()
        for note in notes
        if note.audience is None or seat in note.audience
    ]


def refusal_sentence(refusal: Refusal, *, on_page: bool = False) -> str:
    """Return the sentence of a refusal. A code with a dot is one of the game named before it.

    Args:
        refusal: the refusal.
        on_page: whether the sentence is for a page, where there is no letter to reply to.

    Raises:
        ServerFault: no template has a sentence for this code.
    """
    game, dot, code = refusal.code.rpartition(".")
    block = code.replace("-", "_")
    name = f"games/{game}/refusals.j2" if dot else _refusal_templates().get(block)
    template = template_of(name) if name else None
    if template is None or block not in template.blocks:
        raise ServerFault(f"no sentence for the refusal {refusal.code}")
    values = {"refusal": refusal, "on_page": on_page}
    return " ".join("".join(template.blocks[block](template.new_context(values))).split())


@cache
def _refusal_templates() -> Mapping[str, str]:
    """Return the name of the template in ``refusals/`` that has each block.

    The texts are searched for blocks, since to compile all of these templates takes 0.2 s.
    """
    return {
        block: f"refusals/{path.name}"
        for path in (templates_root() / "refusals").iterdir()
        for block in re.findall(r"{% block (\w+) %}", path.read_text("utf-8"))
    }


def render_text(template: str, values: Mapping[str, Any]) -> str:
    """Render a template of plain text, such as a help page, without blank lines around it."""
    return template_of(template).render(values).strip("\n")
