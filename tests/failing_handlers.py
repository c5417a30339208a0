"""Handlers that fail, so that the server keeps the mail for the operator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import text

from pbmserv.service.handlers import HANDLERS


@contextmanager
def failing_handler(
    monkeypatch: pytest.MonkeyPatch,
    command: type,
    words: str = "the inner workings",
    statement: str = "",
) -> Iterator[None]:
    """Let the handler of a command do its work and then raise an error: with *words*, or that of a
    wrong *statement*."""
    handler = HANDLERS[command]

    def breaks(context: Any, arguments: Any) -> None:
        handler(context, arguments)
        if statement:
            context.connection.execute(text(statement))
        raise ZeroDivisionError(words)

    with monkeypatch.context() as broken:
        broken.setitem(HANDLERS, command, breaks)
        yield
