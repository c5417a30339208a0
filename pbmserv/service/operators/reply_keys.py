"""The deed that gives the server a new key for reply addresses."""

from __future__ import annotations

import secrets

from pbmserv.errors import OperatorError
from pbmserv.service.core.context import CommandContext
from pbmserv.service.operators.deeds import Deed, Signature
from pbmserv.store.accounts import signing_keys

LARGEST = 255
"""Largest number of a key."""


def rotate(context: CommandContext, _: Signature) -> Deed:
    """Add a key. It signs once the processes have read it; the earlier keys stay valid.

    Raises:
        OperatorError: there is no number left.
    """
    number = max(signing_keys.by_id(context.connection), default=0) + 1
    if number > LARGEST:
        raise OperatorError(f"there are {LARGEST} keys, and no more are possible")
    secret = secrets.token_bytes(32)
    signing_keys.add(context.connection, number, secret, context.now)
    summary = (
        f"Key {number} is stored. It signs new reply addresses after `systemctl reload pbmserv`, "
        "which you run now on each host; earlier addresses stay valid."
    )
    return Deed("rotate", "keys", summary, (), {"key": number})
