"""Looks up the facts of the pages that everybody may read: players, ratings, seeks and boards.

They say what a stranger learns by mail, with public names (`views.names`). Looking changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from pbmserv.service.core.budget import Budget
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.page_contexts import PageContexts

P = ParamSpec("P")
T = TypeVar("T")


class PublicPages:
    """Looks up the facts of public pages."""

    def __init__(self, contexts: PageContexts) -> None:
        self._contexts = contexts

    async def read(
        self, look: Callable[Concatenate[CommandContext, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Return the result of a function such as `public_boards.board_page`.

        It is called in a thread, with a context that only reads and with these arguments.

        Raises:
            TooMuch: it takes more work than a mail may ask for.
        """

        def look_up() -> T:
            with self._contexts.open() as context:
                context.budget = Budget()
                try:
                    return look(context, *args, **kwargs)
                finally:  # the next reader need not replay these boards, even if this page failed
                    context.services.positions.remember(context.effects.positions)

        return await asyncio.to_thread(look_up)
