"""The jails of deploy/fail2ban ban whole networks, as fail2ban and nftables do it for real."""

from __future__ import annotations

import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

import pytest
from processes import wait_until
from programs import PATIENCE_S, program

FOLDER = Path(__file__).parents[2] / "deploy" / "fail2ban"
STOCK = Path("/etc/fail2ban")
REFUSALS = 16
AGAIN_S = 5.0
"""Seconds after which clients that are not banned are refused again."""


class Fail2ban:
    """A fail2ban of its own, whose bans hold in a network namespace of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._configuration = folder / "etc"
        self.log = folder / "pbmserv.log"
        shutil.copytree(STOCK, self._configuration)
        for jail in (self._configuration / "jail.d").iterdir():
            jail.unlink()
        shutil.copytree(FOLDER, self._configuration, dirs_exist_ok=True)
        self.log.touch()
        (self._configuration / "fail2ban.local").write_text(
            f"[Definition]\ndbfile = :memory:\nlogtarget = {folder / 'fail2ban.log'}\n"
            f"socket = {folder / 'socket'}\npidfile = {folder / 'pid'}\n"
        )
        (self._configuration / "jail.local").write_text(
            "[DEFAULT]\nbackend = polling\n[sshd]\nenabled = false\n"
            f"[pbmserv-door]\nenabled = true\nbackend = polling\nlogpath = {self.log}\n"
        )
        # The namespace lives as long as this process, and begins a little after it.
        self._space = subprocess.Popen([program("unshare"), "--net", "sleep", "600"])
        wait_until(
            lambda: self._network_of("self") != self._network_of(self._space.pid), "a network"
        )
        self._noted_at = 0.0

    def client(self, *arguments: str) -> str:
        command = (program("fail2ban-client"), "-c", str(self._configuration), *arguments)
        return self._inside(*command)

    def bans(self) -> str:
        return self._inside(program("nft"), "list", "ruleset")

    def stop(self) -> None:
        self.client("stop")
        self._space.kill()
        self._space.wait()

    def note_refusals(self, network: str, count: int) -> None:
        """Log that the server refused a network so many times."""
        self._noted_at = monotonic()
        with self.log.open("a") as log:
            for _ in range(count):
                now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.000Z}"
                log.write(f'{now} info receive refused network={network} because="550 5.1.1"\n')

    def bans_or_notes(self, network: str) -> bool:
        """Return whether a network is banned; if not for some seconds, log more refusals."""
        if network in self.bans():
            return True
        if monotonic() - self._noted_at > AGAIN_S:
            self.note_refusals(network, REFUSALS)
        return False

    @staticmethod
    def _network_of(process: int | str) -> str:
        return str(Path(f"/proc/{process}/ns/net").readlink())

    def _inside(self, *command: str) -> str:
        space = (program("nsenter"), "--net", "--target", str(self._space.pid))
        result = subprocess.run(
            [*space, *command], capture_output=True, text=True, check=True, timeout=PATIENCE_S
        )
        return result.stdout


@pytest.mark.slow
def test_networks_that_are_refused_again_and_again_are_banned(tmp_path: Path) -> None:
    for name in ("fail2ban-client", "nft", "unshare", "nsenter"):
        program(name)
    if os.geteuid() != 0:
        pytest.skip("NOT RUN: only root can make a network to ban others from")
    fail2ban = Fail2ban(tmp_path)
    try:
        fail2ban.client("start")
        wait_until(lambda: "pbmserv-door" in fail2ban.client("status"), "the jail")
        for network in ("203.0.113.0/24", "2001:db8:1:2::/64"):
            fail2ban.note_refusals(network, REFUSALS)
            # A jail that has just begun may read the file from its end, so clients come again.
            wait_until(lambda: fail2ban.bans_or_notes(network), "a ban")  # noqa: B023
        assert "tcp dport { 25, 465 }" in fail2ban.bans()
    finally:
        fail2ban.stop()
