"""Makes letters once more to read them: what a mail quotes of them is nobody's words."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from jinja2 import TemplateError
from sqlalchemy import Connection

from pbmserv.errors import ServerFault
from pbmserv.letters.compose import Composer
from pbmserv.store.delivery.outbox import QueuedLetter

log = logging.getLogger("pbmserv.send")


@dataclass(frozen=True, slots=True)
class Rereading:
    """Letters as their readers got them, made from the record by *composer*."""

    composer: Composer

    def texts(self, connection: Connection, row: QueuedLetter) -> tuple[str, ...]:
        """Text and perhaps HTML of a letter.

        Nothing comes back for one that cannot be made any more, as of templates that have changed
        since: whoever answers it must not be kept from speaking.
        """
        try:
            return self.composer.texts_of(connection, row)
        except (ServerFault, TemplateError, LookupError, TypeError, ValueError):
            log.exception("a letter cannot be made once more", extra={"letter": row.id})
            return ()
