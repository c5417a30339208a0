"""Mails over a limit: the door does not take them, but stores their writers, whom play tells."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime

from pbmserv.service.limits.rates import Over


@dataclass(frozen=True, slots=True)
class MailOverLimit:
    """A mail that was not taken, as it is stored.

    Attributes:
        writer: the address of its From field.
        over: the limit.
    """

    writer: str
    over: Over

    def as_json(self) -> bytes:
        """Return it as it is stored."""
        over = asdict(self.over) | {"again": self.over.again.isoformat()}
        return json.dumps({"writer": self.writer, "over": over}).encode()

    @classmethod
    def of_json(cls, body: bytes) -> MailOverLimit:
        """Return the mail that was stored as this JSON."""
        facts = json.loads(body)
        again = datetime.fromisoformat(facts["over"]["again"])
        return cls(facts["writer"], Over(**facts["over"] | {"again": again}))
