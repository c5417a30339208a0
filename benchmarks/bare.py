"""aiosmtpd with a handler that answers 250 and does nothing else."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Any

from aiosmtpd.smtp import SMTP


class Handler:
    """Accepts every mail and forgets it."""

    async def handle_DATA(self, *_visit: Any) -> str:  # noqa: N802 - aiosmtpd looks it up by this name
        return "250 2.0.0 taken"


async def main() -> None:
    """Print a free port and serve there until the process is killed."""
    logging.getLogger("mail.log").setLevel(logging.WARNING)
    session = partial(SMTP, Handler(), enable_SMTPUTF8=True, hostname="bare.example")
    server = await asyncio.get_running_loop().create_server(session, "127.0.0.1", 0)
    print(f"  mail in    SMTP 127.0.0.1:{server.sockets[0].getsockname()[1]}")
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
