"""Reads the files and texts of a form that a browser sends as ``multipart/form-data``."""

from __future__ import annotations

import io
from collections.abc import Iterator

from pbmserv.errors import MailError
from pbmserv.inbound.headers import content_type
from pbmserv.inbound.parts import split_parts
from pbmserv.verifying.mailboxes import TooLong, mails_of


def mails_in_form(kind: str, body: bytes) -> Iterator[bytes | TooLong]:
    """Yield the mails of all fields of a form; none if it is malformed.

    Args:
        kind: the Content-Type of the form.
        body: the octets of the form.
    """
    form = content_type(kind)
    if form.kind != "multipart/form-data":
        return
    try:
        for _, content in split_parts(body, form.params.get("boundary", "")):
            if content.strip():
                yield from mails_of(io.BytesIO(content))
    except MailError:
        return
