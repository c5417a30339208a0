"""Deeds of operators that block senders at the door."""

from __future__ import annotations

import re

from pbmserv.errors import OperatorError
from pbmserv.mail.networks import network_of
from pbmserv.service.core.context import CommandContext
from pbmserv.service.operators.deeds import Deed, Signature, read_day
from pbmserv.store import blocked_senders
from pbmserv.store.blocked_senders import BlockedSender

LEAST_PREFIX = {4: 8, 6: 19}
"""Prefix lengths of the largest networks that can be blocked."""

_DOMAIN = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9-]{2,63}")
_ADDRESS = re.compile(r"[!-?A-~]{1,64}@(.+)")


def block(context: CommandContext, _: Signature, sender: str, until: str) -> Deed:
    """Refuse the mail of an address, a domain with its subdomains, or a network.

    Args:
        until: day as ``2026-12-31``, at whose beginning (UTC) the block ends; ``""`` for no end.

    Raises:
        OperatorError: the sender or the day is wrong.
    """
    name = sender_name(sender)
    end = read_day(until) if until.strip() else None
    if end is not None and end <= context.now:
        raise OperatorError(f"{until} is past; name the day on which the block ends")
    blocked_senders.forget_ended(context.connection, context.now)
    blocked_senders.put(context.connection, name, end, context.now)
    words = f"until {end:%Y-%m-%d}" if end else "until you unblock it"
    summary = f"The door refuses mail from {name} {words}."
    return Deed("block", f"sender {name}", summary, (), {"until": end and end.isoformat()})


def unblock(context: CommandContext, _: Signature, sender: str) -> Deed:
    """Take the mail of a blocked sender again.

    Raises:
        OperatorError: the sender is not blocked.
    """
    name = sender_name(sender)
    if not blocked_senders.remove(context.connection, name):
        raise OperatorError(f"{name} is not blocked; `pbmserv blocked` lists all blocks")
    return Deed("unblock", f"sender {name}", f"The door takes mail from {name} again.")


def blocked(context: CommandContext) -> list[BlockedSender]:
    """Return the blocks that have not ended."""
    return blocked_senders.current(context.connection, context.now)


def sender_name(text: str) -> str:
    """Return the name under which a sender is blocked.

    Raises:
        OperatorError: the text is not an address, a domain or a network of a sensible size.
    """
    name = text.strip().lower().removeprefix("@")
    network = network_of(name)
    if network is not None:
        if network.prefixlen < LEAST_PREFIX[network.version]:
            raise OperatorError(f"{name} is too large a network to be blocked")
        if network.is_loopback:
            raise OperatorError(f"{name} is this machine; mail of others comes through it")
        return str(network)
    address = _ADDRESS.fullmatch(name)
    if len(name) > 254 or not _DOMAIN.fullmatch(address[1] if address else name):
        raise OperatorError(
            f"{name[:80]!r} is not an address, a domain or a network; "
            "write alice@example.net, example.net or 192.0.2.0/24"
        )
    return name
