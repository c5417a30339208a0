"""GNU Mailman answering mails with the command "help", by LMTP and SMTP.

Of the well-known programs it is the nearest: a mail arrives, a command in it is carried out, and an
answer leaves. It needs `mailman` in PATH (`pip install mailman`) and runs with files of its own.
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

SESSIONS = 10
PATIENCE_S = 120
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


def answered_mails(mails: int) -> float | str:
    """Return how many mails a second Mailman answers, or why it cannot run here."""
    mails -= mails % SESSIONS
    program = shutil.which("mailman")
    if program is None:
        return "Mailman is not installed (pip install mailman)"
    smtp = free_port()
    with _running(program, smtp) as lmtp:
        return asyncio.run(_measure(lmtp, smtp, mails))


async def _measure(lmtp: int, smtp: int, mails: int) -> float:
    """Return mails a second until all are answered."""
    loop = asyncio.get_running_loop()
    answers: list[str] = []
    all_answered = asyncio.Event()

    def note_answer(recipient: str) -> None:
        answers.append(recipient)
        if len(answers) == mails:
            all_answered.set()

    sink = await loop.create_server(lambda: Sink(note_answer), "127.0.0.1", smtp)
    sessions = []
    for _ in range(SESSIONS):
        _, session = await loop.create_connection(lambda: Session("LHLO"), "127.0.0.1", lmtp)
        await session.finished
        sessions.append(session)
    shares = [[_mail() for _ in range(mails // SESSIONS)] for _ in sessions]
    begun = perf_counter()
    await asyncio.gather(*(s.send(share) for s, share in zip(sessions, shares, strict=True)))
    async with asyncio.timeout(PATIENCE_S):
        await all_answered.wait()
    rate = mails / (perf_counter() - begun)
    for session in sessions:
        session.close()
    sink.close()
    return rate


def _mail() -> Mail:
    """Return a new mail of a new sender."""
    own = secrets.token_hex(8)
    sender, recipient = f"p{own}@players.example", "bench-request@lists.example"
    text = (
        f"From: {sender}\r\nTo: {recipient}\r\nSubject: help\r\nMessage-ID: <{own}@x.example>\r\n"
        "Date: Wed, 03 Dec 2025 10:21:00 +0100\r\n\r\nhelp\r\n.\r\n"
    )
    return Mail(sender, recipient, text.encode())


@contextmanager
def _running(program: str, smtp: int) -> Iterator[int]:
    """Run Mailman with one list and yield its LMTP port."""
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
