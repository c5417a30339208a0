"""Completions that a shell offers behind ``pbmserv send --subject``."""

from __future__ import annotations

from collections.abc import Iterator


def subjects(incomplete: str) -> Iterator[tuple[str, str]]:
    """Yield the subjects that begin with the typed text, each with its summary.

    They are whole subjects up to the command's name, for shells that pass quoted words as one
    (``"blackbox mo``).
    """
    # The catalogue is imported here, so that `pbmserv` starts quickly.
    from importlib.metadata import entry_points

    from pbmserv.commands.table.catalogue import ROWS
    from pbmserv.commands.table.row_types import Scope
    from pbmserv.engine.registry import GROUP

    games = sorted(entry_points(group=GROUP).names)
    typed = " ".join(incomplete.lower().split())
    if incomplete.endswith(" ") and typed:
        typed += " "
    completions = [("", game, "commands of this game") for game in games]
    for row in ROWS:
        if not row.in_line:
            continue
        if row.scope is not Scope.GAME:
            completions.append(("", row.name, row.summary))
        if row.scope is not Scope.SERVER:
            completions += [(f"{game} ", row.name, row.summary) for game in games]
    for prefix, name, summary in completions:
        # Commands of a game, which are many, are offered after the game's name.
        if typed.startswith(prefix) and (prefix + name).startswith(typed):
            yield prefix + name, summary
