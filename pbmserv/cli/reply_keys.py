"""``pbmserv rotate-keys`` and ``retire-keys``: keys for reply addresses."""

from __future__ import annotations

from typing import Annotated

import typer

from pbmserv.cli.orders import AuditWhy, By, give_order
from pbmserv.cli.settings import ConfigFile


def rotate_keys(why: AuditWhy, by: By = "", config: ConfigFile = None) -> None:
    """Make a new key for reply addresses; earlier addresses stay valid.

    It signs after `systemctl reload pbmserv`: run that now on each host.

    Example: pbmserv rotate-keys --why "once a year"
    """
    from pbmserv.service.operators import reply_keys

    give_order(config, by, why, reply_keys.rotate)


def retire_keys(
    why: AuditWhy,
    days: Annotated[
        int,
        typer.Option(
            min=0, max=3_650, help="Retire keys that have signed no letter for so many days."
        ),
    ] = 90,
    by: By = "",
    config: ConfigFile = None,
) -> None:
    """Retire old keys for reply addresses.

    Letters that they signed cannot be answered any more: a reply gets 550, and
    their links, bookmarks and calendars made from them lead nowhere. Players
    lose nothing else. You cannot undo this. The newest key is never retired: if
    it has leaked, run `pbmserv rotate-keys`, reload, and retire with --days 0.

    Run `systemctl reload pbmserv` on each host afterwards.

    Example: pbmserv retire-keys --why "rotated in spring"
    """
    from pbmserv.service.operators import reply_keys

    give_order(config, by, why, reply_keys.retire, days)
