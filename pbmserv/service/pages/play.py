"""The interface of play for pages: a page looks by itself, and has play change things."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from pbmserv.service.core.page_form import PageForm
from pbmserv.service.pages.page_requests import PageRequest

R = TypeVar("R")


class Play(Protocol):
    """The play process, as pages reach it."""

    async def press(self, request: PageRequest) -> int:
        """Have a request carried out; return the number of its inbox row, or `LINK_ENDED`.

        Raises:
            TooMany: its player has sent too much; it is not carried out.
            StillWorking: it is stored, and takes long.
            NotDone: our code failed; nothing has changed.
        """
        ...

    async def ask(self, form: PageForm[R]) -> R:
        """Have a form carried out; return its result.

        Raises:
            StillWorking: it is stored, and takes long.
            NotDone: our code failed; nothing has changed.
        """
        ...

    async def leave(self, form: PageForm[Any]) -> None:
        """Have a form stored; it is carried out later."""
        ...

    async def until(self, is_over: Callable[[], bool], longest_s: float) -> None:
        """Call *is_over* in a thread, now and after each commit of play, until it holds or the time
        is over."""
        ...
