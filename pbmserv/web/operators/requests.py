"""Requests of operators who are signed in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from pbmserv.web.operators.sessions import Session


@dataclass(frozen=True, slots=True)
class OperatorRequest:
    """A request of an operator who is signed in.

    Attributes:
        fields: fields of the form; empty for a GET.
        trouble: the reason why the change that the form asks for was refused; ``""`` for none.
    """

    http: Request
    session: Session
    fields: Mapping[str, str] = field(default_factory=dict)
    trouble: str = ""

    def path_part(self, name: str) -> str:
        """Return a part of the path."""
        return printable(self.http.path_params[name])

    def query(self, name: str) -> str:
        """Return a parameter of the query; ``""`` if it is missing."""
        return printable(self.http.query_params.get(name, ""))

    def path_number(self) -> int:
        """Return the number in the path.

        Raises:
            HTTPException: the text is not a number (404).
        """
        text = self.path_part("number")
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            raise HTTPException(404)
        return int(text)


Handler: TypeAlias = Callable[[OperatorRequest], Awaitable[Response]]


def printable(text: str) -> str:
    """Return a text with blanks for characters that no database stores and no page shows."""
    return "".join(char if char.isprintable() else " " for char in text)
