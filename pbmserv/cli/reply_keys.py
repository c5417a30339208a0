"""``pbmserv rotate-keys``: a new key for reply addresses."""

from __future__ import annotations

from pbmserv.cli.blocks import AuditWhy
from pbmserv.cli.orders import By, carry_out
from pbmserv.cli.settings import ConfigFile


def rotate_keys(why: AuditWhy, by: By = "", config: ConfigFile = None) -> None:
    """Make a new key for reply addresses; earlier addresses stay valid.

    It signs after `systemctl reload pbmserv`: run that now on each host.

    Example: pbmserv rotate-keys --why "once a year"
    """
    from pbmserv.service.operators import orders

    carry_out(config, by, why, orders.RotateKeys())
