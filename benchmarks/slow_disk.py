"""`pbmserv` on a disk whose every commit takes 10 ms longer than this machine's."""

from __future__ import annotations

import time

from sqlalchemy import Engine, event

from pbmserv.__main__ import main

DELAY_S = 0.010


@event.listens_for(Engine, "commit")
def _wait(_connection: object) -> None:
    time.sleep(DELAY_S)


if __name__ == "__main__":
    main()
