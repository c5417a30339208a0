"""GNU Mailman answering mails with the command "help", by LMTP and SMTP.

Of the well-known programs it is the nearest: a mail arrives, a command in it is carried out, and an
answer leaves. It needs `mailman` in PATH (`pip install mailman`) and runs with files of its own.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Semaphore
from time import perf_counter

from benchmarks.smtp import Mail, relaying, send_all
from tests.programs import free_port, wait_for_port

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
    answers = Semaphore(0)
    shares = [[_mail() for _ in range(mails // SESSIONS)] for _ in range(SESSIONS)]
    with relaying(lambda _to, _text: answers.release()) as smtp, _running(program, smtp) as lmtp:
        begun = perf_counter()
        send_all(lmtp, shares, "LHLO")
        for _ in range(mails):
            if not answers.acquire(timeout=PATIENCE_S):
                raise RuntimeError("Mailman does not answer")
        return mails / (perf_counter() - begun)


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
            wait_for_port(lmtp)
            yield lmtp
        finally:
            mailman("stop")
