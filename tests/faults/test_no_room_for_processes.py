"""A machine that is out of memory or of processes for a while: the server waits, and goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import PATIENCE_S

pytestmark = pytest.mark.slow

SERVE = """
import errno, os
fork, failures = os.fork, [errno.EAGAIN, errno.ENOMEM]
def fork_if_there_is_room():
    if failures:
        raise OSError(failures[-1], os.strerror(failures.pop()))
    return fork()
os.fork = fork_if_there_is_room
from pbmserv.cli.main import app
app(["serve"])
"""


def test_a_process_that_cannot_be_started_is_tried_again(tmp_path: Path) -> None:
    settings = {"DATA_DIR": str(tmp_path), "SMTP": "127.0.0.1:0", "WEB": "", "MAILBOX": ""}
    environment = os.environ | {f"PBMSERV_{name}": value for name, value in settings.items()}
    log = tmp_path / "stderr.log"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [sys.executable, "-c", SERVE], env=environment, stdout=subprocess.PIPE, stderr=errors
        ) as server,
    ):
        assert server.stdout is not None
        assert b"ready\n" in server.stdout, log.read_text()
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE_S) == 0
    assert log.read_text().count("a process could not be started; it is tried again") == 2
