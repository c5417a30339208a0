"""The errors of an outage, after which a page says that it will work again soon."""

from __future__ import annotations

from pbmserv.errors import StoreAway
from pbmserv.store.core.writer import UNAVAILABLE

OUTAGES = (StoreAway, *UNAVAILABLE)
"""The database, or a stage that should answer, cannot be reached now."""
