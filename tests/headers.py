"""Policies of `email` that read each header once: letters have the same ones again and again.

The registry of the standard library makes a class for each header that it is asked for, and reads a
Content-Type each time that somebody looks at it. That was a seventh of what a dialog took.
"""

from __future__ import annotations

from email import policy
from email.headerregistry import HeaderRegistry
from functools import cache, lru_cache
from typing import Any


class _Headers(HeaderRegistry):
    """Headers are never changed, so that two messages can have the same ones."""

    @cache  # noqa: B019 - there is one
    def __getitem__(self, name: str) -> Any:
        return super().__getitem__(name)

    @lru_cache(maxsize=4096)  # noqa: B019
    def __call__(self, name: str, value: Any) -> Any:
        return super().__call__(name, value)


READ = policy.default.clone(header_factory=_Headers())
"""For what a server has sent, and what is sent to it."""

SENT = READ.clone(linesep="\r\n")
"""The same for a mail that goes over a wire."""
