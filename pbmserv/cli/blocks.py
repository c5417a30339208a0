"""``pbmserv block``, ``unblock`` and ``blocked``: senders whose mail the door refuses."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from pbmserv.cli.orders import AuditWhy, By, give_order, look
from pbmserv.cli.output import table
from pbmserv.cli.settings import ConfigFile

Sender: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="SENDER", help="An address, a domain (with its subdomains), or a network."
    ),
]


def block(
    sender: Sender,
    why: AuditWhy,
    until: Annotated[
        str,
        typer.Option(metavar="DATE", help="The day on which the block ends (UTC); default: never."),
    ] = "",
    by: By = "",
    config: ConfigFile = None,
) -> None:
    """Refuse the mail of a sender at the door with a clear 550.

    The server does so within some seconds. Mail that it took before is carried
    out; to stop a player, suspend the account.

    Example: pbmserv block spam.example --until 2026-12-31 --why "floods us"

    Example: pbmserv block 192.0.2.0/24 --why "guesses passwords"
    """
    from pbmserv.service.operators import blocked_senders

    give_order(config, by, why, blocked_senders.block, sender, until)


def unblock(sender: Sender, why: AuditWhy, by: By = "", config: ConfigFile = None) -> None:
    """Take the mail of a blocked sender again.

    Example: pbmserv unblock spam.example --why "they wrote to us"
    """
    from pbmserv.service.operators import blocked_senders

    give_order(config, by, why, blocked_senders.unblock, sender)


def blocked(config: ConfigFile = None) -> None:
    """List the senders that are blocked. Example: pbmserv blocked"""
    from pbmserv.service.operators.blocked_senders import blocked as blocks_of

    blocks = look(config, blocks_of)
    table(
        ("sender", "since", "until"),
        [
            (
                block.name,
                f"{block.created_at:%Y-%m-%d}",
                f"{block.until:%Y-%m-%d}" if block.until else "-",
            )
            for block in blocks
        ],
        fixed=3,
        empty="Nobody is blocked.",
    )
