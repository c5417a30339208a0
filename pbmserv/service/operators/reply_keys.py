"""Deeds that give the server a new key for reply addresses, and retire old ones."""

from __future__ import annotations

import secrets
from datetime import timedelta
from itertools import pairwise

from pbmserv.errors import OperatorError
from pbmserv.plurals import counted
from pbmserv.service.core.context import CommandContext
from pbmserv.service.operators.deeds import Deed, Signature
from pbmserv.store.accounts import signing_keys
from pbmserv.store.accounts.signing_keys import KeyLine

LARGEST = 255
"""Largest number of a key."""


def rotate(context: CommandContext, _: Signature) -> Deed:
    """Add a key. It signs once the processes have read it; the earlier keys stay valid.

    Raises:
        OperatorError: there is no number left.
    """
    number = max((key.id for key in signing_keys.listed(context.connection)), default=0) + 1
    if number > LARGEST:
        raise OperatorError(f"there are {LARGEST} keys, and no more are possible")
    secret = secrets.token_bytes(32)
    signing_keys.add(context.connection, number, secret, context.now)
    summary = (
        f"Key {number} is stored. It signs new reply addresses after `systemctl reload pbmserv`, "
        "which you run now on each host; earlier addresses stay valid."
    )
    return Deed("rotate", "keys", summary, (), {"key": number})


def listed(context: CommandContext) -> list[KeyLine]:
    """Return all keys, oldest first, without their secrets."""
    return signing_keys.listed(context.connection)


def retire(context: CommandContext, _: Signature, days: int) -> Deed:
    """Retire keys that have signed no letter for some days.

    A key signs until the next one is made. Its letters cannot be answered any more; players keep
    their accounts, boards and passwords.

    Args:
        days: age of the newest letters that a retired key may have signed.

    Raises:
        OperatorError: no key is so old.
    """
    keys = signing_keys.listed(context.connection)
    newest = context.now - timedelta(days=days)
    old = [
        (key, following.created_at)
        for key, following in pairwise(keys)
        if key.retired_at is None and following.created_at <= newest
    ]
    if not old:
        raise OperatorError(
            "no key is old enough: each signs letters now, or has signed some in the last "
            f"{counted(days, 'day')}; `pbmserv rotate-keys` makes a new one"
        )
    for key, _until in old:
        signing_keys.retire(context.connection, key.id, context.now)
    numbers = [key.id for key, _ in old]
    summary = (
        f"Retired: key {', '.join(map(str, numbers))}. After `systemctl reload pbmserv`, which you "
        f"run now on each host, letters from before {old[-1][1]:%Y-%m-%d %H:%M} UTC cannot be "
        "answered: a reply gets 550, and their links, bookmarks of personal pages and calendars "
        'made from them lead nowhere. Players lose nothing else; a mail such as "show" brings a '
        "new letter."
    )
    return Deed("retire", "keys", summary, (), {"keys": numbers})
