"""`pbmserv` on a slower disk: with BENCH_COMMIT_MS in the environment every commit takes that much
longer."""

from __future__ import annotations

import os
import time

from sqlalchemy import Engine, event

from pbmserv.__main__ import main

DELAY = "BENCH_COMMIT_MS"


if __name__ == "__main__":
    delay_s = float(os.environ.get(DELAY, "0")) / 1000
    event.listen(Engine, "commit", lambda _connection: time.sleep(delay_s))
    main()
