"""Handlers that break: our own code fails on a mail, which is kept then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pbmserv.service.handlers import HANDLERS


@contextmanager
def a_fault(
    monkeypatch: pytest.MonkeyPatch, command: type, words: str = "the inner workings"
) -> Iterator[None]:
    """One handler does half of its work and then breaks."""
    handler = HANDLERS[command]

    def breaks(context: Any, asked: Any) -> None:
        handler(context, asked)
        raise ZeroDivisionError(words)

    with monkeypatch.context() as broken:
        broken.setitem(HANDLERS, command, breaks)
        yield
