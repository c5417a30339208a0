"""Reads and writes the headers of mails as `email` does, but in a fraction of the time.

The registry of `email` makes a class for each header and parses each anew. Letters repeat the same
headers, so that was most of the time in which a test read them.
"""

from __future__ import annotations

from email import policy
from email.headerregistry import HeaderRegistry
from functools import cache, lru_cache
from typing import Any


class _Headers(HeaderRegistry):
    """A registry that shares header objects between messages; nobody changes them."""

    @cache  # noqa: B019 - there is one
    def __getitem__(self, name: str) -> Any:
        return super().__getitem__(name)

    @lru_cache(maxsize=4096)  # noqa: B019
    def __call__(self, name: str, value: Any) -> Any:
        return super().__call__(name, value)


READ = policy.default.clone(header_factory=_Headers())
"""The policy of mails to and from a server."""

SENT = READ.clone(linesep="\r\n")
"""The policy `READ` with the line ends of SMTP."""
