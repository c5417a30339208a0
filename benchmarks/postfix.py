"""A Postfix that stores each mail on disk and then discards it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.programs import free_port, wait_for_port

_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_MAIN = """
compatibility_level = 3.6
queue_directory = {folder}/spool
data_directory = {folder}/data
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
myhostname = mx.bench.example
mydestination =
alias_maps =
alias_database =
default_transport = discard:
smtpd_relay_restrictions = permit_mynetworks, reject
"""
_MASTER = """
127.0.0.1:{port} inet n - n - - smtpd
cleanup  unix n - n - 0 cleanup
qmgr     unix n - n 300 1 qmgr
rewrite  unix - - n - - trivial-rewrite
bounce   unix - - n - 0 bounce
defer    unix - - n - 0 bounce
trace    unix - - n - 0 bounce
proxymap unix - - n - - proxymap
anvil    unix - - n - 1 anvil
discard  unix - - n - - discard
"""


def why_not_here() -> str:
    """Return why Postfix cannot run here; "" if it can."""
    if shutil.which("postfix", path=_PATH) is None:
        return "Postfix is not installed (Debian: apt install postfix)"
    return "" if os.geteuid() == 0 else "only root can start Postfix"


@contextmanager
def running() -> Iterator[int]:
    """Run a Postfix with files of its own and yield its port."""
    program = shutil.which("postfix", path=_PATH)
    with tempfile.TemporaryDirectory(prefix="pbmserv-postfix-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # Postfix's user must be able to enter it
        for subfolder in ("etc", "spool", "data"):
            (folder / subfolder).mkdir()
        shutil.chown(folder / "data", "postfix")
        port = free_port()
        (folder / "etc" / "main.cf").write_text(_MAIN.format(folder=folder))
        (folder / "etc" / "master.cf").write_text(_MASTER.format(port=port))
        command = [str(program), "-c", str(folder / "etc")]
        subprocess.run([*command, "start"], check=True, capture_output=True)
        try:
            wait_for_port(port)
            yield port
        finally:
            subprocess.run([*command, "stop"], check=False, capture_output=True)
