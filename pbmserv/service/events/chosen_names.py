"""Names that players give to events and teams, which everybody may read."""

from __future__ import annotations

import re

from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.words_for_others import pass_on

_NAME = re.compile(r"[\w .,'!?&+-]+")


def chosen_name(context: CommandContext, written: str, most: int) -> str:
    """Return a name with single blanks, ``""`` if it may not be used.

    Args:
        most: most characters.
    """
    name = " ".join(written.split())
    if len(name) > most or not _NAME.fullmatch(name):
        return ""
    if str(pass_on(context, name)) != name:  # it has a password or a secret in it
        context.current.echo_hidden = True
        return ""
    return name
