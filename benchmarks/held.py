"""`pbmserv` whose sender is not started, so that taking mail in is all that it does.

With BENCH_COMMIT_MS in the environment every commit takes that much longer, as on a slower disk.
"""

from __future__ import annotations

import os
import time

from sqlalchemy import Engine, event

from pbmserv.__main__ import main
from pbmserv.outbound.worker import Sender

DELAY = "BENCH_COMMIT_MS"


def _rest(_sender: Sender) -> None:
    """In the place of `Sender.start`."""


if __name__ == "__main__":
    setattr(Sender, "start", _rest)  # noqa: B010 - a plain assignment is no method to mypy
    delay_s = float(os.environ.get(DELAY, "0")) / 1000
    if delay_s:
        event.listen(Engine, "commit", lambda _connection: time.sleep(delay_s))
    main()
