"""Templates that games bring in packages of their own, and the shared ones in place of broken ones.

A game in a package of its own may bring templates for its boards. If one cannot be read, or fails
while it is used, the templates that the server has for all games draw its boards.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from jinja2 import TemplateError, TemplateSyntaxError

from pbmserv.engine.adapter import adapted_games
from pbmserv.engine.registry import template_folders
from pbmserv.views.environment import environment, forget_templates, loader_of

T = TypeVar("T")
log = logging.getLogger("pbmserv.games")


def with_defaults(game: str, render: Callable[[], T]) -> T:
    """Return the result of *render*, with the shared templates if the game's own ones are broken.

    The shared ones are used from then on, in this process. Other errors are raised.
    """
    try:
        return render()
    except Exception as error:
        if not own_templates(game) or not _use_own(game, wanted=False):
            raise
        try:
            result = render()
        except Exception:
            _use_own(game, wanted=True)
            raise
        log.error(
            "a template of a game is broken; the shared ones are used",
            exc_info=error,
            extra={"game": game},
        )
        return result


def drop_broken_templates() -> list[str]:
    """Use the shared templates for games whose own cannot be read; return a sentence for each."""
    sentences = []
    for game in sorted(adapted_games):
        for name in own_templates(game):
            try:
                environment().get_template(name)
            except TemplateError as error:
                _use_own(game, wanted=False)
                line = f", line {error.lineno}" if isinstance(error, TemplateSyntaxError) else ""
                sentences.append(
                    f"{name}{line}: {error.message}; the shared templates are used for {game}"
                )
                break
    return sentences


def own_templates(game: str) -> list[str]:
    """Return the names of the templates in the package of a game that shared ones can replace."""
    if game not in adapted_games:
        return []
    folders = [folder / "games" / game for folder in template_folders()]
    files = [file for folder in folders if folder.is_dir() for file in folder.iterdir()]
    return sorted(f"games/{game}/{file.name}" for file in files if file.suffix in {".j2", ".css"})


def _use_own(game: str, *, wanted: bool) -> bool:
    """Use or do not use a game's own templates; return whether that has changed."""
    loader = loader_of(environment())
    if wanted == (game not in loader.unused):
        return False
    if wanted:
        loader.unused.discard(game)
    else:
        loader.unused.add(game)
    forget_templates()
    return True
