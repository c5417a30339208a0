"""A server that starts a process for each mail, as procmail or `|program` in an aliases file do.

The program is as small as possible: it reads the headers and adds a row to SQLite.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
from email import message_from_bytes
from email.policy import compat32

from aiosmtpd.smtp import SMTP, Envelope, Session

from benchmarks.bare import serve

FILE = "BENCH_FILE"
TABLE = "CREATE TABLE IF NOT EXISTS mails (id INTEGER PRIMARY KEY, subject TEXT, raw BLOB)"


class Handler:
    """Starts a program for each mail and answers 250 if it ends well."""

    async def handle_DATA(  # noqa: N802 - aiosmtpd looks it up by this name
        self,
        server: SMTP,  # noqa: ARG002
        session: Session,  # noqa: ARG002
        envelope: Envelope,
    ) -> str:
        program = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "benchmarks.each", "mail"), stdin=asyncio.subprocess.PIPE
        )
        assert isinstance(envelope.content, bytes)
        await program.communicate(envelope.content)
        return "451 4.3.0 later" if program.returncode else "250 2.0.0 taken"


def take(raw: bytes) -> None:
    """Store one mail; this is the program."""
    mail = message_from_bytes(raw, policy=compat32)
    connection = sqlite3.connect(os.environ[FILE], timeout=60)
    with connection:
        connection.execute(TABLE)
        values = (str(mail["subject"]), raw)
        connection.execute("INSERT INTO mails (subject, raw) VALUES (?, ?)", values)
    connection.close()


if __name__ == "__main__":
    if sys.argv[1:] == ["mail"]:
        take(sys.stdin.buffer.read())
    else:
        asyncio.run(serve(Handler(), "each.example"))
