"""A relay in a process of its own that counts letters and forgets them."""

from __future__ import annotations

import asyncio
import mmap
import struct
import sys

from benchmarks.smtp import Sink

COUNT = struct.Struct("=Q")


async def main(file: int) -> None:
    """Print a free port and serve there until the process is killed.

    Args:
        file: descriptor of a file of one page that begins with the number of letters. A benchmark
            reads it there, because queries to the database would take time from the server.
    """
    with mmap.mmap(file, mmap.PAGESIZE) as page:
        letters = 0

        def count_letter(_recipient: str) -> None:
            nonlocal letters
            letters += 1
            COUNT.pack_into(page, 0, letters)

        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Sink(count_letter), "127.0.0.1", 0)
        print(f"  SMTP 127.0.0.1:{server.sockets[0].getsockname()[1]}")
        print("ready", flush=True)
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
