"""GNU Mailman's mails with commands: each asks a list for help by LMTP, and is answered by SMTP.

Of what people know it is the nearest: mail comes in, a command in it is carried out, a letter goes
out. Needs `mailman` in PATH (`pip install mailman`); its files and runners are of its own.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from benchmarks.net import free_port, wait_for
from benchmarks.smtp import Mail, Session, Sink
from benchmarks.table import Line, told

SESSIONS = 10
PATIENCE_S = 120
_NAME = 'Mailman, a mail with "help"'
_SETTINGS = """
[mailman]
site_owner: admin@lists.example
layout: here
[paths.here]
var_dir: {folder}/var
[mta]
incoming: mailman.mta.null.NullMTA
outgoing: mailman.mta.deliver.deliver
lmtp_host: 127.0.0.1
lmtp_port: {lmtp}
smtp_host: 127.0.0.1
smtp_port: {smtp}
[webservice]
port: {rest}
"""


def measure(bare: float, mails: int) -> list[Line]:
    """What it accepts and what it answers; *bare*: mails a second of bare aiosmtpd in this run."""
    mails -= mails % SESSIONS
    program = shutil.which("mailman")
    if program is None:
        return [told(_NAME, "NOT RUN: it is not installed (pip install mailman)")]
    smtp = free_port()
    with _running(program, smtp) as lmtp:
        accepted, answered = asyncio.run(_measure(lmtp, smtp, mails))
    return [
        told(f"{_NAME}: accepted", f"{accepted / bare:.3f} B ({accepted:,.0f}/s)"),
        told(f"{_NAME}: until it is answered", f"{answered / bare:.3f} B ({answered:,.0f}/s)"),
    ]


async def _measure(lmtp: int, smtp: int, mails: int) -> tuple[float, float]:
    """Mails a second until all are accepted, and until all are answered."""
    loop = asyncio.get_running_loop()
    answers: list[str] = []
    is_answered = asyncio.Event()

    def came(recipient: str) -> None:
        answers.append(recipient)
        if len(answers) == mails:
            is_answered.set()

    sink = await loop.create_server(lambda: Sink(came), "127.0.0.1", smtp)
    sessions = []
    for _ in range(SESSIONS):
        _, session = await loop.create_connection(lambda: Session("LHLO"), "127.0.0.1", lmtp)
        await session.finished
        sessions.append(session)
    shares = [[_mail() for _ in range(mails // SESSIONS)] for _ in sessions]
    begun = perf_counter()
    await asyncio.gather(*(s.send(share) for s, share in zip(sessions, shares, strict=True)))
    accepted = mails / (perf_counter() - begun)
    async with asyncio.timeout(PATIENCE_S):
        await is_answered.wait()
    answered = mails / (perf_counter() - begun)
    for session in sessions:
        session.close()
    sink.close()
    return accepted, answered


def _mail() -> Mail:
    """A mail that nobody has sent before, of somebody who has sent none."""
    own = secrets.token_hex(8)
    sender, recipient = f"p{own}@players.example", "bench-request@lists.example"
    text = (
        f"From: {sender}\r\nTo: {recipient}\r\nSubject: help\r\nMessage-ID: <{own}@x.example>\r\n"
        "Date: Wed, 03 Dec 2025 10:21:00 +0100\r\n\r\nhelp\r\n.\r\n"
    )
    return Mail(sender, recipient, text.encode())


@contextmanager
def _running(program: str, smtp: int) -> Iterator[int]:
    """Its LMTP port."""
    with tempfile.TemporaryDirectory(prefix="pbmserv-mailman-") as name:
        settings, lmtp = Path(name) / "mailman.cfg", free_port()
        settings.write_text(_SETTINGS.format(folder=name, lmtp=lmtp, smtp=smtp, rest=free_port()))
        as_root = ["--run-as-root"] if os.geteuid() == 0 else []

        def mailman(*words: str) -> None:
            nobody = subprocess.DEVNULL
            command = [program, *as_root, "-C", str(settings), *words]
            subprocess.run(command, check=True, stdin=nobody, stdout=nobody, stderr=nobody)

        mailman("create", "bench@lists.example")
        mailman("start")
        try:
            wait_for(lmtp)
            yield lmtp
        finally:
            mailman("stop")
