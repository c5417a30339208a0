"""Mails as `email` reads and writes them, but quicker: that was a third of what a dialog took.

Its registry of headers makes a class for each header that it is asked for, and reads a Content-Type
each time that somebody looks at it; but letters have the same ones again and again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email import message_from_bytes, policy
from email.errors import MultipartInvariantViolationDefect
from email.headerregistry import HeaderRegistry
from email.message import EmailMessage
from email.parser import BytesHeaderParser
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

_HEADERS = BytesHeaderParser(policy=READ)
_ADDRESS = r"[A-Za-z0-9+-]+(?:\.[A-Za-z0-9+-]+)*@[A-Za-z0-9.-]*[A-Za-z0-9]"
_SIMPLE = re.compile(
    rf"(?:(?:From|To): {_ADDRESS}\n|(?:Message-ID|In-Reply-To): <{_ADDRESS}>\n|"
    r"Subject: (?:[!-~]+(?: [!-~]+)*)?\n)+"
)
"""Headers that are written as they are."""
_PLAIN = """Content-Type: text/plain; charset="utf-8"
Content-Transfer-Encoding: 7bit
MIME-Version: 1.0
"""


def read(raw: bytes) -> EmailMessage:
    """What `message_from_bytes` makes of one of our letters; it looks at each line.

    `tests/letters/test_every_letter.py` compares the two.
    """
    head, _, body = raw.partition(b"\r\n\r\n")
    message = _HEADERS.parsebytes(head + b"\r\n\r\n")
    assert isinstance(message, EmailMessage)
    kind = message.get_content_maintype()
    if kind == "multipart":
        mark = f"\r\n--{message.get_boundary()}".encode()
        before, *parts, end = (b"\r\n" + body).split(mark)
        if before or end.strip() != b"--" or not all(one.startswith(b"\r\n") for one in parts):
            return by_the_library(raw)
        message.set_payload([read(part.removeprefix(b"\r\n")) for part in parts])
        # Of headers that are read alone, Python 3.11.2 (Debian 12) says they lack the parts.
        message.defects = [
            one for one in message.defects if not isinstance(one, MultipartInvariantViolationDefect)
        ]
        message.epilogue = end.removeprefix(b"--\r\n").decode("ascii")
    elif kind == "message":
        return by_the_library(raw)
    else:
        message.set_payload(body.decode("ascii", "surrogateescape"))
    return message


def by_the_library(raw: bytes) -> EmailMessage:
    """The same, read line by line."""
    message = message_from_bytes(raw, policy=READ)
    assert isinstance(message, EmailMessage)
    return message


def written(headers: Mapping[str, str], body: str) -> bytes:
    """A mail for a wire, as `EmailMessage` writes it; it looks at each word of a header.

    `tests/unit/test_mails_of_tests.py` compares the two.
    """
    lines = [f"{name}: {value}\n" for name, value in headers.items()]
    plain = "".join(lines)
    said = f"{body.removesuffix(chr(10))}\n"
    longest = max(map(len, [*lines, *said.splitlines(keepends=True)])) - 1
    is_ascii = plain.isascii() and said.isascii() and "\r" not in said
    is_short = longest <= 78 and "=?" not in plain
    if is_ascii and is_short and _SIMPLE.fullmatch(plain):
        return f"{plain}{_PLAIN}\n{said}".replace("\n", "\r\n").encode("ascii")
    message = EmailMessage(READ)
    for name, value in headers.items():
        message[name] = value
    message.set_content(body)
    return message.as_bytes(policy=SENT)
