"""A relay in a process of its own: takes every letter and forgets it."""

from __future__ import annotations

import asyncio

from benchmarks.smtp import Sink


async def main() -> None:
    """Serve on a free port, which is printed, until killed."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Sink(lambda _recipient: None), "127.0.0.1", 0)
    print(f"  SMTP 127.0.0.1:{server.sockets[0].getsockname()[1]}")
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
