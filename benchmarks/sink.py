"""A relay in a process of its own: takes every letter, counts it, and forgets it."""

from __future__ import annotations

import asyncio
import mmap
import struct
import sys

from benchmarks.smtp import Sink

COUNT = struct.Struct("=Q")


async def main(file: int) -> None:
    """Serve on a free port, which is printed, until killed.

    Args:
        file: descriptor of a file of one page that begins with the number of letters taken. Who
            waits for them looks there: to ask a database takes time from the server.
    """
    with mmap.mmap(file, mmap.PAGESIZE) as page:
        taken = 0

        def arrived(_recipient: str) -> None:
            nonlocal taken
            taken += 1
            COUNT.pack_into(page, 0, taken)

        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Sink(arrived), "127.0.0.1", 0)
        print(f"  SMTP 127.0.0.1:{server.sockets[0].getsockname()[1]}")
        print("ready", flush=True)
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
