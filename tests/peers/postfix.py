"""A real Postfix on loopback: in front of a server by LMTP, and behind it as its relay."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from programs import PATIENCE_S, free_port, program, wait_for_port

ABOUT_THE_CLOCK = ("file system clock is", "resetting file time stamps")
"""Warnings of cleanup(8) on Linux 6.13 and later, when a second begins as it writes.

A file's time is fine-grained there (multigrain timestamps), while the time(2) that Postfix compares
it with is that of the last tick, some milliseconds before.
"""
OWNER = 65534
"""The owner of the mailboxes: Postfix delivers to nobody's files as root."""

_DAEMONS = """
{port}    inet  n       -       n       -       -       smtpd
cleanup   unix  n       -       n       -       0       cleanup
qmgr      unix  n       -       n       300     1       qmgr
rewrite   unix  -       -       n       -       -       trivial-rewrite
bounce    unix  -       -       n       -       0       bounce
defer     unix  -       -       n       -       0       bounce
verify    unix  -       -       n       -       1       verify
trace     unix  -       -       n       -       0       bounce
smtp      unix  -       -       n       -       -       smtp
lmtp      unix  -       -       n       -       -       lmtp
virtual   unix  -       n       n       -       -       virtual
error     unix  -       -       n       -       -       error
retry     unix  -       -       n       -       -       error
proxymap  unix  -       -       n       -       -       proxymap
showq     unix  n       -       n       -       -       showq
anvil     unix  -       -       n       -       1       anvil
scache    unix  -       -       n       -       1       scache
postlog   unix-dgram n  -       n       -       1       postlogd
"""


@dataclass(frozen=True)
class Postfix:
    """A running Postfix; mail to ``NAME@players.example`` is in `maildir` of that name."""

    folder: Path
    port: int

    def maildir(self, name: str) -> Path:
        """Return the Maildir of a player."""
        return self.folder / "mail" / name

    @property
    def log(self) -> str:
        """The log so far."""
        return (self.folder / "postfix.log").read_text()

    def complaints(self) -> list[str]:
        """Lines of its log that somebody should look at, and that are not about the machine."""
        return [
            line
            for line in self.log.splitlines()
            if any(word in line for word in ("warning", "error:", "fatal", "panic"))
            and not any(words in line for words in ABOUT_THE_CLOCK)
        ]

    def queue(self) -> str:
        """Return the queue as ``postqueue`` prints it."""
        done = subprocess.run(
            [program("postqueue"), "-c", self.folder / "etc", "-p"],
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout


QUEUE = Path("/proc/sys/net/unix/max_dgram_qlen")


@contextmanager
def postfix(
    lmtp_port: int,
    players: tuple[str, ...],
    *,
    transports: Mapping[str, str] | None = None,
    own_lines: str = "",
    verify_s: int = 10,
) -> Iterator[Postfix]:
    """Start Postfix with the lines of ``deploy/postfix/main.cf``; it is stopped at the end.

    *transports*: how mail to other domains goes on; *own_lines*: what stands above our lines;
    *verify_s*: seconds until a recipient that nobody answers for is put off.
    Its files are in a folder of their own: its user may not enter those of the tests.
    """
    command = program("postfix")
    if os.geteuid() != 0:
        pytest.skip("NOT RUN: Postfix can only be started by root")
    with tempfile.TemporaryDirectory(prefix="pbmserv-postfix-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        running = Postfix(folder, free_port())
        _write(running, lmtp_port, players, transports or {}, own_lines, verify_s)
        # postlogd writes to its own socket, too: with the kernel's queue of ten it may wait for
        # itself on a busy machine, and all of Postfix with it.
        with contextlib.suppress(OSError):
            QUEUE.write_text("512")
        base = [command, "-c", str(folder / "etc")]
        subprocess.run([*base, "start"], check=True, capture_output=True, timeout=PATIENCE_S)
        try:
            wait_for_port(running.port)
            yield running
        finally:
            subprocess.run([*base, "stop"], check=False, capture_output=True, timeout=PATIENCE_S)


def _write(
    running: Postfix,
    lmtp_port: int,
    players: tuple[str, ...],
    transports: Mapping[str, str],
    own_lines: str,
    verify_s: int,
) -> None:
    folder = running.folder
    for name in ("etc", "spool", "data", "mail"):
        (folder / name).mkdir()
    shutil.chown(folder / "data", "postfix")
    os.chown(folder / "mail", OWNER, OWNER)
    advised = Path(__file__).parents[2] / "deploy" / "postfix" / "main.cf"
    lines = advised.read_text().replace("games.example.org", "games.example")
    boxes = ", ".join(f"{{ {name}@players.example = {name}/ }}" for name in players)
    lines = lines.replace("127.0.0.1:2424", f"127.0.0.1:{lmtp_port}")
    # A test does not wait as long until a "no" is forgotten.
    lines = lines.replace("expire_time = 15s", "expire_time = 3s")
    lines = lines.replace("refresh_time = 10s", "refresh_time = 2s")
    lines = lines.replace("poll_count = 10", f"poll_count = {verify_s}")
    lines = lines.replace(
        "virtual_mailbox_domains = games.example",
        "virtual_mailbox_domains = games.example players.example",
    )
    lines = lines.replace("pbmserv }, {", f"pbmserv }}, {boxes}, {{")
    others = "".join(f", {{ {domain} = {how} }}" for domain, how in transports.items())
    (folder / "etc" / "main.cf").write_text(
        f"""{own_lines}
{lines}
compatibility_level = 3.6
queue_directory = {folder}/spool
data_directory = {folder}/data
maillog_file = {folder}/postfix.log
maillog_file_prefixes = {folder}
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
myhostname = mx.games.example
local_transport = error:no local mail
alias_maps =
alias_database =
smtputf8_enable = no
transport_maps = inline:{{ {{ players.example = virtual: }}{others} }}
virtual_mailbox_base = {folder}/mail
virtual_uid_maps = static:{OWNER}
virtual_gid_maps = static:{OWNER}
virtual_mailbox_limit = 0
"""
    )
    (folder / "etc" / "master.cf").write_text(_DAEMONS.format(port=f"127.0.0.1:{running.port}"))
