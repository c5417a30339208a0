"""An address of the API with its handler."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from pbmserv.web.http.url_parameters import LONGEST_NUMBER

LAST_NUMBER = 10**LONGEST_NUMBER - 1
"""The highest number in a URL."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address of the API with its handler; Starlette's route and OpenAPI are made of it.

    Attributes:
        path: the path below ``/api``; names in braces are parameters.
        answer: the shape of the answer.
        refuses: statuses of problems beside those that every address may return.
        asks: parameters of the query, each with its schema.
        takes: the shape of the posted body; `None` for a GET.
    """

    path: str
    handler: Callable[[Request], Awaitable[Response]]
    answer: Any
    refuses: tuple[int, ...] = ()
    asks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    takes: Any = None

    @property
    def method(self) -> str:
        """The HTTP method."""
        return "POST" if self.takes else "GET"

    @property
    def operation_id(self) -> str:
        """The name of this operation in generated clients, such as ``get_boards_board``."""
        return f"{self.method.lower()}_{re.sub(r'[^a-z]+', '_', self.path).strip('_')}"

    @property
    def summary(self) -> str:
        """The first line of the handler's docstring."""
        return (self.handler.__doc__ or "").partition("\n")[0]

    @property
    def by_token(self) -> bool:
        """Whether the client must send a token."""
        return 401 in self.refuses
