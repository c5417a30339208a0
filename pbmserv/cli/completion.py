"""What a shell may offer behind ``--subject``: games and commands, from the catalogue."""

from __future__ import annotations

from collections.abc import Iterator


def subjects(incomplete: str) -> Iterator[tuple[str, str]]:
    """Subjects that begin with what is typed, each with what it does.

    A shell that hands over what stands between quotes (``"blackbox mo``) gets the whole
    subject up to the command's name back.
    """
    # The catalogue is read only when somebody presses the key, so that `pbmserv` starts quickly.
    from importlib.metadata import entry_points

    from pbmserv.commands.table.catalogue import ROWS
    from pbmserv.commands.table.row_types import Scope
    from pbmserv.engine.registry import GROUP

    games = sorted(entry_points(group=GROUP).names)
    typed = " ".join(incomplete.lower().split())
    if incomplete.endswith(" ") and typed:
        typed += " "
    offered = [("", game, "commands of this game") for game in games]
    for row in ROWS:
        if not row.in_line:
            continue
        if row.scope is not Scope.GAME:
            offered.append(("", row.name, row.summary))
        if row.asks is not None and row.scope is not Scope.SERVER:
            offered += [(f"{game} ", row.name, row.summary) for game in games]
    for front, name, summary in offered:
        # Commands of a game are offered only once the game is typed; there are many of them.
        if typed.startswith(front) and (front + name).startswith(typed):
            yield front + name, summary
